#include "harness/records/outcome.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "schemas/embedded.hpp"

namespace assay::harness {
namespace {

OutcomeCounts counts_of(std::initializer_list<std::pair<Outcome, int>> cells) {
  OutcomeCounts counts;
  for (const auto& [outcome, cases] : cells)
    counts.add(outcome, cases);
  return counts;
}

TEST(Outcome, OrderIsTheSameInEnumerationNameTableAndSchema) {
  const auto schema = nlohmann::json::parse(schemas::kRecordSchemaText);
  const auto& listed = schema.at("definitions").at("outcome").at("enum");
  ASSERT_EQ(listed.size(), kOutcomeCount + 1);
  EXPECT_EQ(listed.back(), kLegacyPassText) << "records before version 2.0.0";
  for (std::size_t i = 0; i < kOutcomeCount; ++i) {
    EXPECT_EQ(static_cast<std::size_t>(kOutcomeNames.at(i).outcome), i);
    EXPECT_EQ(listed.at(i).get<std::string>(), kOutcomeNames.at(i).text);
    EXPECT_EQ(outcome_from_text(to_text(kOutcomeNames.at(i).outcome)), kOutcomeNames.at(i).outcome);
  }
  EXPECT_EQ(outcome_from_text(kLegacyPassText), Outcome::pass);
  EXPECT_EQ(outcome_from_text("ok"), std::nullopt);
}

TEST(ExitStatus, ReportsSuccessOnlyIfAllCasesPassOrAreUnsupported) {
  for (const OutcomeName& row : kOutcomeNames) {
    const ExitStatus found = exit_status(counts_of({{Outcome::pass, 5}, {row.outcome, 1}}));
    ExitStatus wanted = ExitStatus::unexpected;
    if (is_pass(row.outcome) || row.outcome == Outcome::unsupported) wanted = ExitStatus::as_expected;
    if (row.outcome == Outcome::internal_error) wanted = ExitStatus::internal;
    EXPECT_EQ(found, wanted) << row.text;
  }
}

TEST(ExitStatus, RunThatJudgedNoCaseIsDistinguishedFromSuccess) {
  EXPECT_EQ(exit_status({}), ExitStatus::nothing_ran);
  EXPECT_EQ(exit_status(counts_of({{Outcome::not_run, 3}})), ExitStatus::nothing_ran);
  EXPECT_EQ(exit_status(counts_of({{Outcome::not_run, 1}, {Outcome::unsupported, 3}})), ExitStatus::nothing_ran);
  EXPECT_EQ(exit_status(counts_of({{Outcome::unsupported, 3}})), ExitStatus::all_unsupported);
}

TEST(ExitStatus, InternalErrorOutranksFailures) {
  EXPECT_EQ(exit_status(counts_of({{Outcome::fail, 3}, {Outcome::internal_error, 1}})), ExitStatus::internal);
}

}  // namespace
}  // namespace assay::harness
