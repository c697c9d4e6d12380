// NUMA-Eden over a fake heap and a fake machine of two nodes, or more.
#include "buffers/numa_eden.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <cerrno>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "fake_heap.h"
#include "fake_system.h"
#include "join/refusal.h"

namespace memgraft::hotspot {
namespace {

using allocation::FakeHeap;
using allocation::FakeSystem;
using allocation::Kind;
using allocation::Level;
using allocation::Rest;
using allocation::Topology;

// Pages of 64 words: where they are is a map that touching them fills.
class FakeMemory : public linux_os::NumaMemory {
 public:
  static constexpr Words kPageWords = 64_words;

  linux_os::PagePlaces places(const std::byte* start, std::size_t bytes) noexcept override {
    const std::scoped_lock lock(mutex_);
    if (query_error != 0) {
      return {.error = query_error};
    }
    linux_os::PagePlaces found;
    for (std::size_t at = 0; at < bytes && found.asked < linux_os::PagePlaces::kMost; at += kPageBytes) {
      const auto known = pages_.find(start + at);
      found.nodes.at(found.asked++) = known == pages_.end() ? -ENOENT : known->second.node;
    }
    return found;
  }
  int prefer(std::byte* start, std::size_t bytes, unsigned node, bool anew) noexcept override {
    const std::scoped_lock lock(mutex_);
    ++(anew ? moves : binds);
    if (bind_error != 0) {
      return bind_error;
    }
    for (std::size_t at = 0; at < bytes; at += kPageBytes) {
      policy_[start + at] = static_cast<int>(node);
      if (anew) {
        pages_.erase(start + at);
      }
    }
    return 0;
  }
  // Somebody else moves pages that are there.
  void stray(const std::byte* start, Words words, int node) {
    const std::scoped_lock lock(mutex_);
    for (std::size_t at = 0; at < to_bytes(words).count(); at += kPageBytes) {
      pages_.at(start + at).node = node;
    }
  }

  // By a thread on that node, for the first time.
  void touch(const std::byte* start, Words words, int node) {
    const std::scoped_lock lock(mutex_);
    for (std::size_t at = 0; at < to_bytes(words).count(); at += kPageBytes) {
      const auto policy = policy_.find(start + at);
      pages_.try_emplace(start + at, Page{policy == policy_.end() ? node : policy->second});
    }
  }
  // Of the pages, how many are on the node.
  [[nodiscard]] std::size_t on(const std::byte* start, Words words, int node) {
    const linux_os::PagePlaces found = places(start, to_bytes(words).count());
    return static_cast<std::size_t>(std::ranges::count(found.seen(), node));
  }

  int query_error = 0;
  int bind_error = 0;
  std::size_t binds = 0;
  std::size_t moves = 0;

 private:
  struct Page {
    int node = 0;
  };
  static constexpr std::size_t kPageBytes = to_bytes(kPageWords).count();
  std::mutex mutex_;
  std::map<const std::byte*, Page> pages_;
  std::map<const std::byte*, int> policy_;
};

// Nodes 3 and 5 of the kernel.
constexpr int kFirst = 3;
constexpr int kSecond = 5;
constexpr Words kFilling = 4 * FakeMemory::kPageWords;
constexpr std::uint64_t kPages = 4;
constexpr std::size_t kFillings = 48;
constexpr std::size_t kMostSpares = kFillings / 16;

// Does the work on so many threads, each with its number and random numbers of its own.
template <typename Work>
void on_threads(unsigned count, const Work& work) {
  std::vector<std::jthread> threads;
  threads.reserve(count);
  for (unsigned number = 0; number < count; ++number) {
    threads.emplace_back([&work, number] {
      std::minstd_rand random(number + 1);
      work(number, random);
    });
  }
}

class NumaEdenTest : public testing::Test {
 protected:
  // As a buffer would: what is there is handed to threads on that node, who touch all of it.
  std::byte* fill(std::size_t node, Words words = kFilling) {
    std::byte* const start = eden_.allocate(nullptr, words, node);
    if (start != nullptr) {
      heap_.own({.start = start, .words = words});
      memory_.touch(start, words, node == 0 ? kFirst : kSecond);
    }
    return start;
  }
  std::size_t local(const std::byte* start, std::size_t node) {
    return memory_.on(start, kFilling, node == 0 ? kFirst : kSecond);
  }
  void collect() {
    eden_.close();
    EXPECT_EQ(heap_.count(FakeHeap::Word::buffered), 0_words) << "every word is somebody's or filled";
    heap_.empty();
  }
  // Eden is handed out whole, `first` of the fillings to the first node and then the rest to the other.
  void fill_eden(std::size_t first) {
    for (std::size_t i = 0; i < kFillings; ++i) {
      ASSERT_NE(fill(i < first ? 0 : 1), nullptr);
    }
  }

