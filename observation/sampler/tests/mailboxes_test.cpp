// The mailboxes with real threads and between processes; the model checker has gone through their schedules.
#include "mailboxes.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "shared.h"

namespace memgraft::observation {
namespace {

TEST(Touchers, FitIntoAWord) {
  for (const std::uint64_t watched : {0ULL, 999ULL, 1000ULL, 1'500'000ULL, 3'600'000'000'000ULL, ~0ULL}) {
    const Toucher in{
        .thread = 4194303, .cpu = 8191, .knows_store = true, .store = false, .watched_nanoseconds = watched};
    const Toucher out = toucher_in(touched_by(in));
    EXPECT_EQ(out.thread, in.thread);
    EXPECT_EQ(out.cpu, in.cpu);
    EXPECT_TRUE(out.knows_store);
    EXPECT_FALSE(out.store);
    EXPECT_LE(out.watched_nanoseconds, watched);
    if (watched < 1'000'000'000'000'000) {
      EXPECT_GE(out.watched_nanoseconds * 2, watched / 1000 * 1000);
    }
  }
  EXPECT_TRUE(toucher_in(touched_by({.store = true})).store);
  EXPECT_GT(toucher_in(~Word{0}).watched_nanoseconds, 0U) << "what nobody writes";
}

TEST(Mailboxes, NothingIsLostThatIsNotCounted) {
  constexpr Word kThreads = 4;
  constexpr Word kEach = 40000;
  const auto boxes = std::make_unique<Mailboxes<ProcessAtomics>>();
  std::vector<unsigned> times(kThreads * kEach + 1);
  std::uint64_t came = 0;
  const auto take = [&] {
    boxes->take_all([&](const Record& record) {
      ASSERT_LT(record.address, times.size());
      ASSERT_EQ(record.nanoseconds, record.address + 10);
      ASSERT_EQ(record.who, record.address + 20);
      ++times[record.address];
      ++came;
    });
  };
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  std::atomic<Word> ended{0};
  for (Word thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (Word i = 0; i < kEach; ++i) {
        const Word number = thread * kEach + i + 1;
        boxes->put({.address = number, .nanoseconds = number + 10, .who = number + 20});
      }
      ++ended;
    });
  }
  while (ended < kThreads) {
    take();
  }
  for (auto& thread : threads) {
    thread.join();
  }
  take();
  for (const unsigned of_one : times) {
    EXPECT_LE(of_one, 1U);
  }
  EXPECT_EQ(came + boxes->lost(), kThreads * kEach);
}

TEST(Mailboxes, FullOnesAreCounted) {
  const auto boxes = std::make_unique<Mailboxes<ProcessAtomics>>();
  for (Word i = 0; i < ProcessAtomics::kBoxes + 5; ++i) {
    boxes->put({.address = i});
  }
  EXPECT_EQ(boxes->lost(), 5U);
  std::size_t count = 0;
  boxes->take_all([&](const Record&) { ++count; });
  EXPECT_EQ(count, ProcessAtomics::kBoxes);
}

// A producer that was killed, or writes anything at all, costs its boxes and nothing else.
TEST(Mailboxes, WhatAnybodyWroteIsReadWithoutHarm) {
  const auto boxes = std::make_unique<Mailboxes<ProcessAtomics>>();
  auto* const words =
      reinterpret_cast<std::atomic<Word>*>(boxes.get());  // the words of the boxes, as anybody sees them
  Word random = 88172645463325252ULL;
  for (std::size_t i = 0; i < sizeof(*boxes) / sizeof(Word); ++i) {
    random ^= random << 13U;
    random ^= random >> 7U;
    random ^= random << 17U;
    words[i].store(i % 3 == 0 ? random % 4 : random);
  }
  std::size_t count = 0;
  boxes->take_all([&](const Record&) { ++count; });
  EXPECT_LE(count, ProcessAtomics::kBoxes);
  boxes->put({.address = 1});
  boxes->take_all([&](const Record&) { ++count; });
}

}  // namespace
}  // namespace memgraft::observation
