#include "harness/reduce/failure.hpp"

#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace assay::reduce {
namespace {

using Json = nlohmann::ordered_json;

/// Version of the file format. Other versions are rejected: the folder can be made again.
constexpr int kFormat = 1;

Json to_json(const reduce::FailureClass& ending) {
  return {{"outcome", harness::to_text(ending.outcome)},
          {"kind", ending.outcome_detail},
          {"array", ending.mismatched_array},
          {"words", ending.normalized_message}};
}

Json to_json(const JudgingConditions& conditions) {
  return {{"device", conditions.device},
          {"pass", conditions.pass},
          {"mode", conditions.mode},
          {"effort", conditions.judging_effort},
          {"seed", conditions.seed},
          {"compiler", conditions.compiler},
          {"no_checks", conditions.disabled_checks},
          {"nvrtc", conditions.nvrtc_version_or_path},
          {"architectures", conditions.architectures}};
}

Json to_json(const ReductionSummary& reduced) {
  return {{"message", reduced.message},
          {"effort", reduced.judging_effort},
          {"statements_before", reduced.statements_before},
          {"statements", reduced.statements_after},
          {"trials", reduced.candidate_count},
          {"seconds", reduced.seconds},
          {"finished", reduced.is_minimal}};
}

reduce::FailureClass ending_from(const Json& json) {
  const std::string text = json.at("outcome");
  const auto outcome = harness::outcome_from_text(text);
  if (!outcome) throw std::invalid_argument(fmt::format("unknown outcome '{}'", text));
  return {.outcome = *outcome,
          .outcome_detail = json.at("kind"),
          .mismatched_array = json.at("array"),
          .normalized_message = json.at("words")};
}

JudgingConditions conditions_from(const Json& json) {
  return {.device = json.at("device"),
          .pass = json.at("pass"),
          .mode = json.at("mode"),
          .judging_effort = json.at("effort"),
          .seed = json.at("seed"),
          .compiler = json.at("compiler"),
          .disabled_checks = json.at("no_checks").get<std::vector<std::string>>(),
          .nvrtc_version_or_path = json.value("nvrtc", ""),
          .architectures = json.value("architectures", std::vector<std::string>())};
}

ReductionSummary reduced_from(const Json& json) {
  return {.message = json.at("message"),
          .judging_effort = json.at("effort"),
          .statements_before = json.at("statements_before"),
          .statements_after = json.at("statements"),
          .candidate_count = json.at("trials"),
          .seconds = json.at("seconds"),
          .is_minimal = json.at("finished")};
}

Failure failure_from(const Json& json) {
  const int format = json.at("format");
  if (format != kFormat) throw std::invalid_argument(fmt::format("format must be {1}, got {0}", format, kFormat));
  Failure failure{.name = json.at("case"),
                  .kernel = json.at("kernel"),
                  .failure_class = ending_from(json.at("ending")),
                  .message = json.at("message"),
                  .conditions = conditions_from(json.at("conditions")),
                  .reduction_summary = std::nullopt};
  if (json.contains("reduced")) failure.reduction_summary = reduced_from(json.at("reduced"));
  return failure;
}

}  // namespace

backends::Pass JudgingConditions::parsed_pass() const {
  return pass == backends::to_text(backends::Pass::kBackward) ? backends::Pass::kBackward : backends::Pass::kForward;
}

harness::JudgingPolicy JudgingConditions::policy() const {
  if (judging_effort == "quick") return harness::JudgingPolicy::quick();
  return judging_effort == "thorough" ? harness::JudgingPolicy::thorough() : harness::JudgingPolicy::standard();
}

std::string effort_of(bool quick, bool thorough) { return quick ? "quick" : thorough ? "thorough" : "standard"; }

std::string to_json(const Failure& failure) {
  Json json{{"format", kFormat},          {"case", failure.name},
            {"kernel", failure.kernel},   {"ending", to_json(failure.failure_class)},
            {"message", failure.message}, {"conditions", to_json(failure.conditions)}};
  if (failure.reduction_summary) json["reduced"] = to_json(*failure.reduction_summary);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<Failure> read_failure(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / kFailureFileName;
  std::ifstream stream(file);
  if (!stream.is_open()) return Error{"cannot read the file; expected a failure folder written by 'assay run'", file};
  std::stringstream text;
  text << stream.rdbuf();
  try {
    return failure_from(Json::parse(text.str()));
  } catch (const std::exception& wrong) {
    return Error{fmt::format("invalid failure description: {}", wrong.what()), file};
  }
}

}  // namespace assay::reduce
