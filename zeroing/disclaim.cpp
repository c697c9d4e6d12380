// Zeroing by giving pages back: see memgraft/disclaim.h.
#include "memgraft/disclaim.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>

#include "memgraft/zeroing.h"

namespace memgraft::zeroing {
namespace {

// Bytes of a huge page that transparent huge pages are made of (Linux: Documentation/admin-guide/mm/
// transhuge.rst); 0 where there are none.
std::size_t read_huge_page_size() {
  const int file = open("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return 0;
  }
  std::array<char, 24> digits{};
  const ssize_t length = read(file, digits.data(), digits.size());
  close(file);
  std::size_t bytes = 0;
  for (const char digit : std::span(digits).first(length > 0 ? static_cast<std::size_t>(length) : 0)) {
    if (digit < '0' || digit > '9') {
      break;  // the end of the line
    }
    bytes = bytes * 10 + static_cast<std::size_t>(digit - '0');
  }
  return bytes;
}

// 0, or the errno of what was refused. MADV_FREE goes first because it is the one advice that is refused for
// all memory but private anonymous one, over the whole range and whatever mappings it is made of. Pages that
// it marked before it was refused are kept as soon as they are written again.
int give_back(void* pages, std::size_t bytes) {
  const bool gone = madvise(pages, bytes, MADV_FREE) == 0 && madvise(pages, bytes, MADV_DONTNEED) == 0;
  return gone ? 0 : errno;
}

struct System {
  std::size_t page;
  std::size_t huge_page;
  bool trusted;  // does madvise what madvise(2) says? QEMU's user mode, for one, ignores advice
};

constinit System the_system{};
constinit pthread_once_t asked = PTHREAD_ONCE_INIT;

void* map_page(int kind) {
  return mmap(nullptr, the_system.page, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS, -1, 0);
}

bool zeroes_private_pages() {
  void* page = map_page(MAP_PRIVATE);
  if (page == MAP_FAILED) {
    return false;
  }
  auto* byte = static_cast<volatile unsigned char*>(page);
  *byte = 1;
  const bool zeroed = give_back(page, the_system.page) == 0 && *byte == 0;
  munmap(page, the_system.page);
  return zeroed;
}

bool refuses_shared_pages() {
  void* page = map_page(MAP_SHARED);
  if (page == MAP_FAILED) {
    return false;
  }
  const bool refused = madvise(page, the_system.page, MADV_FREE) != 0;
  munmap(page, the_system.page);
  return refused;
}

void ask() {
  the_system.page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  the_system.huge_page = read_huge_page_size();
  the_system.trusted = zeroes_private_pages() && refuses_shared_pages();
}

const System& ask_once() {
  pthread_once(&asked, ask);
  return the_system;
}

// The whole pages of `size` bytes (a power of two) inside a block, and what is before and behind them.
struct Split {
  std::size_t head;
  std::size_t pages;
  std::size_t tail;
};

Split split(const std::byte* at, std::size_t bytes, std::size_t size) {
  const std::size_t head = -reinterpret_cast<std::uintptr_t>(at) & (size - 1);  // only the low bits matter
  if (head >= bytes) {
    return {.head = bytes, .pages = 0, .tail = 0};
  }
  const std::size_t pages = (bytes - head) & ~(size - 1);
  return {.head = head, .pages = pages, .tail = bytes - head - pages};
}

// What follows the giving back, where the variant has such a step: 0, or the errno of its refusal.
int follow_up(void* pages, std::size_t bytes, memgraft_disclaim_variant variant) {
  if (variant == MEMGRAFT_DISCLAIM_PLAIN) {
    return 0;
  }
  const int advice = variant == MEMGRAFT_DISCLAIM_POPULATE ? MADV_POPULATE_WRITE : MADV_HUGEPAGE;
  return madvise(pages, bytes, advice) == 0 ? 0 : errno;
}

memgraft_disclaimed disclaim(std::byte* at, std::size_t bytes, memgraft_disclaim_variant variant) {
  const System& system = ask_once();
  memgraft_disclaimed result{.given_back = 0, .zeroed = bytes, .done = variant, .error = 0};
  if (variant == MEMGRAFT_DISCLAIM_HUGE && system.huge_page == 0) {
    variant = MEMGRAFT_DISCLAIM_PLAIN;
    result.error = EOPNOTSUPP;
  }
  const std::size_t size = variant == MEMGRAFT_DISCLAIM_HUGE ? system.huge_page : system.page;
  const Split parts = split(at, bytes, size);
  std::byte* const pages = at + parts.head;
  if (parts.pages > 0) {
    const int refused = system.trusted ? give_back(pages, parts.pages) : EOPNOTSUPP;
    if (refused != 0) {
      memgraft_zero(at, bytes);
      result.done = MEMGRAFT_DISCLAIM_PLAIN;
      result.error = refused;
      return result;
    }
    const int not_followed = follow_up(pages, parts.pages, variant);
    result.error = result.error != 0 ? result.error : not_followed;
    result.given_back = parts.pages;
    result.zeroed = bytes - parts.pages;
  }
  result.done = result.error == 0 ? variant : MEMGRAFT_DISCLAIM_PLAIN;
  memgraft_zero(at, parts.head);
  memgraft_zero(pages + parts.pages, parts.tail);
  return result;
}

}  // namespace
}  // namespace memgraft::zeroing

memgraft_disclaimed memgraft_disclaim(void* memory, std::size_t bytes, memgraft_disclaim_variant variant) {
  return memgraft::zeroing::disclaim(static_cast<std::byte*>(memory), bytes, variant);
}
