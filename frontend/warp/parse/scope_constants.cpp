// The part of ModuleScope that computes numbers as Python would.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "frontend/warp/parse/module_scope.hpp"
#include "frontend/warp/parse/warp_names.hpp"

namespace assay::frontend {
namespace {

using Unary = double (*)(double);

/// Functions of Python's module math that round as the C library's of the same name, which Python calls.
const std::map<std::string_view, Unary>& math_functions() {
  static const std::map<std::string_view, Unary> functions = {
      {"sqrt", [](double x) { return std::sqrt(x); }},   {"exp", [](double x) { return std::exp(x); }},
      {"log", [](double x) { return std::log(x); }},     {"log2", [](double x) { return std::log2(x); }},
      {"log10", [](double x) { return std::log10(x); }}, {"sin", [](double x) { return std::sin(x); }},
      {"cos", [](double x) { return std::cos(x); }},     {"tan", [](double x) { return std::tan(x); }},
      {"asin", [](double x) { return std::asin(x); }},   {"acos", [](double x) { return std::acos(x); }},
      {"atan", [](double x) { return std::atan(x); }},   {"tanh", [](double x) { return std::tanh(x); }},
      {"fabs", [](double x) { return std::fabs(x); }},
  };
  return functions;
}

}  // namespace

std::optional<Constant> ModuleScope::constant(Node expression) const {
  if (auto literal = literal_constant(expression)) return literal;
  switch (expression.kind()) {
    case Syntax::kParenthesized: {
      const auto inner = expression.children();
      return inner.size() == 1 ? constant(inner[0]) : std::nullopt;
    }
    case Syntax::kIdentifier: {
      const ModuleScope* scope = owner(expression.text());
      if (scope != nullptr) {
        const auto found = scope->constants_.find(expression.text());
        if (found != scope->constants_.end()) return found->second;
      }
      const auto number = warp_number(warp_name(expression));
      return number ? std::optional(Constant::real(*number)) : std::nullopt;
    }
    case Syntax::kAttribute: return constant_attribute(expression);
    case Syntax::kUnary: {
      const auto operand = constant(expression.part(Part::kArgument));
      const std::string_view symbol = expression.part(Part::kOperator).text();
      if (!operand || (symbol != "-" && symbol != "+")) return std::nullopt;
      return symbol == "-" ? negate(*operand) : operand;
    }
    case Syntax::kBinary: {
      const auto left = constant(expression.part(Part::kLeft));
      const auto right = left ? constant(expression.part(Part::kRight)) : std::nullopt;
      return right ? compute(expression.part(Part::kOperator).text(), *left, *right) : std::nullopt;
    }
    case Syntax::kCall: return constant_call(expression);
    case Syntax::kComparison: return constant_comparison(expression);
    case Syntax::kNot: {
      const auto operand = constant_truth(expression.part(Part::kArgument));
      return operand ? std::optional(Constant::boolean(!*operand)) : std::nullopt;
    }
    case Syntax::kBoolean: {
      const auto left = constant_truth(expression.part(Part::kLeft));
      if (!left) return std::nullopt;
      const bool decided = *left == (expression.part(Part::kOperator).text() == "or");
      return constant(expression.part(decided ? Part::kLeft : Part::kRight));
    }
    case Syntax::kConditional: {
      const auto parts = expression.children();
      const auto test = parts.size() == 3 ? constant_truth(parts[1]) : std::nullopt;
      return test ? constant(parts[*test ? 0 : 2]) : std::nullopt;
    }
    default: return std::nullopt;
  }
}

/// np.finfo(np.float32).eps and the like.
std::optional<Constant> ModuleScope::constant_of_floats(Node call, std::string_view name) const {
  const Node function = call.part(Part::kFunction);
  const auto given = arguments_of(call).positional;
  const bool is_finfo = module_name(function.part(Part::kObject)) == "numpy" &&
                        function.part(Part::kAttribute).text() == "finfo" && given.size() == 1;
  if (!is_finfo || !given[0].is(Syntax::kAttribute)) return std::nullopt;
  const std::string_view type = given[0].part(Part::kAttribute).text();
  if (type != "float32" && type != "float64") return std::nullopt;
  const auto real = [&](double of_single, double of_double) {
    return std::optional(Constant::real(type == "float32" ? of_single : of_double));
  };
  using Single = std::numeric_limits<float>;
  using Double = std::numeric_limits<double>;
  if (name == "eps") return real(Single::epsilon(), Double::epsilon());
  if (name == "max") return real(Single::max(), Double::max());
  if (name == "min") return real(Single::lowest(), Double::lowest());
  if (name == "tiny" || name == "smallest_normal") return real(Single::min(), Double::min());
  return std::nullopt;
}

/// wp.PI, physics.LIMIT of another file, and Kind.MEMBER or Kind.MEMBER.value of an enumeration.
std::optional<Constant> ModuleScope::constant_attribute(Node attribute) const {
  const Node object = attribute.part(Part::kObject);
  const std::string_view name = attribute.part(Part::kAttribute).text();
  if (object.is(Syntax::kAttribute) && name == "value" && module_name(object.part(Part::kObject)).empty()) {
    return constant_attribute(object);
  }
  if (const ModuleScope* scope = member_owner(attribute)) {
    const auto found = scope->constants_.find(attribute.text());
    return found == scope->constants_.end() ? std::nullopt : std::optional(found->second);
  }
  if (object.is(Syntax::kCall)) return constant_of_floats(object, name);
  const ModuleScope* const kind = object.is(Syntax::kIdentifier) ? owner(object.text()) : member_owner(object);
  if (const ModuleScope* scope = kind) {
    if (const auto found = scope->enumerations_.find(object.text()); found != scope->enumerations_.end()) {
      const auto member = found->second.find(name);
      return member == found->second.end() ? std::nullopt : std::optional(member->second);
    }
  }
  const std::string_view module = module_name(object);
  if (module != "warp" && module != "math" && module != "numpy") return std::nullopt;
  const auto number = warp_number(name);
  return number ? std::optional(Constant::real(*number)) : std::nullopt;
}

std::optional<Constant> ModuleScope::constant_call(Node call) const {
  const Node function = call.part(Part::kFunction);
  const Arguments arguments = arguments_of(call);
  if (arguments.has_star || !arguments.keyword.empty()) return std::nullopt;
  std::vector<Constant> values;
  for (const Node argument : arguments.positional) {
    auto value = constant(argument);
    if (!value) return std::nullopt;
    values.push_back(std::move(*value));
  }
  const std::string warp = warp_name(function);
  if (values.size() == 1 && (warp == "constant" || warp == "static")) return values[0];
  const auto target = type(function);
  if (!target.ok()) return constant_function(function, values);
  const bool all_scalars =
      std::all_of(values.begin(), values.end(), [](const Constant& value) { return value.type.is_scalar(); });
  if (!all_scalars) return std::nullopt;
  if (target->is_scalar() && values.size() == 1) {
    Constant converted = values[0].as(*target);
    // Python's own int(), float() and bool() give Python numbers again.
    if (function.is(Syntax::kIdentifier) && warp_name(function).empty()) {
      converted.is_typed = false;
      if (target->is_float_scalar()) converted.components = {{.is_real = true, .real = values[0].number().as_real()}};
    }
    return converted;
  }
  if (!target->is_vector() || (values.size() != 1 && values.size() != target->rows)) return std::nullopt;
  Constant vector{.type = *target, .is_typed = true, .components = {}};
  for (std::size_t i = 0; i < target->rows; ++i) {
    vector.components.push_back(values[values.size() == 1 ? 0 : i].as(target->component()).number());
  }
  return vector;
}

std::optional<bool> ModuleScope::constant_truth(Node expression) const {
  const auto value = constant(expression);
  if (!value || !value->type.is_scalar()) return std::nullopt;
  const Number& number = value->number();
  return number.is_real ? number.real != 0 : number.integer != 0 || number.beyond_int64;
}

std::optional<Constant> ModuleScope::constant_comparison(Node comparison) const {
  const auto tokens = comparison.tokens();
  bool result = true;
  for (std::size_t i = 1; i + 1 < tokens.size() && result; i += 2) {
    const auto left = constant(tokens[i - 1]);
    const auto right = constant(tokens[i + 1]);
    if (!left || !right || !left->type.is_scalar() || !right->type.is_scalar()) return std::nullopt;
    const Number& a = left->number();
    const Number& b = right->number();
    if (a.beyond_int64 || b.beyond_int64) return std::nullopt;
    const bool real = a.is_real || b.is_real;
    const int order = real ? (a.as_real() > b.as_real()) - (a.as_real() < b.as_real())
                           : (a.integer > b.integer) - (a.integer < b.integer);
    const std::string_view symbol = tokens[i].text();
    const std::map<std::string_view, bool> outcomes = {{"==", order == 0}, {"!=", order != 0}, {"<", order < 0},
                                                       {"<=", order <= 0}, {">", order > 0},   {">=", order >= 0}};
    const auto outcome = outcomes.find(symbol);
    if (outcome == outcomes.end()) return std::nullopt;
    result = outcome->second;
  }
  return Constant::boolean(result);
}

/// min, max and abs, and functions of the module math, of numbers that no type's constructor made.
std::optional<Constant> ModuleScope::constant_function(Node function, const std::vector<Constant>& values) const {
  const bool plain = std::all_of(values.begin(), values.end(), [](const Constant& value) {
    return value.type.is_scalar() && !value.is_typed && !value.number().beyond_int64;
  });
  if (!plain || values.empty()) return std::nullopt;
  const auto less = [](const Constant& a, const Constant& b) { return a.number().as_real() < b.number().as_real(); };
  if (function.is(Syntax::kIdentifier) && owner(function.text()) == nullptr) {
    if (function.text() == "min" && values.size() > 1) return *std::min_element(values.begin(), values.end(), less);
    if (function.text() == "max" && values.size() > 1) return *std::max_element(values.begin(), values.end(), less);
    if (function.text() == "abs" && values.size() == 1) {
      return less(values[0], Constant::integer(0)) ? negate(values[0]) : values[0];
    }
    return std::nullopt;
  }
  if (!function.is(Syntax::kAttribute) || module_name(function.part(Part::kObject)) != "math") return std::nullopt;
  if (values.size() != 1) return std::nullopt;
  const auto found = math_functions().find(function.part(Part::kAttribute).text());
  if (found == math_functions().end()) return std::nullopt;
  const double result = found->second(values[0].number().as_real());
  // Python raises an exception instead.
  return std::isfinite(result) ? std::optional(Constant::real(result)) : std::nullopt;
}

}  // namespace assay::frontend
