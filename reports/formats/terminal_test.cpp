#include "reports/formats/terminal.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "reports/testing/synthetic_run.hpp"

namespace assay::reports {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::synthetic_run;

TEST(SummaryTable, ShowsCountsVerdictAndMissingDevices) {
  const reports::Run run = synthetic_run({});
  EXPECT_EQ(
      closing_table(run, summarize(run), false),
      "family             cpu forward  cpu backward  cuda forward  cuda backward\n"
      "arithmetic               14/14         14/14   unsupported    unsupported\n"
      "math                     14/14         14/14   unsupported    unsupported\n"
      "conditional              14/14         14/14   unsupported    unsupported\n"
      "multi_conditional        14/14         14/14   unsupported    unsupported\n"
      "loop                     13/14         12/14   unsupported    unsupported\n"
      "nested_loop              14/14         13/14   unsupported    unsupported\n"
      "control_flow             14/14         13/14   unsupported    unsupported\n"
      "scalar_param          13/14 1?         13/14   unsupported    unsupported\n"
      "vector                   13/14         14/14   unsupported    unsupported\n"
      "all                 123/126 1?       121/126   unsupported    unsupported\n"
      "\n"
      "8 of 504 cases are not as expected: 1 crashed, 3 fail, 1 defect, 1 timed_out, 1 build_failed, 1 inconclusive; "
      "252 unsupported, 244 pass\n"
      "504 cases planned, 504 run, 252 supported, 249 compared; 1274880 values compared; 38.2 s, 6.6 cases/s\n"
      "1 kernel contains code not covered by the inputs: vector/generated_1_0054, line 12: the condition is never "
      "true, "
      "... (see the report)\n"
      "cuda: unsupported, no CUDA driver\n");
}

TEST(SummaryTable, NamesKernelsThatAreJudgedUnderAssumptions) {
  reports::Run run = synthetic_run({.failures = false});
  const auto line = [&] {
    const std::string table = closing_table(run, summarize(run), false);
    const std::size_t start = table.find(" judged only for inputs");
    return start == std::string::npos
               ? ""
               : table.substr(table.rfind('\n', start) + 1, table.find('\n', start) - table.rfind('\n', start) - 1);
  };
  EXPECT_EQ(line(), "");
  const auto assume = [](nlohmann::json& record, const char* what) {
    record["assumptions"].push_back({{"what", what}});
  };
  const auto name = [&](std::size_t i) {
    return run.cases[i].at("family").get<std::string>() + "/" + run.cases[i].at("kernel").get<std::string>();
  };
  ASSERT_EQ(name(0), name(1));
  // Both passes of one kernel.
  assume(run.cases[0], "dimension 1 of the launch has the extent 1");
  assume(run.cases[1], "dimension 1 of the launch has the extent 1");
  EXPECT_EQ(line(), "1 kernel is judged only for inputs that satisfy an assumption: " + name(0) +
                        ": dimension 1 of the launch has the extent 1");
  assume(run.cases.back(), "the elements of 'idx' are a permutation of its indices");
  EXPECT_EQ(line(), "2 kernels are judged only for inputs that satisfy an assumption: " + name(0) +
                        ": dimension 1 of the launch has the extent 1, ... (see the report)");
}

TEST(SummaryTable, NamesKernelsOfUsersWhoseOwnTextIsNotJudged) {
  reports::Run run = synthetic_run({.failures = false});
  constexpr const char* kLine = "judged by text that Assay printed";
  run.cases[0]["text"] = {{"own", false}, {"reason", "the kernel is generated"}};
  EXPECT_THAT(closing_table(run, summarize(run), false), Not(HasSubstr(kLine)));
  for (const std::size_t i : {0, 1}) {
    run.cases[i]["family"] = "user";
    run.cases[i]["text"] = {{"own", false}, {"reason", "Python rejects the file"}};
  }
  EXPECT_THAT(closing_table(run, summarize(run), false),
              HasSubstr("1 kernel is judged by text that Assay printed instead of that of the file: user/" +
                        run.cases[0].at("kernel").get<std::string>() + ": Python rejects the file\n"));
}

/// Makes this pass of the first kernels unsupported for a reason of the kernel.
Run with_unsupported_pass(Run run, const std::string& pass, std::size_t kernel_count) {
  std::set<std::string> changed;
  for (nlohmann::json& record : run.cases) {
    const std::string kernel = record.at("family").get<std::string>() + "/" + record.at("kernel").get<std::string>();
    if (record.at("pass") != pass || (changed.size() == kernel_count && !changed.contains(kernel))) continue;
    changed.insert(kernel);
    record["outcome"] = "unsupported";
    record["kind"] = "adjoint";
    record["message"] = "a.py:8:9: A06-atomic-result: 'old' depends on the order of threads";
  }
  return run;
}

TEST(SummaryTable, NamesKernelsWhoseBackwardPassIsNotSupported) {
  const reports::Run one = with_unsupported_pass(synthetic_run({.failures = false}), "backward", 1);
  const std::string kernel =
      one.cases.front().at("family").get<std::string>() + "/" + one.cases.front().at("kernel").get<std::string>();
  EXPECT_THAT(closing_table(one, summarize(one), false),
              HasSubstr("\nbackward pass not supported: " + kernel +
                        ", a.py:8:9: A06-atomic-result: 'old' depends on the order of threads\ncuda: "));
  const reports::Run many = with_unsupported_pass(synthetic_run({.failures = false}), "backward", 7);
  EXPECT_THAT(closing_table(many, summarize(many), false),
              HasSubstr("\n2 further passes are not supported; see the report\n"));
}

TEST(SummaryTable, StatesWhyTheBackwardPassOfACandidateIsNotJudged) {
  reports::Run run = with_unsupported_pass(synthetic_run({.failures = false}), "backward", 1);
  const std::string reason = "\nbackward pass not supported: ";
  for (nlohmann::json& record : run.cases)
    if (record.at("outcome") == "unsupported") record["kind"] = "device";
  EXPECT_THAT(closing_table(run, summarize(run), false), Not(HasSubstr(reason))) << "the reason of a device";
  for (nlohmann::json& record : run.cases)
    record["device"] = "candidate";
  EXPECT_THAT(closing_table(run, summarize(run), false), HasSubstr(reason));
}

TEST(SummaryTable, NamesKernelsThatADeviceRefuses) {
  reports::Run run = synthetic_run({.failures = false});
  nlohmann::json& refused = run.cases.front();
  refused["outcome"] = "unsupported";
  refused["kind"] = refused.at("device");
  refused["message"] = "AttributeError: no such attribute";
  EXPECT_THAT(closing_table(run, summarize(run), false), Not(HasSubstr(" does not support ")))
      << "a kernel of a family";
  for (nlohmann::json& record : run.cases)
    record["family"] = "user";
  EXPECT_THAT(closing_table(run, summarize(run), false),
              HasSubstr("\n" + refused.at("device").get<std::string>() + " does not support user/" +
                        refused.at("kernel").get<std::string>() + ": AttributeError: no such attribute\n"));
}

TEST(SummaryTable, UsesColorOnlyOnRequest) {
  const reports::Run run = synthetic_run({});
  EXPECT_THAT(closing_table(run, summarize(run), false), Not(HasSubstr("\x1b")));
  EXPECT_THAT(closing_table(run, summarize(run), true), HasSubstr("\x1b[31m12/14"));
}

TEST(UnexpectedOutcomeText, ContainsMessageAndCommandThatReproducesFailure) {
  const reports::Run run = synthetic_run({});
  std::string lines;
  for (const nlohmann::json& record : run.cases)
    lines += unexpected_lines(record, false);
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 2 * 8);
  EXPECT_THAT(lines,
              HasSubstr("fail(mismatch)  loop/generated_1_0020/f32/cpu/backward: grad_x[3] is 0.5, expected 1.25 "
                        "within 2.8e-14\n    assay run loop/generated_1_0020/f32/cpu/backward --seed 7\n"));
}

TEST(UnexpectedOutcomeText, EscapesControlCharacters) {
  const reports::Run run = synthetic_run({.hostile = "\x1b[2J\r\nnext"});
  for (const nlohmann::json& record : run.cases)
    EXPECT_THAT(unexpected_lines(record, false), Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace assay::reports
