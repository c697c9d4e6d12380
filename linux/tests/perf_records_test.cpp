#include "memgraft/linux/perf_records.h"

#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "fake_rings.h"
#include "memgraft/linux/perf_ring.h"

namespace memgraft::linux_os {
namespace {

constexpr std::uint64_t kAll = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                               PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW |
                               PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC;

Written a_sample() {
  Written sample;
  sample
      .add<std::uint64_t>(1001)      // IDENTIFIER
      .add<std::uint64_t>(0x401000)  // IP
      .add<std::uint32_t>(7)
      .add<std::uint32_t>(8)               // TID: process, thread
      .add<std::uint64_t>(123456789)       // TIME
      .add<std::uint64_t>(0x7f0000001008)  // ADDR
      .add<std::uint32_t>(3)
      .add<std::uint32_t>(0xff)  // CPU, reserved
      .add<std::uint64_t>(4001)  // PERIOD
      .add<std::uint32_t>(4)
      .add<std::uint32_t>(0xabcdef01)   // RAW: size, bytes
      .add<std::uint64_t>(220)          // WEIGHT
      .add<std::uint64_t>(0x68100142);  // DATA_SRC
  return sample;
}

TEST(PerfRecords, ASampleHasItsFieldsInTheManualsOrder) {
  const Written written = a_sample();
  const auto sample = parse_sample(written.bytes, kAll);
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->event, 1001U);
  EXPECT_EQ(sample->instruction, 0x401000U);
  EXPECT_EQ(sample->process, 7U);
  EXPECT_EQ(sample->thread, 8U);
  EXPECT_EQ(sample->time, 123456789U);
  EXPECT_EQ(sample->address, 0x7f0000001008U);
  EXPECT_EQ(sample->cpu, 3U);
  EXPECT_EQ(sample->period, 4001U);
  EXPECT_EQ((std::vector<std::uint8_t>(sample->raw.begin(), sample->raw.end())),
            (std::vector<std::uint8_t>{0x01, 0xef, 0xcd, 0xab}));
  EXPECT_EQ(sample->weight, 220U);
  EXPECT_EQ(sample->data_source, 0x68100142U);
}

TEST(PerfRecords, FieldsThatWereNotAskedForAreNotThere) {
  Written written;
  written.add<std::uint32_t>(7).add<std::uint32_t>(8).add<std::uint64_t>(0x1000);
  const auto sample = parse_sample(written.bytes, PERF_SAMPLE_TID | PERF_SAMPLE_ADDR);
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->thread, 8U);
  EXPECT_EQ(sample->address, 0x1000U);
  EXPECT_EQ(sample->time, 0U);
}

TEST(PerfRecords, OneThatIsCutOffIsNone) {
  const Written written = a_sample();
  for (std::size_t size = 0; size < written.bytes.size(); ++size) {
    EXPECT_FALSE(parse_sample(Bytes8(written.bytes).first(size), kAll)) << size;
  }
  EXPECT_FALSE(parse_sample(written.bytes, kAll | PERF_SAMPLE_CALLCHAIN)) << "a field of unknown length";
}

TEST(PerfRecords, ThreadsThatEndAndPartsOfTheSecondArea) {
  Written exit;
  exit.add<std::uint32_t>(7)
      .add<std::uint32_t>(1)
      .add<std::uint32_t>(8)
      .add<std::uint32_t>(7)
      .add<std::uint64_t>(99);
  const auto task = parse_task(exit.bytes);
  ASSERT_TRUE(task);
  EXPECT_EQ(task->process, 7U);
  EXPECT_EQ(task->parent_process, 1U);
  EXPECT_EQ(task->thread, 8U);
  EXPECT_EQ(task->parent_thread, 7U);
  EXPECT_EQ(task->time, 99U);

  Written part;
  part.add<std::uint64_t>(4096).add<std::uint64_t>(64).add<std::uint64_t>(PERF_AUX_FLAG_TRUNCATED);
  part.add<std::uint32_t>(7).add<std::uint32_t>(8).add<std::uint64_t>(100);   // sample_id: TID, TIME,
  part.add<std::uint32_t>(1).add<std::uint32_t>(0).add<std::uint64_t>(1001);  // CPU, IDENTIFIER
  const auto aux = parse_aux(part.bytes, kAll);
  ASSERT_TRUE(aux);
  EXPECT_EQ(aux->offset, 4096U);
  EXPECT_EQ(aux->size, 64U);
  EXPECT_EQ(aux->flags, static_cast<std::uint64_t>(PERF_AUX_FLAG_TRUNCATED));
  EXPECT_EQ(aux->id.thread, 8U);
  EXPECT_EQ(aux->id.time, 100U);
  EXPECT_EQ(aux->id.cpu, 1U);
  EXPECT_EQ(aux->id.event, 1001U);
}

