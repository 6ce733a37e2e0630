// Expected failures, from the file on the command line to the exit status.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/testing/command_runner.hpp"

namespace assay::cli {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using testing::CommandResult;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Workshop;

// All threads of the second kernel write one element, which is a defect.
constexpr std::string_view kTwoKernels = R"(import warp as wp


@wp.kernel
def scale(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = 2.0 * x[i]


@wp.kernel
def races(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[0] = x[i]
)";

class ExpectationsTest : public ::testing::Test {
 protected:
  ExpectationsTest() : workshop_(ASSAY_PROGRAM) { workshop_.write("two.py", kTwoKernels); }

  CommandResult judge(const std::string& waivers) const {
    workshop_.write("waivers.csv", "case,outcome,message,reason,expires\n" + waivers);
    return workshop_.run("assay run two.py --quick --pass forward --expect waivers.csv");
  }

  Workshop workshop_;
};

TEST_F(ExpectationsTest, AcceptsExpectedFailureWithMatchingMessage) {
  const CommandResult judged = judge("user/two.races,defect,*,races on purpose,\n");
  EXPECT_EQ(judged.status, 0) << judged.out << judged.err;
  EXPECT_THAT(judged.out, AllOf(HasSubstr("1 of 2 cases pass, 1 fail as expected"), HasSubstr("1/2 1x"),
                                Not(HasSubstr("defect(race)"))));
  EXPECT_EQ(workshop_.run("assay report out").status, 0) << "expectations are part of the records";
  const json report = json::parse(workshop_.read("out/report.json"));
  EXPECT_EQ(report.at("expectations").at(0).at("state"), "in force");

  const CommandResult changed = judge("user/two.races,defect,another message,,\n");
  EXPECT_EQ(changed.status, 1);
  EXPECT_THAT(changed.out,
              AllOf(HasSubstr("defect(race)  user/two.races"),
                    HasSubstr("waivers.csv:2 expects defect: another message"), HasSubstr("waivers.csv:2: changed:")));
}

TEST_F(ExpectationsTest, StaleExpectationFailsRunAndReportsLineNumber) {
  const std::string known = "user/two.races,defect,*,,\n";
  EXPECT_EQ(judge(known).status, 0);
  const CommandResult passes = judge(known + "user/two.scale,fail,*,,\n");
  EXPECT_EQ(passes.status, 1);
  EXPECT_THAT(passes.out, AllOf(HasSubstr("unexpected pass  user/two.scale"), HasSubstr("waivers.csv:3")));
  const CommandResult stale = judge(known + "user/two.gone,fail,*,,\n");
  EXPECT_EQ(stale.status, 1);
  EXPECT_THAT(stale.out, HasSubstr("waivers.csv:3: stale: user/two.gone fail"));
  const CommandResult expired = judge("user/two.races,defect,*,,2020-02-29\n");
  EXPECT_EQ(expired.status, 1);
  EXPECT_THAT(expired.out, HasSubstr("waivers.csv:2: expired: user/two.races defect"));
}

TEST_F(ExpectationsTest, AcceptsFailuresCsvAsExpectationsFile) {
  const std::string run = "assay run two.py --quick --pass forward";
  ASSERT_EQ(workshop_.run(run).status, 1);
  ASSERT_EQ(workshop_.run("mv out/failures.csv known.csv").status, 0);
  const CommandResult judged = workshop_.run(run + " --expect known.csv");
  EXPECT_EQ(judged.status, 0) << judged.out;
  EXPECT_EQ(workshop_.read("out/failures.csv"), workshop_.read("known.csv"));
  ASSERT_EQ(workshop_.run(run).status, 1);
  EXPECT_EQ(workshop_.run("assay report out --expect known.csv").status, 0);
}

TEST_F(ExpectationsTest, CompareCommandAndBaselineOptionReportChangesSinceEarlierRun) {
  ASSERT_EQ(workshop_.run("assay run two.py --quick --pass forward --output before").status, 1);
  const CommandResult same = workshop_.run("assay compare before before");
  EXPECT_EQ(same.status, 0) << same.err;
  EXPECT_EQ(same.out, "since before: 2 the same\n");

  ASSERT_EQ(workshop_.run("sed -i 's/out.0. = x/out[i] = x/; s/out.i. = 2/out[0] = 2/' two.py").status, 0);
  const CommandResult ran = workshop_.run("assay run two.py --quick --pass forward --baseline before");
  EXPECT_THAT(ran.out, HasSubstr("since before: 1 broken, 1 fixed; 0 the same"));
  EXPECT_THAT(workshop_.read("out/report.html"), HasSubstr("Since before"));
  const CommandResult compared = workshop_.run("assay compare before out --json");
  EXPECT_EQ(compared.status, 1);
  const json changes = json::parse(compared.out);
  EXPECT_EQ(changes, json::parse(workshop_.read("out/report.json")).at("changes"));
  EXPECT_EQ(changes.at("broken").at(0).at("case"), "user/two.scale/f32/cpu/forward");
  EXPECT_EQ(workshop_.run("assay run two.py:races --quick --pass forward --baseline before/failures.csv").status, 0)
      << "a baseline changes no verdict";
}

}  // namespace
}  // namespace assay::cli
