#include "harness/dataset/foreign/block_lines.hpp"

#include <utility>

#include "support/version/version.hpp"

namespace assay::foreign {
namespace {

using Json = nlohmann::ordered_json;

std::string dump(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json json_of(const CodeLine& line) { return {{"line", line.line}, {"text", line.text}}; }

Json json_of(const RowDamageFinding& finding) {
  Json value = {{"field", finding.field}};
  if (!finding.function.empty()) value["function"] = finding.function;
  if (finding.found_text.line > 0) value["found"] = json_of(finding.found_text);
  if (finding.expected.line > 0) value["expected"] = json_of(finding.expected);
  return value;
}

RowOutcome outcome_named(const std::string& name) {
  for (const RowOutcome outcome : {RowOutcome::kVerified, RowOutcome::kRejected})
    if (to_text(outcome) == name) return outcome;
  return RowOutcome::kUndecided;
}

}  // namespace

void StoredRow::reject(RowDamage kind, std::string why) {
  outcome = RowOutcome::kRejected;
  cause = to_text(kind);
  message = std::move(why);
  if (damage.is_null()) damage = {{"field", ""}};
}

std::string block_line(const JudgedRow& row) {
  return dump({{"number", row.row.row_index},
               {"file", row.row.file},
               {"line", row.row.line},
               {"id", row.row.id},
               {"outcome", to_text(row.outcome)},
               {"cause", row.cause},
               {"message", row.message},
               {"damage", row.damage ? json_of(*row.damage) : Json()},
               {"evidence", row.evidence},
               {"program", row.program_key},
               {"code", row.code_key},
               {"regenerated", row.regenerated_code_key},
               {"row", row.row.row_json}});
}

Result<StoredRow> read_block_line(const std::string& text) {
  try {
    Json value = Json::parse(text);
    return StoredRow{.row_index = value.at("number"),
                     .file = value.at("file"),
                     .line = value.at("line"),
                     .id = value.at("id"),
                     .outcome = outcome_named(value.at("outcome")),
                     .cause = value.at("cause"),
                     .message = value.at("message"),
                     .damage = std::move(value.at("damage")),
                     .evidence = std::move(value.at("evidence")),
                     .program_key = value.at("program"),
                     .code_key = value.at("code"),
                     .regenerated_code_key = value.at("regenerated"),
                     .row_json = std::move(value.at("row"))};
  } catch (const Json::exception&) {
    return Error{"line is not a valid record of a judged row"};
  }
}

std::string final_line(const StoredRow& line, std::string_view warp_version) {
  if (line.outcome == RowOutcome::kVerified) {
    Json row = line.row_json;
    row["assay"] = {{"outcome", to_text(line.outcome)},
                    {"assay_version", kVersion},
                    {"warp_version", warp_version},
                    {"program", line.program_key},
                    {"evidence", line.evidence}};
    return dump(row);
  }
  return dump({{"file", line.file},
               {"line", line.line},
               {"id", line.id},
               {"outcome", to_text(line.outcome)},
               {"cause", line.cause},
               {"message", line.message},
               {"damage", line.damage},
               {"evidence", line.evidence},
               {"assay_version", kVersion},
               {"warp_version", warp_version},
               {"row", line.row_json}});
}

}  // namespace assay::foreign
