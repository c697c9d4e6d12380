#include "join/patch.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <system_error>
#include <utility>

namespace memgraft::hotspot {
namespace {

// A page as a loaded library has them: written once, then read-only.
class ReadOnlyPage {
 public:
  ReadOnlyPage()
      : bytes_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))),
        page_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    cell()[0] = 1;
    cell()[1] = 2;
    protect(PROT_READ);
  }
  ~ReadOnlyPage() { munmap(page_, bytes_); }
  ReadOnlyPage(const ReadOnlyPage&) = delete;
  ReadOnlyPage& operator=(const ReadOnlyPage&) = delete;
  ReadOnlyPage(ReadOnlyPage&&) = delete;
  ReadOnlyPage& operator=(ReadOnlyPage&&) = delete;

  void protect(int protection) const { mprotect(page_, bytes_, protection); }
  [[nodiscard]] std::uintptr_t* cell() const { return static_cast<std::uintptr_t*>(page_); }

 private:
  std::size_t bytes_;
  void* page_;
};

TEST(Patch, ReplacesAndPutsBackWhenNotKept) {
  const ReadOnlyPage page;
  {
    Patch patch;
    patch.replace(&page.cell()[0], 11);
    patch.replace(&page.cell()[1], 22);
    EXPECT_EQ(page.cell()[0], 11U);
    EXPECT_EQ(page.cell()[1], 22U);
  }
  EXPECT_EQ(page.cell()[0], 1U);
  EXPECT_EQ(page.cell()[1], 2U);
}

TEST(Patch, StaysWhenKeptUntilUndone) {
  const ReadOnlyPage page;
  {
    Patch patch;
    patch.replace(page.cell(), 11);
    patch.keep();
  }
  EXPECT_EQ(page.cell()[0], 11U);
  Patch patch;
  patch.replace(page.cell(), 12);
  patch.replace(page.cell(), 13);
  patch.keep();
  patch.undo();
  EXPECT_EQ(page.cell()[0], 11U);
}

TEST(Patch, MovedFromPutsNothingBack) {
  const ReadOnlyPage page;
  {
    Patch patch;
    patch.replace(page.cell(), 11);
    const Patch moved(std::move(patch));
    EXPECT_EQ(page.cell()[0], 11U);
  }
  EXPECT_EQ(page.cell()[0], 1U);
}

TEST(PatchDeathTest, LeavesThePageProtectedAsItWas) {
  const ReadOnlyPage page;
  Patch patch;
  patch.replace(page.cell(), 11);
  patch.keep();
  EXPECT_EXIT(
      {
        (void)std::signal(SIGSEGV, SIG_DFL);
        *const_cast<volatile std::uintptr_t*>(page.cell()) = 3;
        _exit(0);
      },
      testing::KilledBySignal(SIGSEGV), "");
}

TEST(Patch, ThrowsAndForgetsWhatItCannotReplace) {
  const ReadOnlyPage page;
  Patch patch;
  patch.replace(page.cell(), 11);
  const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  // A file opened for reading and mapped shared can never be made writable (mprotect(2), EACCES).
  const int file = open("/proc/self/exe", O_RDONLY);
  void* const mapped = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file, 0);
  close(file);
  ASSERT_NE(mapped, MAP_FAILED);
  EXPECT_THROW(patch.replace(static_cast<std::uintptr_t*>(mapped), 22), std::system_error);
  patch.undo();
  EXPECT_EQ(page.cell()[0], 1U);
  munmap(mapped, bytes);
}

}  // namespace
}  // namespace memgraft::hotspot
