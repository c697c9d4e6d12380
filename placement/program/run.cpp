#include "run.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <variant>

#include "child.h"
#include "memgraft/linux/threads_of.h"
#include "memgraft/observation/numa_balancing.h"
#include "memgraft/placement/binding.h"
#include "memgraft/placement/session.h"
#include "memgraft/units.h"
#include "monitors.h"
#include "own.h"
#include "record.h"
#include "signals.h"
#include "started.h"

namespace memgraft::placement {

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr double kMappingShare = 0.3;  // of what observing may take, besides, for --map
constexpr Budget::Seconds kMappingSaved{0.1};

int say(int code, const std::string& what) {
  (void)std::fprintf(stderr, "%s%s\n", kSays, what.c_str());
  return code;
}

enum class Reason : std::uint8_t { exited, detached, duration };
constexpr std::array<const char*, 3> kReasons{"exited", "detached", "duration"};

Settings settings_of(const Options& options) {
  Settings settings;
  settings.freeze_after = options.freeze_after;
  settings.freeze_for = options.freeze_for;
  settings.least_share = options.least_share;
  settings.must_pay = !options.ignore_move_cost;
  settings.neighbours = !options.ignore_neighbours;
  settings.most_pages =
      static_cast<std::uint64_t>(static_cast<double>(options.pages_per_second) * options.interval_seconds);
  return settings;
}

std::string why_no_access(Access access, pid_t process) {
  const std::string whom = "the pages of process " + std::to_string(process);
  switch (access) {
    case Access::denied:
      return whom +
             " are not ours to move: run as its user (and with kernel.yama.ptrace_scope 0 if it is no child "
             "of ours), or with CAP_SYS_NICE";
    case Access::none:
      return whom + " cannot be moved: this kernel has no move_pages(2), or a seccomp filter hides it";
    case Access::ended:
      return "process " + std::to_string(process) + " has ended";
    case Access::granted:
      break;
  }
  return "";
}

struct Finished {
  std::optional<int> exit_code;  // the command's, if there is one
  bool all_written = true;       // what was to be recorded and summed up
};

// What is running: everything that ends with it.
class Run {
 public:
  Run(const Options& options, const Topology& topology, pid_t process, Child* child,
      observation::Monitor& monitor, Signals& signals, RecordFile& record)
      : options_(options),
        topology_(topology),
        process_(process),
        child_(child),
        monitor_(monitor),
        signals_(signals),
        record_(record),
        session_(process, topology, monitor,
                 {.settings = settings_of(options),
                  .interval_seconds = options.interval_seconds,
                  .dry_run = options.dry_run,
                  .observing_cpu = options.observing_cpu,
                  .root = options.root}),
        totals_(topology.size()),
        mapping_(kMappingShare * options.observing_cpu, kMappingSaved),
        end_(end_of(process)) {
    if (options.bind_threads) {
      binding_ = std::make_unique<Binding>(process, topology);
    }
  }

  [[nodiscard]] Access access() const { return session_.access(); }

  // Until the process ends or is left.
  void go() {
    begin();
    while (!reason_) {
      wait_for_next();
      look_at_signals();
      session_.drain();
      const Clock::time_point now = Clock::now();
      if (!reason_ && now >= next_interval_) {
        end_interval(/*last=*/false);
        next_interval_ += interval();
        next_interval_ = std::max(next_interval_, now);  // after the machine slept
      }
      if (binding_ && now >= next_binding_) {
        binding_->bind_new();
        next_binding_ = now + kBindingEvery;
      }
      if (!reason_ && deadline_ && now >= *deadline_) {
        reason_ = Reason::duration;
      }
    }
    end_interval(/*last=*/true);
  }

