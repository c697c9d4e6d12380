#include "memgraft/linux/numa_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace memgraft::linux_os {
namespace {

// Of the machine it runs on: one node at least. tests/test_numa.py boots one with several.
class NumaMemoryTest : public testing::Test {
 public:
  NumaMemoryTest(const NumaMemoryTest&) = delete;
  NumaMemoryTest& operator=(const NumaMemoryTest&) = delete;
  NumaMemoryTest(NumaMemoryTest&&) = delete;
  NumaMemoryTest& operator=(NumaMemoryTest&&) = delete;

 protected:
  NumaMemoryTest() {
    if (memory_.places(start_, bytes_).error == EPERM || memory_.prefer(start_, bytes_, 0, false) == EPERM) {
      skip_ = "move_pages(2) or mbind(2) is not permitted here";
    } else if (memory_.prefer(start_, bytes_, 0, false) != 0) {
      skip_ = "no NUMA in this kernel, or no memory on node 0";
    }
  }
  ~NumaMemoryTest() override { munmap(start_, bytes_); }
  void SetUp() override {
    if (!skip_.empty()) {
      GTEST_SKIP() << skip_;
    }
  }

  void touch(std::size_t first, std::size_t pages) {
    for (std::size_t i = first; i < first + pages; ++i) {
      start_[i * page_] = std::byte{1};
    }
  }
  [[nodiscard]] std::size_t there() { return there(start_, bytes_); }
  std::size_t there(const std::byte* start, std::size_t bytes) {
    const PagePlaces places = memory_.places(start, bytes);
    EXPECT_EQ(places.error, 0);
    return static_cast<std::size_t>(std::ranges::count_if(places.seen(), [](int node) { return node >= 0; }));
  }

  static constexpr std::size_t kPages = 256;
  NumaMemory memory_;
  std::size_t page_ = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::size_t bytes_ = kPages * page_;
  std::byte* start_ = [this] {
    void* const mapped = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    (void)madvise(mapped, bytes_, MADV_NOHUGEPAGE);  // each page by itself
    return static_cast<std::byte*>(mapped);
  }();
  std::string skip_;
};

TEST_F(NumaMemoryTest, AsksForPagesAllOverTheRange) {
  EXPECT_EQ(memory_.places(start_, bytes_).asked, PagePlaces::kMost);
  EXPECT_EQ(there(), 0U);
  touch(0, kPages / 2);
  EXPECT_EQ(there(), PagePlaces::kMost / 2);
  touch(kPages / 2, kPages / 2);
  EXPECT_EQ(there(), PagePlaces::kMost);
}

TEST_F(NumaMemoryTest, MeansWholePagesOnly) {
  touch(0, 3);
  EXPECT_EQ(memory_.places(start_ + 8, page_).asked, 0U);
  EXPECT_EQ(memory_.prefer(start_ + 8, page_, 0, true), 0);
  EXPECT_EQ(memory_.places(start_ + 8, 2 * page_).asked, 1U);
  EXPECT_EQ(memory_.places(start_, 3 * page_ - 1).asked, 2U);
  EXPECT_EQ(memory_.places(start_, 0).asked, 0U);
}

TEST_F(NumaMemoryTest, PrefersANode) {
  ASSERT_EQ(memory_.prefer(start_, bytes_, 0, false), 0);
  touch(0, kPages);
  const PagePlaces places = memory_.places(start_, bytes_);
  EXPECT_TRUE(std::ranges::all_of(places.seen(), [](int node) { return node == 0; }));
}

TEST_F(NumaMemoryTest, GivesBackWholePagesThatAreToComeAnew) {
  touch(0, kPages);
  EXPECT_EQ(memory_.prefer(start_ + 8, bytes_ - page_, 0, true), 0);
  EXPECT_EQ(there(start_ + page_, bytes_ - 2 * page_), 0U);
  // Those that lie in the range only in part.
  EXPECT_EQ(there(start_, page_), 1U);
  EXPECT_EQ(there(start_ + bytes_ - page_, page_), 1U);
}

TEST_F(NumaMemoryTest, LeavesLockedPagesWhereTheyBelong) {
  touch(0, kPages);
  // Not mlock(3), in whose place sanitizers do nothing.
  if (syscall(SYS_mlock, start_, page_) != 0) {
    GTEST_SKIP() << "nothing may be locked here";
  }
  EXPECT_EQ(memory_.prefer(start_, bytes_, 0, true), 0);
  EXPECT_EQ(there(), PagePlaces::kMost);
}

TEST_F(NumaMemoryTest, LeavesSharedPagesAndWhatTheyHold) {
  void* const shared =
      mmap(start_, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  ASSERT_EQ(shared, start_);
  touch(0, kPages);
  EXPECT_EQ(memory_.prefer(start_, bytes_, 0, true), 0);
  EXPECT_EQ(there(), PagePlaces::kMost);
  EXPECT_EQ(*start_, std::byte{1});
}

TEST_F(NumaMemoryTest, SaysWhyNot) {
  EXPECT_EQ(memory_.prefer(start_, bytes_, 1023, false), EINVAL) << "no such node";
  EXPECT_EQ(memory_.prefer(start_, bytes_, 1024, false), EINVAL);
  munmap(start_, bytes_);
  EXPECT_EQ(memory_.prefer(start_, bytes_, 0, false), EFAULT);
}

}  // namespace
}  // namespace memgraft::linux_os
