#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

extern "C" {
#include "report.h"
}

namespace {

run cg_run(double zeta) {
  run of{.kernel = "cg",
         .size = 'S',
         .threads = 2,
         .main_touches = true,
         .iterations = 15,
         .specified_iterations = 15,
         .memory_bytes = 3 << 19,
         .seconds = 30,
         .checks = {}};
  checks_add(&of.checks, 1, 1, 0, "something exact");
  checks_add(&of.checks, zeta, 8, 1e-10, "zeta");
  return of;
}

std::string printed(void (*report)(FILE*, const run*), const run& of) {
  char* text = nullptr;
  std::size_t length = 0;
  FILE* file = open_memstream(&text, &length);
  report(file, &of);
  (void)std::fclose(file);
  std::string result(text, length);
  std::free(text);
  return result;
}

TEST(Report, VerifiedIsFine) {
  const run fine = cg_run(8 * (1 + 1e-11));
  EXPECT_EQ(report_code(&fine), 0);
  EXPECT_EQ(
      printed(report_line, fine),
      "cg, class S: 15 iterations on 2 threads, 2 s per iteration, 1.5 MiB: verified (2 compared; zeta is "
      "8.00000000008, expected 8, relative error 1.0e-11, allowed 1.0e-10)\n");
  const auto json = nlohmann::json::parse(printed(report_json, fine));
  EXPECT_EQ(json["verified"], true);
  EXPECT_EQ(json["first_touch"], "main");
  EXPECT_EQ(json["memory_bytes"], 3 << 19);
  EXPECT_EQ(json["seconds_per_iteration"], 2.0);
  EXPECT_EQ(json["compared"][1]["got"], 8 * (1 + 1e-11));
  EXPECT_EQ(json["compared"][1]["tolerance"], 1e-10);
}

TEST(Report, WrongResultFails) {
  const run wrong = cg_run(8 * (1 + 2e-10));
  EXPECT_EQ(report_code(&wrong), 1);
  EXPECT_EQ(
      printed(report_line, wrong),
      "cg, class S: 15 iterations on 2 threads, 2 s per iteration, 1.5 MiB: VERIFICATION FAILED (2 compared; "
      "zeta is 8.0000000016, expected 8, relative error 2.0e-10, allowed 1.0e-10)\n");
  EXPECT_EQ(nlohmann::json::parse(printed(report_json, wrong))["verified"], false);
}

TEST(Report, NoNumberFailsAndIsNullInJson) {
  const run wrong = cg_run(NAN);
  EXPECT_EQ(report_code(&wrong), 1);
  const auto json = nlohmann::json::parse(printed(report_json, wrong));
  EXPECT_EQ(json["verified"], false);
  EXPECT_TRUE(json["compared"][1]["got"].is_null());
  EXPECT_TRUE(json["compared"][1]["relative_error"].is_null());
}

TEST(Report, AnotherNumberOfIterationsIsNotVerified) {
  run other = cg_run(8);
  other.iterations = 1;
  other.checks.count = 0;
  EXPECT_EQ(report_code(&other), 0);
  EXPECT_EQ(printed(report_line, other),
            "cg, class S: 1 iteration on 2 threads, 30 s per iteration, 1.5 MiB: not verified (there is an "
            "official "
            "result of 15 only)\n");
  const auto json = nlohmann::json::parse(printed(report_json, other));
  EXPECT_TRUE(json["verified"].is_null());
  EXPECT_TRUE(json["compared"].empty());
}

}  // namespace
