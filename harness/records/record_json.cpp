#include "harness/records/record_json.hpp"

#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "backends/device/finding_json.hpp"
#include "harness/records/observation_json.hpp"

namespace assay::harness {
namespace {

using Json = nlohmann::ordered_json;  // members keep the order of the schema, for readability
using nlohmann::json;

template <class Record>
struct Field {
  const char* name;
  std::int64_t Record::*member;
};

constexpr std::array<Field<InconclusiveCounts>, 6> kInconclusiveFields{{
    {"path", &InconclusiveCounts::uncertain_paths},
    {"kink", &InconclusiveCounts::non_differentiable_points},
    {"conditioning", &InconclusiveCounts::ill_conditioned_values},
    {"overflow", &InconclusiveCounts::unbounded_values},
    {"race", &InconclusiveCounts::races},
    {"domain", &InconclusiveCounts::domain_errors},
}};

struct TierField {
  const char* name;
  std::optional<CheckResult> CheckResults::*member;
};

constexpr std::array<TierField, 6> kTierFields{{
    {"t0", &CheckResults::oracle_self_check},
    {"t1", &CheckResults::f64_promotion},
    {"t2", &CheckResults::finite_differences},
    {"t3", &CheckResults::native_precision},
    {"t5", &CheckResults::determinism},
    {"devices", &CheckResults::device_agreement},
}};

// JSON has no infinity: non-finite values are written as text.
Json rho_json(std::optional<double> rho) {
  if (!rho) return nullptr;
  if (std::isnan(*rho)) return "nan";
  if (std::isinf(*rho)) return "inf";
  return *rho;
}

std::optional<double> rho_from(const json& value) {
  if (value.is_null()) return std::nullopt;
  if (value == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (value == "inf") return std::numeric_limits<double>::infinity();
  return value.get<double>();
}

Json number_json(const ExactNumber& number) { return {{"text", number.text}, {"bits", number.bits}}; }

ExactNumber number_from(const json& value) { return {.text = value.at("text"), .bits = value.at("bits")}; }

Json mismatch_json(const Mismatch& mismatch) {
  return {{"tier", mismatch.check_name},
          {"array", mismatch.array_name},
          {"index", mismatch.index},
          {"input_set", mismatch.input_set_index},
          {"expected", number_json(mismatch.expected)},
          {"bound", number_json(mismatch.bound)},
          {"got", number_json(mismatch.got)},
          {"rho", rho_json(mismatch.rho)}};
}

Mismatch mismatch_from(const json& value) {
  return {.check_name = value.at("tier"),
          .array_name = value.at("array"),
          .index = value.at("index").get<std::vector<std::int64_t>>(),
          .input_set_index = value.at("input_set"),
          .expected = number_from(value.at("expected")),
          .bound = number_from(value.at("bound")),
          .got = number_from(value.at("got")),
          .rho = rho_from(value.at("rho")).value_or(0.0)};
}

Json inconclusive_json(const InconclusiveCounts& counts) {
  Json value = Json::object();
  for (const auto& field : kInconclusiveFields)
    value[field.name] = counts.*field.member;
  return value;
}

Json tiers_json(const CheckResults& tiers) {
  Json value = Json::object();
  for (const TierField& field : kTierFields) {
    const std::optional<CheckResult>& tier = tiers.*field.member;
    if (!tier) continue;
    value[field.name] = {
        {"checks", tier->compared_values}, {"failed", tier->failed}, {"rho_max", rho_json(tier->rho_max)}};
  }
  return value;
}

CheckResults tiers_from(const json& value) {
  CheckResults tiers;
  for (const TierField& field : kTierFields) {
    if (!value.contains(field.name)) continue;
    const json& tier = value.at(field.name);
    tiers.*field.member = CheckResult{
        .compared_values = tier.at("checks"), .failed = tier.at("failed"), .rho_max = rho_from(tier.at("rho_max"))};
  }
  return tiers;
}

/// Milliseconds, rounded: microseconds are enough, and keep the lines short.
double to_microseconds(double milliseconds) { return std::round(milliseconds * 1e3) / 1e3; }

Json times_json(const StageTimes& times) {
  Json value = Json::object();
  for (const StageTimeField& field : kStages)
    value[field.name] = to_microseconds(times.*field.member);
  return value;
}

Json plateau_json(const FiniteDifferenceSeries& plateau) {
  Json value = {{"input_set", plateau.input_set_index},
                {"gradient", plateau.gradient},
                {"allowed", plateau.tolerance},
                {"estimates", Json::array()}};
  for (const FiniteDifferenceSeries::Estimate& estimate : plateau.estimates)
    value["estimates"].push_back({{"step", estimate.step}, {"value", estimate.value}});
  return value;
}

FiniteDifferenceSeries plateau_from(const json& value) {
  FiniteDifferenceSeries plateau{
      .input_set_index = value.at("input_set"), .gradient = value.at("gradient"), .tolerance = value.at("allowed")};
  for (const json& estimate : value.at("estimates"))
    plateau.estimates.push_back({.step = estimate.at("step"), .value = estimate.at("value")});
  return plateau;
}

Json attempts_json(const std::vector<Outcome>& attempts) {
  Json value = Json::array();
  for (const Outcome attempt : attempts)
    value.push_back(to_text(attempt));
  return value;
}

Outcome outcome_of(const json& value) { return outcome_from_text(value.get<std::string>()).value(); }

Json device_json(const DeviceStatus& device) {
  Json value = {{"name", device.name},
                {"available", device.is_available},
                {"reason", device.reason},
                {"description", device.description},
                {"toolkit", device.toolkit}};
  if (!device.confinement.empty()) value["confinement"] = device.confinement;
  return value;
}

Json environment_json(const RunEnvironment& environment) {
  Json devices = Json::array();
  for (const DeviceStatus& device : environment.devices)
    devices.push_back(device_json(device));
  return {{"os", environment.os_name},
          {"cpu", environment.cpu_model},
          {"compiler", environment.compiler},
          {"nvrtc", environment.nvrtc},
          {"devices", devices},
          {"commit", environment.commit_hash},
          {"dirty", environment.has_uncommitted_changes}};
}

RunEnvironment environment_from(const json& value) {
  RunEnvironment environment{.os_name = value.at("os"),
                             .cpu_model = value.at("cpu"),
                             .compiler = value.at("compiler"),
                             .nvrtc = value.at("nvrtc"),
                             .commit_hash = value.at("commit"),
                             .has_uncommitted_changes = value.at("dirty")};
  for (const json& device : value.at("devices")) {
    environment.devices.push_back({.name = device.at("name"),
                                   .is_available = device.at("available"),
                                   .reason = device.at("reason"),
                                   .description = device.at("description"),
                                   .toolkit = device.at("toolkit"),
                                   .confinement = device.value("confinement", "")});
  }
  return environment;
}

struct ExpectationField {
  const char* name;
  std::string ExpectedFailure::*member;
};

constexpr std::array<ExpectationField, 9> kExpectationFields{{
    {"place", &ExpectedFailure::location},
    {"case", &ExpectedFailure::pattern},
    {"outcome", &ExpectedFailure::outcome},
    {"kind", &ExpectedFailure::kind},
    {"message", &ExpectedFailure::message},
    {"reason", &ExpectedFailure::reason},
    {"issue", &ExpectedFailure::issue_id},
    {"since", &ExpectedFailure::since_date},
    {"expires", &ExpectedFailure::expiry_date},
}};

ExpectedFailure expectation_from(const json& value) {
  ExpectedFailure expectation;
  expectation.compiler = value.value("compiler", "");
  for (const ExpectationField& field : kExpectationFields)
    expectation.*field.member = value.at(field.name);
  return expectation;
}

std::string line_of(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

// Writes the members that only some cases have.
void add_optional_members(Json& line, const CaseRecord& record) {
  if (!record.mismatches.empty()) {
    Json& failures = line["failures"] = Json::array();
    for (const Mismatch& mismatch : record.mismatches)
      failures.push_back(mismatch_json(mismatch));
  }
  if (record.finding) {
    line["finding"] = {{"line", record.finding->line},
                       {"access", record.finding->faulty_access},
                       {"threads", record.finding->threads}};
    if (!record.finding->file.empty()) line["finding"]["file"] = record.finding->file;
  }
  if (record.failure_origin) {
    Json& blame = line["blame"] = {{"culprit", record.failure_origin->responsible_component},
                                   {"reason", record.failure_origin->reason},
                                   {"witnesses", Json::array()}};
    for (const ExaminedBuild& witness : record.failure_origin->examined_builds)
      blame["witnesses"].push_back({{"device", witness.device}, {"build", witness.build}, {"result", witness.result}});
  }
  if (record.rho_histogram != RhoHistogram{}) line["rho_histogram"] = record.rho_histogram;
  if (record.closest_negative_control) {
    line["closest_control"] = {{"array", record.closest_negative_control->array_name},
                               {"control", record.closest_negative_control->control_name},
                               {"rho", rho_json(record.closest_negative_control->rho)}};
  }
  if (record.finite_difference_series) line["plateau"] = plateau_json(*record.finite_difference_series);
  for (const ToleranceComparison& comparison : record.tolerance_comparisons) {
    line["tolerances"].push_back(Json(to_json(comparison)));
  }
  if (record.judging_times) {
    line["schedule"] = {{"lane", record.judging_times->job_index},
                        {"batch_ms", to_microseconds(record.judging_times->batch_start_ms)},
                        {"done_ms", to_microseconds(record.judging_times->decided_at_ms)}};
  }
  if (record.judged_text) {
    line["text"] = {{"own", record.judged_text->is_own}};
    if (!record.judged_text->obstacle.empty()) line["text"]["reason"] = record.judged_text->obstacle;
  }
  if (record.is_cached) line["cached"] = true;
  if (!record.selector.empty()) line["selector"] = record.selector;
  if (!record.thread_counts.empty()) line["sizes"] = record.thread_counts;
  for (const UncoveredBranch& way : record.uncovered_branches) {
    Json gap = {{"line", way.line}, {"what", way.description}};
    if (!way.file.empty()) gap["file"] = way.file;
    line["unreached"].push_back(std::move(gap));
  }
  for (const Assumption& assumption : record.assumptions) {
    Json entry = {{"what", assumption.description}};
    if (!assumption.domain_comment.empty()) entry["comment"] = assumption.domain_comment;
    line["assumptions"].push_back(std::move(entry));
  }
  for (const backends::MemoryFinding& fault : record.memory_findings)
    line["faults"].push_back(to_json(fault));
  for (const backends::ExecutionProfile& profile : record.profiles)
    line["profiles"].push_back(to_json(profile));
  for (const backends::Measurement& measurement : record.measurements)
    line["measurements"].push_back(to_json(measurement));
  if (!record.log.empty()) line["log"] = record.log;
  if (record.source_texts) {
    line["artifact"] = {{"python", record.source_texts->python},
                        {"cpp", record.source_texts->cpp},
                        {"cuda", record.source_texts->cuda},
                        {"ir", record.source_texts->ir},
                        {"compile_command", record.source_texts->compile_command}};
  }
}

void read_optional_members(CaseRecord& record, const json& line) {
  if (line.contains("failures")) {
    for (const json& mismatch : line.at("failures"))
      record.mismatches.push_back(mismatch_from(mismatch));
  }
  if (line.contains("unreached")) {
    for (const json& way : line.at("unreached"))
      record.uncovered_branches.push_back(
          {.line = way.at("line"), .description = way.at("what"), .file = way.value("file", "")});
  }
  if (line.contains("assumptions")) {
    for (const json& assumption : line.at("assumptions"))
      record.assumptions.push_back(
          {.description = assumption.at("what"), .domain_comment = assumption.value("comment", "")});
  }
  if (line.contains("finding")) {
    const json& finding = line.at("finding");
    record.finding = DefectRecord{.line = finding.at("line"),
                                  .faulty_access = finding.at("access"),
                                  .threads = finding.at("threads").get<std::vector<std::string>>(),
                                  .file = finding.value("file", "")};
  }
  if (line.contains("blame")) {
    const json& blame = line.at("blame");
    record.failure_origin = FailureOrigin{
        .responsible_component = blame.at("culprit"), .reason = blame.at("reason"), .examined_builds = {}};
    for (const json& witness : blame.at("witnesses"))
      record.failure_origin->examined_builds.push_back(
          {.device = witness.at("device"), .build = witness.at("build"), .result = witness.at("result")});
  }
  record.rho_histogram = line.value("rho_histogram", RhoHistogram{});
  if (line.contains("closest_control")) {
    const json& closest = line.at("closest_control");
    record.closest_negative_control = ClosestNegativeControl{.array_name = closest.at("array"),
                                                             .control_name = closest.at("control"),
                                                             .rho = rho_from(closest.at("rho")).value_or(0.0)};
  }
  for (const json& comparison : line.value("tolerances", json::array())) {
    record.tolerance_comparisons.push_back(tolerance_comparison_from(comparison));
  }
  if (line.contains("plateau")) record.finite_difference_series = plateau_from(line.at("plateau"));
  if (line.contains("schedule")) {
    const json& schedule = line.at("schedule");
    record.judging_times = JudgingTimes{.job_index = schedule.at("lane"),
                                        .batch_start_ms = schedule.at("batch_ms"),
                                        .decided_at_ms = schedule.at("done_ms")};
  }
  if (line.contains("text"))
    record.judged_text =
        JudgedText{.is_own = line.at("text").at("own"), .obstacle = line.at("text").value("reason", "")};
  record.is_cached = line.value("cached", false);
  record.selector = line.value("selector", "");
  record.thread_counts = line.value("sizes", std::vector<std::int64_t>());
  for (const json& fault : line.value("faults", json::array()))
    record.memory_findings.push_back(backends::memory_finding_from(fault));
  for (const json& profile : line.value("profiles", json::array()))
    record.profiles.push_back(execution_profile_from(profile));
  for (const json& measurement : line.value("measurements", json::array()))
    record.measurements.push_back(measurement_from(measurement));
  record.log = line.value("log", "");
  if (line.contains("artifact")) {
    const json& artifact = line.at("artifact");
    record.source_texts = SourceTexts{.python = artifact.at("python"),
                                      .cpp = artifact.at("cpp"),
                                      .cuda = artifact.at("cuda"),
                                      .ir = artifact.at("ir"),
                                      .compile_command = artifact.at("compile_command")};
  }
}

}  // namespace

json to_json(const ToleranceComparison& comparison) {
  return {{"tolerance", comparison.tolerance},
          {"input_sets", comparison.input_sets},
          {"accepts", comparison.accepts_all_results}};
}

ToleranceComparison tolerance_comparison_from(const json& comparison) {
  return {.tolerance = comparison.at("tolerance"),
          .input_sets = comparison.at("input_sets"),
          .accepts_all_results = comparison.at("accepts")};
}

json to_json(const std::vector<ExpectedFailure>& expectations) {
  json rows = json::array();
  for (const ExpectedFailure& expectation : expectations) {
    json& row = rows.emplace_back();
    for (const ExpectationField& field : kExpectationFields)
      row[field.name] = expectation.*field.member;
    if (!expectation.compiler.empty()) row["compiler"] = expectation.compiler;
  }
  return rows;
}

std::string to_line(const RunStart& start) {
  Json line = {{"record", "run_start"},
               {"schema_version", start.schema_version},
               {"run_id", start.run_id},
               {"started", start.start_time},
               {"command_line", start.command_line},
               {"seed", fmt::format("0x{:016x}", start.seed)},
               {"environment", environment_json(start.environment)}};
  if (!start.inputs_hash.empty()) line["inputs"] = start.inputs_hash;
  if (start.shard != Shard{}) line["shard"] = {{"index", start.shard.index}, {"of", start.shard.shard_count}};
  if (!start.expectations.empty()) line["expectations"] = to_json(start.expectations);
  line["plan"] = start.planned_case_names;
  return line_of(line);
}

RunStart run_start_from(const json& line) {
  RunStart start{.schema_version = line.at("schema_version"),
                 .run_id = line.at("run_id"),
                 .start_time = line.at("started"),
                 .command_line = line.at("command_line").get<std::vector<std::string>>(),
                 .seed = std::stoull(line.at("seed").get<std::string>(), nullptr, 16),
                 .environment = environment_from(line.at("environment")),
                 .inputs_hash = line.value("inputs", ""),
                 .planned_case_names = line.at("plan").get<std::vector<std::string>>()};
  if (line.contains("shard"))
    start.shard = {.index = line.at("shard").at("index"), .shard_count = line.at("shard").at("of")};
  for (const json& row : line.value("expectations", json::array()))
    start.expectations.push_back(expectation_from(row));
  return start;
}

std::string to_line(const CaseRecord& record) {
  Json line = {{"record", "case"},
               {"case", record.name},
               {"family", record.family},
               {"kernel", record.kernel},
               {"types", record.parameter_types},
               {"device", record.device},
               {"pass", record.pass},
               {"mode", record.mode},
               {"outcome", to_text(record.outcome)},
               {"kind", record.outcome_detail},
               {"message", record.message},
               {"rho_max", rho_json(record.rho_max)},
               {"values_compared", record.values_compared},
               {"input_sets", record.input_sets},
               {"controls_rejected", record.rejected_negative_controls},
               {"inconclusive", inconclusive_json(record.inconclusive)},
               {"tiers", tiers_json(record.check_results)},
               {"attempts", attempts_json(record.attempt_outcomes)},
               {"time_ms", times_json(record.stage_times)},
               {"source", {{"file", record.source.file}, {"line", record.source.line}}},
               {"reproduce", record.reproduce_command}};
  add_optional_members(line, record);
  return line_of(line);
}

CaseRecord case_from(const json& line) {
  CaseRecord record{.name = line.at("case"),
                    .family = line.at("family"),
                    .kernel = line.at("kernel"),
                    .parameter_types = line.at("types"),
                    .device = line.at("device"),
                    .pass = line.at("pass"),
                    .mode = line.at("mode"),
                    .outcome = outcome_of(line.at("outcome")),
                    .outcome_detail = line.at("kind"),
                    .message = line.at("message"),
                    .rho_max = rho_from(line.at("rho_max")),
                    .values_compared = line.at("values_compared"),
                    .input_sets = line.at("input_sets"),
                    .rejected_negative_controls = line.at("controls_rejected"),
                    .check_results = tiers_from(line.at("tiers")),
                    .source = {.file = line.at("source").at("file"), .line = line.at("source").at("line")},
                    .reproduce_command = line.at("reproduce")};
  for (const auto& field : kInconclusiveFields) {
    record.inconclusive.*field.member = line.at("inconclusive").at(field.name).get<std::int64_t>();
  }
  for (const StageTimeField& field : kStages) {
    record.stage_times.*field.member = line.at("time_ms").at(field.name).get<double>();
  }
  for (const json& attempt : line.at("attempts"))
    record.attempt_outcomes.push_back(outcome_of(attempt));
  read_optional_members(record, line);
  return record;
}

std::string to_line(const RunEnd& end) {
  Json counts = Json::object();
  for (const OutcomeName& row : kOutcomeNames) {
    if (end.counts.count_of(row.outcome) > 0) counts[std::string(row.text)] = end.counts.count_of(row.outcome);
  }
  return line_of({{"record", "run_end"},
                  {"finished", end.end_time},
                  {"counts", counts},
                  {"exit_status", static_cast<int>(end.exit_status)},
                  {"wall_time_s", std::round(end.wall_time_seconds * 1e3) / 1e3}});
}

RunEnd run_end_from(const json& line) {
  RunEnd end{.end_time = line.at("finished"),
             .exit_status = static_cast<ExitStatus>(line.at("exit_status").get<int>()),
             .wall_time_seconds = line.at("wall_time_s")};
  for (const auto& [name, cases] : line.at("counts").items()) {
    end.counts.add(outcome_from_text(name).value(), cases.get<std::int64_t>());
  }
  return end;
}

}  // namespace assay::harness
