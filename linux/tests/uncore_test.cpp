#include "uncore.h"

#include <gtest/gtest.h>

#include <string>

#include "fake_root.h"

namespace memgraft::linux_os {
namespace {

constexpr const char* kScale = "6.103515625e-5\n";  // of a line of 64 bytes in MiB
constexpr double kLine = 64;

class Uncore : public testing::Test {
 protected:
  static std::string folder(const std::string& name) { return "/sys/bus/event_source/devices/" + name; }

  void controller(const std::string& name, const std::string& type, const std::string& cpumask) {
    root_.write(folder(name) + "/type", type + "\n");
    root_.write(folder(name) + "/cpumask", cpumask + "\n");
    root_.write(folder(name) + "/format/event", "config:0-7\n");
    root_.write(folder(name) + "/format/umask", "config:8-15\n");
  }
  void event(const std::string& name, const std::string& event, const std::string& terms) {
    root_.write(folder(name) + "/events/" + event, terms + "\n");
    root_.write(folder(name) + "/events/" + event + ".scale", kScale);
    root_.write(folder(name) + "/events/" + event + ".unit", "MiB\n");
  }
  MemoryTraffic found() { return find_memory_traffic(root_.path()); }

  FakeRoot root_;
};

TEST_F(Uncore, OfAServerIsEachControllerOnEachSocket) {
  for (const char* const name : {"uncore_imc_0", "uncore_imc_1"}) {
    controller(name, name == std::string("uncore_imc_0") ? "14" : "15", "0,18");
    event(name, "cas_count_read", "event=0x04,umask=0x03");
    event(name, "cas_count_write", "event=0x04,umask=0x0c");
  }
  // The same bytes once more, as Ice Lake servers show them.
  controller("uncore_imc_free_running_0", "30", "0,18");
  event("uncore_imc_free_running_0", "read", "event=0xff,umask=0x20");
  controller("uncore_cha_0", "40", "0");
  event("uncore_cha_0", "data_reads", "event=0x01");

  const std::vector<UncoreEvent> read = {
      {14, 0x304, 0, kLine}, {14, 0x304, 18, kLine}, {15, 0x304, 0, kLine}, {15, 0x304, 18, kLine}};
  EXPECT_EQ(found().read, read);
  ASSERT_EQ(found().written.size(), 4U);
  EXPECT_EQ(found().written[3], (UncoreEvent{15, 0xc04, 18, kLine}));
}

TEST_F(Uncore, OfAClientIsOneController) {
  controller("uncore_imc", "9", "0");
  event("uncore_imc", "data_reads", "event=0x01");
  event("uncore_imc", "data_writes", "event=0x02");
  EXPECT_EQ(found().read, (std::vector<UncoreEvent>{{9, 1, 0, kLine}}));
  EXPECT_EQ(found().written, (std::vector<UncoreEvent>{{9, 2, 0, kLine}}));
}

TEST_F(Uncore, IsNoneWithoutSysfsOrControllers) {
  EXPECT_TRUE(found().read.empty());
  root_.write(folder("software") + "/type", "1\n");
  EXPECT_TRUE(found().read.empty());
}

TEST_F(Uncore, OneThatIsNotUnderstoodLeavesNoSum) {
  controller("uncore_imc_0", "14", "0");
  event("uncore_imc_0", "cas_count_read", "event=0x04,umask=0x03");
  controller("uncore_imc_1", "15", "0");
  event("uncore_imc_1", "cas_count_read", "event=0x04,umask=0x03");
  ASSERT_EQ(found().read.size(), 2U);
  for (const auto& [file, nonsense] :
       {std::pair{"/type", "x"}, std::pair{"/cpumask", ""}, std::pair{"/cpumask", "3-1"},
        std::pair{"/events/cas_count_read.scale", "0"}, std::pair{"/events/cas_count_read.unit", "furlongs"},
        std::pair{"/events/cas_count_read", "other=1"}, std::pair{"/format/umask", "config1:0-7"}}) {
    const std::string path = folder("uncore_imc_1") + file;
    std::string before;
    std::getline(std::ifstream(root_.path() + path), before);
    root_.write(path, nonsense);
    EXPECT_TRUE(found().read.empty()) << file << " " << nonsense;
    root_.write(path, before + "\n");
    EXPECT_EQ(found().read.size(), 2U) << file;
  }
}

TEST_F(Uncore, TermsArePlacedByTheirFormats) {
  root_.write("/format/event", "config:0-7,21\n");
  root_.write("/format/edge", "config:18\n");
  root_.write("/format/top", "config:63\n");
  root_.write("/format/beyond", "config:60-64\n");
  root_.write("/format/other", "config1:0-7\n");
  const auto encode = [&](const char* terms) -> std::optional<std::uint64_t> {
    std::uint64_t config = 0;
    return encode_terms(terms, root_.path() + "/format", config) ? std::optional(config) : std::nullopt;
  };
  EXPECT_EQ(encode("event=0x104"), 0x200004U);
  EXPECT_EQ(encode("event=5,edge"), 0x40005U);
  EXPECT_EQ(encode("event=5,edge=0"), 5U);
  EXPECT_EQ(encode("top"), std::uint64_t{1} << 63U);
  EXPECT_EQ(encode(""), 0U);
  for (const char* const terms : {"event=0x200", "edge=2", "event=x", "beyond=1", "other=1", "unknown=1"}) {
    EXPECT_EQ(encode(terms), std::nullopt) << terms;
  }
}

}  // namespace
}  // namespace memgraft::linux_os