  // After go(): the record's last line and the summary.
  Finished finish() {
    if (binding_) {
      binding_->undo();
    }
    std::optional<int> exit_code;
    if (child_ != nullptr) {
      exit_code = child_->wait();
    }
    Json end =
        totals_.end_line({.at_ms = at_ms(),
                          .reason = kReasons.at(static_cast<std::size_t>(reason_.value_or(Reason::exited))),
                          .exit_code = exit_code,
                          .cpu_seconds = cpu_before_,
                          .largest_bytes = own_largest_bytes()});
    record_.write(end);
    if (!options_.summary.empty()) {
      end["start"] = start_;
      std::ofstream out(options_.summary);
      out << end.dump(1, ' ', false, Json::error_handler_t::replace) << '\n';
      if (!out.flush()) {
        say(kDone, options_.summary + ": the summary cannot be written");
        return {.exit_code = exit_code, .all_written = false};
      }
    }
    return {.exit_code = exit_code, .all_written = record_.is_whole()};
  }

 private:
  static constexpr std::chrono::milliseconds kBindingEvery{1000};

  [[nodiscard]] Clock::duration interval() const {
    return std::chrono::duration_cast<Clock::duration>(Seconds(options_.interval_seconds));
  }
  [[nodiscard]] std::uint64_t at_ms() const {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - began_).count());
  }

  void begin() {
    began_ = Clock::now();
    next_interval_ = began_ + interval();
    // OpenMP and the JVM count the CPUs they may use when they begin: only then may a thread be bound.
    next_binding_ = began_ + (child_ != nullptr ? kBindingEvery : std::chrono::milliseconds(0));
    if (options_.duration_seconds > 0) {
      deadline_ = began_ + std::chrono::duration_cast<Clock::duration>(Seconds(options_.duration_seconds));
    }
    kernel_moved_ = kernel_migrations(options_.root);
    used_before_ = cpu_seconds(process_, "");
    start_ = start_line(options_, {.pid = process_, .program = program_name(process_, "")}, topology_,
                        monitor_.sees(), settings_of(options_));
    record_.write(start_);
  }

  // Until it is time for a drain; sooner when a signal comes or the process ends.
  void wait_for_next() {
    std::array<pollfd, 2> waited{{{.fd = signals_.fd(), .events = POLLIN, .revents = 0},
                                  {.fd = end_.get(), .events = POLLIN, .revents = 0}}};
    Clock::time_point until = Clock::now() + std::chrono::milliseconds(options_.drain_milliseconds);
    until = std::min(until, next_interval_);
    until = deadline_ ? std::min(until, *deadline_) : until;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    (void)poll(waited.data(), waited.size(), static_cast<int>(std::max<std::int64_t>(left, 0)));
    // Without a descriptor of the process (Linux before 5.3) signal 0 asks whether it is there.
    const bool ended = end_.get() >= 0 ? waited[1].revents != 0 : kill(process_, 0) != 0 && errno == ESRCH;
    if (ended) {
      reason_ = Reason::exited;
    }
  }

  void look_at_signals() {
    while (const auto signal = signals_.take()) {
      if (child_ == nullptr) {
        reason_ = reason_ ? reason_ : Reason::detached;
      } else if (!signal->from_terminal) {
        (void)kill(process_, signal->number);
      }
    }
  }

  void end_interval(bool last) {
    const Interval interval = session_.end_interval(last);
    const double cpu = own_cpu_seconds() + to_seconds(Nanoseconds(monitor_.nanoseconds_inside()));
    const std::uint64_t migrated = kernel_migrations(options_.root);
    constexpr double kMilliseconds = 1000;
    // What ended with the program says nothing of how it was.
    if (std::string now = monitor_.hindrance(); !last || !now.empty()) {
      hindrance_ = std::move(now);
    }
    const CpuSeconds used = cpu_seconds(process_, "") - used_before_;
    if (std::string why = why_little_is_seen(used, program_name(process_, "")); !why.empty()) {
      hindrance_ = std::move(why);
    }
    const Surroundings around{.at_ms = at_ms(),
                              .threads = linux_os::threads_of(process_).size(),
                              .cpu_ms = (cpu - cpu_before_) * kMilliseconds,
                              .kernel_moved = migrated - kernel_moved_,
                              .hindrance = hindrance_};
    cpu_before_ = cpu;
    kernel_moved_ = migrated;
    totals_.add(interval, around);
    Json line = interval_line(interval, around);
    if (options_.map && !last && mapping_.allows()) {
      mapping_.spend(
          [&] { line["map"] = map_of(map_of_pages(session_.mappings(), session_.mover()), topology_); });
    }
    record_.write(line);
  }

  const Options& options_;
  const Topology& topology_;
  pid_t process_;
  Child* child_;
  observation::Monitor& monitor_;
  Signals& signals_;
  RecordFile& record_;
  Session session_;
  Totals totals_;
  Budget mapping_;
  linux_os::OwnedFd end_;
  std::unique_ptr<Binding> binding_;
  std::optional<Reason> reason_;
  std::optional<Clock::time_point> deadline_;
  Clock::time_point began_;
  Clock::time_point next_interval_;
  Clock::time_point next_binding_;
  double cpu_before_ = 0;
  CpuSeconds used_before_;
  std::string hindrance_;
  std::uint64_t kernel_moved_ = 0;
  Json start_;
};

