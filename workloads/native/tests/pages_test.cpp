#include <gtest/gtest.h>
#include <omp.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

extern "C" {
#include "pages.h"
}

namespace {

long faults_of_this_thread() {
  rusage usage{};
  EXPECT_EQ(getrusage(RUSAGE_THREAD, &usage), 0);
  return usage.ru_minflt;
}

// Large enough to be told from a thread's other page faults also where pages are of 2 MiB.
constexpr std::int64_t kBytes = 64 << 20;

long faults_of_main(bool by_main) {
  omp_set_num_threads(4);
  pages_touched_by_main(by_main);
  const std::int64_t allocated = pages_bytes();
  const long before = faults_of_this_thread();
  const auto* memory = static_cast<const char*>(pages_allocate(kBytes, 1));
  const long faults = faults_of_this_thread() - before;
  EXPECT_TRUE(std::all_of(memory, memory + kBytes, [](char byte) { return byte == 0; }));
  EXPECT_EQ(pages_bytes() - allocated, kBytes);
  return faults;
}

// The first to touch a page has a fault.
TEST(Pages, AreTouchedByMainOrByAll) {
  const long all = faults_of_main(true);
  const long share = faults_of_main(false);
  EXPECT_GE(all, 32);
  EXPECT_LT(share, all / 2) << "of four threads";
}

// Of an array of one page, how far behind it the next one begins.
std::intptr_t distance_of_two(bool by_main) {
  omp_set_num_threads(2);
  pages_touched_by_main(by_main);
  const auto* one = static_cast<const char*>(pages_allocate(1, 1));
  const auto* other = static_cast<const char*>(pages_allocate(1, 1));
  // memgraft/paper/counted.py counts what is accessed there.
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(one) >> 40U, 0x20U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(other) >> 40U, 0x20U);
  return other - one;
}

TEST(Pages, LieInOnePieceWhereMainTouchesThem) {
  EXPECT_EQ(distance_of_two(true), sysconf(_SC_PAGESIZE));
  EXPECT_GT(distance_of_two(false), 16 * sysconf(_SC_PAGESIZE)) << "a guard is between them";
}

}  // namespace
