#include "harness/mutation/score_json.hpp"

#include <nlohmann/json.hpp>

#include "schemas/validator.hpp"

namespace assay::mutation {
namespace {

using nlohmann::ordered_json;

ordered_json to_json(const MutantCounts& tally) {
  return {{"mutants", tally.mutants},
          {"killed", tally.killed},
          {"lifted", tally.detectable_with_promotion},
          {"by_lift", tally.killed_by_promotion},
          {"by_native", tally.killed_by_native_precision},
          {"equivalent", tally.equivalent_count},
          {"proved", tally.equivalent_by_proof},
          {"kernels", tally.kernels_with_kills.size()}};
}

}  // namespace

std::string to_json_text(const MutationScore& score, const MutantLedgerHeader& head,
                         const FalsePositiveCorpus& controls, const std::vector<FaultResult>& injected_faults) {
  ordered_json text = {{"schema_version", schemas::kMutationScoreSchemaVersion},
                       {"device", head.device},
                       {"commit", head.commit},
                       {"seed", head.seed},
                       {"planned", head.planned_mutants},
                       {"all", to_json(score.single_thread_mutants)},
                       {"threaded", to_json(score.threaded_mutants)}};
  if (!score.threaded_device_name.empty()) text["threaded_device"] = score.threaded_device_name;
  text["operators"] = ordered_json::array();
  for (const auto& [op, tally] : score.by_operator) {
    ordered_json one = {{"operator", row(op).name},
                        {"group", to_text(row(op).group)},
                        {"change", row(op).change},
                        {"witness", to_text(row(op).detectable_by)}};
    one.update(to_json(tally));
    text["operators"].push_back(std::move(one));
  }
  text["families"] = ordered_json::array();
  for (const auto& [family, tally] : score.by_family) {
    ordered_json one = {{"family", family}};
    one.update(to_json(tally));
    text["families"].push_back(std::move(one));
  }
  text["checks"] = ordered_json::array();
  for (const auto& [check, killed] : score.kills_by_check)
    text["checks"].push_back({{"check", check}, {"killed", killed}});
  text["widened"] = {{"mutants", score.mutants_judged_with_widened_bounds}, {"killed", ordered_json::array()}};
  for (std::size_t w = 0; w < kBoundWideningFactors.size(); ++w)
    text["widened"]["killed"].push_back(
        {{"factor", kBoundWideningFactors[w]}, {"killed", score.killed_with_widened_bounds[w]}});
  text["survivors"] = ordered_json::array();
  for (const MutantRecord& mutant : score.survivors)
    text["survivors"].push_back(
        {{"mutant", mutant.name}, {"line", mutant.line}, {"what", mutant.description}, {"patch", mutant.patch}});
  text["controls"] = {{"kernels", controls.kernels},
                      {"cases", controls.cases},
                      {"inconclusive", controls.inconclusive_case_count},
                      {"rejected", controls.rejected_case_count},
                      {"alarms", controls.rejected_case_names}};
  text["plants"] = ordered_json::array();
  for (const FaultResult& result : injected_faults) {
    text["plants"].push_back({{"fault", result.injected_fault.name},
                              {"part", to_text(result.injected_fault.component)},
                              {"change", result.injected_fault.change},
                              {"noticed", result.is_detected},
                              {"check", result.verdict}});
  }
  return text.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace assay::mutation
