#include "backends/candidate/host/outcome_text.hpp"

#include <string>
#include <variant>

#include <gtest/gtest.h>

namespace assay::candidate {
namespace {

using namespace backends;

MemoryFinding finding() {
  return {.kind = "write_write_race",
          .kernel = "sums",
          .target = "sm_75",
          .site = {.code_line = 12, .source_line = 3, .instruction = "st.f32", .thread = {1, 2, 3}, .block = {4, 5, 6}},
          .conflicting_access = AccessSite{.code_line = 11},
          .state_space = "shared",
          .address = "0x10",
          .allocation_name = "part",
          .offset = -4,
          .allocation_bytes = 256,
          .access_bytes = 4,
          .count = 7,
          .text = "two threads write"};
}

TEST(OutcomeText, FindingsRoundTripThroughText) {
  const MemoryFault fault{.message = "two threads write", .kind = "write_write_race", .findings = {finding()}};
  const std::optional<RunOutcome> read = outcome_from(outcome_text(fault, 65536));
  ASSERT_TRUE(read.has_value());
  const auto& result = std::get<MemoryFault>(*read);
  EXPECT_EQ(result.findings, fault.findings);
  EXPECT_EQ(result.kind, fault.kind);
  EXPECT_EQ(result.message, fault.message);
}

TEST(OutcomeText, OmitsFindingsBeyondSizeLimit) {
  const MemoryFault fault{.message = "m", .kind = "k", .findings = std::vector<MemoryFinding>(20, finding())};
  const std::string text = outcome_text(fault, 2000);
  EXPECT_LE(text.size(), 2000U);
  EXPECT_GE(std::get<MemoryFault>(*outcome_from(text)).findings.size(), 1U);
}

TEST(OutcomeText, OutcomesWithoutFindingsRoundTripThroughText) {
  EXPECT_EQ(std::get<LaunchFailed>(*outcome_from(outcome_text(LaunchFailed{"a"}, 999))).message, "a");
  EXPECT_EQ(std::get<Crashed>(*outcome_from(outcome_text(Crashed{.message = "b"}, 999))).message, "b");
  EXPECT_EQ(std::get<Unsupported>(*outcome_from(outcome_text(Unsupported{"c"}, 999))).reason, "c");
  EXPECT_TRUE(std::holds_alternative<TimedOut>(*outcome_from(outcome_text(TimedOut{}, 999))));
}

TEST(OutcomeText, RejectsTextThatDoesNotDescribeAnOutcome) {
  EXPECT_FALSE(outcome_from("not JSON").has_value());
  EXPECT_FALSE(outcome_from("{}").has_value());
  EXPECT_FALSE(outcome_from(R"({"outcome": "fault", "message": "m", "kind": "k", "findings": [{}]})").has_value());
}

TEST(OutputClause, ContainsTheLastLine) {
  EXPECT_EQ(output_clause("a\nb.cu:3: Assertion `n > 0' failed.\n \n"),
            "; its output ends with 'b.cu:3: Assertion `n > 0' failed.'");
  EXPECT_EQ(output_clause("\n"), "");
  EXPECT_LT(output_clause(std::string(1000, 'x')).size(), 300U);
}

}  // namespace
}  // namespace assay::candidate
