#include "summary.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "fake_library.h"
#include "grafts.h"

namespace memgraft::hotspot {
namespace {

class Summary : public testing::Test {
 protected:
  Summary() { std::filesystem::create_directory(folder_); }
  ~Summary() override { std::filesystem::remove_all(folder_); }
  Summary(const Summary&) = delete;
  Summary& operator=(const Summary&) = delete;
  Summary(Summary&&) = delete;
  Summary& operator=(Summary&&) = delete;

  // The only file in the folder.
  [[nodiscard]] nlohmann::json written() const {
    std::filesystem::path only;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      EXPECT_TRUE(only.empty()) << only << " and " << entry.path();
      only = entry.path();
    }
    std::ifstream file(only);
    return nlohmann::json::parse(file);
  }

  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("memgraft-summary-" + std::to_string(getpid()));
};

TEST_F(Summary, ReplacesTheFileWhole) {
  const SummaryFile file(folder_, "jvm");
  EXPECT_TRUE(file.write({{"a", 1}}));
  EXPECT_TRUE(file.write({{"b", 2}}));
  EXPECT_EQ(written(), (nlohmann::json{{"b", 2}}));
}

TEST_F(Summary, ThatCannotBeWrittenIsSaidAndLeavesNothing) {
  const SummaryFile file(folder_ / "missing", "jvm");
  testing::internal::CaptureStderr();
  EXPECT_FALSE(file.write({{"a", 1}}));
  EXPECT_NE(testing::internal::GetCapturedStderr().find("the program is not affected"), std::string::npos);
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(Summary, KeepsAProgramNameThatIsNoUtf8) {
  const SummaryFile file(folder_, "jvm");
  EXPECT_TRUE(file.write({{"program", "caf\xe9"}}));
  EXPECT_EQ(written()["program"], "caf\xef\xbf\xbd");
}

TEST(Check, SaysWhichCollectorsTakeTheGraft) {
  const FakeLibrary library("fake_jvm.so");
  const auto check = check_stock(all_grafts(), library.stock());
  EXPECT_EQ(check["schema"], 1);
  EXPECT_EQ(check["kind"], "jvm-check");
  EXPECT_EQ(check["collectors"], nlohmann::json::array({"Parallel"}));
  EXPECT_EQ(check["jvm"]["collector"], "Parallel");
  EXPECT_EQ(check["grafts"]["zeroing"]["available"], true);
  EXPECT_EQ(check["grafts"]["zeroing"]["collectors"]["Parallel"]["available"], true);
  EXPECT_EQ(check["grafts"]["zeroing"]["strategies"]["windows"]["available"], true);
  EXPECT_EQ(check["grafts"]["zeroing"]["strategies"]["concurrent"]["available"], true);
}

TEST(Check, SaysWhichStrategyCannotJoin) {
  const FakeLibrary library("no_eden_end_jvm.so");
  const auto check = check_stock(all_grafts(), library.stock());
  EXPECT_EQ(check["grafts"]["zeroing"]["available"], true);
  EXPECT_EQ(check["grafts"]["zeroing"]["strategies"]["windows"]["available"], true);
  EXPECT_EQ(check["grafts"]["zeroing"]["strategies"]["concurrent"]["available"], false);
}

TEST(EndedSummary, HasTheHardwareCountersThatWereAskedFor) {
  const FakeLibrary library("fake_jvm.so");
  const linux_os::PerfCounters counters;
  const auto summary = summarise_ended({}, library.stock(), "Main", 1.0, &counters);
  ASSERT_FALSE(summary["counters"].empty());
  for (const auto& counter : summary["counters"]) {
    // There, or the reason why not.
    EXPECT_TRUE(counter["available"] == true || counter["reason"] != "") << counter;
  }
  EXPECT_FALSE(summarise_ended({}, library.stock(), "Main", 1.0, nullptr).contains("counters"));
}

TEST(Check, GivesTheReasonWhenNoCollectorDoes) {
  const FakeLibrary library("no_memset_jvm.so");
  const auto check = check_stock(all_grafts(), library.stock());
  EXPECT_EQ(check["grafts"]["zeroing"]["available"], false);
  const std::string reason = check["grafts"]["zeroing"]["reason"];
  EXPECT_NE(reason.find("memset"), std::string::npos) << reason;
}

TEST(Check, RefusalsCarryTheirParts) {
  const Refusal refusal("no", {.looked_for = "a", .found = "b", .advice = "c"}, kExitCannotTakeGraft);
  const auto json = summarise_refusal(refusal, {.version = "1", .feature = 1, .vendor = "v", .name = "n"});
  EXPECT_EQ(json["state"], "refused");
  EXPECT_EQ(json["refusal"]["message"], "no: looked for a; found b; c");
  EXPECT_EQ(json["refusal"]["exit_code"], 3);
}

}  // namespace
}  // namespace memgraft::hotspot
