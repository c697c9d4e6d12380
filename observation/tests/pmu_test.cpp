#include "memgraft/observation/pmu.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "fake_rings.h"
#include "made_up_process.h"
#include "memgraft/observation/choose.h"

namespace memgraft::observation {
namespace {

using linux_os::FakeRings;
using linux_os::Written;

constexpr pid_t kLater = 4713;
const std::string kDevices = "/sys/bus/event_source/devices/";

class MemorySamplesOf : public MadeUpProcess {
 protected:
  void SetUp() override {
    root_.write("/sys/devices/system/cpu/online", "0-1\n");
    root_.write("/proc/sys/kernel/perf_event_paranoid", "2\n");
    root_.write("/proc/sys/kernel/perf_event_max_sample_rate", "100000\n");
    thread(kProcess);
  }
  void device(const std::string& name, const std::string& type) const {
    root_.write(kDevices + name + "/type", type + "\n");
  }
  void intel(const std::string& name, const std::string& type) const {
    device(name, type);
    root_.write(kDevices + name + "/format/event", "config:0-7\n");
    root_.write(kDevices + name + "/format/umask", "config:8-15\n");
    root_.write(kDevices + name + "/format/ldlat", "config1:0-15\n");
    root_.write(kDevices + name + "/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n");
    root_.write(kDevices + name + "/events/mem-stores", "event=0xd0,umask=0x82\n");
  }
  void amd() const {
    device("ibs_op", "11");
    root_.write(kDevices + "ibs_op/format/cnt_ctl", "config:19\n");
  }
  void arm() const {
    device("arm_spe_0", "9");
    root_.write(kDevices + "arm_spe_0/cpumask", "1\n");
    root_.write(kDevices + "arm_spe_0/caps/min_interval", "131072\n");
    root_.write(kDevices + "arm_spe_0/format/ts_enable", "config:0\n");
    root_.write(kDevices + "arm_spe_0/format/jitter", "config:16\n");
    root_.write(kDevices + "arm_spe_0/format/load_filter", "config:33\n");
    root_.write(kDevices + "arm_spe_0/format/store_filter", "config:34\n");
  }
  void watch() { keep(watch_memory_samples(kProcess, events_, root_.path())); }
  // The fields that samples of all units have.
  static Written sample(const FakeRings::Asked& event, std::uint64_t address, pid_t thread = kProcess) {
    Written body;
    body.add<std::uint64_t>(event.number).add<std::int32_t>(kProcess).add<std::int32_t>(thread);
    body.add<std::uint64_t>(55).add(address).add<std::int32_t>(event.cpu).add<std::uint32_t>(0);
    body.add<std::uint64_t>(20011);  // PERIOD
    return body;
  }

