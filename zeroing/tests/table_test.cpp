// The table of the best kernels: what its text may say, what is refused, and what asking then answers.
#include "../table.h"

#include <gtest/gtest.h>
#include <stdlib.h>  // mkdtemp, POSIX
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "../cpu_name.h"
#include "memgraft/zeroing.h"

namespace memgraft::zeroing {
namespace {

constexpr std::size_t kMostBytes = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kResident = MEMGRAFT_ZERO_RESIDENT;
constexpr std::size_t kLate = MEMGRAFT_ZERO_USED_LATE;

void zero(void* /*memory*/, std::size_t /*bytes*/) {}

constexpr std::array<memgraft_zero_kernel, 4> kKernels = {{
    {"default", "", MEMGRAFT_ZERO_ORDINARY, 0, true, zero},
    {"one", "", MEMGRAFT_ZERO_ORDINARY, 0, true, zero},
    {"two", "", MEMGRAFT_ZERO_NON_TEMPORAL, 0, true, zero},
    {"of-another-cpu", "", MEMGRAFT_ZERO_ORDINARY, 0, false, zero},
}};

constexpr const char* kHead = "memgraft-zeroing-table 1\ncpu A CPU (R)\n";

Table defaults() {
  Table table;
  for (Mode& mode : table.modes) {
    mode.groups.front().best.fill(kKernels.data());
  }
  return table;
}

struct Outcome {
  bool right;
  Table table;
  std::size_t line;
  std::string message;

  [[nodiscard]] std::string best(std::size_t mode, std::size_t bytes, unsigned threads) const {
    return table.best(mode, bytes, threads)->name;
  }
};

Outcome read(const std::string& text, std::string_view cpu = "A CPU (R)") {
  Outcome outcome{.right = false, .table = defaults(), .line = 0, .message = {}};
  TableError error;
  outcome.right = read_table(text, cpu, kKernels, outcome.table, error);
  outcome.line = error.line;
  outcome.message = error.message.data();
  return outcome;
}

Outcome read_rows(const std::string& rows) { return read(kHead + rows); }

TEST(Table, GivesEachSizeItsKernel) {
  const Outcome outcome = read_rows("resident 1 0 one\nresident 1 4096 two\nresident 1 1048576 one");
  ASSERT_TRUE(outcome.right) << outcome.message;
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{1}, std::size_t{4095}, std::size_t{1048576}, kMostBytes}) {
    EXPECT_EQ(outcome.best(kResident, bytes, 1), "one") << bytes;
  }
  for (const std::size_t bytes : {4096U, 4097U, 8192U, 1048575U}) {
    EXPECT_EQ(outcome.best(kResident, bytes, 1), "two") << bytes;
  }
}

TEST(Table, LeavesOtherModesTheDefaults) {
  const Outcome outcome = read_rows("# a comment\n\nstreaming-late 1 0 one\n");
  ASSERT_TRUE(outcome.right) << outcome.message;
  EXPECT_EQ(outcome.best(kLate, 64, 1), "one");
  for (const std::size_t mode : {std::size_t{0}, std::size_t{1}, std::size_t{3}}) {
    EXPECT_EQ(outcome.best(mode, 64, 1), "default") << kModeNames[mode];
  }
}

TEST(Table, TakesTheNearestNumberOfThreadsByRatio) {
  const Outcome outcome = read_rows("resident 2 0 one\nresident 18 0 two\nresident 32 0 one\n");
  ASSERT_TRUE(outcome.right) << outcome.message;
  for (const unsigned threads : {0U, 1U, 2U, 6U, 25U, 32U, 1000U, std::numeric_limits<unsigned>::max()}) {
    EXPECT_EQ(outcome.best(kResident, 64, threads), "one") << threads;
  }
  for (const unsigned threads : {7U, 18U, 24U}) {  // 2 * 18 = 6 * 6; 18 * 32 = 24 * 24
    EXPECT_EQ(outcome.best(kResident, 64, threads), "two") << threads;
  }
}

struct Refused {
  std::string text;
  std::size_t line;
  std::string says;
};