  FakeHeap heap_{kFillings * kFilling};
  FakeMemory memory_;
  NumaEden eden_{{kFirst, kSecond},
                 memory_,
                 [](void* heap, Words words) { return FakeHeap::functions().allocate(heap, words, 0); },
                 [](Rest rest) { FakeHeap::functions().discard(rest); }};
};

TEST_F(NumaEdenTest, BindsWhatNobodyHasTouched) {
  for (const std::size_t node : {0U, 1U, 1U, 0U}) {
    std::byte* const start = eden_.allocate(nullptr, kFilling, node);
    heap_.own({.start = start, .words = kFilling});
    memory_.touch(start, kFilling,
                  node == 0 ? kSecond : kFirst);  // by a thread that has been moved meanwhile
    EXPECT_EQ(local(start, node), kPages);
  }
  const NumaCounts counts = eden_.counts();
  EXPECT_EQ(counts.nodes, 2U);
  EXPECT_EQ(counts.fillings, 4U);
  EXPECT_EQ(counts.bound, to_bytes(4 * kFilling));
  EXPECT_EQ(counts.local_fillings + counts.moved_fillings + counts.spares_used + counts.failures, 0U);
}

TEST_F(NumaEdenTest, LeavesAloneWhatLiesRight) {
  fill_eden(kFillings);
  collect();
  const std::size_t binds = memory_.binds;
  fill_eden(kFillings);
  EXPECT_EQ(memory_.binds, binds);
  EXPECT_EQ(memory_.moves, 0U);
  EXPECT_EQ(eden_.counts().local_fillings, kFillings);
}

TEST_F(NumaEdenTest, PutsAsideWhatLiesOnAnotherNode) {
  fill_eden(1);
  collect();
  // The first is the first node's.
  std::byte* const start = fill(1);
  EXPECT_EQ(local(start, 1), kPages);
  EXPECT_EQ(heap_.count(FakeHeap::Word::buffered), kFilling) << "the spare";
  EXPECT_EQ(fill(0), start - to_bytes(kFilling).count()) << "the spare, at once";
  const NumaCounts counts = eden_.counts();
  EXPECT_EQ(counts.spares_used, 1U);
  EXPECT_EQ(counts.moved_fillings, 0U);
}

TEST_F(NumaEdenTest, MovesNothingWhereTheOrderChangesALittle) {
  for (std::size_t i = 0; i < kFillings; ++i) {
    (void)fill(i % 2);
  }
  collect();
  for (std::size_t i = 0; i < kFillings; ++i) {
    EXPECT_EQ(local(fill(1 - (i % 2)), 1 - (i % 2)), kPages);
  }
  EXPECT_EQ(eden_.counts().moved_fillings, 0U);
  EXPECT_EQ(eden_.counts().spares_used, kFillings / 2)
      << "each time that one was used there was room for another";
}

TEST_F(NumaEdenTest, MovesWhereThereAreSparesEnough) {
  fill_eden(kFillings);
  collect();
  std::byte* const start = fill(1);
  EXPECT_EQ(local(start, 1), kPages) << "moved";
  EXPECT_EQ(heap_.count(FakeHeap::Word::buffered), kMostSpares * kFilling) << "no more of eden";
  EXPECT_EQ(eden_.counts().moved_fillings, 1U);
  EXPECT_EQ(memory_.moves, 1U);
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(local(fill(1), 1), kPages);
  }
}

TEST_F(NumaEdenTest, DiscardsSparesAtACollection) {
  fill_eden(kFillings);
  collect();
  (void)fill(1);
  collect();
  EXPECT_EQ(eden_.counts().words_lost_at_closes, kMostSpares * kFilling);
  EXPECT_EQ(local(fill(0), 0), kPages);
  EXPECT_EQ(eden_.counts().spares_used, 0U) << "they are the heap's again";
}

TEST_F(NumaEdenTest, UsesSparesOfOthersRatherThanCollecting) {
  fill_eden(1);
  collect();
  for (std::size_t i = 0; i < kFillings - 1; ++i) {
    EXPECT_EQ(local(fill(1), 1), kPages);
  }
  EXPECT_EQ(local(fill(1), 0), kPages) << "the spare, as it lies";
  EXPECT_EQ(fill(1), nullptr);
  const NumaCounts counts = eden_.counts();
  EXPECT_EQ(counts.remote_fillings, 1U);
  EXPECT_EQ(counts.fillings, 2 * kFillings);
}

TEST_F(NumaEdenTest, ToleratesAPageThatStrayed) {
  constexpr Words kMany = 32 * FakeMemory::kPageWords;
  std::byte* const start = eden_.allocate(nullptr, kMany, 0);
  heap_.own({.start = start, .words = kMany});
  memory_.touch(start, kMany, kFirst);
  heap_.empty();
  eden_.close();
  // Two of 32 lie elsewhere.
  memory_.stray(start, 2 * FakeMemory::kPageWords, kSecond);
  (void)eden_.allocate(nullptr, kMany, 0);
  EXPECT_EQ(eden_.counts().moved_fillings, 0U);
  heap_.empty();
  memory_.stray(start, 3 * FakeMemory::kPageWords, kSecond);
  (void)eden_.allocate(nullptr, kMany, 0);
  EXPECT_EQ(eden_.counts().moved_fillings, 1U);
  heap_.empty();
}

TEST_F(NumaEdenTest, MovesWhatLiesOnANodeWithoutCpus) {
  std::byte* const start = fill(0);
  memory_.stray(start, kFilling, 9);
  heap_.empty();
  EXPECT_EQ(local(fill(0), 0), kPages);
  EXPECT_EQ(eden_.counts().moved_fillings, 1U);
}

TEST_F(NumaEdenTest, GoesOnWhereTheSystemRefuses) {
  memory_.query_error = memory_.bind_error = EPERM;
  fill_eden(10);
  collect();
  fill_eden(20);
  NumaCounts counts = eden_.counts();
  EXPECT_EQ(counts.fillings, 2 * kFillings);
  EXPECT_EQ(counts.bound, Bytes(0));
  EXPECT_GE(counts.failures, 2 * kFillings);
  EXPECT_EQ(counts.reason, "mbind: Operation not permitted");
  memory_.query_error = 0;
  memory_.bind_error = ENOMEM;
  collect();
  (void)fill(1);
  counts = eden_.counts();
  EXPECT_EQ(counts.moved_fillings, 0U) << "a failure is no move";
  EXPECT_EQ(counts.reason, "mbind: Cannot allocate memory");
}

TEST_F(NumaEdenTest, HandsOnThatTheHeapHasNoMore) {
  fill_eden(0);
  EXPECT_EQ(fill(0), nullptr);
  EXPECT_EQ(eden_.counts().fillings, kFillings);
}

TEST_F(NumaEdenTest, KeepsSparesOfOtherSizes) {
  fill_eden(2);
  collect();
  (void)fill(1);
  ASSERT_EQ(heap_.count(FakeHeap::Word::buffered), 2 * kFilling);
  const std::byte* const smaller = fill(0, kFilling / 2);
  EXPECT_EQ(eden_.counts().spares_used, 0U);
  EXPECT_LT(fill(0), smaller);
  EXPECT_EQ(eden_.counts().spares_used, 1U);
}

// Serial, G1 and JDK 25 collect within the allocation.
TEST_F(NumaEdenTest, ToleratesACollectionWithinAnAllocation) {
  fill_eden(kFillings / 2);
  collect();
  std::size_t asked = 0;
  heap_.collect = [&] {
    if (++asked % 3 == 0) {
      collect();
    }
  };
  for (std::size_t i = 0; i < 1000; ++i) {
    const std::size_t node = i / 5 % 2;
    EXPECT_EQ(local(fill(node), node), kPages);
  }
  EXPECT_GT(asked, 900U);
}

// Threads of both nodes at random, and collections: every word is handed out once, none is lost.
TEST_F(NumaEdenTest, IsSharedByManyThreads) {
  constexpr unsigned kThreads = 6;
  constexpr int kCollections = 60;
  std::barrier world(kThreads, [&]() noexcept { collect(); });
  on_threads(kThreads, [&](unsigned number, std::minstd_rand& random) {
    for (int collection = 0; collection < kCollections; ++collection) {
      const std::size_t node = random() % 8 == 0 ? 1 - (number % 2) : number % 2;
      while (fill(random() % 8 == 0 ? 1 - node : node) != nullptr) {
      }
      world.arrive_and_wait();
    }
  });
  const NumaCounts counts = eden_.counts();
  EXPECT_GT(counts.spares_used, 100U);
  EXPECT_EQ(counts.fillings, kFillings * kCollections - counts.words_lost_at_closes / kFilling);
}

// Every other filling is another node's, for good: nothing but spares being put aside and taken.
class Striped : public linux_os::NumaMemory {
 public:
  linux_os::PagePlaces places(const std::byte* start, std::size_t bytes) noexcept override {
    linux_os::PagePlaces found{.asked = 1};
    found.nodes[0] = reinterpret_cast<std::uintptr_t>(start) / bytes % 2 == 0 ? kFirst : kSecond;
    return found;
  }
  int prefer(std::byte* /*start*/, std::size_t /*bytes*/, unsigned /*node*/,
             bool /*anew*/) noexcept override {
    return 0;
  }
};

TEST(NumaEdenStress, HandsOutEverySpareOnce) {
  constexpr unsigned kThreads = 6;
  constexpr int kCollections = 100;
  constexpr Words kWords = 2_words;
  FakeHeap heap(20'000 * kWords);
  Striped memory;
  NumaEden eden(
      {kFirst, kSecond}, memory,
      [](void* of, Words words) { return FakeHeap::functions().allocate(of, words, 0); },
      [](Rest rest) { FakeHeap::functions().discard(rest); });
  std::barrier world(kThreads, [&]() noexcept {
    eden.close();
    EXPECT_EQ(heap.count(FakeHeap::Word::buffered), 0_words);
    heap.empty();
  });
  on_threads(kThreads, [&](unsigned /*number*/, std::minstd_rand& random) {
    for (int collection = 0; collection < kCollections; ++collection) {
      while (std::byte* const start = eden.allocate(nullptr, kWords, random() / 8 % 2)) {
        heap.own({.start = start, .words = kWords});
      }
      world.arrive_and_wait();
    }
  });
  EXPECT_GT(eden.counts().spares_used, 10'000U);
}

Topology two_packages() {
  const FakeSystem system;
  system.packages(2);
  return system.read();
}

TEST(LevelsByNode, AddsALevelOfNodes) {
  const Topology topology = two_packages();
  EXPECT_EQ(levels_by_node({}, topology, false), (std::vector<Level>{{Kind::node, 2'097'152_words}}));
  EXPECT_EQ(levels_by_node({}, topology, true), (std::vector<Level>{{Kind::node, 65'536_words}}));
  EXPECT_EQ(levels_by_node({{Kind::cpu, 3000_words}}, topology, false),
            (std::vector<Level>{{Kind::cpu, 3000_words}, {Kind::node, 2'100'000_words}}))
      << "a multiple";
  const std::vector<Level> own{{Kind::cpu, 3000_words}, {Kind::node, 30'000_words}};
  EXPECT_EQ(levels_by_node(own, topology, false), own);
  const std::vector<Level> large{{Kind::cpu, 4'000'000_words}};
  EXPECT_EQ(levels_by_node(large, topology, false), large);
  const std::vector<Level> processors{{Kind::processor, 3000_words}};
  EXPECT_EQ(levels_by_node(processors, topology, false), processors) << "one for each node already";
}

TEST(LevelsByNode, LeavesNodesOutWhereThereIsOne) {
  const Topology topology = FakeSystem().read();
  EXPECT_EQ(levels_by_node({}, topology, false), std::vector<Level>{});
  EXPECT_EQ(levels_by_node({{Kind::cpu, 3000_words}, {Kind::node, 30'000_words}}, topology, false),
            (std::vector<Level>{{Kind::cpu, 3000_words}}));
  EXPECT_EQ(make_numa_eden(topology, nullptr, nullptr), nullptr);
  const std::unique_ptr<NumaEden> eden(make_numa_eden(two_packages(), nullptr, nullptr));
  EXPECT_EQ(eden->counts().nodes, 2U);
}

TEST(LevelsByNode, RefusesBuffersForSeveralNodes) {
  const FakeSystem system;
  system.packages(1);  // of four CPUs, which are two nodes
  system.write("node/online", "0-1");
  system.write("node/node0/cpulist", "0-1");
  system.write("node/node1/cpulist", "2-3");
  const Topology topology = system.read();
  EXPECT_NO_THROW(levels_by_node({{Kind::core, 3000_words}}, topology, false));
  try {
    (void)levels_by_node({{Kind::core, 3000_words}, {Kind::processor, 30'000_words}}, topology, false);
    FAIL() << "not refused";
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.exit_code(), kExitCannotTakeGraft);
    EXPECT_EQ(refusal.reason().found, "a processor with CPUs of several nodes");
  }
}

}  // namespace
}  // namespace memgraft::hotspot