// With the monitor attached and the command waiting before its exec.
int watched(const Options& options, const Topology& topology, pid_t process, Child* child,
            observation::Monitor& monitor, Signals& signals, RecordFile& record) {
  Run run(options, topology, process, child, monitor, signals, record);
  if (run.access() != Access::granted && topology.size() > 1) {
    const std::string why = why_no_access(run.access(), process);
    if (!options.dry_run) {
      return say(kCannot, why);
    }
    say(kDone, why + "; a dry run goes on without");
  }
  if (child != nullptr) {
    if (const int error = child->release(); error != 0) {
      return say(kWrongUsage, options.command.front() + ": " + std::generic_category().message(error));
    }
  }
  run.go();
  const Finished finished = run.finish();
  if (const int exit_code = finished.exit_code.value_or(0); exit_code != 0) {
    return say(kFailed, options.command.front() + ": exit code " + std::to_string(exit_code));
  }
  return finished.all_written ? kDone : kFailed;
}

}  // namespace

int place(const Options& options) {
  const Topology topology = Topology::of_system(options.root);
  if (topology.size() == 1 && !options.dry_run) {
    return say(kCannot,
               "this machine has one NUMA node: there is nothing to place; `--dry-run` shows who touches "
               "which page");
  }
  if (options.pid != 0 && kill(options.pid, 0) != 0 && errno == ESRCH) {
    return say(kWrongUsage, "--pid " + std::to_string(options.pid) + ": there is no such process");
  }
  RecordFile record;
  if (const std::string why = record.open(options.record); !why.empty()) {
    return say(kWrongUsage, why);
  }
  // Before the command: the process that turns it back must not wait for the command's end.
  std::unique_ptr<observation::NumaBalancing> balancing;
  if (options.numa_balancing) {
    auto turned_on = observation::NumaBalancing::turn_on(options.root);
    if (const auto* const refusal = std::get_if<observation::Refusal>(&turned_on)) {
      return say(kCannot, "--numa-balancing: " + refusal->why);
    }
    balancing = std::move(std::get<0>(turned_on));
  }
  Signals signals;
  Monitors monitors(options.monitor, options.root, options.sampling);
  std::unique_ptr<Child> child;
  if (options.pid == 0) {
    child = std::make_unique<Child>(options.command, monitors.prepare_command(), signals.before());
    if (child->pid() < 0) {
      return say(kCannot, options.command.front() + ": cannot be started: the system has no process left");
    }
  }
  const pid_t process = child ? child->pid() : options.pid;
  Chosen chosen = monitors.watch(process);
  if (const auto* const refusal = std::get_if<observation::Refusal>(&chosen)) {
    return say(kCannot, refusal->why);
  }
  return watched(options, topology, process, child.get(), *std::get<0>(chosen), signals, record);
}

}  // namespace memgraft::placement
