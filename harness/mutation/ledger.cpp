#include "harness/mutation/ledger.hpp"

#include <fstream>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace assay::mutation {
namespace {

using nlohmann::json;

json to_json(const MutantLedgerHeader& head) {
  return {{"type", "campaign"}, {"device", head.device},           {"commit", head.commit},
          {"seed", head.seed},  {"planned", head.planned_mutants}, {"plan", head.plan_hash}};
}

MutantLedgerHeader head_from(const json& line) {
  return {.device = line.at("device"),
          .commit = line.at("commit"),
          .seed = line.at("seed"),
          .planned_mutants = line.at("planned"),
          .plan_hash = line.at("plan")};
}

MutantStatus fate_from(const std::string& text) {
  for (const MutantStatus fate :
       {MutantStatus::kKilled, MutantStatus::kSurvived, MutantStatus::kEquivalent, MutantStatus::kEquivalentByProof}) {
    if (to_text(fate) == text) return fate;
  }
  return MutantStatus::kInvalid;
}

MutantRecord mutant_from(const json& line) {
  MutantRecord mutant;
  mutant.name = line.at("mutant");
  const auto op = find_operator_by_name(line.at("operator").get<std::string>());
  if (!op) throw json::other_error::create(501, "unknown name of a mutation operator", nullptr);
  mutant.op = *op;
  mutant.family = line.at("family");
  mutant.kernel = line.at("kernel");
  mutant.line = line.at("line");
  mutant.description = line.at("what");
  mutant.status = fate_from(line.at("fate"));
  mutant.promoted.rejecting_check = line.at("lift");
  mutant.native.rejecting_check = line.at("native");
  mutant.promoted.equivalent_by_proof = line.value("lift_proved", false);
  mutant.native.equivalent_by_proof = line.value("native_proved", false);
  mutant.killed_with_widened_bounds = line.value("killed_widened", std::vector<bool>{});
  mutant.patch = line.value("patch", "");
  mutant.patch_hash = line.value("patch_hash", std::uint64_t{0});
  return mutant;
}

}  // namespace

std::string to_line(const MutantRecord& mutant) {
  json line = {{"mutant", mutant.name},
               {"operator", row(mutant.op).name},
               {"family", mutant.family},
               {"kernel", mutant.kernel},
               {"line", mutant.line},
               {"what", mutant.description},
               {"fate", to_text(mutant.status)},
               {"lift", mutant.promoted.rejecting_check},
               {"native", mutant.native.rejecting_check}};
  if (mutant.promoted.equivalent_by_proof) line["lift_proved"] = true;
  if (mutant.native.equivalent_by_proof) line["native_proved"] = true;
  if (!mutant.killed_with_widened_bounds.empty()) line["killed_widened"] = mutant.killed_with_widened_bounds;
  if (!mutant.patch.empty()) {
    line["patch"] = mutant.patch;
    line["patch_hash"] = mutant.patch_hash;
  }
  return line.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<std::optional<MutantLedger>> read_ledger(const std::filesystem::path& dir) {
  const std::filesystem::path path = dir / kLedgerFileName;
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::optional<MutantLedger>{};
  MutantLedger ledger;
  std::int64_t number = 0;
  for (std::string text; std::getline(file, text) && !file.eof();) {
    ++number;
    try {
      const json line = json::parse(text);
      if (number == 1) ledger.header = head_from(line);
      else ledger.mutants.push_back(mutant_from(line));
    } catch (const json::exception& error) {
      return Error{fmt::format("invalid record: {}", error.what()), fmt::format("{}:{}", path.string(), number)};
    }
    ledger.complete_bytes += static_cast<std::int64_t>(text.size()) + 1;
  }
  if (number == 0) return std::optional<MutantLedger>{};
  return std::optional(std::move(ledger));
}

Result<harness::LineAppender> start_ledger(const std::filesystem::path& dir, const MutantLedgerHeader& head) {
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  if (error) return Error{fmt::format("cannot create the output folder: {}", error.message()), dir.string()};
  Result<harness::LineAppender> lines = harness::LineAppender::create(dir / kLedgerFileName);
  if (!lines.ok()) return lines.error();
  if (const Result<void> put = lines->append(to_json(head).dump()); !put.ok()) return put.error();
  return lines;
}

}  // namespace assay::mutation
