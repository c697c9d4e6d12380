// Many threads on few CPUs, and collections that empty all buffers: no word is ever two threads', and none is
// lost. Under ThreadSanitizer too.
#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <random>
#include <thread>
#include <vector>

#include "fake_heap.h"
#include "memgraft/allocation/hierarchy.h"
#include "memgraft/deep.h"

namespace memgraft::allocation {
namespace {

struct Setting {
  const char* name;
  std::vector<Level> levels;
  bool restartable;
};

class Stress : public testing::TestWithParam<Setting> {};

TEST_P(Stress, HandsOutEveryWordOnce) {
  const Setting& setting = GetParam();
  if (setting.restartable && !can_replace_on_cpu()) {
    GTEST_SKIP() << "no restartable sequences here";
  }
  constexpr int kThreads = 8;
  const int collections = is_deep() ? 20 : 5;
  constexpr Words kHeapWords = 200'000_words;
  FakeHeap heap(kHeapWords);
  Hierarchy buffers(setting.levels, Topology::of_system(), heap.functions(), setting.restartable);
  Words fewest_taken = kHeapWords;
  std::barrier world(kThreads, [&]() noexcept {
    buffers.close();
    EXPECT_EQ(heap.count(FakeHeap::Word::buffered), 0_words);
    fewest_taken = std::min(fewest_taken, heap.count(FakeHeap::Word::taken));
    heap.empty();
  });
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < kThreads; ++seed) {
    threads.emplace_back([&, seed] {
      std::minstd_rand random(seed + 1);
      for (int collection = 0; collection < collections; ++collection) {
        while (true) {
          const Words wanted{2 + (random() % 120)};
          const auto taken = buffers.take(std::min(wanted, 16_words), wanted, nullptr);
          if (taken.start == nullptr) {
            break;
          }
          heap.own(taken);
        }
        world.arrive_and_wait();
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_GT(fewest_taken, kHeapWords / 2);
}

INSTANTIATE_TEST_SUITE_P(
    Buffers, Stress,
    testing::Values(
        Setting{"one_level", {{Kind::cpu, 1'000_words}}, false},
        Setting{"one_buffer", {{Kind::node, 500_words}}, false},
        Setting{"three_levels",
                {{Kind::cpu, 250_words}, {Kind::processor, 1'000_words}, {Kind::node, 4'000_words}},
                false},
        Setting{"restartable", {{Kind::cpu, 1'000_words}}, true},
        Setting{"restartable_under_others", {{Kind::cpu, 250_words}, {Kind::node, 4'000_words}}, true}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace memgraft::allocation
