// Perf events on every thread of a process, those that come later included, with one ring for each CPU.
#pragma once

#include <linux/perf_event.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "memgraft/linux/owned_fd.h"
#include "memgraft/linux/perf_events.h"
#include "memgraft/linux/perf_ring.h"
#include "memgraft/observation/monitor.h"

namespace memgraft::observation {

// An event to be opened on each thread.
struct WatchedEvent {
  perf_event_attr attributes{};
  std::optional<perf_event_attr> leader;  // that some PMUs want opened before it, in one group
  std::vector<int> cpus;                  // where the PMU is; empty: everywhere
  std::size_t aux_bytes = 0;              // of the second area, for PMUs that write there
};

// perf_event_open(2) follows a thread's children over all CPUs only without a ring, so there is one event for
// each thread and CPU, as `perf record -p` has them. Threads that begin later inherit those of the thread
// that starts them.
class ProcessEvents {
 public:
  // Per CPU. With its first page it is what perf_event_mlock_kb's default of 516 allows.
  static constexpr std::size_t kRingBytes = 512UL * 1024;
  // Of all CPUs together; with more than 128 the rings get smaller.
  static constexpr std::size_t kAllRingsBytes = 64UL * 1024 * 1024;

  // What every event needs to be understood here; a caller adds what and how often.
  static perf_event_attr attributes();

  // All events have the same sample_type. `root` is where /proc and /sys are looked for. The refusal is the
  // reason alone, without what was to be watched.
  static std::variant<std::unique_ptr<ProcessEvents>, Refusal> open(pid_t pid,
                                                                    std::span<const WatchedEvent> events,
                                                                    linux_os::PerfEvents& perf,
                                                                    const std::string& root,
                                                                    linux_os::PerfScope scope);
  ~ProcessEvents();
  ProcessEvents(const ProcessEvents&) = delete;
  ProcessEvents& operator=(const ProcessEvents&) = delete;
  ProcessEvents(ProcessEvents&&) = delete;
  ProcessEvents& operator=(ProcessEvents&&) = delete;

  using Visit = std::function<void(const linux_os::PerfSample&)>;
  // Each once, and only those of the process: where its children are followed too, theirs are left out.
  void samples(const Visit& visit);
  // The same for bytes of the second areas; the id says whose they are.
  using VisitAux = std::function<void(const linux_os::PerfSampleId&, linux_os::Bytes8)>;
  void aux(const VisitAux& visit);

  // Stops or goes on counting, in threads that begin meanwhile too.
  void enable(bool counts);

  [[nodiscard]] std::uint64_t lost() const;
  [[nodiscard]] std::size_t ring_bytes() const { return ring_bytes_; }

 private:
  ProcessEvents(pid_t pid, linux_os::PerfEvents& perf) : pid_(pid), perf_(&perf) {}

  // 0 or errno.
  int open_on_thread(pid_t thread, std::span<const WatchedEvent> events, std::span<const int> cpus);
  int open_on_cpu(pid_t thread, WatchedEvent event, int cpu);
  int give_ring(int fd, int cpu, std::size_t aux_bytes);
  int make_ring(int fd, int cpu, std::size_t aux_bytes);
  bool raise_descriptor_limit();
  void note_ended(const linux_os::PerfRecord& record);
  void forget_ended();
  // `last` is the last one that was wanted, of the same ring.
  [[nodiscard]] bool is_wanted(const linux_os::PerfSample& sample, std::optional<linux_os::PerfSample>& last);
  [[nodiscard]] bool counts_for(std::uint32_t thread, std::uint32_t cpu, std::uint64_t event);

  struct Ring {
    int fd = -1;  // of the event whose ring it is
    linux_os::PerfRing ring;
    std::optional<linux_os::PerfSample> last;
  };

  pid_t pid_;
  linux_os::PerfEvents* perf_;
  std::uint64_t sample_type_ = 0;
  bool each_counts_ = false;  // a sample is made of everything, not of one in many
  std::size_t ring_bytes_ = 0;
  bool inherit_thread_ = true;  // Linux 5.13; before, child processes are followed too
  std::vector<linux_os::OwnedFd> fds_;
  // By CPU and, as only events of one PMU share a second area, whether it has one.
  std::map<std::pair<int, bool>, Ring> rings_;
  std::unordered_map<std::uint64_t, pid_t> thread_of_event_;
  std::unordered_set<pid_t> opened_;  // threads with events of their own
  // Of threads without: by CPU, the thread whose events they inherited and that count.
  std::unordered_map<pid_t, std::unordered_map<std::uint32_t, pid_t>> inherited_;
  std::vector<pid_t> ended_;         // seen since the last reading began
  std::vector<pid_t> ended_before_;  // in the reading before
  std::uint64_t aux_cut_ = 0;        // times that a second area was full: at least as many were lost
  std::optional<std::uint64_t> old_descriptor_limit_;
};

}  // namespace memgraft::observation
