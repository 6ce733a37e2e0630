#include "harness/dataset/evidence_check.hpp"

#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/dataset/evidence.hpp"

namespace assay::dataset {
namespace {

using ::testing::IsEmpty;

std::vector<CheckEvidence> checks(std::initializer_list<const char*> names) {
  std::vector<CheckEvidence> list;
  for (const char* const name : names)
    list.push_back({.name = name, .compared_values = 40, .rho_max = 0.5});
  return list;
}

PassEvidence passed(const char* device, const char* pass, const char* mode, std::vector<CheckEvidence> list) {
  return {.device = device,
          .pass = pass,
          .mode = mode,
          .verdict = "pass",
          .reason = "",
          .rho_max = 0.5,
          .values_compared = 80,
          .input_sets = 10,
          .thread_counts = {0, 13},
          .checks = std::move(list),
          .finite_difference_rho = std::nullopt,
          .determinism_result = "bitwise",
          .memory_checks = {"guard_bands"},
          .rejected_negative_controls = 24,
          .inconclusive = {}};
}

/// A row that was judged in both precisions on `cpu`, and in native precision on `ptx`.
DatasetRow judged_row() {
  DatasetRow row{.id = std::string(64, 'a'), .cuda_backward = "void f_backward() {}"};
  row.metadata.device = {"cpu", "ptx"};
  row.metadata.numeric_modes = {"cpu/strict", "ptx/fast_compile", "ptx/default"};
  row.metadata.judging_effort = "standard";
  row.evidence = {
      passed("cpu", "forward", "strict", checks({"f64_promotion", "native_precision", "determinism"})),
      passed("cpu", "backward", "strict",
             checks({"oracle_self_check", "f64_promotion", "finite_differences", "native_precision", "determinism"})),
      not_run("cuda", "forward", "not asked for"),
      not_run("cuda", "backward", "not asked for"),
      passed("ptx", "forward", "fast_compile", checks({"native_precision", "determinism"})),
      passed("ptx", "backward", "fast_compile", checks({"native_precision", "determinism"}))};
  row.evidence[1].finite_difference_rho = 0.5;
  row.evidence[4].rejected_negative_controls = row.evidence[5].rejected_negative_controls = 0;
  return row;
}

std::vector<RowError> errors_of(const DatasetRow& row, EvidenceForm form = EvidenceForm::kWithChecks) {
  std::vector<RowError> errors;
  check_evidence(row, form, errors);
  return errors;
}

std::string joined(const std::vector<RowError>& errors) {
  std::string text;
  for (const RowError& error : errors)
    text += to_text(error) + "\n";
  return text;
}

TEST(EvidenceCheck, AcceptsJudgedRow) { EXPECT_THAT(joined(errors_of(judged_row())), IsEmpty()); }

TEST(EvidenceCheck, AcceptsRowWithoutBackwardPass) {
  DatasetRow row = judged_row();
  row.cuda_backward = "";
  for (const std::size_t i : {1U, 5U})
    row.evidence[i] = not_run(row.evidence[i].device, "backward", "the kernel has no float parameter");
  EXPECT_THAT(joined(errors_of(row)), IsEmpty());
}

TEST(EvidenceCheck, AcceptsRowThatWasNotJudged) {
  DatasetRow row = judged_row();
  row.metadata.judging_effort = "none";
  for (PassEvidence& one : row.evidence)
    one = not_run(one.device, one.pass, "not verified");
  EXPECT_THAT(joined(errors_of(row)), IsEmpty());
}

TEST(EvidenceCheck, AcceptsOlderRowWithoutChecks) {
  DatasetRow row = judged_row();
  for (PassEvidence& one : row.evidence)
    one.checks.clear();
  EXPECT_THAT(joined(errors_of(row, EvidenceForm::kOlder)), IsEmpty());
}

/// Warp's code cannot always be promoted; then no negative controls are presented.
TEST(EvidenceCheck, AcceptsWarpCodeWithoutNegativeControls) {
  DatasetRow row = judged_row();
  row.metadata.emitter = "warp";
  const char* const devices[] = {"warp-cpu", "warp-cpu", "warp-cuda", "warp-cuda", "warp-ptx", "warp-ptx"};
  for (std::size_t i = 0; i < row.evidence.size(); ++i) {
    row.evidence[i].device = devices[i];
    row.evidence[i].rejected_negative_controls = 0;
  }
  row.metadata.device = {"warp-cpu", "warp-ptx"};
  row.metadata.numeric_modes = {"warp-cpu/strict", "warp-ptx/fast_compile"};
  EXPECT_THAT(joined(errors_of(row)), IsEmpty());
}

TEST(EvidenceCheck, RejectsEvidenceThatContradictsItsVerdict) {
  struct Contradiction {
    void (*change)(DatasetRow& row);
    const char* pointer;
    const char* words;  ///< in found or expected
  };
  const Contradiction contradictions[] = {
      {[](DatasetRow& row) { row.evidence[0].values_compared = 0; }, "/evidence/0/values_compared", "positive"},
      {[](DatasetRow& row) { row.evidence[0].input_sets = 0; }, "/evidence/0/input_sets", "positive"},
      {[](DatasetRow& row) { row.evidence[0].thread_counts.clear(); }, "/evidence/0/sizes", "at least one launch"},
      {[](DatasetRow& row) { row.evidence[0].rho_max.reset(); }, "/evidence/0/rho_max", "null"},
      {[](DatasetRow& row) { row.evidence[0].rho_max = 1.5; }, "/evidence/0/rho_max", "at most 1"},
      {[](DatasetRow& row) { row.evidence[0].rho_max = 0.75; }, "/evidence/0/rho_max",
       "the greatest rho of the checks"},
      {[](DatasetRow& row) { row.evidence[0].rejected_negative_controls = 2; }, "/evidence/0/controls_rejected",
       "at least 3"},
      {[](DatasetRow& row) { row.evidence[0].checks.clear(); }, "/evidence/0/checks", "at least one check"},
      {[](DatasetRow& row) { row.evidence[0].checks.erase(row.evidence[0].checks.begin() + 1); }, "/evidence/0/checks",
       "native_precision"},
      {[](DatasetRow& row) { row.evidence[0].checks[1] = row.evidence[0].checks[0]; }, "/evidence/0/checks/1/name",
       "one element for each check"},
      {[](DatasetRow& row) { row.evidence[0].checks[0].rho_max = 7; }, "/evidence/0/checks/0/rho_max", "at most 1"},
      {[](DatasetRow& row) { row.evidence[0].checks[0].rho_max.reset(); }, "/evidence/0/checks/0/rho_max", "null"},
      {[](DatasetRow& row) { row.evidence[0].values_compared = 121; }, "/evidence/0/values_compared", "at most 120"},
      {[](DatasetRow& row) { row.evidence[1].finite_difference_rho = 50; }, "/evidence/1/finite_difference_rho",
       "at most 1"},
      {[](DatasetRow& row) { row.evidence[1].finite_difference_rho.reset(); }, "/evidence/1/finite_difference_rho",
       "0.5, the rho of the check finite_differences"},
      {[](DatasetRow& row) { row.evidence[0].finite_difference_rho = 0.5; }, "/evidence/0/finite_difference_rho",
       "did not run"},
      {[](DatasetRow& row) { row.evidence[0].verdict = "fail"; }, "/evidence/0/verdict", "fail"},
      {[](DatasetRow& row) { row.evidence[2].reason = ""; }, "/evidence/2/reason", "the reason"},
      {[](DatasetRow& row) { row.metadata.device = {"cpu"}; }, "/evidence/4/device", "/metadata/device"},
      {[](DatasetRow& row) { row.evidence[4].mode = "fast"; }, "/evidence/4/mode", "/metadata/flags"},
      {[](DatasetRow& row) { row.evidence.push_back(row.evidence[0]); }, "/evidence/6", "a second entry"},
      {[](DatasetRow& row) { row.evidence.erase(row.evidence.begin() + 2); }, "/evidence", "no entry for cuda/forward"},
      {[](DatasetRow& row) { row.evidence[5] = not_run("ptx", "backward", "no case"); }, "/evidence",
       "the same modes as for the forward pass: cpu/strict, ptx/fast_compile"},
      {[](DatasetRow& row) { row.cuda_backward = ""; }, "/evidence", "because cuda_backward is null"},
      {[](DatasetRow& row) { row.evidence[0].checks.erase(row.evidence[0].checks.begin()); }, "/evidence",
       "no forward pass with the check f64_promotion"},
      {[](DatasetRow& row) {
         for (PassEvidence& one : row.evidence)
           one = not_run(one.device, one.pass, "no case");
       },
       "/evidence", "a verdict pass on at least one device"},
  };
  for (const Contradiction& contradiction : contradictions) {
    DatasetRow row = judged_row();
    contradiction.change(row);
    const std::vector<RowError> errors = errors_of(row);
    const bool is_reported = std::ranges::any_of(errors, [&](const RowError& error) {
      return error.row_id == row.id && error.json_pointer == contradiction.pointer &&
             (error.found_text + " " + error.expected).find(contradiction.words) != std::string::npos;
    });
    EXPECT_TRUE(is_reported) << contradiction.pointer << ", " << contradiction.words << "\n" << joined(errors);
  }
}

}  // namespace
}  // namespace assay::dataset
