#include "memgraft/observation/touch_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <variant>
#include <vector>

#include "memgraft/observation/replay.h"

namespace memgraft::observation {
namespace {

class TouchFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "touchesXXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string file() const { return folder_ / "touches"; }

  void write(const TouchFileHeader& header, const std::vector<Touch>& touches) const {
    auto opened = TouchWriter::open(file(), header);
    ASSERT_TRUE(std::holds_alternative<TouchWriter>(opened));
    auto& writer = std::get<TouchWriter>(opened);
    for (const Touch& touch : touches) {
      writer.write(touch);
    }
    EXPECT_FALSE(writer.close().has_value());
  }
  [[nodiscard]] std::string bytes() const {
    std::ifstream stream(file(), std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  void set_bytes(const std::string& bytes) const { std::ofstream(file(), std::ios::binary) << bytes; }

 private:
  std::filesystem::path folder_;
};

Touch touch(std::uint64_t address, std::uint64_t nanoseconds, std::optional<bool> store,
            std::optional<std::uint32_t> latency) {
  Touch made;
  made.address = address;
  made.nanoseconds = nanoseconds;
  made.thread = 4711;
  made.cpu = 3;
  made.store = store;
  made.latency_cycles = latency;
  return made;
}

const TouchFileHeader kHeader{.page_bytes = 16384,
                              .nodes = 2,
                              .node_of_cpu = {0, 0, 1, 1},
                              .stands_for = 64,
                              .knows_thread = true,
                              .knows_cpu = true,
                              .every_access = false};
const std::vector<Touch> kTouches{touch(0x7fffffffff123456, 1000, true, 300),
                                  touch(1, 2000, false, std::nullopt), touch(2, 3000, std::nullopt, 0)};

std::vector<Touch> all(const std::string& file) {
  auto opened = TouchReader::open(file);
  EXPECT_TRUE(std::holds_alternative<TouchReader>(opened));
  std::vector<Touch> touches;
  for (Touch each; std::get<TouchReader>(opened).next(each);) {
    touches.push_back(each);
  }
  return touches;
}

TEST_F(TouchFile, GivesBackWhatWasWritten) {
  write(kHeader, kTouches);
  EXPECT_EQ(bytes().size(), 48U + 4 * 4 + 3 * 32);
  auto opened = TouchReader::open(file());
  ASSERT_TRUE(std::holds_alternative<TouchReader>(opened));
  const TouchFileHeader& header = std::get<TouchReader>(opened).header();
  EXPECT_EQ(header.page_bytes, 16384U);
  EXPECT_EQ(header.nodes, 2U);
  EXPECT_EQ(header.node_of_cpu, kHeader.node_of_cpu);
  EXPECT_EQ(header.stands_for, 64U);
  EXPECT_TRUE(header.knows_thread && header.knows_cpu);
  EXPECT_FALSE(header.every_access);
  const auto touches = all(file());
  ASSERT_EQ(touches.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(touches[i].address, kTouches[i].address);
    EXPECT_EQ(touches[i].nanoseconds, kTouches[i].nanoseconds);
    EXPECT_EQ(touches[i].thread, 4711U);
    EXPECT_EQ(touches[i].cpu, 3U);
    EXPECT_EQ(touches[i].store, kTouches[i].store);
    EXPECT_EQ(touches[i].latency_cycles, kTouches[i].latency_cycles);
    EXPECT_EQ(touches[i].stands_for, 64U);
  }
}

// The format, byte by byte, as docs/formats.md has it: what another program wrote must be read.
TEST_F(TouchFile, IsLittleEndian) {
  TouchFileHeader header;
  header.knows_thread = true;
  write(header, {touch(0x0102, 0x0304, true, std::nullopt)});
  const std::string written = bytes();
  EXPECT_EQ(written.substr(0, 8), "MGTOUCH\n");
  EXPECT_EQ(written.substr(8, 8), std::string("\1\0\0\0\x30\0\0\0", 8));
  EXPECT_EQ(written.substr(48, 8), std::string("\2\1\0\0\0\0\0\0", 8));
  EXPECT_EQ(written.substr(56, 8), std::string("\4\3\0\0\0\0\0\0", 8));
  EXPECT_EQ(written.substr(76, 4), std::string("\3\0\0\0", 4));
}

TEST_F(TouchFile, OneThatWasCutIsReadUpToThere) {
  write(kHeader, kTouches);
  const std::string whole = bytes();
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    set_bytes(whole.substr(0, length));
    if (length < 48 + 16) {
      ASSERT_TRUE(std::holds_alternative<Refusal>(TouchReader::open(file()))) << length;
    } else {
      ASSERT_EQ(all(file()).size(), (length - 48 - 16) / 32);
    }
  }
}

TEST_F(TouchFile, WhatIsWrongIsSaid) {
  const auto why = [this](std::size_t at, char byte) {
    write(kHeader, kTouches);
    std::string changed = bytes();
    changed.at(at) = byte;
    set_bytes(changed);
    const auto opened = TouchReader::open(file());
    return std::holds_alternative<Refusal>(opened) ? std::get<Refusal>(opened).why : "";
  };
  EXPECT_EQ(why(0, 'X'), "touches: " + file() + ": no record of touches: it does not begin with MGTOUCH");
  EXPECT_EQ(why(8, 7),
            "touches: " + file() + ": is of version 7, expected 1: read it with the Memgraft that wrote it");
  EXPECT_NE(why(12, 1).find("a header of 1 bytes for 4 CPUs"), std::string::npos);
  EXPECT_NE(why(16, 3).find("pages of 16387 bytes"), std::string::npos);
  EXPECT_NE(why(26, 1).find("65540 CPUs"), std::string::npos);
  const auto missing = TouchReader::open("/no/such/file");
  EXPECT_EQ(std::get<Refusal>(missing).why, "touches: /no/such/file: No such file or directory");
  EXPECT_TRUE(std::holds_alternative<Refusal>(TouchWriter::open("/no/such/file", {})));
}

TEST_F(TouchFile, ADiskThatIsFullIsNoticed) {
  auto opened = TouchWriter::open("/dev/full", kHeader);
  ASSERT_TRUE(std::holds_alternative<TouchWriter>(opened));
  auto& writer = std::get<TouchWriter>(opened);
  writer.write(kTouches[0]);
  const auto refusal = writer.close();
  ASSERT_TRUE(refusal.has_value());
  EXPECT_EQ(refusal.value_or(Refusal{}).why, "touches: /dev/full: No space left on device");
}

TEST_F(TouchFile, ReplayGivesAllAtOnce) {
  write(kHeader, kTouches);
  auto made = replay_touches(file(), Pace::at_once);
  ASSERT_TRUE(std::holds_alternative<std::unique_ptr<Monitor>>(made));
  const auto& monitor = std::get<std::unique_ptr<Monitor>>(made);
  EXPECT_EQ(monitor->sees().name, "replay:" + file());
  EXPECT_TRUE(monitor->sees().thread && monitor->sees().cpu && monitor->sees().store &&
              monitor->sees().latency);
  EXPECT_FALSE(monitor->sees().every_access);
  std::vector<std::uint64_t> times;
  monitor->drain([&](const Touch& each) { times.push_back(each.nanoseconds); });
  EXPECT_EQ(times, (std::vector<std::uint64_t>{1000, 2000, 3000}));
  monitor->drain([&](const Touch& each) { times.push_back(each.nanoseconds); });
  EXPECT_EQ(times.size(), 3U);
  EXPECT_EQ(monitor->lost(), 0U);
}

TEST_F(TouchFile, ReplayKeepsTheTimeBetweenTouches) {
  constexpr std::uint64_t kLater = 50'000'000;
  constexpr std::uint64_t kNever = 1'000'000'000'000'000;
  write(kHeader, {touch(1, 5000, true, 1), touch(2, 4000, true, 1), touch(3, 5000 + kLater, true, 1),
                  touch(4, kNever, true, 1)});
  auto made = replay_touches(file());
  const auto& monitor = std::get<std::unique_ptr<Monitor>>(made);
  std::vector<Touch> given;
  const auto keep = [&](const Touch& each) { given.push_back(each); };
  monitor->drain(keep);
  ASSERT_GE(given.size(), 2U);
  const std::uint64_t first = given[0].nanoseconds;
  EXPECT_EQ(given[1].nanoseconds, first);
  while (given.size() < 3) {
    usleep(5000);
    monitor->drain(keep);
  }
  EXPECT_EQ(given[2].address, 3U);
  EXPECT_EQ(given[2].nanoseconds, first + kLater);
  EXPECT_EQ(given.size(), 3U);
}

TEST_F(TouchFile, ReplayRefusesWhatIsNone) {
  set_bytes("something else that is long enough to be read as a header, at least");
  const auto made = replay_touches(file());
  ASSERT_TRUE(std::holds_alternative<Refusal>(made));
  write(kHeader, {});
  auto empty = replay_touches(file());
  std::get<std::unique_ptr<Monitor>>(empty)->drain([](const Touch&) { FAIL(); });
}

}  // namespace
}  // namespace memgraft::observation