// A ring of one page that a test fills as the kernel would.
class PerfRingOf : public testing::Test {
 protected:
  void SetUp() override {
    fd_ = events_.open({}, 0, 0);
    int error = 0;
    ring_ = PerfRing::map(events_, fd_, kBytes, error);
    ASSERT_TRUE(ring_) << error;
  }
  void TearDown() override { close(fd_); }
  void put(std::uint32_t type, const Written& body) {
    events_.write(events_.events.front(), body.record(type));
  }
  perf_event_mmap_page& page() {
    // The layout of the first page.
    return *reinterpret_cast<perf_event_mmap_page*>(events_.mapped.at(fd_).front().memory);
  }
  std::vector<std::uint64_t> read_numbers() {
    std::vector<std::uint64_t> numbers;
    ring_->read([&](const PerfRecord& record) {
      const auto sample = parse_sample(record.body, PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME);
      ASSERT_TRUE(sample);
      ASSERT_EQ(sample->time, sample->event + 1);
      numbers.push_back(sample->event);
    });
    return numbers;
  }

  static constexpr std::size_t kBytes = 4096;
  FakeRings events_;
  int fd_ = -1;
  std::optional<PerfRing> ring_;
};

TEST_F(PerfRingOf, RecordsAreReadOnceAndAroundTheEnd) {
  std::uint64_t next = 0;
  for (int round = 0; round < 1000; ++round) {
    std::vector<std::uint64_t> put_in;
    for (int record = 0; record < 1 + round % 7; ++record, ++next) {
      // 24 bytes each, which do not divide the ring: in time one goes over its end at every place.
      put(PERF_RECORD_SAMPLE, Written().add(next).add(next + 1));
      put_in.push_back(next);
    }
    ASSERT_EQ(read_numbers(), put_in);
    ASSERT_EQ(page().data_tail, page().data_head) << "room for the kernel";
  }
  EXPECT_TRUE(read_numbers().empty());
  EXPECT_EQ(ring_->lost(), 0U);
}

TEST_F(PerfRingOf, LostRecordsAreCounted) {
  put(PERF_RECORD_LOST, Written().add<std::uint64_t>(1000).add<std::uint64_t>(17));
  put(PERF_RECORD_LOST_SAMPLES, Written().add<std::uint64_t>(4));
  EXPECT_TRUE(read_numbers().empty());
  EXPECT_EQ(ring_->lost(), 21U);
}

TEST_F(PerfRingOf, WhatIsNoRecordIsLeftBehind) {
  put(PERF_RECORD_SAMPLE, Written().add<std::uint64_t>(1).add<std::uint64_t>(2));
  events_.write(events_.events.front(), std::vector<std::uint8_t>(8, 0));  // a record of size 0
  EXPECT_EQ(read_numbers(), std::vector<std::uint64_t>{1});
  EXPECT_EQ(ring_->lost(), 1U);
  put(PERF_RECORD_SAMPLE, Written().add<std::uint64_t>(5).add<std::uint64_t>(6));
  EXPECT_EQ(read_numbers(), std::vector<std::uint64_t>{5});
}

TEST_F(PerfRingOf, TheSecondAreaIsReadAroundItsEnd) {
  ASSERT_EQ(ring_->map_aux(events_, fd_, kBytes), 0);
  EXPECT_EQ(page().aux_offset, 4096 + kBytes);
  EXPECT_EQ(page().aux_size, kBytes);
  const FakeRings::Area aux = events_.mapped.at(fd_)[1];
  aux.memory[kBytes - 1] = 1;
  aux.memory[0] = 2;
  put(PERF_RECORD_AUX,
      Written().add<std::uint64_t>(2 * kBytes - 1).add<std::uint64_t>(2).add<std::uint64_t>(0));
  std::vector<std::uint8_t> bytes;
  ring_->read([&](const PerfRecord& record) {
    const Bytes8 told = ring_->aux(*parse_aux(record.body, 0));
    bytes.assign(told.begin(), told.end());
  });
  EXPECT_EQ(bytes, (std::vector<std::uint8_t>{1, 2}));
  EXPECT_EQ(page().aux_tail, 2 * kBytes + 1);
}

}  // namespace
}  // namespace memgraft::linux_os
