#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <new>
#include <vector>

#include "forgotten_by_fork.h"
#include "futex.h"
#include "helper.h"
#include "machine.h"
#include "memgraft/zeroing_ahead.h"
#include "protocol.h"
#include "restartable.h"

namespace memgraft::zeroing {

using ahead::Block;
using ahead::Found;
using ahead::Generation;
using ahead::Region;
using ahead::Value;

namespace {

constexpr std::size_t kLineBytes = 64;
constexpr std::size_t kSmallestBlock = 4096;

std::uint64_t monotonic_nanoseconds() {
  timespec time{};
  (void)clock_gettime(CLOCK_MONOTONIC, &time);  // cannot fail for this clock (clock_gettime(2))
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(time.tv_nsec);
}

std::byte* round_up(std::byte* at) {
  const std::uintptr_t over = reinterpret_cast<std::uintptr_t>(at) % kLineBytes;  // only the low bits matter
  return over == 0 ? at : at + (kLineBytes - over);
}

std::byte* round_down(std::byte* at) {
  return at - reinterpret_cast<std::uintptr_t>(at) % kLineBytes;  // only the low bits matter
}

// What allocating threads count, by the CPU they run on, so that they do not meet in one cache line.
struct alignas(kLineBytes) TakerCounts {
  std::atomic<std::uint64_t> ready{0};
  std::atomic<std::uint64_t> zeroed{0};
  std::atomic<std::uint64_t> steals{0};
  std::atomic<std::uint64_t> steal_time{0};
  std::atomic<std::uint64_t> waits{0};
  std::atomic<std::uint64_t> wait_time{0};
};

void add(std::atomic<std::uint64_t>& count, std::uint64_t more) {
  if (more != 0) {
    count.fetch_add(more, std::memory_order_relaxed);  // relaxed: each count by itself
  }
}

std::uint64_t read(const std::atomic<std::uint64_t>& count) {
  return count.load(std::memory_order_relaxed);  // relaxed: each count by itself
}

}  // namespace

// All calls of ZeroingAhead once more, which hands each of them on: so its header needs none of the types
// below.
class ZeroingAhead::Parts {
 public:
  explicit Parts(const Settings& settings);
  ~Parts();
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;
  Parts(Parts&&) = delete;
  Parts& operator=(Parts&&) = delete;

  bool start(std::string& reason);
  [[nodiscard]] bool can_steal(std::string& why_not) const;
  void open(std::span<std::byte> region);
  void close();
  Taken take(std::byte* start, std::size_t bytes);
  void exclude(std::byte* start, std::size_t bytes);
  [[nodiscard]] Counts counts() const;

 private:
  bool make_room(std::size_t blocks);
  [[nodiscard]] Region open_region() const;
  Nanoseconds make_taken(const Region& region, Generation generation, std::size_t first, std::size_t last);
  [[nodiscard]] std::size_t zero_unready(const Region& region, Generation generation, std::byte* begin,
                                         std::byte* end) const;
  TakerCounts& own_counts();

  Settings settings_;
  unsigned block_shift_;
  std::string why_no_stealing_ = "the helper has not been started";
  ahead::ForgottenByFork control_memory_;
  ahead::Control* control_ = nullptr;
  // The last is in use. The others stay: a helper that slept may still look at them.
  std::vector<ahead::ForgottenByFork> block_memory_;
  std::size_t room_ = 0;
  Generation generation_ = 0;
  std::unique_ptr<ahead::Machine> machine_;
  std::unique_ptr<ahead::Helper> helper_;

