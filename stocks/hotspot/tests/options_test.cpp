#include "options.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "refusal.h"

namespace memgraft::hotspot {
namespace {

TEST(Options, AreReadInAnyOrder) {
  const Options options = parse_options("summary=/,zeroing=non-temporal");
  EXPECT_EQ(options.zeroing, ZeroingStrategy::non_temporal);
  EXPECT_EQ(options.summary_folder, "/");
  EXPECT_FALSE(options.check);
  EXPECT_EQ(parse_options("zeroing=bulk").zeroing, ZeroingStrategy::bulk);
  EXPECT_TRUE(parse_options("check,summary=/").check);
}

TEST(Options, DecodeCommasAndPercentSignsInFolders) {
  const auto folder = std::filesystem::temp_directory_path() / "memgraft, 100% odd=name";
  std::filesystem::create_directory(folder);
  const std::string parent = folder.parent_path();
  const Options options = parse_options("zeroing=bulk,summary=" + parent + "/memgraft%2C 100%25 odd=name");
  EXPECT_EQ(options.summary_folder, folder);
  std::filesystem::remove(folder);
}

class WrongOptions : public testing::TestWithParam<const char*> {};

TEST_P(WrongOptions, AreRefusedInOneLineAsWrongUsage) {
  try {
    (void)parse_options(GetParam());
    FAIL() << "accepted: " << GetParam();
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.exit_code(), kExitWrongUsage);
    const std::string message = refusal.what();
    EXPECT_EQ(message.find('\n'), std::string::npos);
    EXPECT_NE(message.find("wrong agent option"), std::string::npos);
  }
}

INSTANTIATE_TEST_SUITE_P(All, WrongOptions,
                         testing::Values("", "zeroing", "zeroing=", "zeroing=bukl", "zeroing=hot-path",
                                         "Zeroing=bulk", "zeroing=bulk,", "zeroing=bulk,,check", "check",
                                         "check=1,summary=/", "summary=/",
                                         "zeroing=bulk,summary=", "zeroing=bulk,summary=/no/such/folder",
                                         "zeroing=bulk,summary=/%", "zeroing=bulk,summary=/%2",
                                         "zeroing=bulk,summary=/%zz", "zeroing=bulk,summary=/%00"));

}  // namespace
}  // namespace memgraft::hotspot
