#include "backends/candidate/contract_check.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backends/candidate/formula.hpp"
#include "backends/candidate/specification.hpp"

namespace assay::candidate {

namespace {

constexpr std::string_view kGradientSuffix = ".grad";
/// Stands for the value of any name.
constexpr double kAnyNumber = 1;

/// "x" of the argument "x.grad"; empty for another argument.
std::string_view primal_of(std::string_view argument) {
  if (!argument.ends_with(kGradientSuffix)) return {};
  argument.remove_suffix(kGradientSuffix.size());
  return is_name(argument) ? argument : std::string_view();
}

/// What the formulas of a contract may refer to.
struct ContractNames {
  FormulaNameLookup formula_names;
  /// Whether an argument of the forward or the backward pass may be this text, which is then no formula.
  std::function<bool(std::string_view argument, bool is_backward)> is_argument;
  std::string hint;  ///< what a formula consists of, for messages
};

/// Checks all formulas of a contract, until one fails.
class ContractChecker {
 public:
  explicit ContractChecker(const ContractNames& names) : names_(names) {}

  Result<void> check(const CandidateContract& contract) {
    check_launch(contract.forward, "", false);
    for (const SavedArray& array : contract.saved_arrays)
      check_all(array.shape_formulas, fmt::format("/saved/{}/shape", array.name), names_.formula_names);
    check_all(contract.program.argument_formulas, "/program_arguments", names_.formula_names);
    if (contract.backward) check_launch(contract.backward->launch, "/backward", true);
    if (error_) return *error_;
    return {};
  }

 private:
  void check_launch(const LaunchContract& launch, std::string_view pointer, bool is_backward) {
    FormulaNameLookup names = names_.formula_names;
    names.value_of = [&](std::string_view name) -> std::optional<double> {
      if (launch.constexpr_integer(name)) return kAnyNumber;
      return names_.formula_names.value_of(name);
    };
    for (std::size_t i = 0; i < launch.argument_formulas.size(); ++i)
      check_argument(launch.argument_formulas[i], is_backward, fmt::format("{}/arguments/{}", pointer, i), names);
    check_all(launch.grid_formulas, fmt::format("{}/grid", pointer), names);
    check_all(launch.block_formulas, fmt::format("{}/block", pointer), names);
    check_one(launch.shared_bytes_formula, fmt::format("{}/shared_bytes", pointer), names);
  }

  void check_argument(const std::string& argument, bool is_backward, std::string_view pointer,
                      const FormulaNameLookup& names) {
    if (names_.is_argument(argument, is_backward)) return;
    const bool is_gradient = !primal_of(argument).empty();
    if (is_gradient && is_backward)
      return fail(pointer, fmt::format("'{}' in the contract must be the gradient of an array with floats", argument));
    if (is_gradient) return fail(pointer, fmt::format("'{}' must be in 'arguments' of 'backward'", argument));
    if (is_backward && is_name(argument) && !names.value_of(argument))
      return fail(pointer, unknown_argument_text(argument));
    check_one(argument, pointer, names);
  }

  void check_all(const std::vector<std::string>& formulas, std::string_view pointer, const FormulaNameLookup& names) {
    for (std::size_t i = 0; i < formulas.size(); ++i)
      check_one(formulas[i], fmt::format("{}/{}", pointer, i), names);
  }

  void check_one(const std::string& formula, std::string_view pointer, const FormulaNameLookup& names) {
    const Result<void> valid = check_syntax(formula, names);
    if (!valid.ok()) fail(pointer, valid.error().text());
  }

  void fail(std::string_view pointer, const std::string& message) {
    if (!error_) error_ = Error{fmt::format("invalid contract: {}: {}; {}", pointer, message, names_.hint)};
  }

  const ContractNames& names_;
  std::optional<Error> error_;
};

}  // namespace

Result<void> check_syntax(const CandidateContract& contract) {
  const ContractNames any_names{
      .formula_names = {.value_of = [](std::string_view) { return kAnyNumber; },
                        .extent_of = [](std::string_view, std::size_t) { return kAnyNumber; }},
      .is_argument = [](std::string_view argument, bool) { return !primal_of(argument).empty(); },
      .hint =
          "a formula consists of numbers such as 256 and 1e-5, names of integer parameters, extents such as "
          "x.shape[0], threads, + - * / %, parentheses, ceil, floor, min and max"};
  return ContractChecker(any_names).check(contract);
}

Result<void> check_names(const CandidateContract& contract, std::span<const FormulaParameter> parameters,
                         std::size_t launch_rank) {
  const auto find = [&](std::string_view name) {
    const auto found = std::ranges::find(parameters, name, &FormulaParameter::name);
    return found == parameters.end() ? nullptr : &*found;
  };
  const auto find_saved = [&](std::string_view name) {
    const auto found = std::ranges::find(contract.saved_arrays, name, &SavedArray::name);
    return found == contract.saved_arrays.end() ? nullptr : &*found;
  };
  for (const SavedArray& array : contract.saved_arrays)
    if (find(array.name) != nullptr)
      return Error{fmt::format("invalid contract: {}", saved_name_in_use_text(array.name))};
  const auto value_of = [&](std::string_view name) -> std::optional<double> {
    const FormulaParameter* const parameter = find(name);
    if (name != "threads" && (parameter == nullptr || !parameter->is_integer)) return std::nullopt;
    return kAnyNumber;
  };
  const auto extent_of = [&](std::string_view name, std::size_t dimension) -> std::optional<double> {
    const FormulaParameter* const parameter = find(name);
    const SavedArray* const saved = find_saved(name);
    const std::size_t rank = parameter != nullptr ? parameter->rank
                             : saved != nullptr   ? saved->shape_formulas.size()
                             : name == "threads"  ? launch_rank
                                                  : 0;
    return dimension < rank ? std::optional(kAnyNumber) : std::nullopt;
  };
  const auto is_argument = [&](std::string_view argument, bool is_backward) {
    if (find(argument) != nullptr || find_saved(argument) != nullptr) return true;
    if (!is_backward) return false;
    const FormulaParameter* const primal = find(primal_of(argument));
    return (primal != nullptr && primal->rank > 0) ||
           std::ranges::find(contract.forward.result_names, argument) != contract.forward.result_names.end();
  };
  std::vector<std::string_view> names;
  for (const FormulaParameter& parameter : parameters)
    names.emplace_back(parameter.name);
  const ContractNames known{
      .formula_names = {.value_of = value_of, .extent_of = extent_of},
      .is_argument = is_argument,
      .hint = fmt::format("the parameters of the specification are {}; a formula may use the integers among them, "
                          "extents of the arrays and threads",
                          fmt::join(names, ", "))};
  return ContractChecker(known).check(contract);
}

}  // namespace assay::candidate
