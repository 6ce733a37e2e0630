#include "harness/mutation/score.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "harness/mutation/ledger.hpp"
#include "harness/mutation/score_json.hpp"
#include "schemas/embedded.hpp"
#include "schemas/validator.hpp"

namespace assay::mutation {
namespace {

MutantRecord mutant(MutationOperator op, MutantStatus fate, const std::string& promote, const std::string& native) {
  MutantRecord record;
  record.name = "loop/sum#" + std::string(row(op).name) + ".0";
  record.op = op;
  record.family = "loop";
  record.kernel = "sum";
  record.status = fate;
  record.promoted.rejecting_check = promote;
  record.native.rejecting_check = native;
  record.patch = fate == MutantStatus::kSurvived ? "-a\n+b\n" : "";
  return record;
}

MutationScore example() {
  MutationScore score;
  score.add(mutant(MutationOperator::kDropContribution, MutantStatus::kKilled, "t1 mismatch", "t3 mismatch"));
  score.add(mutant(MutationOperator::kDropContribution, MutantStatus::kKilled, "t1 mismatch", ""));
  score.add(mutant(MutationOperator::kDropContribution, MutantStatus::kSurvived, "", ""));
  score.add(mutant(MutationOperator::kDropContribution, MutantStatus::kEquivalent, "", ""));
  score.add(mutant(MutationOperator::kDropContribution, MutantStatus::kInvalid, "", ""));
  score.add(mutant(MutationOperator::kMissingBarrier, MutantStatus::kKilled, "", "read_write_race"));
  return score;
}

TEST(MutationScore, ExcludesEquivalentAndInvalidMutants) {
  const MutationScore score = example();
  EXPECT_EQ(score.single_thread_mutants.mutants, 3);
  EXPECT_EQ(score.single_thread_mutants.killed, 2);
  EXPECT_EQ(score.single_thread_mutants.killed_by_promotion, 2);
  EXPECT_EQ(score.single_thread_mutants.killed_by_native_precision, 1);
  EXPECT_EQ(score.single_thread_mutants.equivalent_count, 1);
  EXPECT_EQ(score.survivors.size(), 1U);
  EXPECT_EQ(score.kills_by_check.at("t1 mismatch"), 2);
}

TEST(MutationScore, CountsMutantsOfThreadingCodeSeparately) {
  EXPECT_EQ(example().threaded_mutants.mutants, 1);
  EXPECT_EQ(example().threaded_mutants.killed, 1);
}

TEST(MutationScore, F64PromotionScoreExcludesMutantsProvenEquivalent) {
  MutationScore score;
  MutantRecord needed_in_native =
      mutant(MutationOperator::kMissingBarrier, MutantStatus::kKilled, "", "read_write_race");
  needed_in_native.promoted.equivalent_by_proof = true;
  score.add(needed_in_native);
  score.add(mutant(MutationOperator::kMissingBarrier, MutantStatus::kKilled, "read_write_race", "read_write_race"));
  EXPECT_EQ(score.threaded_mutants.mutants, 2);
  EXPECT_EQ(score.threaded_mutants.killed_by_native_precision, 2);
  EXPECT_EQ(score.threaded_mutants.detectable_with_promotion, 1);
  EXPECT_EQ(score.threaded_mutants.killed_by_promotion, 1);
  MutantRecord in_neither = mutant(MutationOperator::kMissingBarrier, MutantStatus::kEquivalentByProof, "", "");
  in_neither.promoted.equivalent_by_proof = in_neither.native.equivalent_by_proof = true;
  score.add(in_neither);
  EXPECT_EQ(score.threaded_mutants.mutants, 2);
  EXPECT_EQ(score.threaded_mutants.equivalent_by_proof, 1);
}

TEST(MutationScore, JsonMatchesSchema) {
  const std::string text = to_json_text(
      example(), {.device = "cpu", .commit = "1234567", .seed = 1, .planned_mutants = 6, .plan_hash = "x"},
      {.kernels = 10, .cases = 20, .inconclusive_case_count = 1, .rejected_case_count = 0, .rejected_case_names = {}},
      {{kFaultInjectionEnabled[0], true, "internal_error(oracle)"}});
  const schemas::Validator validator(schemas::kMutationScoreSchemaText);
  for (const auto& diagnostic : validator.diagnostics(nlohmann::json::parse(text)))
    ADD_FAILURE() << diagnostic.text();
}

class MutationLedger : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove_all(dir_); }
  void TearDown() override { std::filesystem::remove_all(dir_); }
  const MutantLedgerHeader head_{
      .device = "cpu", .commit = "1234567", .seed = 7, .planned_mutants = 2, .plan_hash = "0123"};
  const std::filesystem::path dir_ =
      std::filesystem::temp_directory_path() /
      ("assay-ledger-" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
};

TEST_F(MutationLedger, MutantRecordsRoundTripThroughFile) {
  MutantRecord killed = mutant(MutationOperator::kUnitCotangent, MutantStatus::kKilled, "t1 mismatch", "t3 mismatch");
  killed.killed_with_widened_bounds = {true, true, false, false};
  killed.promoted.equivalent_by_proof = true;
  {
    auto lines = start_ledger(dir_, head_);
    ASSERT_TRUE(lines.ok());
    ASSERT_TRUE(lines->append(to_line(killed)).ok());
    ASSERT_TRUE(
        lines->append(to_line(mutant(MutationOperator::kUnclearedOutputAdjoint, MutantStatus::kSurvived, "", "")))
            .ok());
  }
  const auto ledger = read_ledger(dir_);
  ASSERT_TRUE(ledger.ok()) << ledger.error().text();
  ASSERT_TRUE(ledger->has_value());
  EXPECT_EQ((*ledger)->header, head_);
  ASSERT_EQ((*ledger)->mutants.size(), 2U);
  EXPECT_EQ((*ledger)->mutants[0].killed_with_widened_bounds, killed.killed_with_widened_bounds);
  EXPECT_TRUE((*ledger)->mutants[0].promoted.equivalent_by_proof);
  EXPECT_FALSE((*ledger)->mutants[0].native.equivalent_by_proof);
  EXPECT_EQ((*ledger)->mutants[1].status, MutantStatus::kSurvived);
  EXPECT_EQ((*ledger)->mutants[1].patch, "-a\n+b\n");
}

TEST_F(MutationLedger, AppendsAfterDroppingTruncatedLastLine) {
  {
    auto lines = start_ledger(dir_, head_);
    ASSERT_TRUE(lines.ok());
    ASSERT_TRUE(
        lines->append(to_line(mutant(MutationOperator::kUnitCotangent, MutantStatus::kKilled, "t1 mismatch", "")))
            .ok());
  }
  std::ofstream(dir_ / kLedgerFileName, std::ios::app) << R"({"mutant": "cut sh)";
  const auto cut = read_ledger(dir_);
  ASSERT_TRUE(cut.ok() && cut->has_value());
  EXPECT_EQ((*cut)->mutants.size(), 1U);
  {
    auto lines = harness::LineAppender::reopen(dir_ / kLedgerFileName, (*cut)->complete_bytes);
    ASSERT_TRUE(lines.ok());
    ASSERT_TRUE(
        lines
            ->append(to_line(mutant(MutationOperator::kUnclearedOutputAdjoint, MutantStatus::kKilled, "", "zero_seed")))
            .ok());
  }
  EXPECT_EQ((*read_ledger(dir_))->mutants.size(), 2U);
}

TEST_F(MutationLedger, ReportsLineNumberOfInvalidLine) {
  ASSERT_TRUE(start_ledger(dir_, head_).ok());
  std::ofstream(dir_ / kLedgerFileName, std::ios::app) << R"({"mutant": "a", "operator": "no_such"})"
                                                       << "\n";
  const auto ledger = read_ledger(dir_);
  ASSERT_FALSE(ledger.ok());
  EXPECT_NE(ledger.error().text().find("mutants.jsonl:2"), std::string::npos) << ledger.error().text();
}

TEST_F(MutationLedger, MissingFileIsNotAnError) {
  const auto ledger = read_ledger(dir_);
  ASSERT_TRUE(ledger.ok());
  EXPECT_FALSE(ledger->has_value());
}

}  // namespace
}  // namespace assay::mutation
