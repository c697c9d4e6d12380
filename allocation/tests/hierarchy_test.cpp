#include "memgraft/allocation/hierarchy.h"

#include <gtest/gtest.h>

#include <thread>
#include <utility>

#include "fake_heap.h"
#include "fake_system.h"
#include "pinned.h"

namespace memgraft::allocation {
namespace {

using Word = FakeHeap::Word;

Topology one_cpu() { return FakeSystem().read(); }
Topology two_packages() {
  const FakeSystem system;
  system.packages(2);
  return system.read();
}

TEST(Hierarchy, RefillsEachLevelFromTheNextHigherOne) {
  FakeHeap heap(10'000_words);
  Hierarchy buffers({{Kind::cpu, 100_words}, {Kind::processor, 400_words}, {Kind::node, 1600_words}},
                    one_cpu(), heap.functions(), false);
  for (int i = 0; i < 16 * 10; ++i) {
    const auto taken = buffers.take(10_words, 10_words, nullptr);
    EXPECT_EQ(taken.level, 0U);
    heap.own(taken);
  }
  EXPECT_EQ(buffers.counts(0).taken, 160U);
  EXPECT_EQ(buffers.counts(0).refills, 16U);
  EXPECT_EQ(buffers.counts(0).words, 1600_words);
  EXPECT_EQ(buffers.counts(1).taken, 16U);
  EXPECT_EQ(buffers.counts(1).refills, 4U);
  EXPECT_EQ(buffers.counts(2).taken, 4U);
  EXPECT_EQ(buffers.counts(2).refills, 1U);
  EXPECT_EQ(heap.count(Word::taken), 1600_words);
  EXPECT_EQ(heap.count(Word::buffered), 0_words);
  EXPECT_EQ(heap.count(Word::discarded), 0_words) << "sizes are multiples of each other: nothing is lost";
}

TEST(Hierarchy, TakesWhatIsLargerThanABufferFromAHigherLevel) {
  FakeHeap heap(10'000_words);
  Hierarchy buffers({{Kind::cpu, 100_words}, {Kind::node, 1000_words}}, one_cpu(), heap.functions(), false);
  EXPECT_EQ(buffers.take(150_words, 150_words, nullptr).level, 1U);
  EXPECT_EQ(buffers.take(99_words, 99_words, nullptr).level, 1U) << "would leave one word";
  EXPECT_EQ(buffers.take(100_words, 100_words, nullptr).level, 0U);
  EXPECT_EQ(buffers.take(1001_words, 1001_words, nullptr).start, nullptr) << "the heap's own business";
  EXPECT_EQ(buffers.counts(1).refills, 1U);
}

TEST(Hierarchy, LeavesWhatDoesNotFitWalkable) {
  FakeHeap heap(10'000_words);
  Hierarchy buffers({{Kind::cpu, 100_words}}, one_cpu(), heap.functions(), false);
  heap.own(buffers.take(70_words, 70_words, nullptr));
  heap.own(buffers.take(70_words, 70_words, nullptr));
  EXPECT_EQ(heap.count(Word::discarded), 30_words);
  EXPECT_EQ(buffers.counts(0).words_lost_at_refills, 30_words);
  buffers.close();
  EXPECT_EQ(heap.count(Word::discarded), 60_words);
  EXPECT_EQ(buffers.counts(0).words_lost_at_closes, 30_words);
  EXPECT_EQ(heap.count(Word::buffered), 0_words) << "every word is somebody's or filled";
}

TEST(Hierarchy, UsesTheEndOfABufferForOneThatTakesLess) {
  FakeHeap heap(10'000_words);
  Hierarchy buffers({{Kind::cpu, 100_words}}, one_cpu(), heap.functions(), false);
  heap.own(buffers.take(5_words, 70_words, nullptr));
  const auto taken = buffers.take(5_words, 70_words, nullptr);
  EXPECT_EQ(taken.words, 30_words);
  heap.own(taken);
  EXPECT_EQ(buffers.counts(0).refills, 1U);
}

TEST(Hierarchy, IsEmptyAfterClosing) {
  FakeHeap heap(10'000_words);
  Hierarchy buffers({{Kind::cpu, 100_words}, {Kind::node, 1000_words}}, one_cpu(), heap.functions(), false);
  heap.own(buffers.take(10_words, 10_words, nullptr));
  buffers.close();
  EXPECT_EQ(heap.count(Word::buffered), 0_words);
  heap.empty();
  EXPECT_EQ(buffers.take(10_words, 10_words, nullptr).level, 0U);
  EXPECT_EQ(buffers.counts(1).refills, 2U);
}

// JDK 25 and G1 collect inside the allocation that a refill waits for.
TEST(Hierarchy, ToleratesACollectionWithinARefill) {
  FakeHeap heap(10'000_words);
  Hierarchy buffers({{Kind::cpu, 100_words}, {Kind::node, 1000_words}}, one_cpu(), heap.functions(), false);
  heap.own(buffers.take(90_words, 90_words, nullptr));
  int collections = 0;
  heap.collect = [&] {
    if (collections++ == 0) {
      buffers.close();
      EXPECT_EQ(heap.count(Word::buffered), 0_words);
      heap.empty();
    }
  };
  for (int i = 0; i < 11; ++i) {
    heap.own(buffers.take(90_words, 90_words, nullptr));
  }
  EXPECT_GE(collections, 1);
  EXPECT_EQ(heap.count(Word::taken), (11 - 9) * 90_words) << "what was taken since the collection";
}

TEST(Hierarchy, ReportsAHeapThatHasNoMore) {
  FakeHeap heap(250_words);
  Hierarchy buffers({{Kind::cpu, 100_words}}, two_packages(), heap.functions(), false);
  Words taken;
  while (true) {
    const auto one = buffers.take(10_words, 10_words, nullptr);
    if (one.start == nullptr) {
      break;
    }
    heap.own(one);
    taken += one.words;
  }
  EXPECT_EQ(taken, 200_words) << "two buffers; the third is asked for and not to be had";
  EXPECT_EQ(heap.count(Word::discarded), 0_words);
}

TEST(Hierarchy, GivesUpWhereNeitherABufferNorTheHeapHasEnough) {
  FakeHeap heap(300_words);
  Hierarchy buffers({{Kind::processor, 100_words}}, two_packages(), heap.functions(), false);
  heap.own(buffers.take(60_words, 60_words, nullptr));
  heap.own({.start = heap.take(200_words), .words = 200_words});
  EXPECT_EQ(buffers.take(90_words, 90_words, nullptr).start, nullptr);
  EXPECT_EQ(heap.count(Word::discarded), 40_words);
  EXPECT_EQ(heap.count(Word::buffered), 0_words);
}

// Also from those of another node.
TEST(Hierarchy, TakesFromSiblingsWhenItsOwnCannotBeRefilled) {
  const std::vector<unsigned> cpus = allowed_cpus();
  if (cpus.size() < 2) {
    GTEST_SKIP() << "takes two CPUs";
  }
  const FakeSystem system;
  system.write("cpu/possible", "0-" + std::to_string(cpus[1]));
  system.write("node/online", "0-1");
  system.write("node/node0/cpulist", std::to_string(cpus[0]));
  system.write("node/node1/cpulist", std::to_string(cpus[1]));
  FakeHeap heap(200_words);
  Heap functions = heap.functions();
  functions.by_node = true;
  Hierarchy buffers({{Kind::cpu, 100_words}}, system.read(), functions, false);
  const auto take_on = [&](unsigned cpu, Words words) {
    Hierarchy::Taken taken;
    std::thread([&] {
      stay_on(cpu);
      taken = buffers.take(words, words, nullptr);
    }).join();
    return taken;
  };
  const auto first = take_on(cpus[0], 20_words);
  EXPECT_EQ(take_on(cpus[1], 100_words).words, 100_words);
  EXPECT_EQ(buffers.counts(0).foreign, 0U);
  const auto second = take_on(cpus[1], 20_words);
  EXPECT_EQ(second.start, first.start + to_bytes(20_words).count()) << "from the other's buffer";
  EXPECT_EQ(buffers.counts(0).foreign, 1U);
}

// While its own node's buffer is being refilled, a thread goes to another node's only where that is all the
// same.
TEST(Hierarchy, KeepsToItsOwnNodeWhileTheHeapHasMore) {
  for (const bool by_node : {false, true}) {
    FakeHeap heap(1'000_words);
    Heap functions = heap.functions();
    functions.by_node = by_node;
    const Topology topology = two_packages();
    Hierarchy buffers({{Kind::node, 100_words}}, topology, functions, false);
    Hierarchy::Taken meanwhile;
    std::size_t own = 0;
    bool refilling = false;
    heap.collect = [&] {
      own = refilling ? own : heap.last_node.load();
      if (!std::exchange(refilling, true)) {
        meanwhile = buffers.take(10_words, 10_words, nullptr);
      }
    };
    heap.own(buffers.take(10_words, 10_words, nullptr));
    EXPECT_EQ(meanwhile.start == nullptr, by_node);
    EXPECT_EQ(heap.last_node == own, by_node);
  }
}

TEST(Hierarchy, HandsItsContextToTheHeap) {
  FakeHeap heap(1'000_words);
  int context = 0;
  heap.expected_context = &context;
  Hierarchy buffers({{Kind::cpu, 100_words}}, one_cpu(), heap.functions(), false);
  heap.own(buffers.take(10_words, 10_words, &context));
}

TEST(Hierarchy, CountsOnWhereAnEndedThreadLeftOff) {
  FakeHeap heap(100'000_words);
  Hierarchy buffers({{Kind::cpu, 100_words}}, one_cpu(), heap.functions(), false);
  for (int i = 0; i < 100; ++i) {
    std::thread([&] { heap.own(buffers.take(10_words, 10_words, nullptr)); }).join();
  }
  EXPECT_EQ(buffers.counts(0).taken, 100U);
}

TEST(Hierarchy, IsRestartableWhereABufferHasOneCpu) {
  if (!can_replace_on_cpu()) {
    GTEST_SKIP() << "no restartable sequences here";
  }
  FakeHeap heap(1'000'000_words);
  Hierarchy smt({{Kind::cpu, 100_words}, {Kind::core, 400_words}}, two_packages(), heap.functions(), true);
  EXPECT_TRUE(smt.restartable(0));
  EXPECT_FALSE(smt.restartable(1)) << "two CPUs share one";
  Hierarchy here({{Kind::cpu, 100_words}}, Topology::of_system(), heap.functions(), true);
  ASSERT_TRUE(here.restartable(0));
  for (int i = 0; i < 1000; ++i) {
    heap.own(here.take(10_words, 10_words, nullptr));
  }
  EXPECT_EQ(here.counts(0).taken, 1000U);
  EXPECT_GE(here.counts(0).refills, 100U);
}

}  // namespace
}  // namespace memgraft::allocation
