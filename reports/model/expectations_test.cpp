// Runs with expected failures, and every way in which an expectation can become invalid.
#include "reports/model/expectations.hpp"

#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "reports/formats/terminal.hpp"
#include "reports/model/summary.hpp"
#include "reports/testing/synthetic_run.hpp"

namespace assay::reports {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::synthetic_run;

constexpr const char* kFailed = "loop/generated_1_0020/f32/cpu/backward";
constexpr const char* kPassed = "loop/generated_1_0003/f32/cpu/backward";

// Line `number` of waivers.csv.
json line(int number, const std::string& pattern, const std::string& outcome, const std::string& message,
          const std::string& expires = "") {
  return {{"place", fmt::format("waivers.csv:{}", number)},
          {"case", pattern},
          {"outcome", outcome},
          {"kind", ""},
          {"message", message},
          {"reason", "known"},
          {"issue", "#17"},
          {"since", "2026-11-01"},
          {"expires", expires}};
}

// A line for each failure of the synthetic run.
json known_failures() {
  return {line(2, "loop/generated_1_00[27]?/f32/cpu/backward", "fail", "grad_x[3] is *, expected * within *"),
          line(3, "vector/generated_1_0020/*/cpu/forward", "build_failed", "g++ refused the emitted source"),
          line(4, "control_flow/generated_1_0037/f32/cpu/backward", "crashed", "*signal 11*"),
          line(5, "loop/generated_1_0105/*/cpu/forward", "timed_out", "*"),
          line(6, "scalar_param/generated_1_0003/f32/cpu/forward", "inconclusive", "*"),
          line(7, "nested_loop/generated_1_0037/f32/cpu/backward", "fail", "grad_*"),
          line(8, "scalar_param/generated_1_0054/f32/cpu/backward", "defect", "*")};
}

Run held_to(const json& lines) {
  Run run = synthetic_run({.cuda = false});
  apply_expectations(run, lines);
  return run;
}

const json& case_of(const Run& run, const std::string& name) {
  return *std::find_if(run.cases.begin(), run.cases.end(),
                       [&](const json& record) { return record.at("case") == name; });
}

TEST(ExpectationMatcher, ExpectedFailuresDoNotFailTheRun) {
  const reports::Run run = held_to(known_failures());
  const RunSummary summary = summarize(run);
  EXPECT_EQ(summary.verdict.headline, "244 of 252 cases pass, 8 fail as expected");
  EXPECT_EQ(summary.verdict.exit_status, 0);
  EXPECT_THAT(summary.verdict.reasons, ElementsAre("8 xfail", "244 pass"));
  EXPECT_TRUE(summary.failure_groups.empty());
  EXPECT_EQ(summary.counts.at("fail"), 3) << "expectations must not change recorded outcomes";
  for (const ExpectationTally& one : run.expectations)
    EXPECT_EQ(one.state(), "in force") << one.expectation;
  EXPECT_EQ(unexpected_lines(case_of(run, kFailed), false), "");
}

TEST(ExpectationMatcher, ChangedMessageOrKindFailsTheRun) {
  json lines = known_failures();
  lines[0]["message"] = "grad_y[*";
  const reports::Run run = held_to(lines);
  const RunSummary summary = summarize(run);
  EXPECT_EQ(summary.verdict.exit_status, 1);
  EXPECT_EQ(summary.verdict.headline, "2 of 252 cases are not as expected");
  EXPECT_EQ(run.expectations[0].state(), "changed");
  EXPECT_THAT(unexpected_lines(case_of(run, kFailed), false),
              HasSubstr("expected 1.25 within 2.8e-14; waivers.csv:2 expects fail: grad_y[*\n"));
  lines = known_failures();
  lines[0]["kind"] = "finite_differences";
  EXPECT_EQ(summarize(held_to(lines)).verdict.exit_status, 1);
}

TEST(ExpectationMatcher, UnexpectedPassFailsTheRun) {
  json lines = known_failures();
  lines.push_back(line(9, kPassed, "fail", "*"));
  const reports::Run run = held_to(lines);
  const RunSummary summary = summarize(run);
  EXPECT_EQ(summary.verdict.exit_status, 1);
  EXPECT_THAT(summary.verdict.reasons, Contains("1 unexpected pass"));
  EXPECT_EQ(run.expectations.back().state(), "unexpected pass");
  EXPECT_EQ(unexpected_lines(case_of(run, kPassed), false).substr(0, 18), "unexpected pass  l");
  EXPECT_THAT(unexpected_lines(case_of(run, kPassed), false),
              HasSubstr("waivers.csv:9 expects fail, but the case passes: remove the line"));
  ASSERT_EQ(summary.failure_groups.size(), 1U);
  EXPECT_EQ(summary.failure_groups[0].heading, "unexpected pass in loop");
}

TEST(ExpectationMatcher, StaleExpectationFailsTheRun) {
  json lines = known_failures();
  lines.push_back(line(9, "loop/renamed", "fail", "*"));
  const reports::Run run = held_to(lines);
  EXPECT_EQ(run.expectations.back().state(), "stale");
  EXPECT_EQ(summarize(run).verdict.headline, "1 expectation no longer holds");
  EXPECT_EQ(summarize(run).verdict.exit_status, 1);
  EXPECT_THAT(closing_table(run, summarize(run), false), HasSubstr("waivers.csv:9: stale: loop/renamed"));
}

TEST(ExpectationMatcher, ExpectationAppliesOnlyToTheNamedCompilers) {
  json lines = known_failures();
  lines[0]["compiler"] = "NVRTC 13.0*|g++ 12*";
  EXPECT_EQ(summarize(held_to(lines)).verdict.exit_status, 0);
  lines[0]["compiler"] = "NVRTC 13.0*|g++ 13*";
  const reports::Run run = held_to(lines);
  EXPECT_EQ(run.expectations.front().state(), "not judged");
  EXPECT_EQ(summarize(run).verdict.exit_status, 1) << "the case fails with another compiler";
  // Each build of a run with several compilers has its own.
  EXPECT_TRUE(names_compiler("NVRTC 13.0*", "NVRTC 13.0.88 compute_100"));
  EXPECT_FALSE(names_compiler("NVRTC 13.0*|NVRTC 13.1*", "NVRTC 13.5.37 compute_100"));
  EXPECT_TRUE(names_compiler("", "g++-12"));
}

TEST(ExpectationMatcher, DuplicateExpectationIsStale) {
  json lines = known_failures();
  lines.push_back(line(9, kFailed, "fail", "*"));
  EXPECT_EQ(held_to(lines).expectations.back().state(), "stale");
}

TEST(ExpectationMatcher, ExpiredExpectationFailsTheRun) {
  json lines = known_failures();
  lines[0]["expires"] = "2026-11-21";  // the day on which the run started
  EXPECT_EQ(summarize(held_to(lines)).verdict.exit_status, 0) << "the last day is in force";
  lines[0]["expires"] = "2026-11-20";
  const reports::Run run = held_to(lines);
  const RunSummary summary = summarize(run);
  EXPECT_EQ(summary.verdict.exit_status, 1);
  EXPECT_THAT(summary.verdict.reasons, Contains("1 expired expectation"));
  EXPECT_THAT(unexpected_lines(case_of(run, kFailed), false),
              HasSubstr("waivers.csv:2 expected this failure only until 2026-11-20"));
}

TEST(ExpectationMatcher, ExpectationForMissingDeviceIsNotJudged) {
  reports::Run run = synthetic_run({.failures = false});
  apply_expectations(run, json::array({line(2, "loop/*/*/cuda", "fail", "*")}));
  EXPECT_EQ(run.expectations[0].state(), "not judged");
  EXPECT_EQ(summarize(run).verdict.exit_status, 0);
}

TEST(ExpectationMatcher, ExpectationIsNeverStaleInAShard) {
  reports::Run run = synthetic_run({.cuda = false, .failures = false});
  run.start["shard"] = {{"index", 1}, {"of", 4}};
  apply_expectations(run, json::array({line(2, "loop/elsewhere", "fail", "*")}));
  EXPECT_EQ(run.expectations[0].state(), "not judged");
  EXPECT_EQ(summarize(run).verdict.exit_status, 0);
}

TEST(ExpectationMatcher, IncompleteRunStaysIncompleteDespiteExpectations) {
  reports::Run run = synthetic_run({.cuda = false, .finished = false});
  apply_expectations(run, known_failures());
  EXPECT_EQ(summarize(run).verdict.status, "incomplete");
  EXPECT_EQ(summarize(run).verdict.exit_status, 1);
}

TEST(ExpectationMatcher, CasePatternMatchesPrefixOfCaseName) {
  EXPECT_TRUE(matches_case("loop", kFailed));
  EXPECT_TRUE(matches_case("loop/*/f32", kFailed));
  EXPECT_TRUE(matches_case("*/*/*/cpu/backward", std::string(kFailed) + "/O2"));
  EXPECT_FALSE(matches_case("loo", kFailed));
  EXPECT_FALSE(matches_case("*/f32", kFailed)) << "* must not match a '/'";
  EXPECT_FALSE(matches_case("loop/*/f64", kFailed));
}

TEST(ExpectationMatcher, MessageUsedAsPatternMatchesItself) {
  for (const std::string text : {"grad_x[3] is 0.5", "what? [a-z] \\ *p", "", "\xE2\x88\x82 \"quoted\""})
    EXPECT_TRUE(matches_text(text, text)) << text;
  EXPECT_TRUE(matches_text("grad_*[3] is *", "grad_x[3] is 0.5"));
  EXPECT_FALSE(matches_text("grad_?[3] is *", "grad_x[3] is 0.5"));
  EXPECT_FALSE(matches_text("grad_x", "grad_x[3] is 0.5"));
}

}  // namespace
}  // namespace assay::reports
