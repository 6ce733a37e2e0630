#include "backends/candidate/contract.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "backends/candidate/contract_check.hpp"
#include "backends/candidate/formula.hpp"
#include "schemas/embedded.hpp"
#include "schemas/validator.hpp"

namespace assay::candidate {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

/// Formulas may be written as numbers.
std::string formula_from(const json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

std::vector<std::string> formulas_from(const json& document, const char* name) {
  std::vector<std::string> formulas;
  if (!document.contains(name)) return formulas;
  for (const json& value : document.at(name))
    formulas.push_back(formula_from(value));
  return formulas;
}

std::optional<int> integer_from(const json& document, const char* name) {
  if (!document.contains(name)) return std::nullopt;
  return document.at(name).get<int>();
}

/// The significant bits of a type to which inputs are rounded.
std::optional<int> input_bits_from(const json& document) {
  const std::string type = document.value("input_precision", "");
  if (type == "tf32" || type == "float16") return 11;
  if (type == "bfloat16") return 8;
  return std::nullopt;
}

/// The launch that the members of a contract, or of its member `backward`, state.
LaunchContract launch_from(const json& document) {
  return {.entry_point_name = document.value("entry", ""),
          .host_function_name = document.value("function", ""),
          .argument_formulas = formulas_from(document, "arguments"),
          .result_names = formulas_from(document, "results"),
          .grid_formulas = formulas_from(document, "grid"),
          .block_formulas = formulas_from(document, "block"),
          .shared_bytes_formula = document.contains("shared_bytes") ? formula_from(document.at("shared_bytes")) : "0",
          .constexpr_json = document.value("constexpr", json::object()).dump(),
          .warp_count = integer_from(document, "num_warps"),
          .stage_count = integer_from(document, "num_stages"),
          .input_bits = input_bits_from(document)};
}

std::vector<SavedArray> saved_arrays_from(const json& document) {
  std::vector<SavedArray> arrays;
  if (!document.contains("saved")) return arrays;
  for (const auto& [name, array] : document.at("saved").items())
    arrays.push_back({.name = name,
                      .type = array.at("type"),
                      .shape_formulas = formulas_from(array, "shape"),
                      .is_zeroed = array.value("zeroed", false)});
  return arrays;
}

BackwardContract backward_from(const json& document) {
  const json accumulates = document.value("accumulates", json(false));
  BackwardContract backward{.launch = launch_from(document),
                            .accumulates_all = accumulates.is_boolean() && accumulates.get<bool>(),
                            .accumulated_names = {}};
  if (accumulates.is_array()) backward.accumulated_names = formulas_from(document, "accumulates");
  return backward;
}

}  // namespace

double LaunchContract::input_error() const {
  constexpr int kFloat32Bits = 24;
  constexpr double kRoundingError = 2;
  return kInputErrorInUnitRoundoffs + (input_bits ? std::ldexp(kRoundingError, kFloat32Bits - *input_bits) : 0);
}

bool LaunchContract::derives_work_from_extents() const {
  if (grid_formulas.empty()) return false;  // as many blocks as cover the threads
  constexpr double kAnyValue = 97;
  bool uses_extents = false;
  bool uses_threads = false;
  const FormulaNameLookup names{.value_of = [&](std::string_view name) -> std::optional<double> {
                                  uses_threads = uses_threads || name == "threads";
                                  return kAnyValue;
                                },
                                .extent_of = [&](std::string_view array, std::size_t) -> std::optional<double> {
                                  (array == "threads" ? uses_threads : uses_extents) = true;
                                  return kAnyValue;
                                }};
  for (const auto* formulas : {&argument_formulas, &grid_formulas, &block_formulas}) {
    for (const std::string& formula : *formulas)
      static_cast<void>(evaluate(formula, names));
  }
  return uses_extents && !uses_threads;
}

bool BackwardContract::accumulates(std::string_view gradient) const {
  return accumulates_all || std::ranges::find(accumulated_names, gradient) != accumulated_names.end();
}

std::optional<std::int64_t> LaunchContract::constexpr_integer(std::string_view name) const {
  const json values = json::parse(constexpr_json);
  const auto found = values.find(name);
  if (found == values.end() || !found->is_number_integer()) return std::nullopt;
  return found->get<std::int64_t>();
}

fs::path contract_path(const fs::path& candidate) {
  fs::path path = candidate;
  return path.replace_extension(".assay.json");
}

Result<CandidateContract> contract_of(const fs::path& candidate) {
  const fs::path path = contract_path(candidate);
  std::error_code error;
  if (!fs::exists(path, error)) return CandidateContract{};
  std::ifstream stream(path, std::ios::binary);
  if (!stream.is_open()) return Error{"cannot open the candidate's launch contract", path.string()};
  const json document = json::parse(stream, nullptr, false);
  if (document.is_discarded())
    return Error{"invalid JSON; the candidate's launch contract must be one JSON object", path.string()};
  const schemas::Validator validator(schemas::kCandidateSchemaText);
  if (const auto errors = validator.diagnostics(document); !errors.empty())
    return Error{fmt::format("invalid contract: {}", errors.front().text()), path.string()};
  CandidateContract contract{
      .forward = launch_from(document),
      .saved_arrays = saved_arrays_from(document),
      .backward = {},
      .program = {.argument_formulas = formulas_from(document, "program_arguments"),
                  .kernel_parameters = document.value("parameters", std::map<std::string, std::string>())},
      .architecture = document.value("architecture", ""),
      .extents = {.threads = document.value("threads", std::vector<std::int32_t>()),
                  .shapes = document.value("shapes", std::map<std::string, std::vector<std::int32_t>>())}};
  if (document.contains("backward")) contract.backward = backward_from(document.at("backward"));
  if (const Result<void> valid = check_syntax(contract); !valid.ok())
    return Error{valid.error().message, path.string()};
  return contract;
}

}  // namespace assay::candidate