  void load(const FakeRings::Asked& event, pid_t thread, std::uint64_t address) {
    events_.write(event, sample(event, address, thread)
                             .add<std::uint64_t>(220)
                             .add<std::uint64_t>(PERF_MEM_OP_LOAD)
                             .record(PERF_RECORD_SAMPLE));
  }
};

TEST_F(MemorySamplesOf, AMachineWithoutAnySaysWhatWasLookedFor) {
  device("cpu", "4");
  device("software", "1");
  watch();
  EXPECT_EQ(why_,
            "pmu: no unit that samples memory accesses: looked in /sys/bus/event_source/devices/ for "
            "cpu*/events/mem-loads (Intel's PEBS), ibs_op (AMD) and arm_spe_* (Arm): this CPU or hypervisor "
            "offers none");
}

TEST_F(MemorySamplesOf, IntelsCpusByPebs) {
  intel("cpu", "4");
  watch();
  ASSERT_TRUE(monitor_) << why_;
  ASSERT_EQ(events_.events.size(), 4U) << "loads and stores on two CPUs";
  EXPECT_EQ(events_.mapped.size(), 2U);
  const FakeRings::Asked& loads = events_.events.front();
  EXPECT_EQ(loads.attributes.type, 4U);
  EXPECT_EQ(loads.attributes.config, 0x1cdU);
  EXPECT_EQ(loads.attributes.config1, kLoadLatency);
  EXPECT_GE(loads.attributes.precise_ip, 1U);
  EXPECT_EQ(loads.attributes.freq, 1U);
  EXPECT_EQ(loads.attributes.sample_freq, kSamplesPerSecond);
  EXPECT_EQ(loads.attributes.exclude_kernel, 1U);
  EXPECT_EQ(loads.leader, -1);
  EXPECT_EQ(events_.events.back().attributes.config, 0x82d0U);

  events_.write(loads, sample(loads, 0x7f0000001008)
                           .add<std::uint64_t>(220)
                           .add<std::uint64_t>(PERF_MEM_OP_LOAD)
                           .record(PERF_RECORD_SAMPLE));
  events_.write(loads, sample(loads, 0x2000)
                           .add<std::uint64_t>(0)
                           .add<std::uint64_t>(PERF_MEM_OP_STORE)
                           .record(PERF_RECORD_SAMPLE));
  events_.write(loads, sample(loads, 0)
                           .add<std::uint64_t>(0)
                           .add<std::uint64_t>(PERF_MEM_OP_STORE)
                           .record(PERF_RECORD_SAMPLE));
  const std::vector<Touch> touches = drained();
  ASSERT_EQ(touches.size(), 2U) << "not the one without an address";
  EXPECT_EQ(touches[0].address, 0x7f0000001008U);
  EXPECT_EQ(touches[0].store, false);
  EXPECT_EQ(touches[0].latency_cycles, 220U);
  EXPECT_EQ(touches[0].stands_for, 20011U);
  EXPECT_EQ(touches[0].thread, static_cast<std::uint32_t>(kProcess));
  EXPECT_EQ(touches[1].store, true);
  EXPECT_FALSE(touches[1].latency_cycles);
  EXPECT_TRUE(monitor_->sees().store && monitor_->sees().latency);
}

// Each event samples other accesses, and with two a thread would count double.
TEST_F(MemorySamplesOf, OfAThreadWithItsOwnEventInheritedOnesDoNotCount) {
  intel("cpu", "4");
  thread(kOther);
  watch();
  ASSERT_TRUE(monitor_) << why_;
  const FakeRings::Asked& first = events_.event_on(kProcess, 0);
  load(first, kOther, 0x1000);
  load(events_.event_on(kOther, 0), kOther, 0x2000);
  const std::vector<Touch> touches = drained();
  ASSERT_EQ(touches.size(), 1U);
  EXPECT_EQ(touches[0].address, 0x2000U);
  // The thread ends; of another CPU's ring it was the next reading's turn already. Later its number is
  // another's.
  Written exit;
  exit.add(kProcess).add(kProcess).add(kOther).add(kOther).add<std::uint64_t>(60);
  events_.write(events_.event_on(kProcess, 1), exit.record(PERF_RECORD_EXIT));
  EXPECT_TRUE(drained().empty());
  load(first, kOther, 0x3000);
  EXPECT_TRUE(drained().empty());
  load(first, kOther, 0x4000);
  EXPECT_EQ(drained().size(), 1U);
}

// Its creator had events of its own and inherited others: it has both, though maybe not yet on every CPU.
TEST_F(MemorySamplesOf, OfAThreadThatInheritsTwiceOneCountsOnEachCpu) {
  intel("cpu", "4");
  thread(kOther);
  watch();
  ASSERT_TRUE(monitor_) << why_;
  load(events_.event_on(kProcess, 0), kLater, 0x1000);
  load(events_.event_on(kOther, 0), kLater, 0x2000);
  load(events_.event_on(kOther, 1), kLater, 0x3000);
  EXPECT_EQ(drained().size(), 2U);
  load(events_.event_on(kOther, 0), kLater, 0x4000);
  load(events_.event_on(kProcess, 0), kLater, 0x5000);
  EXPECT_EQ(drained().size(), 1U);
}

TEST_F(MemorySamplesOf, LoadLatencyBehindItsLeader) {
  intel("cpu", "4");
  root_.write(kDevices + "cpu/events/mem-loads-aux", "event=0x03,umask=0x82\n");
  watch();
  ASSERT_TRUE(monitor_) << why_;
  ASSERT_EQ(events_.events.size(), 6U);
  EXPECT_EQ(events_.events[0].attributes.config, 0x8203U);
  EXPECT_EQ(events_.events[0].attributes.sample_period, 0U) << "counts only";
  EXPECT_EQ(events_.events[1].attributes.config, 0x1cdU);
  EXPECT_EQ(events_.events[1].leader, events_.events[0].fd);
}

TEST_F(MemorySamplesOf, HybridMachinesHaveTwo) {
  intel("cpu_core", "4");
  intel("cpu_atom", "10");
  root_.write(kDevices + "cpu_core/cpus", "0\n");
  root_.write(kDevices + "cpu_atom/cpus", "1\n");
  watch();
  ASSERT_TRUE(monitor_) << why_;
  ASSERT_EQ(events_.events.size(), 4U);
  for (const FakeRings::Asked& event : events_.events) {
    EXPECT_EQ(event.cpu, event.attributes.type == 4 ? 0 : 1);
  }
}

TEST_F(MemorySamplesOf, TermsThatMakeNoSenseAreARefusal) {
  intel("cpu", "4");
  root_.write(kDevices + "cpu/format/umask", "config:8-9\n");  // 0x82 does not fit
  watch();
  EXPECT_EQ(why_, "pmu: PEBS: the terms of cpu/events/mem-* make no sense by its folder format");
}

// A hypervisor that hides the counters leaves the folder of sysfs where it is.
TEST_F(MemorySamplesOf, AUnitThatDoesNotOpen) {
  intel("cpu", "4");
  events_.refuse = [](const FakeRings::Asked&) { return ENOENT; };
  watch();
  EXPECT_EQ(why_, "pmu: cpu: this CPU or hypervisor offers no such counter");
}

TEST_F(MemorySamplesOf, AmdsByIbs) {
  amd();
  watch();
  ASSERT_TRUE(monitor_) << why_;
  const FakeRings::Asked& operations = events_.events.front();
  EXPECT_EQ(operations.attributes.type, 11U);
  EXPECT_EQ(operations.attributes.config, 1U << 19U);
  EXPECT_EQ(operations.attributes.exclude_kernel, 0U) << "IBS cannot leave it out";
  Written store = sample(operations, 0);
  store.add<std::uint32_t>(4 + 6 * 8).add<std::uint32_t>(0);  // RAW: size, capabilities
  store.add<std::uint64_t>(0).add<std::uint64_t>(0).add<std::uint64_t>(0).add<std::uint64_t>(0);
  store.add<std::uint64_t>((1U << 17U) | (1U << 1U)).add<std::uint64_t>(0x7000);  // IbsOpData3, IbsDcLinAd
  events_.write(operations, store.record(PERF_RECORD_SAMPLE));
  const std::vector<Touch> touches = drained();
  ASSERT_EQ(touches.size(), 1U);
  EXPECT_EQ(touches[0].address, 0x7000U);
  EXPECT_EQ(touches[0].store, true);
  EXPECT_EQ(touches[0].stands_for, 20011U);
}

TEST_F(MemorySamplesOf, IbsWithAFilterForTheKernelNeedsLess) {
  amd();
  root_.write(kDevices + "ibs_op/format/swfilt", "config2:0\n");
  watch();
  ASSERT_TRUE(monitor_) << why_;
  EXPECT_EQ(events_.events.front().attributes.config2, 1U);
  EXPECT_EQ(events_.events.front().attributes.exclude_kernel, 1U);
}

TEST_F(MemorySamplesOf, IbsWithoutPrivileges) {
  amd();
  events_.refuse = [](const FakeRings::Asked&) { return EACCES; };
  watch();
  EXPECT_EQ(
      why_,
      "pmu: ibs_op: not permitted: /proc/sys/kernel/perf_event_paranoid is 2, expected 1 or lower: `sysctl "
      "kernel.perf_event_paranoid=1`, or run with CAP_PERFMON (a container's seccomp filter also forbids it) "
      "(Linux before 6.2 samples with IBS for whole CPUs only)");
}

TEST_F(MemorySamplesOf, ArmsBySpe) {
  arm();
  watch();
  ASSERT_TRUE(monitor_) << why_;
  ASSERT_EQ(events_.events.size(), 1U);
  const FakeRings::Asked& spe = events_.events.front();
  EXPECT_EQ(spe.cpu, 1);
  EXPECT_EQ(spe.attributes.config, (1ULL << 34U) | (1ULL << 33U) | (1U << 16U) | 1U);
  EXPECT_EQ(spe.attributes.sample_period, 131072U) << "no shorter than the unit can";
  ASSERT_EQ(events_.mapped.at(spe.fd).size(), 2U) << "the ring and the second area";

  const FakeRings::Area aux = events_.mapped.at(spe.fd)[1];
  const std::vector<std::uint8_t> load = {0x49, 0x00, 0x42, 0x02,  // load, retired
                                          0x98, 0x64, 0x00,        // 100 cycles
                                          0xb2, 0x08, 0x10, 0x00, 0x00, 0x00, 0x7f, 0x00, 0x00,  // address
                                          0x01};                                                 // end
  // Around the end of the area.
  const std::uint64_t offset = aux.bytes - 5;
  for (std::size_t byte = 0; byte < load.size(); ++byte) {
    aux.memory[(offset + byte) % aux.bytes] = load[byte];
  }
  Written part;
  part.add(offset).add<std::uint64_t>(load.size()).add<std::uint64_t>(PERF_AUX_FLAG_TRUNCATED);
  part.add<std::int32_t>(kProcess).add<std::int32_t>(4712).add<std::uint64_t>(77).add<std::int32_t>(1);
  part.add<std::uint32_t>(0).add(spe.number);
  events_.write(spe, part.record(PERF_RECORD_AUX));
  const std::vector<Touch> touches = drained();
  ASSERT_EQ(touches.size(), 1U);
  EXPECT_EQ(touches[0].address, 0x7f0000001008U);
  EXPECT_EQ(touches[0].thread, 4712U);
  EXPECT_EQ(touches[0].cpu, 1U);
  EXPECT_EQ(touches[0].nanoseconds, 77U);
  EXPECT_EQ(touches[0].latency_cycles, 100U);
  EXPECT_EQ(touches[0].stands_for, 131072U);
  EXPECT_EQ(monitor_->lost(), 1U) << "the area was full";
}

TEST(MemorySamples, OfThisMachineOrWhyNot) {
  const auto watching = watch_memory_samples(getpid(), linux_os::PerfEvents::real(), "");
  if (const Refusal* const refusal = std::get_if<Refusal>(&watching)) {
    EXPECT_TRUE(refusal->why.starts_with("pmu: ")) << refusal->why;
    EXPECT_EQ(refusal->why.find('\n'), std::string::npos);
    GTEST_SKIP() << refusal->why;
  }
  EXPECT_EQ(std::get<std::unique_ptr<Monitor>>(watching)->sees().name, "pmu");
}

class Named : public Monitor {
 public:
  explicit Named(std::string name) { sees_.name = std::move(name); }
  [[nodiscard]] const Sees& sees() const override { return sees_; }
  void drain(const Sink& /*sink*/) override {}
  [[nodiscard]] std::uint64_t lost() const override { return 0; }

