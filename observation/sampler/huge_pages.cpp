// Transparent huge pages. Linux moves one as a whole, although threads may each use a part of it: so it is
// split where it is sampled, again where Linux has joined it since, and kept so where its parts belong on
// different nodes.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "round.h"
#include "sampler.h"

namespace memgraft::observation {
namespace {

// Then again: what is in use for a moment could not be split.
constexpr std::uint32_t kRoundsSplit = 20;

// What a file has in the buffer, with an end mark; empty where it cannot be read.
const char* text_of(const char* name) {
  std::size_t filled = 0;
  if (const int file = open(name, O_RDONLY | O_CLOEXEC); file >= 0) {
    ssize_t got = 0;
    do {
      filled += static_cast<std::size_t>(got);
      got = g_state.read(file, g_round.buffer + filled, sizeof(g_round.buffer) - 1 - filled);
    } while (got > 0);
    close(file);
  }
  g_round.buffer[filled] = 0;
  return g_round.buffer;
}

// Huge pages that Linux has made of small ones so far, of any process: one of a process alone is not told.
std::uint64_t joined() {
  static constexpr char kField[] = "\nthp_collapse_alloc ";
  const char* const found = std::strstr(text_of("/proc/vmstat"), kField);
  return found == nullptr ? 0 : std::strtoull(found + sizeof(kField) - 1, nullptr, 10);
}

Range block_of(std::uintptr_t address) {
  const std::uintptr_t begin = address / g_round.huge_bytes * g_round.huge_bytes;
  return {.begin = begin, .end = begin + g_round.huge_bytes};
}

// Splits the huge page that has this page, if one has: reclaim hints for a part of it do, since Linux 5.4. It
// stays whole where it is locked, or somebody else has it as well. That takes long, so it is done outside of
// the lock, for which the program's threads wait; a hint for memory that is gone meanwhile does no harm.
void split_at(std::uintptr_t page) { syscall(SYS_madvise, page, g_state.page_bytes, MADV_COLD); }

// Where the program still has there what it had when the mappings were read. Whether it has.
bool forbid_joining(const Candidate& candidate, Range part) {
  const std::scoped_lock locked(g_state.lock);
  if (candidate.live) {
    syscall(SYS_madvise, part.begin, part.end - part.begin, MADV_NOHUGEPAGE);
  }
  return candidate.live;
}

// Whether nothing is left to do: what has changed meanwhile is looked at again in the next round, as a thread
// that begins may have changed it.
bool separates(Range block) {
  bool done = true;
  g_round.split.erase(block.begin);
  for (const Candidate& one : g_state.candidates[g_state.newest]) {
    if (one.range.overlaps(block)) {
      const std::uintptr_t begin = std::max(one.range.begin, block.begin);
      // Linux joins no half of a block.
      if (forbid_joining(one, {.begin = begin, .end = std::min(one.range.end, block.end)})) {
        split_at(begin);
      } else {
        done = false;
      }
    }
  }
  return done;
}

}  // namespace

void find_huge_pages() {
  g_round.huge_bytes =
      std::strtoull(text_of("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size"), nullptr, 10);
  g_round.joined = joined();
}

void see_joined() {
  if (g_round.split.size() == 0) {
    return;
  }
  if (const std::uint64_t now = joined(); now != g_round.joined) {
    g_round.joined = now;
    g_round.split.clear();
  }
}

void keep_apart(Shared& shared) {
  for (auto& slot : shared.apart) {
    const std::uint64_t address = slot.load(std::memory_order_relaxed);
    if (address != 0 && (g_round.huge_bytes == 0 || separates(block_of(address)))) {
      slot.store(0, std::memory_order_relaxed);
    }
  }
}

// A guarded page takes its huge page's mapping apart, but not the huge page itself: the kernel would go on to
// move all of it for each of its pages.
void split_huge_page(std::uintptr_t page) {
  if (g_round.huge_bytes == 0) {
    return;
  }
  const Range block = block_of(page);
  if (g_round.split.has(block.begin)) {
    if (g_round.number - g_round.split.number_of(block.begin) < kRoundsSplit) {
      return;
    }
    g_round.split.erase(block.begin);
  }
  if (!g_round.split.insert(block.begin, g_round.number)) {
    g_round.split.clear();
    g_round.split.insert(block.begin, g_round.number);
  }
  split_at(page);
}

}  // namespace memgraft::observation