TEST(Table, RefusesWhatItDoesNotUnderstand) {
  const std::string start = kHead;
  std::string many = start;
  for (std::size_t threads = 1; threads <= kMostGroups + 1; ++threads) {
    many += "resident " + std::to_string(threads) + " 0 one\n";
  }
  const std::vector<Refused> all = {
      {"", 0, "no row has come"},
      {"memgraft-zeroing-table 2\n", 1, "'memgraft-zeroing-table 2', expected 'memgraft-zeroing-table 1'"},
      {"memgraft-zeroing-table 1\n", 1, "no row has come"},
      {"memgraft-zeroing-table 1\nresident 1 0 one", 2, "it is 'resident 1 0 one', expected 'cpu '"},
      {start, 2, "no row has come"},
      {start + "asleep 1 0 one", 3, "the mode is 'asleep'"},
      {start + "resident 0 0 one", 3, "the threads are '0'"},
      {start + "resident 99999999999999999999 0 one", 3, "the threads are '99999999999999999999'"},
      {start + "resident one 0 one", 3, "the threads are 'one'"},
      {start + "resident 1 3 one", 3, "begins at '3' bytes"},
      {start + "resident 1 18446744073709551616 one", 3, "begins at '18446744073709551616' bytes"},
      {start + "resident 1 -1 one", 3, "begins at '-1' bytes"},
      {start + "resident 1  one", 3, "begins at '' bytes"},
      {start + "resident", 3, "the threads are ''"},
      {start + "resident 1 0 three", 3, "the kernel is 'three', which this build does not have"},
      {start + "resident 1 0 one two", 3, "the kernel is 'one two'"},
      {start + "resident 1 0 one\r\n", 3, "the kernel is 'one?'"},
      {start + "resident 1 0 of-another-cpu", 3, "'of-another-cpu', which this CPU cannot run"},
      {start + "resident 1 64 one", 3, "begins at 64 bytes, expected"},
      {start + "resident 1 0 one\nresident 1 0 two", 4, "begins 1 threads after 1"},
      {start + "resident 2 0 one\nresident 1 0 two", 4, "begins 1 threads after 2"},
      {start + "resident 1 0 one\nresident 2 64 two", 4, "begins at 64 bytes, expected"},
      {start + "resident 1 0 one\nresident 1 64 two\nresident 1 32 one", 5, "begins at 32 bytes, expected"},
      {start + "# " + std::string(300, 'x'), 3, "it has 302 characters, expected at most 256"},
      {many, 2 + kMostGroups + 1, "a mode that has 8"},
  };
  for (const Refused& refused : all) {
    const Outcome outcome = read(refused.text);
    EXPECT_FALSE(outcome.right) << refused.text;
    EXPECT_EQ(outcome.line, refused.line) << refused.text;
    EXPECT_NE(outcome.message.find(refused.says), std::string::npos) << outcome.message;
  }
}

TEST(Table, RefusesTheTableOfAnotherCpu) {
  const std::string text = std::string(kHead) + "resident 1 0 one";
  EXPECT_NE(read(text, "B").message.find("for the CPU 'A CPU (R)', expected this one, 'B'"),
            std::string::npos);
  EXPECT_NE(read(text, "").message.find("does not say what this one is"), std::string::npos);
  EXPECT_FALSE(read(text, "A CPU (R) 2").right);
  EXPECT_FALSE(read(text, "A CPU").right);
}

TEST(CpuName, IsOfTheFirstCpuOfEachArchitecture) {
  const std::string x86 =
      "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\n"
      "model name\t: Intel(R)  Xeon(R)\tCPU \nstepping\t: 7\nflags\t\t: fpu model: x\n\nvendor_id\t: Other\n";
  EXPECT_STREQ(name_in(x86).data(), "GenuineIntel 6 85 7 Intel(R) Xeon(R) CPU");
  const std::string arm =
      "processor\t: 0\nFeatures\t: fp\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x3\n"
      "CPU part\t: 0xd0c\nCPU revision\t: 1\n";
  EXPECT_STREQ(name_in(arm).data(), "0x41 0x3 0xd0c 1");
  EXPECT_STREQ(name_in("processor\t: 0\ncpu\t\t: POWER9\nrevision\t: 2.2 (pvr 004e 1202)\n").data(),
               "POWER9 2.2 (pvr 004e 1202)");
  EXPECT_STREQ(name_in("").data(), "");
  EXPECT_STREQ(name_in("\nmodel: 1").data(), "");
}

TEST(CpuName, IsOneShortLine) {
  EXPECT_STREQ(name_in("cpu: a\x01\xff").data(), "a??");
  const CpuName cut = name_in("cpu: " + std::string(1000, 'x'));
  EXPECT_EQ(std::string(cut.data()), std::string(kLongestCpuName, 'x'));
}

// From here on: files, and the one table that is in force. Each test has a process of its own.

class Files : public ::testing::Test {
 protected:
  Files() : folder_(made()) {}
  ~Files() override { std::filesystem::remove_all(folder_); }

  void SetUp() override {
    if (std::string_view(memgraft_zero_cpu()).empty()) {
      GTEST_SKIP() << "/proc/cpuinfo does not say what this CPU is (an emulator's?): no table can be for it";
    }
  }

  std::string write(const std::string& text) {
    std::string path = folder_ / "table";
    std::ofstream(path) << text;
    return path;
  }

  // The message, or an empty string where the table was taken.
  static std::string load(const std::string& path) {
    std::array<char, 1000> error{};
    return memgraft_zero_load_table(path.c_str(), error.data(), error.size()) ? "" : error.data();
  }

  static std::string this_cpu() {
    const std::string cpu = memgraft_zero_cpu();
    return "memgraft-zeroing-table 1\ncpu " + cpu + "\n";
  }

  const std::filesystem::path& folder() { return folder_; }

