// Which memory may be sampled: the program's data, without its stacks and what is not read and written.
#include <algorithm>
#include <mutex>

#include "mappings.h"
#include "round.h"
#include "sampler.h"

namespace memgraft::observation {

constinit Round g_round{};

namespace {

// Below a stack of a thread that was made without pthread_create, and of most coroutines, is a page or a few
// that nobody may access; the default size of a stack.
constexpr std::uintptr_t kStackGuardMost = 65536;
constexpr std::uintptr_t kStackMost = 8U << 20U;
// glibc's arenas for threads' small objects: HEAP_MAX_SIZE, malloc/arena.c.
constexpr std::uintptr_t kArenaBytes = 64U << 20U;

// Cuts off what must not be guarded, keeps what is long enough. Under the lock.
void keep(Range range, std::uint64_t least_bytes) {
  while (range.begin < range.end) {
    Range first{.begin = range.end, .end = range.end};
    for (std::size_t i = 0; i < g_state.stack_count; ++i) {
      const Range stack{.begin = page_of(g_state.stacks[i].begin),
                        .end = page_of(g_state.stacks[i].end + g_state.page_bytes - 1)};
      if (stack.overlaps(range) && stack.begin < first.begin) {
        first = stack;
      }
    }
    const Range piece{.begin = range.begin, .end = std::max(range.begin, first.begin)};
    const std::uint64_t bytes = piece.end - piece.begin;
    if (bytes >= least_bytes && g_round.found_count < kMostCandidates) {
      g_round.found[g_round.found_count++] = piece;
      g_round.found_pages += bytes / g_state.page_bytes;
    } else {
      g_round.small_bytes += bytes;
    }
    range.begin = std::max(first.end, piece.end);
  }
}

// Without what is known to be a stack. Under the lock.
std::uint64_t bytes_that_may_be_data(Range range) {
  std::uint64_t bytes = range.end - range.begin;
  for (std::size_t i = 0; i < g_state.stack_count; ++i) {
    const Range stack = g_state.stacks[i];
    if (stack.overlaps(range)) {
      bytes -= std::min(bytes, std::min(stack.end, range.end) - std::max(stack.begin, range.begin));
    }
  }
  return bytes;
}

// Accessible memory in a row, of which pages that are guarded are part.
class Runs {
 public:
  explicit Runs(std::uint64_t least_bytes) : least_bytes_(least_bytes) {}
  // In order. One that begins before the last one's end has grown over it while the mappings were read: a
  // touched page lay behind the last one.
  void add(Range range) {
    if (run_.end < range.begin) {
      finish();
      run_ = {.begin = range.begin, .end = range.begin};
      accessible_from_ = range.begin;
      if (guard_.end == range.begin) {
        left_out_from_ = range.begin;
        run_.begin += kStackMost;  // a stack, maybe
      }
    }
    run_.end = range.end;
  }
  // Memory that nobody may access, and not because of us.
  void inaccessible(Range range) {
    const std::uintptr_t arena = (range.begin - 1) / kArenaBytes * kArenaBytes;
    if (run_.end == range.begin && range.end % kArenaBytes == 0 && accessible_from_ <= arena) {
      g_round.small_bytes += run_.end - arena;
      run_.end = arena;
    }
    finish();
    if (range.end - range.begin <= kStackGuardMost) {
      guard_ = range;
    }
  }
  void finish() {
    if (left_out_from_ != 0 && run_.end - left_out_from_ >= least_bytes_) {
      const std::scoped_lock locked(g_state.lock);
      g_round.left_out_bytes +=
          bytes_that_may_be_data({.begin = left_out_from_, .end = std::min(run_.begin, run_.end)});
    }
    left_out_from_ = 0;
    if (run_.begin < run_.end) {
      const std::scoped_lock locked(g_state.lock);
      keep(run_, least_bytes_);
    }
    run_ = {};
  }

 private:
  std::uint64_t least_bytes_;
  Range run_;
  std::uintptr_t accessible_from_ = 0;  // where the run begins, with what may be a stack
  Range guard_;
  std::uintptr_t left_out_from_ = 0;
};

// A mapping that nobody may access: guarded pages, which are the program's data, and what the program itself
// made inaccessible. Linux joins them where one lies behind the other. `at` walks along the snapshot.
void add_inaccessible(const Mapping& mapping, std::size_t& at, Runs& runs) {
  while (at < g_round.snapshot_count && g_round.snapshot[at] < mapping.begin) {
    ++at;
  }
  std::uintptr_t begin = mapping.begin;
  for (; at < g_round.snapshot_count && g_round.snapshot[at] < mapping.end; ++at) {
    const std::uintptr_t page = g_round.snapshot[at];
    g_round.confirmed[at] = true;
    if (begin < page) {
      runs.inaccessible({.begin = begin, .end = page});
    }
    begin = page + g_state.page_bytes;
    runs.add({.begin = page, .end = begin});
  }
  if (begin < mapping.end) {
    runs.inaccessible({.begin = begin, .end = mapping.end});
  }
}

}  // namespace

void take_snapshot() {
  const std::scoped_lock locked(g_state.lock);
  g_state.changed_count = 0;
  g_state.all_changed = false;
  g_round.snapshot_count = 0;
  g_state.guarded.for_each([](std::uintptr_t page) {
    g_round.confirmed[g_round.snapshot_count] = false;
    g_round.snapshot[g_round.snapshot_count++] = page;
  });
  std::sort(g_round.snapshot, g_round.snapshot + g_round.snapshot_count);
}

void read_mappings(const Shared& shared) {
  g_round.found_count = 0;
  g_round.found_pages = 0;
  g_round.left_out_bytes = 0;
  g_round.small_bytes = 0;
  g_round.mappings = 0;
  const bool with_brk = shared.with_brk.load(std::memory_order_relaxed) != 0;
  Runs runs(std::max<std::uint64_t>(shared.least_mapping_bytes.load(std::memory_order_relaxed),
                                    g_state.page_bytes));
  Mappings mappings(g_state.read, g_round.buffer, sizeof(g_round.buffer));
  Mapping mapping;
  std::size_t at = 0;
  while (mappings.next(mapping)) {
    ++g_round.mappings;
    g_round.jvm = g_round.jvm || mapping.jvm;
    const bool may_be = mapping.anonymous || (mapping.brk && with_brk);
    const bool is_data = mapping.readable && mapping.writable && !mapping.executable;
    if (may_be && is_data) {
      runs.add({.begin = mapping.begin, .end = mapping.end});
    } else if (may_be && !mapping.readable && !mapping.writable && !mapping.executable) {
      add_inaccessible(mapping, at, runs);
    } else {
      runs.finish();
      g_round.small_bytes += mapping.brk && is_data ? mapping.end - mapping.begin : 0;
    }
  }
  runs.finish();
}

}  // namespace memgraft::observation
