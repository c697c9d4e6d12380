#include "pmu_devices.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "cpu_list.h"
#include "memgraft/linux/perf_ring.h"
#include "memgraft/observation/pmu.h"
#include "small_file.h"
#include "uncore.h"

namespace memgraft::observation {

namespace {

using linux_os::PmuConfig;
using linux_os::read_line;
using Found = std::variant<MemorySampling, Refusal>;

constexpr const char* kDevices = "/sys/bus/event_source/devices/";

bool is_there(const std::string& path) {
  std::error_code none;
  return std::filesystem::exists(path, none);
}

std::vector<std::string> devices_like(const std::string& root, std::string_view prefix) {
  std::vector<std::string> names;
  std::error_code none;
  for (std::filesystem::directory_iterator entry(root + kDevices, none), end; !none && entry != end;
       entry.increment(none)) {
    std::string name = entry->path().filename().string();
    if (name.starts_with(prefix)) {
      names.push_back(std::move(name));
    }
  }
  std::ranges::sort(names);
  return names;
}

// One unit's folder in sysfs.
class Device {
 public:
  Device(const std::string& root, const std::string& name) : folder_(root + kDevices + name) {}

  [[nodiscard]] std::optional<std::string> event(const std::string& name) const {
    return read_line(folder_ + "/events/" + name);
  }
  [[nodiscard]] bool takes(const std::string& term) const { return is_there(folder_ + "/format/" + term); }
  [[nodiscard]] std::optional<std::string> file(const std::string& name) const {
    return read_line(folder_ + "/" + name);
  }

  // Nothing where the type or a term cannot be understood.
  [[nodiscard]] std::optional<perf_event_attr> attributes(std::string_view terms) const {
    const auto type = linux_os::to_number(file("type").value_or(""));
    PmuConfig config{};
    if (!type || !linux_os::encode_terms(terms, folder_ + "/format", config)) {
      return std::nullopt;
    }
    perf_event_attr attributes = ProcessEvents::attributes();
    attributes.type = static_cast<std::uint32_t>(*type);
    attributes.config = config[0];
    attributes.config1 = config[1];
    attributes.config2 = config[2];
    return attributes;
  }

