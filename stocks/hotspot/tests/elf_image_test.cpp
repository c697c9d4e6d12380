#include "join/elf_image.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "memgraft/built.h"

namespace memgraft::hotspot {
namespace {

const std::vector<std::string> kNames{"UseParallelGC", "_ZTV20ParallelScavengeHeap", "no_such_symbol"};
const std::vector<std::string> kImports{"memset", "no_such_import"};

std::string fake(const std::string& name) { return built(FAKE_JVM_FOLDER) + "/" + name; }

TEST(ElfImage, FindsSymbolsAndImports) {
  const ElfImage image(fake("fake_jvm.so"), kNames, kImports);
  EXPECT_TRUE(image.has_symbol_table());
  ASSERT_EQ(image.symbols("UseParallelGC").size(), 1U);
  EXPECT_EQ(image.symbols("UseParallelGC").front().size_bytes, 1U);
  EXPECT_EQ(image.symbols("_ZTV20ParallelScavengeHeap").size(), 1U);
  EXPECT_TRUE(image.symbols("no_such_symbol").empty());
  EXPECT_TRUE(image.symbols("never_asked_for").empty());
  EXPECT_EQ(image.import_cells("memset").size(), 1U);
  EXPECT_TRUE(image.import_cells("no_such_import").empty());
  EXPECT_TRUE(image.import_cells("never_asked_for").empty());
}

TEST(ElfImage, KnowsAStrippedFile) {
  const ElfImage image(fake("stripped_jvm.so"), kNames, kImports);
  EXPECT_FALSE(image.has_symbol_table());
  EXPECT_EQ(image.import_cells("memset").size(), 1U);
}

TEST(ElfImage, ThrowsForWhatIsNoElfFile) {
  EXPECT_THROW(ElfImage("/no/such/file", kNames, kImports), std::exception);
  EXPECT_THROW(ElfImage("/proc/self/status", kNames, kImports), std::exception);
  EXPECT_THROW(ElfImage("/", kNames, kImports), std::exception);
}

// Cut short or damaged anywhere, a file may be refused or look poorer, but must not be read beyond its end.
TEST(ElfImage, SurvivesDamagedFiles) {
  std::ifstream whole(fake("fake_jvm.so"), std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(whole), {}};
  const auto damaged =
      std::filesystem::temp_directory_path() / ("memgraft-damaged-" + std::to_string(::getpid()));
  std::mt19937 random(20260101);  // The same damage in every run
  constexpr int kTrials = 400;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::string copy = content;
    if (trial % 2 == 0) {
      copy.resize(random() % content.size());
    } else {
      // Headers and tables lie at both ends of the file.
      for (int i = 0; i < 8; ++i) {
        const std::size_t at = random() % 4096;
        copy[trial % 4 == 1 ? at : content.size() - 1 - at] = static_cast<char>(random());
      }
    }
    std::ofstream(damaged, std::ios::binary) << copy;
    try {
      const ElfImage image(damaged, kNames, kImports);
      (void)image.symbols("UseParallelGC");
    } catch (const std::exception&) {  // Refusing is one of the two right answers
    }
  }
  std::filesystem::remove(damaged);
}

}  // namespace
}  // namespace memgraft::hotspot
