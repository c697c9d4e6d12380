// Many threads at once: the first use, neighbouring blocks, and memory that is zeroed and then published.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstdint>
#include <set>
#include <thread>
#include <vector>

#include "memgraft/zeroing.h"
#include "oracle.h"

namespace memgraft::zeroing::testing {
namespace {

constexpr std::size_t kThreadCount = 8;

std::vector<const memgraft_zero_kernel*> available_kernels() {
  std::size_t count = 0;
  const memgraft_zero_kernel* kernels = memgraft_zero_kernels(&count);
  std::vector<const memgraft_zero_kernel*> available;
  for (std::size_t i = 0; i < count; ++i) {
    if (kernels[i].available) {
      available.push_back(&kernels[i]);
    }
  }
  return available;
}

TEST(Threads, AllSeeTheSameChoiceAtTheFirstUse) {
  std::barrier start(static_cast<std::ptrdiff_t>(kThreadCount));
  std::vector<const memgraft_zero_kernel*> ordinary(kThreadCount);
  std::vector<const memgraft_zero_kernel*> non_temporal(kThreadCount);
  std::vector<std::uint64_t> words(2 * kThreadCount, ~std::uint64_t{0});
  {
    std::vector<std::jthread> threads;
    threads.reserve(kThreadCount);
    for (std::size_t i = 0; i < kThreadCount; ++i) {
      threads.emplace_back([&, i] {
        start.arrive_and_wait();
        memgraft_zero(&words[2 * i], sizeof(std::uint64_t));
        memgraft_zero_non_temporal(&words[2 * i + 1], sizeof(std::uint64_t));
        ordinary[i] = memgraft_zero_chosen(MEMGRAFT_ZERO_ORDINARY);
        non_temporal[i] = memgraft_zero_chosen(MEMGRAFT_ZERO_NON_TEMPORAL);
      });
    }
  }
  EXPECT_EQ(std::set(ordinary.begin(), ordinary.end()).size(), 1U);
  EXPECT_EQ(std::set(non_temporal.begin(), non_temporal.end()).size(), 1U);
  EXPECT_NE(ordinary.front(), nullptr);
  EXPECT_EQ(std::ranges::count(words, std::uint64_t{0}), static_cast<std::ptrdiff_t>(words.size()));
}

// Threads write into neighbouring bytes while others zero: no store may reach a neighbour's bytes, not even
// with the value that was there, since the neighbour may have changed it meanwhile. Block ends fall inside
// cache lines.
TEST(Threads, LeaveNeighboursAlone) {
  constexpr std::size_t kBlock = 1021;  // a prime, so that the blocks start at every alignment
  constexpr int kRounds = 400;
  for (const memgraft_zero_kernel* kernel : available_kernels()) {
    std::vector<unsigned char> memory(kBlock * kThreadCount, 1);
    std::atomic<int> wrong{0};
    {
      std::vector<std::jthread> threads;
      threads.reserve(kThreadCount);
      for (std::size_t i = 0; i < kThreadCount; ++i) {
        threads.emplace_back([&, i] {
          const std::span<unsigned char> mine(memory.data() + i * kBlock, kBlock);
          for (int round = 0; round < kRounds; ++round) {
            const auto mark = static_cast<unsigned char>(1 + round % 255);
            std::ranges::fill(mine, mark);
            if (std::ranges::count(mine, mark) != static_cast<std::ptrdiff_t>(kBlock)) {
              ++wrong;
            }
            kernel->zero(mine.data(), mine.size());
            if (std::ranges::count(mine, 0) != static_cast<std::ptrdiff_t>(kBlock)) {
              ++wrong;
            }
          }
        });
      }
    }
    EXPECT_EQ(wrong, 0) << kernel->name;
  }
}

// A thread that learns of zeroed memory through a release store must find zeroes there. On x86-64 that store
// is a plain one, so this is what the sfence of the non-temporal kernels is for.
TEST(Threads, FindZeroesInPublishedMemory) {
  constexpr std::size_t kBytes = std::size_t{32} << 10;
  constexpr int kRounds = 100;
  for (const memgraft_zero_kernel* kernel : available_kernels()) {
    const GuardedPages pages(kBytes);
    const std::span<std::byte> memory = pages.memory();
    std::atomic<int> published{0};
    std::atomic<int> checked{0};
    std::ptrdiff_t left = 0;
    {
      const std::jthread reader([&] {
        for (int round = 1; round <= kRounds; ++round) {
          while (published.load(std::memory_order_acquire) !=
                 round) {  // acquire: reads the zeroes only after it
            std::this_thread::yield();
          }
          left += static_cast<std::ptrdiff_t>(memory.size()) - std::ranges::count(memory, std::byte{0});
          checked.store(round,
                        std::memory_order_release);  // release: has read before the writer scribbles again
        }
      });
      Random random(7);
      for (int round = 1; round <= kRounds; ++round) {
        scribble(memory, random);
        kernel->zero(memory.data(), memory.size());
        published.store(round, std::memory_order_release);  // release: publishes the zeroes
        while (checked.load(std::memory_order_acquire) !=
               round) {  // acquire: pairs with the reader's release
          std::this_thread::yield();
        }
      }
    }
    EXPECT_EQ(left, 0) << kernel->name;
  }
}

}  // namespace
}  // namespace memgraft::zeroing::testing