 private:
  std::string folder_;
};

// So many samples a second, where the machine allows it.
void sample_at_rate(perf_event_attr& attributes, const std::string& root) {
  const auto most =
      linux_os::to_number(read_line(root + "/proc/sys/kernel/perf_event_max_sample_rate").value_or(""));
  attributes.freq = 1;
  attributes.sample_freq = std::min<std::uint64_t>(kSamplesPerSecond, most.value_or(kSamplesPerSecond));
  attributes.sample_type |= PERF_SAMPLE_PERIOD;
}

std::string with_load_latency(std::string_view terms) {
  std::string changed;
  while (!terms.empty()) {
    const std::string_view term = linux_os::cut_field(terms, ',');
    changed += changed.empty() ? "" : ",";
    changed += term.starts_with("ldlat=") ? "ldlat=" + std::to_string(kLoadLatency) : std::string(term);
  }
  return changed;
}

bool add_pebs(const std::string& root, const std::string& name, MemorySampling& sampling) {
  const Device device(root, name);
  const std::optional<std::string> aux = device.event("mem-loads-aux");
  for (const char* const event : {"mem-loads", "mem-stores"}) {
    const std::optional<std::string> terms = device.event(event);
    if (!terms) {
      continue;
    }
    const auto attributes = device.attributes(with_load_latency(*terms));
    if (!attributes) {
      return false;
    }
    WatchedEvent& watched = sampling.events.emplace_back();
    watched.attributes = *attributes;
    sample_at_rate(watched.attributes, root);
    watched.attributes.precise_ip = 2;
    watched.attributes.sample_type |= PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC;
    watched.cpus = to_cpus(device.file("cpus").value_or(""));  // of a hybrid machine's core or atom CPUs
    if (aux && event == std::string_view("mem-loads")) {
      // Sapphire Rapids and Alder Lake: load latency only counts in a group behind this one
      // (arch/x86/events/intel/core.c).
      watched.leader = device.attributes(*aux);
      if (!watched.leader) {
        return false;
      }
    }
  }
  return true;
}

std::optional<Found> find_pebs(const std::string& root) {
  MemorySampling sampling;
  sampling.unit = MemorySampling::Unit::pebs;
  for (const std::string& name : devices_like(root, "cpu")) {
    if (!Device(root, name).event("mem-loads")) {
      continue;
    }
    if (!add_pebs(root, name, sampling)) {
      return Refusal{"PEBS: the terms of " + name + "/events/mem-* make no sense by its folder format"};
    }
    sampling.device.append(sampling.device.empty() ? "" : ", ").append(name);
  }
  return sampling.events.empty() ? std::nullopt : std::optional<Found>(sampling);
}

std::optional<Found> find_ibs(const std::string& root) {
  const Device device(root, "ibs_op");
  if (!device.file("type")) {
    return std::nullopt;
  }
  MemorySampling sampling;
  sampling.unit = MemorySampling::Unit::ibs;
  sampling.device = "ibs_op";
  // Operations instead of cycles, where the CPU can count them; the kernel's left out by software, where it
  // can do that (Linux 6.14). Otherwise those are sampled too, and left out here.
  const bool filter = device.takes("swfilt");
  const std::string counted = device.takes("cnt_ctl") ? "cnt_ctl=1" : "";
  const std::string filtered = filter ? "swfilt=1" : "";
  const auto attributes =
      device.attributes(counted + (counted.empty() || filtered.empty() ? "" : ",") + filtered);
  if (!attributes) {
    return Refusal{"IBS: ibs_op/type or ibs_op/format makes no sense"};
  }
  WatchedEvent& watched = sampling.events.emplace_back();
  watched.attributes = *attributes;
  sample_at_rate(watched.attributes, root);
  watched.attributes.sample_type |= PERF_SAMPLE_RAW;
  watched.attributes.exclude_kernel = filter ? 1 : 0;
  watched.attributes.exclude_hv = 0;  // IBS cannot.
  sampling.scope = filter ? linux_os::PerfScope::user : linux_os::PerfScope::user_and_kernel;
  return sampling;
}

std::optional<Found> find_spe(const std::string& root) {
  MemorySampling sampling;
  sampling.unit = MemorySampling::Unit::spe;
  for (const std::string& name : devices_like(root, "arm_spe_")) {
    const Device device(root, name);
    const auto attributes = device.attributes("ts_enable=1,jitter=1,load_filter=1,store_filter=1");
    const std::vector<int> cpus = to_cpus(device.file("cpumask").value_or(""));
    if (!attributes || cpus.empty()) {
      return Refusal{"SPE: " + name + "/type, /format or /cpumask makes no sense"};
    }
    const auto least = linux_os::to_number(device.file("caps/min_interval").value_or(""));
    WatchedEvent& watched = sampling.events.emplace_back();
    watched.attributes = *attributes;
    watched.attributes.sample_period = std::max<std::uint64_t>(kSpePeriod, least.value_or(0));
    watched.cpus = cpus;
    constexpr std::size_t kAuxBytes = 64UL * 1024;
    constexpr std::size_t kLeastPages = 4;
    watched.aux_bytes = std::max(kAuxBytes, kLeastPages * linux_os::page_bytes());
    // A record of it at least for each quarter, so that a thread that is never interrupted is seen in time.
    watched.attributes.aux_watermark = static_cast<std::uint32_t>(watched.aux_bytes / 4);
    sampling.device.append(sampling.device.empty() ? "" : ", ").append(name);
  }
  return sampling.events.empty() ? std::nullopt : std::optional<Found>(sampling);
}

}  // namespace

std::variant<MemorySampling, Refusal> find_memory_sampling(const std::string& root) {
  for (const auto& find : {find_pebs, find_ibs, find_spe}) {
    if (std::optional<Found> found = find(root)) {
      return *std::move(found);
    }
  }
  return Refusal{
      std::string("no unit that samples memory accesses: looked in ") + kDevices +
      " for cpu*/events/mem-loads (Intel's PEBS), ibs_op (AMD) and arm_spe_* (Arm): this CPU or hypervisor "
      "offers none"};
}

}  // namespace memgraft::observation
