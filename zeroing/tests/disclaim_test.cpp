// Zeroing by giving pages back: the oracle of the kernels, what the result says, and memory that cannot be
// given back.
#include "memgraft/disclaim.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <ostream>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "oracle.h"

namespace memgraft::zeroing::testing {
namespace {

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

// As the system says; 0 where it has no transparent huge pages.
std::size_t huge_page_bytes() {
  std::ifstream in("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size");
  std::size_t bytes = 0;
  return in >> bytes ? bytes : 0;
}

// An emulator may not do what madvise(2) says; the library then gives nothing back.
bool madvise_is_trusted() {
  const GuardedPages page(1);
  return memgraft_disclaim(page.memory().data(), page.memory().size(), MEMGRAFT_DISCLAIM_PLAIN).error !=
         EOPNOTSUPP;
}

struct Variant {
  const char* name;
  memgraft_disclaim_variant variant;
  void (*zero)(void*, std::size_t);
};

memgraft_disclaimed result{};  // of the last call through one of these

template <memgraft_disclaim_variant variant>
void disclaim(void* memory, std::size_t bytes) {
  result = memgraft_disclaim(memory, bytes, variant);
}

void PrintTo(const Variant& variant, std::ostream* out) { *out << variant.name; }

class EveryVariant : public ::testing::TestWithParam<Variant> {
 protected:
  std::string mistake_in(std::span<std::byte> memory, std::size_t offset, std::size_t bytes) {
    return mistake(GetParam().zero, memory, offset, bytes, random_, expected_);
  }
  // The pages that this variant gives back are made of these.
  [[nodiscard]] static std::size_t unit() {
    const bool huge = GetParam().variant == MEMGRAFT_DISCLAIM_HUGE && huge_page_bytes() != 0;
    return huge ? huge_page_bytes() : page_bytes();
  }
  Random random_{19900523};
  std::vector<std::byte> expected_;
};

// Of [at, at + bytes), what lies in whole pages of `size` bytes; counted page by page.
std::size_t in_whole_pages(const std::byte* at, std::size_t bytes, std::size_t size) {
  const auto first = reinterpret_cast<std::uintptr_t>(at);
  std::size_t whole = 0;
  for (std::uintptr_t page = first / size * size; page + size <= first + bytes; page += size) {
    whole += page >= first ? size : 0;
  }
  return whole;
}

TEST_P(EveryVariant, ZeroesAtEveryPageBorder) {
  const std::size_t page = page_bytes();
  const GuardedPages pages(6 * page);
  const bool trusted = madvise_is_trusted();
  const std::vector<std::size_t> near = {0, 1, 63, 64, page / 2, page - 64, page - 1};
  for (const std::size_t offset : near) {
    for (std::size_t whole = 0; whole <= 4; ++whole) {
      for (const std::size_t more : near) {
        const std::size_t bytes = whole * page + more;
        ASSERT_EQ(mistake_in(pages.memory(), offset, bytes), "");
        EXPECT_EQ(result.given_back + result.zeroed, bytes);
        if (trusted && result.done == GetParam().variant) {
          EXPECT_EQ(result.given_back, in_whole_pages(pages.memory().data() + offset, bytes, unit()));
          EXPECT_EQ(result.error, 0);
        }
      }
    }
  }
}

TEST_P(EveryVariant, TouchesNothingBehindTheEnd) {
  const std::size_t page = page_bytes();
  const GuardedPages pages(3 * page);
  for (std::size_t bytes = 0; bytes <= pages.memory().size(); bytes += bytes % page < 100 ? 1 : 67) {
    ASSERT_EQ(mistake_in(pages.memory(), pages.memory().size() - bytes, bytes), "");
  }
}

TEST_P(EveryVariant, ZeroesHugePagesAndWhatIsBesideThem) {
  const std::size_t huge = std::max(huge_page_bytes(), std::size_t{2} << 20);
  if (huge > std::size_t{32} << 20) {
    GTEST_SKIP() << "huge pages of " << (huge >> 20) << " MiB: too much memory for a test";
  }
  const GuardedPages pages(4 * huge);
  for (const std::size_t offset : {std::size_t{0}, page_bytes(), huge / 2 + 1}) {
    for (const std::size_t bytes : {huge - 1, huge, 2 * huge, 3 * huge + 5}) {
      ASSERT_EQ(mistake_in(pages.memory(), offset, bytes), "");
      if (madvise_is_trusted() && result.done == GetParam().variant) {
        EXPECT_EQ(result.given_back, in_whole_pages(pages.memory().data() + offset, bytes, unit()));
      }
    }
  }
}

TEST_P(EveryVariant, AcceptsNullWithLengthZero) {
  const memgraft_disclaimed done = memgraft_disclaim(nullptr, 0, GetParam().variant);
  EXPECT_EQ(done.given_back + done.zeroed, 0U);
}

// Memory that cannot be given back: all of it is zeroed, and the result says so.
void expect_zeroed_instead(std::span<std::byte> memory, memgraft_disclaim_variant variant) {
  Random random(5);
  scribble(memory, random);
  const memgraft_disclaimed done = memgraft_disclaim(memory.data(), memory.size(), variant);
  EXPECT_EQ(std::ranges::count(memory, std::byte{0}), static_cast<std::ptrdiff_t>(memory.size()));
  EXPECT_EQ(done.given_back, 0U);
  EXPECT_EQ(done.zeroed, memory.size());
  if (in_whole_pages(memory.data(), memory.size(), page_bytes()) > 0 && variant != MEMGRAFT_DISCLAIM_HUGE) {
    EXPECT_EQ(done.error, madvise_is_trusted() ? EINVAL : EOPNOTSUPP);
    EXPECT_EQ(done.done, MEMGRAFT_DISCLAIM_PLAIN);
  }
}

std::span<std::byte> map(std::size_t bytes, int kind, int file) {
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, kind, file, 0);
  EXPECT_NE(at, MAP_FAILED);
  return {static_cast<std::byte*>(at), bytes};
}

TEST_P(EveryVariant, ZeroesLockedMemory) {
  const GuardedPages pages(2 * page_bytes());
  // Not by the C library's function, which sanitizers replace by one that does nothing.
  if (syscall(SYS_mlock, pages.memory().data(), pages.memory().size()) != 0) {
    GTEST_SKIP() << "two pages cannot be locked here: " << std::strerror(errno);
  }
  expect_zeroed_instead(pages.memory(), GetParam().variant);
}

TEST_P(EveryVariant, ZeroesSharedMemory) {
  const auto memory = map(3 * page_bytes(), MAP_SHARED | MAP_ANONYMOUS, -1);
  expect_zeroed_instead(memory, GetParam().variant);
  munmap(memory.data(), memory.size());
}

TEST_P(EveryVariant, ZeroesMappedFiles) {
  for (const int kind : {MAP_SHARED, MAP_PRIVATE}) {
    std::FILE* file = std::tmpfile();
    ASSERT_NE(file, nullptr);
    const std::vector<char> old(3 * page_bytes(), 'x');
    ASSERT_EQ(std::fwrite(old.data(), 1, old.size(), file), old.size());
    ASSERT_EQ(std::fflush(file), 0);
    const auto memory = map(old.size(), kind, fileno(file));
    expect_zeroed_instead(memory, GetParam().variant);
    munmap(memory.data(), memory.size());
    (void)std::fclose(file);
  }
}

TEST_P(EveryVariant, ZeroesABlockOfWhichOnlyAPartIsPrivate) {
  const std::size_t page = page_bytes();
  const GuardedPages pages(4 * page);
  std::byte* third = pages.memory().data() + 2 * page;
  ASSERT_EQ(mmap(third, page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0), third);
  expect_zeroed_instead(pages.memory(), GetParam().variant);
}

TEST(Disclaim, GivesPagesBackAndPopulatesThem) {
  if (!madvise_is_trusted()) {
    GTEST_SKIP() << "madvise does not do here what madvise(2) says";
  }
  const std::size_t page = page_bytes();
  const GuardedPages pages(4 * page);
  Random random(1);
  const auto resident = [&] {
    std::vector<unsigned char> of(4);
    EXPECT_EQ(mincore(pages.memory().data(), pages.memory().size(), of.data()), 0);
    return std::ranges::count_if(of, [](unsigned char each) { return (each & 1U) != 0; });
  };
  scribble(pages.memory(), random);
  EXPECT_EQ(resident(), 4);
  (void)memgraft_disclaim(pages.memory().data(), 4 * page, MEMGRAFT_DISCLAIM_PLAIN);
  EXPECT_EQ(resident(), 0);
  const memgraft_disclaimed populated =
      memgraft_disclaim(pages.memory().data(), 4 * page, MEMGRAFT_DISCLAIM_POPULATE);
  EXPECT_EQ(populated.given_back, 4 * page);
  if (populated.done != MEMGRAFT_DISCLAIM_POPULATE) {
    EXPECT_EQ(populated.error, EINVAL);
    EXPECT_EQ(resident(), 0);
    GTEST_SKIP() << "this Linux has no MADV_POPULATE_WRITE: it is older than 5.14";
  }
  EXPECT_EQ(resident(), 4);
}

// The flags that the system keeps for the mapping of `at` (proc(5), /proc/pid/smaps, VmFlags).
std::string flags_of_mapping(const std::byte* at) {
  std::ifstream smaps("/proc/self/smaps");
  std::string line;
  bool here = false;
  while (std::getline(smaps, line)) {
    unsigned long first = 0;
    unsigned long end = 0;
    char dash = 0;
    std::istringstream range(line);
    if (range >> std::hex >> first >> dash >> end && dash == '-') {
      const auto address = reinterpret_cast<std::uintptr_t>(at);
      here = first <= address && address < end;
    } else if (here && line.starts_with("VmFlags:")) {
      return line + " ";
    }
  }
  return {};
}

TEST(Disclaim, AdvisesHugePages) {
  const std::size_t huge = huge_page_bytes();
  if (!madvise_is_trusted() || huge == 0 || huge > std::size_t{32} << 20) {
    GTEST_SKIP() << "no madvise that can be trusted, or no huge pages of a size for a test";
  }
  const GuardedPages pages(2 * huge);
  Random random(1);
  scribble(pages.memory(), random);
  EXPECT_EQ(flags_of_mapping(pages.memory().data()).find(" hg "), std::string::npos);
  const memgraft_disclaimed done =
      memgraft_disclaim(pages.memory().data(), pages.memory().size(), MEMGRAFT_DISCLAIM_HUGE);
  EXPECT_EQ(done.done, MEMGRAFT_DISCLAIM_HUGE);
  EXPECT_EQ(done.given_back, in_whole_pages(pages.memory().data(), pages.memory().size(), huge));
  const auto first = reinterpret_cast<std::uintptr_t>(pages.memory().data());
  const std::byte* inside = pages.memory().data() + (huge - first % huge) % huge;
  EXPECT_NE(flags_of_mapping(inside).find(" hg "), std::string::npos) << flags_of_mapping(inside);
}

std::string test_name(const ::testing::TestParamInfo<Variant>& variant) { return variant.param.name; }

INSTANTIATE_TEST_SUITE_P(
    Disclaim, EveryVariant,
    ::testing::Values(Variant{"plain", MEMGRAFT_DISCLAIM_PLAIN, disclaim<MEMGRAFT_DISCLAIM_PLAIN>},
                      Variant{"populate", MEMGRAFT_DISCLAIM_POPULATE, disclaim<MEMGRAFT_DISCLAIM_POPULATE>},
                      Variant{"huge", MEMGRAFT_DISCLAIM_HUGE, disclaim<MEMGRAFT_DISCLAIM_HUGE>}),
    test_name);

}  // namespace
}  // namespace memgraft::zeroing::testing
