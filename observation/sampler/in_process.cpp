#include "memgraft/observation/in_process.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <new>
#include <sstream>
#include <utility>

#include "shared.h"

namespace memgraft::observation {
namespace {

// Above those that shells and programs use by number.
constexpr int kLeastFd = 100;

// Pages are guarded in batches, in about so long.
constexpr std::uint64_t kBatchNanoseconds = 1'000'000;

std::uint64_t now_nanoseconds() {
  timespec now{};
  static_cast<void>(clock_gettime(CLOCK_MONOTONIC, &now));
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

Refusal failed(const std::string& what) {
  return {"faults-in-process: " + what + ": " + std::strerror(errno)};  // NOLINT(concurrency-mt-unsafe)
}

}  // namespace

// The program writes into it: nothing read from it is believed further than its type goes.
class InProcess::Memory {
 public:
  Memory(int fd, void* at) : fd_(fd), shared_(new(at) Shared) {}
  ~Memory() {
    shared_->stop.store(1, std::memory_order_relaxed);
    munmap(shared_, sizeof(Shared));
    close(fd_);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  Memory(Memory&&) = delete;
  Memory& operator=(Memory&&) = delete;

  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] Shared& shared() const { return *shared_; }

 private:
  int fd_;
  Shared* shared_;
};

namespace {

constexpr std::uint64_t kMiB = 1U << 20U;

// "PART of ALL MiB", where that is a tenth and a MiB, or more; else nothing.
std::string if_much(std::uint64_t part, std::uint64_t all) {
  constexpr std::uint64_t kTenth = 10;
  return part < std::max(all / kTenth, kMiB)
             ? ""
             : std::to_string(part / kMiB) + " of " + std::to_string(all / kMiB) + " MiB";
}

// What is not sampled, and why (README.md).
std::string left_out_in_words(const Shared& shared) {
  const std::uint64_t maybe_stacks = shared.left_out_bytes.load(std::memory_order_relaxed);
  const std::uint64_t large = maybe_stacks + shared.candidate_bytes.load(std::memory_order_relaxed);
  const std::uint64_t small = shared.small_bytes.load(std::memory_order_relaxed);
  std::string words;
  if (const std::string much = if_much(maybe_stacks, large); !much.empty()) {
    words =
        much + " in large pieces are not sampled: they lie behind a small inaccessible region, as stacks do";
  }
  if (const std::string much = if_much(small, large + small); !much.empty()) {
    words += words.empty() ? "" : "; ";
    words += much + " are not sampled: they are malloc's for small objects, or in pieces of less than " +
             std::to_string(shared.least_mapping_bytes.load() >> 10U) + " KiB, or in too many pieces";
  }
  return words.empty() ? "" : words + "; --monitor hint-faults sees them";
}

std::string fault_in_words(const Shared& shared) {
  const std::int32_t code = shared.fault_code.load(std::memory_order_relaxed);
  std::ostringstream words;
  words << "ended: the program got a SIGSEGV of its own doing";
  if (code <= 0) {
    words << ", which a process sent";
  } else {
    words << " at 0x" << std::hex << shared.fault_address.load(std::memory_order_relaxed) << std::dec;
  }
  words << " (si_code " << code << ")";
  return words.str();
}

std::string in_words(const Shared& shared) {
  const std::uint32_t standing = shared.standing.load(std::memory_order_relaxed);
  switch (static_cast<Standing>(standing)) {
    case Standing::waiting:
      return "not loaded: the program is linked statically, has privileges of its own, or has not begun";
    case Standing::sampling:
      return "sampling";
    case Standing::idle:
      if (std::string left_out = left_out_in_words(shared); !left_out.empty()) {
        return left_out;
      }
      return "nothing to sample: no anonymous memory of " +
             std::to_string(shared.least_mapping_bytes.load() >> 10U) + " KiB or more in a row";
    case Standing::stopped:
      return "ended";
    case Standing::jvm:
      return "left alone: it is a JVM, which uses SIGSEGV itself; use --monitor hint-faults";
    case Standing::replaced:
      return "ended: the program took SIGSEGV for itself without the C library (Go does); use --monitor "
             "hint-faults";
    case Standing::many_threads:
      return "ended: the program has more stacks or locks than there are places for; use --monitor "
             "hint-faults";
    case Standing::no_thread:
      return "ended: no thread could be started in the program";
    case Standing::fault:
      return fault_in_words(shared);
  }
  return "unknown: the program wrote " + std::to_string(standing);
}

class Watched : public Monitor {
 public:
  Watched(std::shared_ptr<InProcess::Memory> memory, pid_t child)
      : memory_(std::move(memory)), child_(child) {}
  ~Watched() override { memory_->shared().stop.store(1, std::memory_order_relaxed); }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  Watched(Watched&&) = delete;
  Watched& operator=(Watched&&) = delete;

