// The plugin under QEMU's user mode counts exactly what a program does.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <variant>

#include "memgraft/built.h"
#include "memgraft/observation/touch_file.h"

namespace memgraft::observation {
namespace {

constexpr std::uint64_t kMemory = 0x100000000000;

class Touches : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("qemu-x86_64 -h 2>/dev/null | grep -q -- -plugin") != 0) {  // NOLINT
      GTEST_SKIP() << "no qemu-x86_64 with plugins (Debian: qemu-user)";
    }
    std::string pattern = testing::TempDir() + "pluginXXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // The exit code of QEMU.
  [[nodiscard]] int run(const std::string& arguments) const {
    const std::string command = "qemu-x86_64 -plugin " + built(MEMGRAFT_TOUCHES_PLUGIN) + "," + arguments +
                                " " + built(MEMGRAFT_ACCESSES) + " >" + file("output") + " 2>" +
                                file("errors");
    return std::system(command.c_str());  // NOLINT(cert-env33-c,concurrency-mt-unsafe)
  }
  [[nodiscard]] std::string file(const std::string& name) const { return folder_ / name; }
  [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> threads() const {
    std::ifstream output(file("output"));
    std::pair<std::uint32_t, std::uint32_t> both;
    output >> both.first >> both.second;
    return both;
  }
  [[nodiscard]] std::map<std::pair<std::uint32_t, std::uint64_t>, int> by_thread_and_page() const {
    std::map<std::pair<std::uint32_t, std::uint64_t>, int> found;
    auto opened = TouchReader::open(file("touches"));
    EXPECT_TRUE(std::holds_alternative<TouchReader>(opened));
    std::uint64_t last = 0;
    const auto main_thread = threads().first;
    for (Touch touch; std::get<TouchReader>(opened).next(touch);) {
      ++found[{touch.thread, (touch.address - kMemory) / 4096}];
      EXPECT_EQ(touch.store, touch.thread == main_thread && (touch.address - kMemory) / 4096 != 5);
      if (touch.thread == main_thread) {
        EXPECT_GE(touch.nanoseconds, last);
        last = touch.nanoseconds;
      }
    }
    return found;
  }

 private:
  std::filesystem::path folder_;
};

TEST_F(Touches, EveryAccessIsThere) {
  ASSERT_EQ(
      run("out=" + file("touches") + ",counts=" + file("counts") + ",data=0x100000000000-0x1000000fffff"), 0);
  const auto [first, second] = threads();
  const std::map<std::pair<std::uint32_t, std::uint64_t>, int> expected{
      {{first, 0}, 500},   {{first, 1}, 500},   {{first, 5}, 1},
      {{second, 0}, 1000}, {{second, 1}, 1000}, {{second, 2}, 1000}};
  EXPECT_EQ(by_thread_and_page(), expected);
  auto opened = TouchReader::open(file("touches"));
  EXPECT_TRUE(std::get<TouchReader>(opened).header().every_access);

  const auto counts = nlohmann::json::parse(std::ifstream(file("counts")));
  std::map<std::pair<std::uint32_t, std::uint64_t>, int> counted;
  for (const auto& thread : counts["threads"]) {
    const bool is_first = thread["thread"] == first;
    EXPECT_EQ(thread["loads"], is_first ? 1 : 3000);
    EXPECT_EQ(thread["stores"], is_first ? 1000 : 0);
    for (const auto& page : thread["pages"]) {
      const auto address = std::stoull(page[0].get<std::string>(), nullptr, 16);
      counted[{thread["thread"], (address - kMemory) / 4096}] = page[1].get<int>() + page[2].get<int>();
    }
  }
  EXPECT_EQ(counted, expected);
}

TEST_F(Touches, EveryNth) {
  ASSERT_EQ(run("out=" + file("touches") + ",every=10,data=0x100000000000-0x1000000fffff"), 0);
  std::map<std::uint32_t, int> by_thread;
  for (const auto& [where, count] : by_thread_and_page()) {
    by_thread[where.first] += count;
  }
  const auto [first, second] = threads();
  EXPECT_EQ(by_thread, (std::map<std::uint32_t, int>{{first, 101}, {second, 300}}));
  auto opened = TouchReader::open(file("touches"));
  EXPECT_EQ(std::get<TouchReader>(opened).header().stands_for, 10U);
  EXPECT_FALSE(std::get<TouchReader>(opened).header().every_access);
}

TEST_F(Touches, WrongArgumentsAreNamed) {
  EXPECT_NE(run("every=0"), 0);
  std::ostringstream said;
  said << std::ifstream(file("errors")).rdbuf();
  EXPECT_NE(said.str().find("'every=0': expected out=FILE"), std::string::npos) << said.str();
}

}  // namespace
}  // namespace memgraft::observation
