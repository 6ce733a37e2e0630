#include "ir/transforms/repeated_calls.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "ir/analysis.hpp"
#include "ir/visit.hpp"

namespace assay::transforms {
namespace {

using namespace ir;

/// Shorter functions are inlined: a call of the adjoint is about as long as they are.
constexpr std::size_t kFewestExpressions = 24;
constexpr std::size_t kMostExpressions = std::size_t{1} << 20;

class Calls {
 public:
  explicit Calls(const Module& module) : module_(module), properties_(module.functions.size()) {
    // A function calls only earlier ones.
    for (std::size_t i = 0; i < module.functions.size(); ++i)
      properties_[i] = properties_of(module.functions[i]);
  }

  std::set<std::int32_t> repeated(const Function& kernel) {
    count(kernel);
    std::set<std::int32_t> result;
    for (std::size_t i = 0; i < properties_.size(); ++i) {
      const Properties& function = properties_[i];
      if (function.call_count > 1 && function.has_adjoint_form && !function.has_custom_derivative &&
          function.expression_count >= kFewestExpressions)
        result.insert(static_cast<std::int32_t>(i));
    }
    return result;
  }

 private:
  struct Properties {
    bool has_adjoint_form = false;       ///< whether its adjoint can be a function
    bool has_custom_derivative = false;  ///< whether it has one or calls a function that has one
    std::size_t expression_count = 0;    ///< after inlining all calls
    std::size_t call_count = 0;          ///< number of places at which it is called
  };

  bool is_value(Type type) const {
    if (!type.is_value() || type.is_tile()) return false;
    if (!type.is_struct()) return true;
    return std::ranges::all_of(module_.structs[type.struct_id].fields,
                               [&](const Field& field) { return is_value(field.type); });
  }

  Properties properties_of(const Function& function) {
    const auto parameters = std::span(function.variables).first(static_cast<std::size_t>(function.parameter_count));
    const auto locals = std::span(function.variables).subspan(parameters.size());
    Properties result{
        .has_custom_derivative = function.gradient_function_index != kNone || function.replay_function_index != kNone,
        .expression_count = function.expressions.size()};
    for_each_call(function, [&](std::int32_t index) {
      const Properties& called = properties_[static_cast<std::size_t>(index)];
      result.has_custom_derivative |= called.has_custom_derivative;
      result.expression_count = std::min(result.expression_count + called.expression_count, kMostExpressions);
    });
    const ParameterUses uses = parameter_use(function, uses_);
    const auto is_read = [&](const Variable& parameter) {
      const auto number = static_cast<std::size_t>(&parameter - parameters.data());
      return parameter.type.is_array() && !parameter.type.is_struct() && !uses[number].changed();
    };
    result.has_adjoint_form =
        !function.results.empty() && std::ranges::all_of(function.results, [&](Type type) { return is_value(type); }) &&
        std::ranges::all_of(parameters, [&](const Variable& each) { return is_value(each.type) || is_read(each); }) &&
        std::ranges::none_of(locals, [](const Variable& each) { return each.type.is_tile(); });
    uses_.push_back(uses);
    return result;
  }

  void count(const Function& function) {
    for_each_call(function, [&](std::int32_t index) {
      const bool is_first = properties_[static_cast<std::size_t>(index)].call_count++ == 0;
      if (is_first) count(module_.functions[static_cast<std::size_t>(index)]);
    });
  }

  const Module& module_;
  std::vector<Properties> properties_;
  std::vector<ParameterUses> uses_;  ///< of each function
};

}  // namespace

std::set<std::int32_t> repeatedly_called_functions(const Module& module, const Function& kernel) {
  return Calls(module).repeated(kernel);
}

}  // namespace assay::transforms
