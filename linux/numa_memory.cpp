#include "memgraft/linux/numa_memory.h"

#include <fcntl.h>
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>

#include "small_file.h"

namespace memgraft::linux_os {

namespace {

constexpr unsigned kMostNodes = 1024;  // the most that Linux can be built for (CONFIG_NODES_SHIFT of 10)
constexpr unsigned kBitsPerLong = sizeof(unsigned long) * CHAR_BIT;

struct WholePages {
  std::uintptr_t start = 0;
  std::size_t count = 0;
  std::size_t bytes_each = 0;
};

WholePages pages_within(const std::byte* start, std::size_t bytes) noexcept {
  const auto each = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));  // cannot fail
  const auto address = reinterpret_cast<std::uintptr_t>(start);
  const std::uintptr_t first = (address + each - 1) / each * each;
  const std::uintptr_t end = (address + bytes) / each * each;
  return {.start = first, .count = end > first ? (end - first) / each : 0, .bytes_each = each};
}

// 0 where the kernel was built without transparent huge pages.
std::uintptr_t huge_page_bytes() noexcept {
  static const std::uintptr_t bytes = [] {
    std::array<char, 32> buffer{};
    auto line = read_small_file(AT_FDCWD, "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", buffer);
    return line ? to_number(cut_field(*line, '\n')).value_or(0) : 0;
  }();
  return bytes;
}

// Pages that a huge page would share with what lies before or behind the range: khugepaged makes one wherever
// it may, on one node.
void keep_small(std::uintptr_t start, std::uintptr_t end) noexcept {
  if (start < end) {
    // Advice: where the kernel does not take it, neighbours share pages as they did.
    (void)madvise(reinterpret_cast<void*>(start), end - start, MADV_NOHUGEPAGE);
  }
}

void keep_small_at_ends(const WholePages& pages) noexcept {
  const std::uintptr_t huge = huge_page_bytes();
  if (huge == 0) {
    return;
  }
  const std::uintptr_t end = pages.start + (pages.count * pages.bytes_each);
  const std::uintptr_t first_whole = std::min((pages.start + huge - 1) / huge * huge, end);
  const std::uintptr_t last_whole = std::max(end / huge * huge, first_whole);
  keep_small(pages.start, first_whole);
  keep_small(last_whole, end);
}

}  // namespace

PagePlaces NumaMemory::places(const std::byte* start, std::size_t bytes) noexcept {
  const WholePages pages = pages_within(start, bytes);
  PagePlaces found{.asked = std::min(pages.count, PagePlaces::kMost)};
  std::array<std::uintptr_t, PagePlaces::kMost> addresses{};
  for (std::size_t i = 0; i < found.asked; ++i) {
    addresses.at(i) = pages.start + (i * pages.count / found.asked * pages.bytes_each);
  }
  // Without nodes to move to it only tells where they are.
  if (found.asked > 0 &&
      syscall(SYS_move_pages, 0, found.asked, addresses.data(), nullptr, found.nodes.data(), 0) < 0) {
    found.error = errno;
    found.asked = 0;
  }
  return found;
}

int NumaMemory::prefer(std::byte* start, std::size_t bytes, unsigned node, bool anew) noexcept {
  const WholePages pages = pages_within(start, bytes);
  if (pages.count == 0) {
    return 0;
  }
  if (node >= kMostNodes) {
    return EINVAL;
  }
  std::array<unsigned long, kMostNodes / kBitsPerLong> mask{};
  mask.at(node / kBitsPerLong) = 1UL << (node % kBitsPerLong);
  keep_small_at_ends(pages);
  const std::size_t length = pages.count * pages.bytes_each;
  const auto bind = [&](int flags) {
    // One more than there are bits: the kernel takes one off (get_nodes(), mm/mempolicy.c).
    const long failed =
        syscall(SYS_mbind, pages.start, length, MPOL_PREFERRED, mask.data(), kMostNodes + 1, flags);
    return failed < 0 ? errno : 0;
  };
  if (const int error = bind(0); error != 0 || !anew) {
    return error;
  }
  // Nothing but private memory of ordinary pages takes MADV_FREE (madvise(2)). Of a file or of shared memory
  // the same pages would come again; and MADV_DONTNEED rounds a length up to whole pages of hugetlbfs, and so
  // would throw away what lies behind the range.
  void* const there = reinterpret_cast<void*>(pages.start);
  if (madvise(there, length, MADV_FREE) == 0 && madvise(there, length, MADV_DONTNEED) == 0) {
    return 0;
  }
  return bind(MPOL_MF_MOVE);
}

NumaMemory& NumaMemory::real() {
  static NumaMemory memory;
  return memory;
}

}  // namespace memgraft::linux_os