 private:
  Sees sees_;
};

TEST(Choose, TheFirstThatWorksOrAllReasons) {
  int tried = 0;
  const auto refuses = [&tried](const char* why) {
    return [&tried, why]() -> Watching {
      ++tried;
      return Refusal{why};
    };
  };
  const auto works = [&tried](const char* name) {
    return [&tried, name]() -> Watching {
      ++tried;
      return std::make_unique<Named>(name);
    };
  };
  const std::vector<Candidate> candidates = {refuses("a: no"), works("b"), works("c")};
  const Watching chosen = choose(candidates);
  ASSERT_TRUE(std::holds_alternative<std::unique_ptr<Monitor>>(chosen));
  EXPECT_EQ(std::get<std::unique_ptr<Monitor>>(chosen)->sees().name, "b");
  EXPECT_EQ(tried, 2);
  const std::vector<Candidate> none = {refuses("a: no"), refuses("b: neither")};
  EXPECT_EQ(std::get<Refusal>(choose(none)).why, "a: no; b: neither");
}

TEST_F(MemorySamplesOf, AreChosenBeforeHintFaults) {
  const auto chosen = [&] {
    const Watching watching = choose_for(kProcess, events_, root_.path());
    return std::get<std::unique_ptr<Monitor>>(watching)->sees().name;
  };
  const Watching neither = choose_for(kProcess, events_, root_.path());
  EXPECT_NE(std::get<Refusal>(neither).why.find("; hint-faults: this kernel has no NUMA balancing"),
            std::string::npos);
  root_.write("/proc/sys/kernel/numa_balancing", "1\n");
  EXPECT_EQ(chosen(), "hint-faults");
  intel("cpu", "4");
  EXPECT_EQ(chosen(), "pmu");
}

}  // namespace
}  // namespace memgraft::observation
