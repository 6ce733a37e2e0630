#include "harness/dataset/row.hpp"

#include <nlohmann/json.hpp>

#include "harness/dataset/json_text.hpp"
#include "schemas/validator.hpp"

namespace assay::dataset {
namespace {

using nlohmann::json;

struct DoubtField {
  const char* name;
  std::int64_t harness::InconclusiveCounts::*member;
};
constexpr DoubtField kDoubts[] = {
    {"path", &harness::InconclusiveCounts::uncertain_paths},
    {"kink", &harness::InconclusiveCounts::non_differentiable_points},
    {"conditioning", &harness::InconclusiveCounts::ill_conditioned_values},
    {"overflow", &harness::InconclusiveCounts::unbounded_values},
    {"race", &harness::InconclusiveCounts::races},
    {"domain", &harness::InconclusiveCounts::domain_errors},
};

std::optional<double> optional_from(const json& value) {
  return value.is_null() ? std::nullopt : std::optional(value.get<double>());
}

void append_metadata(std::string& out, const RowMetadata& metadata) {
  JsonObjectWriter object(out);
  object.add("generator", metadata.generator);
  object.add("generator_version", metadata.generator_version);
  object.add("emitter", metadata.emitter);
  object.add("emitter_version", metadata.emitter_version);
  object.add("kernels_version", metadata.kernel_generators_version);
  object.add("name", metadata.name);
  object.add("seed", metadata.seed);
  object.add("category", metadata.category);
  object.add("device", metadata.device);
  object.add("flags", metadata.numeric_modes);
  object.add("effort", metadata.judging_effort);
  append_json_array(object.begin("toolchain"), metadata.toolchain, [&](const DeviceCompiler& tool) {
    JsonObjectWriter members(out);
    members.add("device", tool.device);
    members.add("version", tool.version);
    members.add("sha256", tool.sha256);
    members.close();
  });
  object.add("license", metadata.license);
  object.close();
}

RowMetadata metadata_from(const json& value) {
  RowMetadata metadata{.generator = value.at("generator"),
                       .generator_version = value.at("generator_version"),
                       // Rows of schema 1.1 and older have no emitter; all their code is Assay's.
                       .emitter = value.value("emitter", "assay"),
                       .emitter_version = value.value("emitter_version", value.at("generator_version")),
                       .kernel_generators_version = value.at("kernels_version"),
                       .name = value.at("name"),
                       .seed = value.at("seed"),
                       .category = value.at("category"),
                       .device = value.at("device").get<std::vector<std::string>>(),
                       .numeric_modes = value.at("flags").get<std::vector<std::string>>(),
                       .judging_effort = value.at("effort"),
                       // Rows of schema 1.2 and older call it "licence".
                       .license = value.value("license", value.value("licence", ""))};
  for (const json& tool : value.at("toolchain"))
    metadata.toolchain.push_back(
        {.device = tool.at("device"), .version = tool.at("version"), .sha256 = tool.at("sha256")});
  return metadata;
}

void append_origin(std::string& out, const std::optional<live::KernelOrigin>& origin) {
  if (!origin) {
    out += "null";
    return;
  }
  JsonObjectWriter object(out);
  object.add("package", origin->package);
  object.add("version", origin->version);
  object.add("file", origin->file);
  object.add("license", origin->license);
  object.add("attribution", origin->attribution);
  object.close();
}

PassEvidence evidence_from(const json& value) {
  PassEvidence evidence{.device = value.at("device"),
                        .pass = value.at("pass"),
                        .mode = value.at("mode"),
                        .verdict = value.at("verdict"),
                        .reason = value.at("reason"),
                        .rho_max = optional_from(value.at("rho_max")),
                        .values_compared = value.at("values_compared"),
                        .input_sets = value.at("input_sets"),
                        .thread_counts = value.at("sizes").get<std::vector<std::int64_t>>(),
                        .finite_difference_rho = optional_from(value.at("finite_difference_rho")),
                        .determinism_result = value.at("determinism"),
                        .memory_checks = value.at("memory_checks").get<std::vector<std::string>>(),
                        .rejected_negative_controls = value.at("controls_rejected")};
  for (const DoubtField& doubt : kDoubts)
    evidence.inconclusive.*doubt.member = value.at("inconclusive").at(doubt.name).get<std::int64_t>();
  for (const json& check : value.value("checks", json::array())) {
    evidence.checks.push_back({.name = check.at("name"),
                               .compared_values = check.at("values_compared"),
                               .rho_max = optional_from(check.at("rho_max"))});
  }
  return evidence;
}

void append_evidence(std::string& out, const PassEvidence& evidence) {
  JsonObjectWriter object(out);
  object.add("device", evidence.device);
  object.add("pass", evidence.pass);
  object.add("mode", evidence.mode);
  object.add("verdict", evidence.verdict);
  object.add("reason", evidence.reason);
  object.add("rho_max", evidence.rho_max);
  object.add("values_compared", evidence.values_compared);
  object.add("input_sets", evidence.input_sets);
  object.add("sizes", evidence.thread_counts);
  append_json_array(object.begin("checks"), evidence.checks, [&](const CheckEvidence& check) {
    JsonObjectWriter members(out);
    members.add("name", check.name);
    members.add("values_compared", check.compared_values);
    members.add("rho_max", check.rho_max);
    members.close();
  });
  object.add("finite_difference_rho", evidence.finite_difference_rho);
  object.add("determinism", evidence.determinism_result);
  object.add("memory_checks", evidence.memory_checks);
  object.add("controls_rejected", evidence.rejected_negative_controls);
  JsonObjectWriter doubts(object.begin("inconclusive"));
  for (const DoubtField& doubt : kDoubts)
    doubts.add(doubt.name, evidence.inconclusive.*doubt.member);
  doubts.close();
  object.close();
}

void append_signature(std::string& out, const DatasetRow& row) {
  append_json_array(out, row.signature, [&](const KernelParameter& parameter) {
    JsonObjectWriter object(out);
    object.add("name", parameter.name);
    object.add("type", parameter.type);
    object.add("rank", parameter.rank);
    object.add("intent", parameter.intent);
    object.add("differentiable", parameter.is_differentiable);
    object.close();
  });
}

void append_launch(std::string& out, const DatasetRow& row) {
  JsonObjectWriter object(out);
  object.add("rank", row.launch.rank);
  object.add("conditions", row.launch.preconditions);
  object.close();
}

void append_difficulty(std::string& out, const DatasetRow& row) {
  JsonObjectWriter object(out);
  object.add("statements", row.difficulty.statement_count);
  object.add("depth", row.difficulty.nesting_depth);
  object.add("expression_depth", row.difficulty.expression_depth);
  object.add("loop_kind", row.difficulty.loop_kind);
  object.add("features", row.difficulty.features);
  object.add("memory_patterns", row.difficulty.memory_patterns);
  object.close();
}

KernelDifficulty difficulty_from(const json& value) {
  return {.statement_count = value.at("statements"),
          .nesting_depth = value.at("depth"),
          .expression_depth = value.at("expression_depth"),
          .loop_kind = value.at("loop_kind"),
          .features = value.at("features").get<std::vector<std::string>>(),
          .memory_patterns = value.at("memory_patterns").get<std::vector<std::string>>()};
}

template <class Append, class Value>
std::string text_by(const Append& append, const Value& value) {
  std::string text;
  append(text, value);
  return text;
}

}  // namespace

std::string signature_text(const DatasetRow& row) { return text_by(append_signature, row); }
std::string launch_text(const DatasetRow& row) { return text_by(append_launch, row); }
std::string difficulty_text(const DatasetRow& row) { return text_by(append_difficulty, row); }
std::string evidence_text(const PassEvidence& evidence) { return text_by(append_evidence, evidence); }

std::string to_line(const DatasetRow& row) {
  std::size_t size = 8192;
  for (const RowTextField& field : kRowTextFields)
    size += (row.*field.member).size() + (row.*field.member).size() / 16;
  std::string line;
  line.reserve(size);
  JsonObjectWriter object(line);
  object.add("id", row.id);
  object.add("schema_version", schemas::kDatasetRowSchemaVersion);
  object.add("family", row.family);
  object.add("kernel_name", row.kernel_name);
  object.add("docstring", row.description.docstring);
  object.add("instruction", row.description.instruction);
  for (const RowTextField& field : kRowTextFields) {
    const std::string& text = row.*field.member;
    if (field.is_optional && text.empty()) object.add_null(field.name);
    else object.add(field.name, text);
  }
  append_signature(object.begin("signature"), row);
  append_launch(object.begin("launch"), row);
  append_difficulty(object.begin("difficulty"), row);
  append_origin(object.begin("origin"), row.origin);
  append_metadata(object.begin("metadata"), row.metadata);
  append_json_array(object.begin("evidence"), row.evidence,
                    [&](const PassEvidence& evidence) { append_evidence(line, evidence); });
  object.close();
  return line;
}

DatasetRow row_from(const json& line) {
  DatasetRow row{.id = line.at("id"), .family = line.at("family"), .kernel_name = line.at("kernel_name")};
  for (const RowTextField& field : kRowTextFields) {
    const json& text = line.at(std::string(field.name));
    if (!text.is_null()) row.*field.member = text.get<std::string>();
  }
  for (const json& parameter : line.at("signature")) {
    row.signature.push_back({.name = parameter.at("name"),
                             .type = parameter.at("type"),
                             .rank = parameter.at("rank"),
                             .intent = parameter.at("intent"),
                             .is_differentiable = parameter.at("differentiable")});
  }
  row.launch = {.rank = line.at("launch").at("rank"),
                .preconditions = line.at("launch").at("conditions").get<std::vector<std::string>>()};
  // Rows of schema 1.2 and older have no such members.
  row.description = {.docstring = line.value("docstring", ""), .instruction = line.value("instruction", "")};
  if (const auto difficulty = line.find("difficulty"); difficulty != line.end())
    row.difficulty = difficulty_from(*difficulty);
  row.origin = origin_from(line.value("origin", json()));  // since schema 1.5
  row.metadata = metadata_from(line.at("metadata"));
  for (const json& one : line.at("evidence"))
    row.evidence.push_back(evidence_from(one));
  return row;
}

std::optional<live::KernelOrigin> origin_from(const json& value) {
  if (value.is_null()) return std::nullopt;
  return live::KernelOrigin{.package = value.at("package"),
                            .version = value.at("version"),
                            .file = value.at("file"),
                            .license = value.at("license"),
                            .attribution = value.at("attribution")};
}

std::string to_json_text(const std::optional<live::KernelOrigin>& origin) { return text_by(append_origin, origin); }

std::string to_json_text(const RowMetadata& metadata) {
  std::string text;
  append_metadata(text, metadata);
  return text;
}

}  // namespace assay::dataset
