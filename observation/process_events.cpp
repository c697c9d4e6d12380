#include "process_events.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <ctime>
#include <utility>

#include "cpu_list.h"
#include "memgraft/linux/threads_of.h"
#include "small_file.h"

namespace memgraft::observation {

namespace {

using linux_os::PerfRecord;
using linux_os::PerfSample;

std::string why_not_opened(int error, pid_t pid, linux_os::PerfScope scope, const std::string& root) {
  const std::string process = "process " + std::to_string(pid);
  struct stat owner{};
  const bool foreign =
      stat((root + "/proc/" + std::to_string(pid)).c_str(), &owner) == 0 && owner.st_uid != geteuid();
  if ((error == EACCES || error == EPERM) && foreign && geteuid() != 0) {
    return "not permitted: " + process + " belongs to user " + std::to_string(owner.st_uid) +
           ": watch it as that user, or with CAP_PERFMON";
  }
  if (error == ESRCH) {
    return "there is no " + process + ", or it has ended";
  }
  if (error == EMFILE) {
    return process +
           " has so many threads that a file descriptor for each on each CPU is more than `ulimit -Hn` "
           "allows: raise it";
  }
  if (error == ENOBUFS) {
    const std::string file = "/proc/sys/kernel/perf_event_mlock_kb";
    return "no memory may be locked for what is seen: " + file + " is " +
           linux_os::read_line(root + file).value_or("unknown") +
           " for all CPUs and programs of a user together, some of whom hold it: raise it, or `ulimit -l`";
  }
  return linux_os::why_not_counted(error, scope, root);
}

}  // namespace

perf_event_attr ProcessEvents::attributes() {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.sample_type =
      PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU;
  attributes.sample_id_all = 1;
  attributes.inherit = 1;
  attributes.task = 1;  // tells of threads that end, whose numbers are then used again
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  attributes.use_clockid = 1;
  attributes.clockid = CLOCK_MONOTONIC;
  return attributes;
}

std::variant<std::unique_ptr<ProcessEvents>, Refusal> ProcessEvents::open(
    pid_t pid, std::span<const WatchedEvent> events, linux_os::PerfEvents& perf, const std::string& root,
    linux_os::PerfScope scope) {
  std::unique_ptr<ProcessEvents> opened(new ProcessEvents(pid, perf));
  opened->sample_type_ = events.front().attributes.sample_type;
  opened->each_counts_ = events.front().attributes.sample_period == 1;
  const std::vector<int> cpus = online_cpus(root);
  // With a second area the ring only tells of it.
  const std::size_t wanted = events.front().aux_bytes != 0 ? kRingBytes / 8 : kRingBytes;
  opened->ring_bytes_ =
      std::max(linux_os::page_bytes(), std::min(wanted, std::bit_floor(kAllRingsBytes / cpus.size())));

  // A thread may begin between the listing and the opening, from one that has no events yet, or not on every
  // CPU. A later listing shows it. One that is new in the last round was begun by one that had them all.
  // Two such rounds, as one listing may leave threads out.
  constexpr int kRounds = 32;
  constexpr int kRoundsWithoutNew = 2;
  int error = ESRCH;
  int without_new = 0;
  for (int round = 0; round < kRounds && without_new < kRoundsWithoutNew; ++round) {
    ++without_new;
    for (const pid_t thread : linux_os::threads_of(pid, root)) {
      if (opened->opened_.contains(thread)) {
        continue;
      }
      without_new = 0;
      const int refused = opened->open_on_thread(thread, events, cpus);
      if (refused == ESRCH) {
        continue;  // It ended before.
      }
      if (refused != 0) {
        return Refusal{why_not_opened(refused, pid, scope, root)};
      }
      error = 0;
    }
  }
  if (error != 0) {
    return Refusal{why_not_opened(error, pid, scope, root)};
  }
  return opened;
}

ProcessEvents::~ProcessEvents() {
  rings_.clear();
  fds_.clear();
  if (old_descriptor_limit_) {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = *old_descriptor_limit_;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
}

int ProcessEvents::open_on_thread(pid_t thread, std::span<const WatchedEvent> events,
                                  std::span<const int> cpus) {
  opened_.insert(thread);
  for (const WatchedEvent& event : events) {
    for (const int cpu : event.cpus.empty() ? cpus : std::span<const int>(event.cpus)) {
      const int error = open_on_cpu(thread, event, cpu);
      // EBUSY: a PMU that takes one event at a time (Arm's SPE), and the thread inherited it.
      if (error != 0 && error != EBUSY) {
        return error;
      }
    }
  }
  return 0;
}

int ProcessEvents::open_on_cpu(pid_t thread, WatchedEvent event, int cpu) {
  const auto open = [&] {
    event.attributes.inherit_thread = inherit_thread_ ? 1 : 0;
    if (!event.leader) {
      return perf_->open(event.attributes, thread, cpu);
    }
    event.leader->inherit_thread = event.attributes.inherit_thread;
    const int leader = perf_->open(*event.leader, thread, cpu);
    if (leader < 0) {
      return leader;
    }
    fds_.emplace_back(leader);
    return perf_->join(leader, event.attributes, thread, cpu);
  };
  int fd = open();
  if (fd == -EINVAL && inherit_thread_) {
    inherit_thread_ = false;
    fd = open();
    inherit_thread_ = fd < 0;  // It was something else.
  }
  if (fd == -EMFILE && raise_descriptor_limit()) {
    fd = open();
  }
  if (fd < 0) {
    return -fd;
  }
  fds_.emplace_back(fd);
  if (const auto number = perf_->identifier(fd)) {
    thread_of_event_[*number] = thread;
  }
  return give_ring(fd, cpu, event.aux_bytes);
}

int ProcessEvents::give_ring(int fd, int cpu, std::size_t aux_bytes) {
  const auto found = rings_.find({cpu, aux_bytes != 0});
  if (found == rings_.end()) {
    return make_ring(fd, cpu, aux_bytes);
  }
  return -perf_->redirect(fd, found->second.fd);
}

// perf_event_mlock_kb is for all perf events of a user: where others hold some of it, less has to do.
int ProcessEvents::make_ring(int fd, int cpu, std::size_t aux_bytes) {
  int error = 0;
  std::optional<linux_os::PerfRing> ring = linux_os::PerfRing::map(*perf_, fd, ring_bytes_, error);
  while (!ring && (error == EPERM || error == ENOMEM) && ring_bytes_ / 2 >= linux_os::page_bytes()) {
    ring_bytes_ /= 2;
    ring = linux_os::PerfRing::map(*perf_, fd, ring_bytes_, error);
  }
  if (!ring) {
    return error == EPERM ? ENOBUFS : error;
  }
  if (aux_bytes != 0) {
    error = ring->map_aux(*perf_, fd, aux_bytes);
    if (error != 0) {
      return error;
    }
  }
  rings_.emplace(std::pair(cpu, aux_bytes != 0),
                 Ring{.fd = fd, .ring = *std::move(ring), .last = std::nullopt});
  return 0;
}

bool ProcessEvents::raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) {
    return false;
  }
  old_descriptor_limit_ = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

// Threads that were found late may have inherited events and have got their own too, and what such a thread
// begins inherits both: then there are two samples of what happened once.
bool ProcessEvents::is_wanted(const PerfSample& sample, std::optional<PerfSample>& last) {
  if (std::cmp_not_equal(sample.process, pid_)) {
    return false;
  }
  if (!each_counts_) {
    return counts_for(sample.thread, sample.cpu, sample.event);
  }
  // Both events tell of it, one right after the other: Linux before 6.3 with their own numbers and times,
  // later ones twice with the first one's (kernel/events/core.c, perf_prepare_sample).
  const bool again = last && last->thread == sample.thread && last->address == sample.address &&
                     (last->event != sample.event || last->time == sample.time);
  if (!again) {
    last = sample;
  }
  return !again;
}

// Of events that sample, each chooses something else, and those of one thread alone count: of a thread with
// its own these, else those of the thread that was seen first, for each CPU, as another may have had none
// there yet.
bool ProcessEvents::counts_for(std::uint32_t thread, std::uint32_t cpu, std::uint64_t event) {
  const auto owner = thread_of_event_.find(event);
  if (owner == thread_of_event_.end()) {
    return true;
  }
  const auto number = static_cast<pid_t>(thread);
  const pid_t counts =
      opened_.contains(number) ? number : inherited_[number].try_emplace(cpu, owner->second).first->second;
  return owner->second == counts;
}

void ProcessEvents::note_ended(const PerfRecord& record) {
  const auto task = record.type == PERF_RECORD_EXIT ? linux_os::parse_task(record.body) : std::nullopt;
  if (task) {
    ended_.push_back(static_cast<pid_t>(task->thread));
  }
}

// A thread's number may be another's soon. Its own records on CPUs whose rings were read before that of its
// end are read the next time.
void ProcessEvents::forget_ended() {
  for (const pid_t thread : ended_before_) {
    opened_.erase(thread);
    inherited_.erase(thread);
  }
  ended_before_ = std::exchange(ended_, {});
}

void ProcessEvents::samples(const Visit& visit) {
  for (auto& [place, ring] : rings_) {
    ring.ring.read([&](const PerfRecord& record) {
      if (record.type != PERF_RECORD_SAMPLE) {
        note_ended(record);
        return;
      }
      const std::optional<PerfSample> sample = linux_os::parse_sample(record.body, sample_type_);
      if (sample && is_wanted(*sample, ring.last)) {
        visit(*sample);
      }
    });
  }
  forget_ended();
}

void ProcessEvents::aux(const VisitAux& visit) {
  for (auto& [place, ring] : rings_) {
    ring.ring.read([&](const PerfRecord& record) {
      const auto part =
          record.type == PERF_RECORD_AUX ? linux_os::parse_aux(record.body, sample_type_) : std::nullopt;
      if (!part) {
        note_ended(record);
        return;
      }
      aux_cut_ += (part->flags & PERF_AUX_FLAG_TRUNCATED) != 0 ? 1 : 0;
      const linux_os::PerfSampleId& id = part->id;
      if (std::cmp_equal(id.process, pid_) && counts_for(id.thread, id.cpu, id.event)) {
        visit(id, ring.ring.aux(*part));
      }
    });
  }
  forget_ended();
}

void ProcessEvents::enable(bool counts) {
  for (const linux_os::OwnedFd& fd : fds_) {
    perf_->enable(fd.get(), counts);
  }
}

std::uint64_t ProcessEvents::lost() const {
  std::uint64_t lost = aux_cut_;
  for (const auto& [place, ring] : rings_) {
    lost += ring.ring.lost();
  }
  return lost;
}

}  // namespace memgraft::observation