 private:
  static std::filesystem::path made() {
    std::string path = ::testing::TempDir() + "/memgraft-table-XXXXXX";
    return mkdtemp(path.data());
  }

  std::filesystem::path folder_;
};

std::string best(memgraft_zero_use use, std::size_t bytes, unsigned threads) {
  return memgraft_zero_best(use, bytes, threads)->name;
}

TEST(Best, IsAvailableWithoutATable) {
  EXPECT_EQ(memgraft_zero_table(), nullptr);
  for (const auto use :
       {MEMGRAFT_ZERO_RESIDENT, MEMGRAFT_ZERO_NOT_USED, MEMGRAFT_ZERO_USED_LATE, MEMGRAFT_ZERO_USED_SOON}) {
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{64}, std::size_t{1} << 20, kMostBytes}) {
      for (const unsigned threads : {0U, 1U, 1000U}) {
        const memgraft_zero_kernel* kernel = memgraft_zero_best(use, bytes, threads);
        ASSERT_NE(kernel, nullptr);
        EXPECT_TRUE(kernel->available) << kernel->name;
      }
    }
  }
  EXPECT_EQ(best(MEMGRAFT_ZERO_RESIDENT, 4096, 1), "memset");
}

TEST_F(Files, PutATableInForceAndReplaceIt) {
  const std::string path = write(this_cpu() + "streaming 1 0 word-4\nstreaming 1 4096 memset\n");
  const std::string soon = best(MEMGRAFT_ZERO_USED_SOON, 4096, 1);
  ASSERT_EQ(load(path), "");
  EXPECT_EQ(memgraft_zero_table(), path);
  EXPECT_EQ(best(MEMGRAFT_ZERO_NOT_USED, 64, 7), "word-4");
  EXPECT_EQ(best(MEMGRAFT_ZERO_NOT_USED, 4096, 7), "memset");
  EXPECT_EQ(best(MEMGRAFT_ZERO_USED_SOON, 4096, 1), soon);

  ASSERT_EQ(load(write(this_cpu() + "resident 1 0 word-4\n")), "");
  EXPECT_EQ(best(MEMGRAFT_ZERO_RESIDENT, 4096, 1), "word-4");
  EXPECT_NE(best(MEMGRAFT_ZERO_NOT_USED, 64, 7), "word-4") << "left from the table before";
}

TEST_F(Files, RefusedChangeNothing) {
  ASSERT_EQ(load(write(this_cpu() + "resident 1 0 word-4\n")), "");
  const std::string path = write(this_cpu() + "resident 1 0 memset\nresident 1 64 no-such-kernel\n");
  EXPECT_EQ(load(path), path + ": line 4: the kernel is 'no-such-kernel', which this build does not have; " +
                            "`memgraft zero calibrate` writes one for this CPU");
  EXPECT_EQ(best(MEMGRAFT_ZERO_RESIDENT, 64, 1), "word-4");
  EXPECT_FALSE(memgraft_zero_load_table(path.c_str(), nullptr, 0));
  std::array<char, 8> cut{};
  EXPECT_FALSE(memgraft_zero_load_table(path.c_str(), cut.data(), cut.size()));
  EXPECT_EQ(std::string(cut.data()), path.substr(0, cut.size() - 1));
}

TEST_F(Files, ThatAreNoTablesAreRefused) {
  const char* before = memgraft_zero_table();
  EXPECT_NE(load(folder() / "missing").find("No such file"), std::string::npos);
  EXPECT_NE(load(folder()).find("not a regular file"), std::string::npos);
  const std::string pipe = folder() / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_NE(load(pipe).find("not a regular file"), std::string::npos);
  EXPECT_NE(load(write(this_cpu() + std::string(1 << 20, '\n'))).find("larger than 64 KiB"),
            std::string::npos);
  EXPECT_EQ(memgraft_zero_table(), before);
}

TEST_F(Files, OfTheLargestSizeAreTaken) {
  std::string text = this_cpu() + "resident 1 0 word-4\n";
  text += std::string((std::size_t{64} << 10) - text.size(), '\n');
  EXPECT_EQ(load(write(text)), "");
  EXPECT_NE(load(write(text + "\n")), "");
}

TEST_F(Files, AreReplacedWhileOthersAsk) {
  const std::string path = write(this_cpu() + "resident 1 0 word-4\n");
  std::atomic<bool> done{false};
  std::atomic<int> wrong{0};
  {
    std::vector<std::jthread> threads;
    threads.reserve(4);
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        while (!done.load(std::memory_order_relaxed)) {  // relaxed: only ends the loop
          const std::string name = best(MEMGRAFT_ZERO_RESIDENT, 64, 1);
          wrong += name != "word-4" && name != "memset" ? 1 : 0;
        }
      });
    }
    for (int round = 0; round < 50; ++round) {
      EXPECT_EQ(load(path), "");
    }
    done.store(true, std::memory_order_relaxed);
  }
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace memgraft::zeroing
