#include "zeroing/epochs.h"

#include <gtest/gtest.h>

#include <string>

namespace memgraft::hotspot {
namespace {

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20U;

// Burns CPU time of this thread, which counts as the program's.
void work() {
  volatile std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < 2'000'000; ++i) {
    sum = sum + i;
  }
}

TEST(Epochs, AlternateSoThatADriftCostsBothSidesTheSame) {
  Epochs epochs(ZeroingStrategy::windows, ZeroingStrategy::bulk);
  std::string order(epochs.first() == ZeroingStrategy::windows ? "A" : "B");
  for (int i = 0; i < 11; ++i) {
    epochs.collection_starts({});
    order += epochs.collection_ended({}) == ZeroingStrategy::windows ? "A" : "B";
  }
  EXPECT_EQ(order, "ABBAABBAABBA");
  std::string sides;
  for (const Epochs::Record& record : epochs.records()) {
    const bool grafted = record.side == Epochs::Side::grafted;
    EXPECT_EQ(record.measured.strategy, grafted ? ZeroingStrategy::windows : ZeroingStrategy::bulk);
    sides += grafted ? "A" : "B";
  }
  EXPECT_EQ(sides, order.substr(0, 11));
}

TEST(Epochs, RecordWhatHappenedBetweenTwoCollections) {
  Epochs epochs(ZeroingStrategy::windows, ZeroingStrategy::bulk);
  work();
  epochs.collection_starts(
      {.allocated_bytes = 3 * kMebibyte, .zeroed_bytes = kMebibyte, .zeroing_seconds = 0.5});
  work();  // within the collection: not an epoch's
  (void)epochs.collection_ended(
      {.allocated_bytes = 4 * kMebibyte, .zeroed_bytes = kMebibyte, .zeroing_seconds = 0.5});
  epochs.collection_starts(
      {.allocated_bytes = 9 * kMebibyte, .zeroed_bytes = 3 * kMebibyte, .zeroing_seconds = 0.75});
  const auto records = epochs.records();
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].measured.collection, 0U);
  EXPECT_GT(records[0].measured.program_cpu_seconds, 0.0);
  EXPECT_EQ(records[0].measured.allocated_bytes, 3 * kMebibyte);
  EXPECT_EQ(records[1].measured.collection, 1U);
  EXPECT_EQ(records[1].measured.allocated_bytes, 5 * kMebibyte);
  EXPECT_EQ(records[1].measured.zeroed_bytes, 2 * kMebibyte);
  EXPECT_DOUBLE_EQ(records[1].measured.zeroing_seconds, 0.25);
  // Its own work was before the collection.
  EXPECT_LT(records[1].measured.program_cpu_seconds, records[0].measured.program_cpu_seconds);
}

TEST(Epochs, TakeACollectionInsideAnotherForOne) {
  Epochs epochs(ZeroingStrategy::windows, ZeroingStrategy::bulk);
  epochs.collection_starts({});
  epochs.collection_starts({});
  EXPECT_EQ(epochs.collection_ended({}), ZeroingStrategy::bulk);
  EXPECT_EQ(epochs.collection_ended({}), ZeroingStrategy::bulk);
  EXPECT_EQ(epochs.collections(), 1U);
  EXPECT_EQ(epochs.records().size(), 1U);
}

TEST(Epochs, OfOneStrategyAreCountedOnly) {
  Epochs epochs(ZeroingStrategy::concurrent, std::nullopt);
  epochs.collection_starts({});
  EXPECT_EQ(epochs.collection_ended({}), ZeroingStrategy::concurrent);
  EXPECT_EQ(epochs.collections(), 1U);
  EXPECT_TRUE(epochs.records().empty());
}

TEST(Epochs, OfAnAdaptiveGraftKeepTheChangesOfMind) {
  Epochs epochs(Adaptive({ZeroingStrategy::windows, ZeroingStrategy::bulk}, false));
  EXPECT_EQ(epochs.first(), ZeroingStrategy::windows);
  ZeroingTotals totals;
  for (int i = 0; i < 12; ++i) {
    work();
    totals.allocated_bytes += 8 * kMebibyte;
    epochs.collection_starts(totals);
    (void)epochs.collection_ended(totals);
  }
  std::uint64_t decided = 0;
  for (const auto& [strategy, count] : epochs.decisions()) {
    decided += count;
  }
  EXPECT_EQ(decided, 12U);
  ASSERT_FALSE(epochs.changes().empty());
  for (const Adaptive::Decision& change : epochs.changes()) {
    EXPECT_FALSE(change.reason.empty());
    EXPECT_GT(change.cpus, 0);
  }
}

}  // namespace
}  // namespace memgraft::hotspot