  [[nodiscard]] const Sees& sees() const override { return sees_; }

  void drain(const Sink& sink) override {
    Shared& shared = memory_->shared();
    shared.alive_nanoseconds.store(now_nanoseconds(), std::memory_order_relaxed);
    if (shared.claimed_by.load(std::memory_order_relaxed) != static_cast<std::uint32_t>(child_)) {
      return;
    }
    records_.clear();
    shared.touches.take_all([this](const Record& record) { records_.push_back(record); });
    std::ranges::sort(records_, {}, &Record::nanoseconds);
    for (const Record& record : records_) {
      Touch touch;
      touch.address = record.address;
      touch.nanoseconds = record.nanoseconds;
      const Toucher who = toucher_in(record.who);
      touch.thread = who.thread;
      touch.cpu = who.cpu;
      if (who.knows_store) {
        touch.store = who.store;
      }
      touch.watched_nanoseconds = std::max(who.watched_nanoseconds, kBatchNanoseconds);
      sink(touch);
    }
  }

  bool keep_apart(std::uint64_t address) override {
    auto& places = memory_->shared().apart;
    auto* const free = std::ranges::find_if(
        places, [](const auto& place) { return place.load(std::memory_order_relaxed) == 0; });
    if (free == std::end(places)) {
      return false;
    }
    free->store(address, std::memory_order_relaxed);
    return true;
  }

  [[nodiscard]] std::uint64_t lost() const override { return memory_->shared().touches.lost(); }

  [[nodiscard]] std::string hindrance() const override {
    const auto standing = static_cast<Standing>(memory_->shared().standing.load(std::memory_order_relaxed));
    if (standing == Standing::sampling || standing == Standing::stopped) {  // the latter with the program
      return left_out_in_words(memory_->shared());
    }
    return in_words(memory_->shared());
  }

  [[nodiscard]] std::uint64_t nanoseconds_inside() const override {
    return memory_->shared().cpu_nanoseconds.load(std::memory_order_relaxed);
  }

 private:
  std::shared_ptr<InProcess::Memory> memory_;
  pid_t child_;
  std::vector<Record> records_;
  Sees sees_{.name = "faults-in-process",
             .what = "the first access to each page of a sample, by a library inside the program",
             .thread = true,
             .cpu = true,
#ifdef __x86_64__
             .store = true,
#else
             .store = false,
#endif
             .latency = false,
             .every_access = false,
             .splits = true};
};

}  // namespace

InProcess::InProcess(std::string library, std::shared_ptr<Memory> memory)
    : library_(std::move(library)), memory_(std::move(memory)) {}

std::variant<std::unique_ptr<InProcess>, Refusal> InProcess::prepare(const std::string& library,
                                                                     const Sampling& sampling) {
  if (access(library.c_str(), R_OK) != 0) {
    return failed(library + " cannot be read, build it or install Memgraft again");
  }
  if (library.find_first_of(": ") != std::string::npos) {
    return Refusal{"faults-in-process: '" + library +
                   "': LD_PRELOAD cannot name a path with a space or a colon"};
  }
  const int low = memfd_create("memgraft-sampler", 0);
  if (low < 0) {
    return failed("no memory to share (memfd_create)");
  }
  const int fd = fcntl(low, F_DUPFD, kLeastFd);
  close(low);
  if (fd < 0 || ftruncate(fd, static_cast<off_t>(sizeof(Shared))) != 0) {
    close(fd);
    return failed("no memory to share (ftruncate)");
  }
  void* const at = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) {
    close(fd);
    return failed("no memory to share (mmap)");
  }
  auto memory = std::make_shared<Memory>(fd, at);
  Shared& shared = memory->shared();
  shared.pages_per_second = sampling.pages_per_second;
  shared.least_mapping_bytes = sampling.least_mapping_bytes;
  shared.with_brk = sampling.with_brk ? 1 : 0;
  shared.cpu_millionths = static_cast<std::uint32_t>(1e6 * std::clamp(sampling.cpu_share, 0.0001, 1000.0));
  shared.alive_nanoseconds = now_nanoseconds();
  return std::make_unique<InProcess>(library, std::move(memory));
}

std::vector<std::string> InProcess::environment() const {
  const char* const others = std::getenv("LD_PRELOAD");  // NOLINT(concurrency-mt-unsafe)
  std::string preload = "LD_PRELOAD=" + library_;
  if (others != nullptr && *others != 0) {
    preload += std::string(":") + others;
  }
  return {preload, std::string(kRingVariable) + "=" + std::to_string(memory_->fd())};
}

std::unique_ptr<Monitor> InProcess::watch(pid_t child) { return std::make_unique<Watched>(memory_, child); }

std::string InProcess::standing() const { return in_words(memory_->shared()); }

}  // namespace memgraft::observation