  std::array<TakerCounts, 64> taker_counts_;
  std::atomic<std::uint64_t> opens_{0};
  std::atomic<std::uint64_t> closes_{0};
  std::atomic<std::uint64_t> closes_in_block_{0};
  std::atomic<std::uint64_t> longest_close_{0};
};

ZeroingAhead::Parts::Parts(const Settings& settings)
    : settings_(settings), block_shift_(static_cast<unsigned>(std::bit_width(settings.block_bytes)) - 1) {
  control_memory_ = ahead::ForgottenByFork(sizeof(ahead::Control));
  if (control_memory_.data() != nullptr) {
    control_ = new (control_memory_.data()) ahead::Control;
  }
}

ZeroingAhead::Parts::~Parts() {
  // relaxed: nobody else is here. In a forked child it is false, as everything in that memory.
  if (control_ != nullptr && control_->helper_runs.load(std::memory_order_relaxed)) {
    close();
    helper_->stop();
  }
}

bool ZeroingAhead::Parts::start(std::string& reason) {
  if (settings_.zero_ahead == nullptr || settings_.zero_now == nullptr ||
      settings_.block_bytes < kSmallestBlock || !std::has_single_bit(settings_.block_bytes)) {
    reason = "the settings of zeroing ahead are incomplete: block_bytes is " +
             std::to_string(settings_.block_bytes) +
             ", expected a power of two from 4096 on, and two functions that zero";
    return false;
  }
  if (control_ == nullptr) {
    reason =
        "no memory for zeroing ahead that a forked child would find empty: mmap and "
        "madvise(MADV_WIPEONFORK): " +
        std::string(std::strerror(errno)) + "; allocating threads zero for themselves";
    return false;
  }
  why_no_stealing_ = settings_.may_steal ? ahead::prepare_restartable() : "switched off";
  machine_ = std::make_unique<ahead::Machine>(why_no_stealing_.empty(), settings_.zero_ahead);
  helper_ = std::make_unique<ahead::Helper>(*control_, *machine_, block_shift_);
  if (const int error = helper_->start(); error != 0) {
    reason = "the thread that zeroes ahead cannot be started: " + std::string(std::strerror(error)) +
             "; allocating threads zero for themselves";
    return false;
  }
  return true;
}

bool ZeroingAhead::Parts::can_steal(std::string& why_not) const {
  why_not = why_no_stealing_;
  return why_not.empty();
}

// Words for so many blocks. New ones are of no generation, and so are those of earlier ones: all dirty.
bool ZeroingAhead::Parts::make_room(std::size_t blocks) {
  if (blocks <= room_) {
    return true;
  }
  const std::size_t room = std::max(blocks, 2 * room_);
  ahead::ForgottenByFork memory(room * sizeof(std::atomic<Value>));
  if (memory.data() == nullptr) {
    return false;
  }
  // release: as in open()
  control_->blocks.store(static_cast<std::atomic<Value>*>(memory.data()), std::memory_order_release);
  block_memory_.push_back(std::move(memory));
  room_ = room;
  return true;
}

void ZeroingAhead::Parts::open(std::span<std::byte> region) {
  close();
  std::byte* const begin = round_up(region.data());
  std::byte* const end = round_down(region.data() + region.size());
  // relaxed: set by start(), which the caller knows to be over
  if (control_ == nullptr || !control_->helper_runs.load(std::memory_order_relaxed) || begin >= end) {
    return;
  }
  const Region wanted{.begin = begin, .end = end, .blocks = nullptr, .block_shift = block_shift_};
  if (!make_room(wanted.block_count())) {
    return;  // as without the helper: allocating threads zero for themselves
  }
  add(opens_, 1);
  ++generation_;
  // release, both: a helper that slept until now and finds one of them finds `work` closed as well
  control_->begin.store(begin, std::memory_order_release);
  control_->end.store(end, std::memory_order_release);
  // relaxed: the allocating threads learn of it by being let run again
  control_->generation.store(generation_, std::memory_order_relaxed);
  ahead::Protocol<ahead::Machine>(*machine_, control_->work).open(generation_);
  control_->wake.fetch_add(1, std::memory_order_release);  // release: what the helper looks at when it wakes
  ahead::futex_wake_all(control_->wake);
}

void ZeroingAhead::Parts::close() {
  // relaxed: only who opens and closes writes it
  const Generation generation =
      control_ == nullptr ? 0 : control_->generation.load(std::memory_order_relaxed);
  if (generation == 0) {
    return;
  }
  const std::uint64_t start = monotonic_nanoseconds();
  const ahead::Closed closed = ahead::Protocol<ahead::Machine>(*machine_, control_->work).close(generation);
  control_->generation.store(0, std::memory_order_relaxed);  // relaxed: the allocating threads are stopped
  const std::uint64_t time = monotonic_nanoseconds() - start;
  add(closes_, 1);
  add(closes_in_block_, closed == ahead::Closed::idle ? 0 : 1);
  if (closed == ahead::Closed::waited) {
    add(own_counts().waits, 1);
    add(own_counts().wait_time, time);
  }
  longest_close_.store(std::max(read(longest_close_), time),
                       std::memory_order_relaxed);  // relaxed: one writer
}

Region ZeroingAhead::Parts::open_region() const {
  // relaxed, all: see open()
  return {.begin = control_->begin.load(std::memory_order_relaxed),
          .end = control_->end.load(std::memory_order_relaxed),
          .blocks = control_->blocks.load(std::memory_order_relaxed),
          .block_shift = block_shift_};
}

// Makes sure that the helper has none of the blocks [first, last]. Returns how long that was waited for.
Nanoseconds ZeroingAhead::Parts::make_taken(const Region& region, Generation generation, std::size_t first,
                                            std::size_t last) {
  ahead::Protocol<ahead::Machine> protocol(*machine_, control_->work);
  std::uint64_t stolen = 0;
  bool revoked = false;
  for (std::size_t index = first; index <= last; ++index) {
    const Found found = protocol.take(region.blocks[index], generation);
    stolen += found == Found::stolen ? 1 : 0;
    revoked = revoked || found == Found::stolen || found == Found::revoked;
  }
  if (!revoked) {
    return {};
  }
  const std::uint64_t start = monotonic_nanoseconds();
  const bool waited = protocol.settle({region.blocks + first, last - first + 1}, generation);
  const std::uint64_t time = monotonic_nanoseconds() - start;
  TakerCounts& counts = own_counts();
  add(waited ? counts.waits : counts.steals, waited ? 1 : stolen);
  add(waited ? counts.wait_time : counts.steal_time, time);
  return Nanoseconds(waited ? time : 0);
}

// Zeroes what of [begin, end), which lies in the region, was not found ready. Returns how much.
std::size_t ZeroingAhead::Parts::zero_unready(const Region& region, Generation generation, std::byte* begin,
                                              std::byte* end) const {
  const Value ready = ahead::value_of(generation, Block::zeroed);
  std::size_t zeroed = 0;
  std::byte* unready = begin;  // where the blocks that are not ready began
  for (std::size_t index = region.index_of(begin); unready < end; ++index) {
    std::byte* const block_begin = std::max(begin, region.block_begin(index));
    // relaxed: make_taken() acquired it, and it is final
    const bool ends = block_begin >= end || region.blocks[index].load(std::memory_order_relaxed) == ready;
    if (!ends) {
      continue;
    }
    const auto bytes = static_cast<std::size_t>(std::min(block_begin, end) - unready);
    if (bytes > 0) {
      settings_.zero_now(unready, bytes);
      zeroed += bytes;
    }
    unready = block_begin >= end ? end : std::min(end, region.block_end(index));
  }
  return zeroed;
}

ZeroingAhead::Taken ZeroingAhead::Parts::take(std::byte* start, std::size_t bytes) {
  std::byte* const end = start + bytes;
  // relaxed: see open()
  const Generation generation =
      control_ == nullptr ? 0 : control_->generation.load(std::memory_order_relaxed);
  const Region region = generation == 0 ? Region{} : open_region();
  std::byte* const inner_begin = std::clamp(region.begin, start, end);
  std::byte* const inner_end = std::clamp(region.end, inner_begin, end);
  std::size_t zeroed = 0;
  Taken taken;
  if (inner_begin == inner_end) {
    settings_.zero_now(start, bytes);
    zeroed = bytes;
  } else {
    taken.waited =
        make_taken(region, generation, region.index_of(inner_begin), region.index_of(inner_end - 1));
    zeroed = zero_unready(region, generation, inner_begin, inner_end);
    if (inner_begin != start) {
      settings_.zero_now(start, static_cast<std::size_t>(inner_begin - start));
    }
    if (inner_end != end) {
      settings_.zero_now(inner_end, static_cast<std::size_t>(end - inner_end));
    }
    zeroed += bytes - static_cast<std::size_t>(inner_end - inner_begin);
  }
  TakerCounts& counts = own_counts();
  add(counts.ready, bytes - zeroed);
  add(counts.zeroed, zeroed);
  taken.ready = Bytes(bytes - zeroed);
  taken.zeroed = Bytes(zeroed);
  return taken;
}

void ZeroingAhead::Parts::exclude(std::byte* start, std::size_t bytes) {
  // relaxed: see open()
  const Generation generation =
      control_ == nullptr ? 0 : control_->generation.load(std::memory_order_relaxed);
  if (generation == 0) {
    return;
  }
  const Region region = open_region();
  std::byte* const begin = std::clamp(region.begin, start, start + bytes);
  std::byte* const end = std::clamp(region.end, begin, start + bytes);
  if (begin != end) {
    make_taken(region, generation, region.index_of(begin), region.index_of(end - 1));
  }
}

TakerCounts& ZeroingAhead::Parts::own_counts() {
  // A number like any other where it cannot be known: the counts are atomic.
  return taker_counts_[static_cast<unsigned>(sched_getcpu()) % taker_counts_.size()];
}

ZeroingAhead::Counts ZeroingAhead::Parts::counts() const {
  Counts counts;
  for (const TakerCounts& some : taker_counts_) {
    counts.taken_ready = counts.taken_ready + Bytes(read(some.ready));
    counts.zeroed_now = counts.zeroed_now + Bytes(read(some.zeroed));
    counts.steals += read(some.steals);
    counts.steal_time = counts.steal_time + Nanoseconds(read(some.steal_time));
    counts.waits += read(some.waits);
    counts.wait_time = counts.wait_time + Nanoseconds(read(some.wait_time));
  }
  if (helper_ != nullptr) {
    const ahead::HelperCounts& helper = helper_->counts();
    counts.zeroed_ahead = Bytes(read(helper.bytes));
    counts.blocks_skipped = read(helper.blocks_skipped);
    counts.overtaken = read(helper.overtaken);
    counts.helper_cycles = Cycles(read(helper.cycles));
    // relaxed: in a forked child false, where there is no such thread
    if (control_->helper_runs.load(std::memory_order_relaxed)) {
      counts.helper_cpu_time = Nanoseconds(helper_->cpu_time());
    }
  }
  counts.opens = read(opens_);
  counts.closes = read(closes_);
  counts.closes_in_block = read(closes_in_block_);
  counts.longest_close = Nanoseconds(read(longest_close_));
  return counts;
}

ZeroingAhead::ZeroingAhead(const Settings& settings) : parts_(std::make_unique<Parts>(settings)) {}
ZeroingAhead::~ZeroingAhead() = default;
bool ZeroingAhead::start(std::string& reason) { return parts_->start(reason); }
bool ZeroingAhead::can_steal(std::string& why_not) const { return parts_->can_steal(why_not); }
void ZeroingAhead::open(std::span<std::byte> region) { parts_->open(region); }
void ZeroingAhead::close() { parts_->close(); }
ZeroingAhead::Taken ZeroingAhead::take(std::byte* start, std::size_t bytes) {
  return parts_->take(start, bytes);
}
void ZeroingAhead::exclude(std::byte* start, std::size_t bytes) { parts_->exclude(start, bytes); }
ZeroingAhead::Counts ZeroingAhead::counts() const { return parts_->counts(); }

}  // namespace memgraft::zeroing
