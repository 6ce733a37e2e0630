#include "harness/dataset/row.hpp"

#include <nlohmann/json.hpp>

#include "harness/dataset/json_text.hpp"
#include "schemas/validator.hpp"

namespace assay::dataset {
namespace {

using nlohmann::json;
using Json = nlohmann::ordered_json;

struct DoubtField {
  const char* name;
  std::int64_t harness::InconclusiveCounts::*member;
};
constexpr DoubtField kDoubts[] = {
    {"path", &harness::InconclusiveCounts::path},
    {"kink", &harness::InconclusiveCounts::kink},
    {"conditioning", &harness::InconclusiveCounts::conditioning},
    {"overflow", &harness::InconclusiveCounts::overflow},
    {"race", &harness::InconclusiveCounts::race},
    {"domain", &harness::InconclusiveCounts::domain},
};

Json optional_json(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

std::optional<double> optional_from(const json& value) {
  return value.is_null() ? std::nullopt : std::optional(value.get<double>());
}

Json metadata_json(const Metadata& metadata) {
  Json tools = Json::array();
  for (const Tool& tool : metadata.toolchain)
    tools.push_back({{"device", tool.device}, {"version", tool.version}, {"sha256", tool.sha256}});
  return {{"generator", metadata.generator},
          {"generator_version", metadata.generator_version},
          {"kernels_version", metadata.kernels_version},
          {"name", metadata.name},
          {"seed", metadata.seed},
          {"category", metadata.category},
          {"device", metadata.device},
          {"flags", metadata.flags},
          {"effort", metadata.effort},
          {"toolchain", tools},
          {"licence", metadata.licence}};
}

Metadata metadata_from(const json& value) {
  Metadata metadata{.generator = value.at("generator"),
                    .generator_version = value.at("generator_version"),
                    .kernels_version = value.at("kernels_version"),
                    .name = value.at("name"),
                    .seed = value.at("seed"),
                    .category = value.at("category"),
                    .device = value.at("device").get<std::vector<std::string>>(),
                    .flags = value.at("flags").get<std::vector<std::string>>(),
                    .effort = value.at("effort"),
                    .licence = value.at("licence")};
  for (const json& tool : value.at("toolchain"))
    metadata.toolchain.push_back(
        {.device = tool.at("device"), .version = tool.at("version"), .sha256 = tool.at("sha256")});
  return metadata;
}

Evidence evidence_from(const json& value) {
  Evidence evidence{.device = value.at("device"),
                    .pass = value.at("pass"),
                    .mode = value.at("mode"),
                    .verdict = value.at("verdict"),
                    .reason = value.at("reason"),
                    .rho_max = optional_from(value.at("rho_max")),
                    .values_compared = value.at("values_compared"),
                    .input_sets = value.at("input_sets"),
                    .sizes = value.at("sizes").get<std::vector<std::int64_t>>(),
                    .finite_difference_rho = optional_from(value.at("finite_difference_rho")),
                    .determinism = value.at("determinism"),
                    .memory_checks = value.at("memory_checks").get<std::vector<std::string>>(),
                    .controls_rejected = value.at("controls_rejected")};
  for (const DoubtField& doubt : kDoubts)
    evidence.inconclusive.*doubt.member = value.at("inconclusive").at(doubt.name).get<std::int64_t>();
  return evidence;
}

void append_member(std::string& line, std::string_view name, const std::string& text, bool optional) {
  line += ",\"";
  line += name;
  line += "\":";
  if (optional && text.empty()) line += "null";
  else append_json_string(line, text);
}

}  // namespace

Json signature_json(const Row& row) {
  Json parameters = Json::array();
  for (const Parameter& parameter : row.signature) {
    parameters.push_back({{"name", parameter.name},
                          {"type", parameter.type},
                          {"rank", parameter.rank},
                          {"intent", parameter.intent},
                          {"differentiable", parameter.differentiable}});
  }
  return parameters;
}

Json launch_json(const Row& row) { return {{"rank", row.launch.rank}, {"conditions", row.launch.conditions}}; }

Json evidence_json(const Evidence& evidence) {
  Json doubts = Json::object();
  for (const DoubtField& doubt : kDoubts)
    doubts[doubt.name] = evidence.inconclusive.*doubt.member;
  return {{"device", evidence.device},
          {"pass", evidence.pass},
          {"mode", evidence.mode},
          {"verdict", evidence.verdict},
          {"reason", evidence.reason},
          {"rho_max", optional_json(evidence.rho_max)},
          {"values_compared", evidence.values_compared},
          {"input_sets", evidence.input_sets},
          {"sizes", evidence.sizes},
          {"finite_difference_rho", optional_json(evidence.finite_difference_rho)},
          {"determinism", evidence.determinism},
          {"memory_checks", evidence.memory_checks},
          {"controls_rejected", evidence.controls_rejected},
          {"inconclusive", doubts}};
}

std::string to_line(const Row& row) {
  std::size_t size = 4096;
  for (const TextField& field : kTextFields)
    size += (row.*field.member).size() + (row.*field.member).size() / 16;
  std::string line = "{\"id\":";
  line.reserve(size);
  append_json_string(line, row.id);
  append_member(line, "schema_version", std::string(schemas::kDatasetRowSchemaVersion), false);
  append_member(line, "family", row.family, false);
  append_member(line, "kernel_name", row.kernel_name, false);
  for (const TextField& field : kTextFields)
    append_member(line, field.name, row.*field.member, field.optional);
  Json evidence = Json::array();
  for (const Evidence& one : row.evidence)
    evidence.push_back(evidence_json(one));
  line += ",\"signature\":" + signature_json(row).dump();
  line += ",\"launch\":" + launch_json(row).dump();
  line += ",\"metadata\":" + metadata_json(row.metadata).dump();
  line += ",\"evidence\":" + evidence.dump() + "}";
  return line;
}

Row row_from(const json& line) {
  Row row{.id = line.at("id"), .family = line.at("family"), .kernel_name = line.at("kernel_name")};
  for (const TextField& field : kTextFields) {
    const json& text = line.at(std::string(field.name));
    if (!text.is_null()) row.*field.member = text.get<std::string>();
  }
  for (const json& parameter : line.at("signature")) {
    row.signature.push_back({.name = parameter.at("name"),
                             .type = parameter.at("type"),
                             .rank = parameter.at("rank"),
                             .intent = parameter.at("intent"),
                             .differentiable = parameter.at("differentiable")});
  }
  row.launch = {.rank = line.at("launch").at("rank"),
                .conditions = line.at("launch").at("conditions").get<std::vector<std::string>>()};
  row.metadata = metadata_from(line.at("metadata"));
  for (const json& one : line.at("evidence"))
    row.evidence.push_back(evidence_from(one));
  return row;
}

}  // namespace assay::dataset
