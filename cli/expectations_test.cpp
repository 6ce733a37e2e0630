// Failures that are known, from the file on the command line to the exit status.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/testing/command_runner.hpp"

namespace assay::cli {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Ran;
using testing::Workshop;

// All threads of the second write one cell: no input judges it, and its cases end as inconclusive.
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

class ExpectTest : public ::testing::Test {
 protected:
  ExpectTest() : workshop_(ASSAY_PROGRAM) { workshop_.write("two.py", kTwoKernels); }

  Ran judge(const std::string& waivers) const {
    workshop_.write("waivers.csv", "case,outcome,message,reason,expires\n" + waivers);
    return workshop_.run("assay run two.py --quick --pass forward --expect waivers.csv");
  }

  Workshop workshop_;
};

TEST_F(ExpectTest, AKnownFailureIsBorneWhileItsMessageFits) {
  const Ran borne = judge("user/two.races,inconclusive,*,races on purpose,\n");
  EXPECT_EQ(borne.status, 0) << borne.out << borne.err;
  EXPECT_THAT(borne.out, AllOf(HasSubstr("1 of 2 cases pass, 1 fail as expected"), HasSubstr("1/2 1w"),
                               Not(HasSubstr("inconclusive(race)"))));
  EXPECT_EQ(workshop_.run("assay report out").status, 0) << "the records know what was expected";
  const json report = json::parse(workshop_.read("out/report.json"));
  EXPECT_EQ(report.at("expectations").at(0).at("state"), "in force");

  const Ran changed = judge("user/two.races,inconclusive,another message,,\n");
  EXPECT_EQ(changed.status, 1);
  EXPECT_THAT(changed.out, AllOf(HasSubstr("inconclusive(race)  user/two.races"),
                                 HasSubstr("waivers.csv:2 expects inconclusive: another message"),
                                 HasSubstr("waivers.csv:2: changed:")));
}

TEST_F(ExpectTest, EachLineThatNoLongerHoldsTurnsTheRunRedByItsNumber) {
  const std::string known = "user/two.races,inconclusive,*,,\n";
  EXPECT_EQ(judge(known).status, 0);
  const Ran passes = judge(known + "user/two.scale,fail,*,,\n");
  EXPECT_EQ(passes.status, 1);
  EXPECT_THAT(passes.out, AllOf(HasSubstr("unexpected pass  user/two.scale"), HasSubstr("waivers.csv:3")));
  const Ran stale = judge(known + "user/two.gone,fail,*,,\n");
  EXPECT_EQ(stale.status, 1);
  EXPECT_THAT(stale.out, HasSubstr("waivers.csv:3: stale: user/two.gone fail"));
  const Ran expired = judge("user/two.races,inconclusive,*,,2020-02-29\n");
  EXPECT_EQ(expired.status, 1);
  EXPECT_THAT(expired.out, HasSubstr("waivers.csv:2: expired: user/two.races inconclusive"));
}

TEST_F(ExpectTest, TheFailuresOfARunAreTheNextRunsExpectations) {
  const std::string run = "assay run two.py --quick --pass forward";
  ASSERT_EQ(workshop_.run(run).status, 1);
  ASSERT_EQ(workshop_.run("mv out/failures.csv known.csv").status, 0);
  const Ran borne = workshop_.run(run + " --expect known.csv");
  EXPECT_EQ(borne.status, 0) << borne.out;
  EXPECT_EQ(workshop_.read("out/failures.csv"), workshop_.read("known.csv"));
  ASSERT_EQ(workshop_.run(run).status, 1);
  EXPECT_EQ(workshop_.run("assay report out --expect known.csv").status, 0);
}

}  // namespace
}  // namespace assay::cli
