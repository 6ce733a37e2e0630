// The part of ModuleScope that evaluates constant expressions with Python semantics.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>

#include "frontend/warp/parse/module_scope.hpp"
#include "frontend/warp/parse/warp_names.hpp"

namespace assay::frontend {
namespace {

using Unary = double (*)(double);
using Binary = double (*)(double, double);

/// Functions of Python's math module, which calls the C library functions of the same name.
const std::map<std::string_view, Unary>& math_functions() {
  static const std::map<std::string_view, Unary> functions = {
      {"sqrt", [](double x) { return std::sqrt(x); }},
      {"cbrt", [](double x) { return std::cbrt(x); }},
      {"exp", [](double x) { return std::exp(x); }},
      {"exp2", [](double x) { return std::exp2(x); }},
      {"expm1", [](double x) { return std::expm1(x); }},
      {"log", [](double x) { return std::log(x); }},
      {"log2", [](double x) { return std::log2(x); }},
      {"log10", [](double x) { return std::log10(x); }},
      {"log1p", [](double x) { return std::log1p(x); }},
      {"sin", [](double x) { return std::sin(x); }},
      {"cos", [](double x) { return std::cos(x); }},
      {"tan", [](double x) { return std::tan(x); }},
      {"asin", [](double x) { return std::asin(x); }},
      {"acos", [](double x) { return std::acos(x); }},
      {"atan", [](double x) { return std::atan(x); }},
      {"sinh", [](double x) { return std::sinh(x); }},
      {"cosh", [](double x) { return std::cosh(x); }},
      {"tanh", [](double x) { return std::tanh(x); }},
      {"asinh", [](double x) { return std::asinh(x); }},
      {"acosh", [](double x) { return std::acosh(x); }},
      {"atanh", [](double x) { return std::atanh(x); }},
      {"erf", [](double x) { return std::erf(x); }},
      {"erfc", [](double x) { return std::erfc(x); }},
      {"fabs", [](double x) { return std::fabs(x); }},
      {"radians", [](double x) { return x * (std::numbers::pi / 180.0); }},
      {"degrees", [](double x) { return x * (180.0 / std::numbers::pi); }},
  };
  return functions;
}

const std::map<std::string_view, Binary>& binary_math_functions() {
  static const std::map<std::string_view, Binary> functions = {
      {"atan2", [](double y, double x) { return std::atan2(y, x); }},
      {"copysign", [](double x, double y) { return std::copysign(x, y); }},
      {"fmod", [](double x, double y) { return std::fmod(x, y); }},
      {"pow", [](double x, double y) { return std::pow(x, y); }},
      {"log", [](double x, double base) { return std::log(x) / std::log(base); }},
      {"ldexp", [](double x, double exponent) { return std::ldexp(x, static_cast<int>(exponent)); }},
      // Python computes it with extended precision and rounds once.
      {"hypot", [](double x, double y) { return static_cast<double>(std::hypot(1.0L * x, 1.0L * y)); }},
  };
  return functions;
}

/// Functions whose result is an integer in Python: floor, ceil and trunc.
const std::map<std::string_view, Unary>& integer_functions() {
  static const std::map<std::string_view, Unary> functions = {
      {"floor", [](double x) { return std::floor(x); }},
      {"ceil", [](double x) { return std::ceil(x); }},
      {"trunc", [](double x) { return std::trunc(x); }},
  };
  return functions;
}

/// A function of the module math, of numbers. Python raises an exception where the result is not finite.
std::optional<Constant> math_function(std::string_view name, const std::vector<Constant>& values) {
  const auto real = [](double result) {
    return std::isfinite(result) ? std::optional(Constant::real(result)) : std::nullopt;
  };
  const double first = values[0].number().as_real();
  if (values.size() == 2) {
    const auto found = binary_math_functions().find(name);
    return found == binary_math_functions().end() ? std::nullopt
                                                  : real(found->second(first, values[1].number().as_real()));
  }
  if (values.size() != 1) return std::nullopt;
  if (const auto found = integer_functions().find(name); found != integer_functions().end()) {
    if (!values[0].number().is_real) return values[0];
    const double whole = found->second(first);
    return std::abs(whole) < 0x1p63 ? std::optional(Constant::integer(static_cast<std::int64_t>(whole))) : std::nullopt;
  }
  const auto found = math_functions().find(name);
  return found == math_functions().end() ? std::nullopt : real(found->second(first));
}

}  // namespace

std::optional<Constant> ModuleScope::constant(SyntaxNode expression) const {
  if (auto literal = literal_constant(expression)) return literal;
  switch (expression.kind()) {
    case SyntaxKind::kParenthesized: {
      const auto inner = expression.children();
      return inner.size() == 1 ? constant(inner[0]) : std::nullopt;
    }
    case SyntaxKind::kIdentifier: {
      const ModuleScope* scope = owner(expression.text());
      if (scope != nullptr) {
        const auto found = scope->constants_by_name_.find(expression.text());
        if (found != scope->constants_by_name_.end()) return found->second;
      }
      const auto number = warp_constant(warp_name(expression));
      return number ? std::optional(Constant::real(*number)) : std::nullopt;
    }
    case SyntaxKind::kAttribute: return constant_attribute(expression);
    case SyntaxKind::kUnary: {
      const auto operand = constant(expression.part(SyntaxField::kArgument));
      const std::string_view symbol = expression.part(SyntaxField::kOperator).text();
      if (operand && symbol == "~" && operand->type.is_scalar() && !operand->is_typed && !operand->number().is_real &&
          !operand->number().exceeds_int64)
        return Constant::integer(~operand->number().integer);
      if (!operand || (symbol != "-" && symbol != "+")) return std::nullopt;
      return symbol == "-" ? negate(*operand) : operand;
    }
    case SyntaxKind::kBinary: {
      const auto left = constant(expression.part(SyntaxField::kLeft));
      const auto right = left ? constant(expression.part(SyntaxField::kRight)) : std::nullopt;
      return right ? compute(expression.part(SyntaxField::kOperator).text(), *left, *right) : std::nullopt;
    }
    case SyntaxKind::kSubscript: return constant_element(expression);
    case SyntaxKind::kCall: return constant_call(expression);
    case SyntaxKind::kComparison: return constant_comparison(expression);
    case SyntaxKind::kNot: {
      const auto operand = constant_truth(expression.part(SyntaxField::kArgument));
      return operand ? std::optional(Constant::boolean(!*operand)) : std::nullopt;
    }
    case SyntaxKind::kBoolean: {
      const auto left = constant_truth(expression.part(SyntaxField::kLeft));
      if (!left) return std::nullopt;
      const bool decided = *left == (expression.part(SyntaxField::kOperator).text() == "or");
      return constant(expression.part(decided ? SyntaxField::kLeft : SyntaxField::kRight));
    }
    case SyntaxKind::kConditional: {
      const auto parts = expression.children();
      const auto test = parts.size() == 3 ? constant_truth(parts[1]) : std::nullopt;
      return test ? constant(parts[*test ? 0 : 2]) : std::nullopt;
    }
    default: return std::nullopt;
  }
}

/// The tuple of constants that the name stands for, or the list that no other code can change; null if none.
const ModuleScope::Sequence* ModuleScope::known_sequence(SyntaxNode name) const {
  const ModuleScope* const scope = name.is(SyntaxKind::kIdentifier) ? owner(name.text()) : nullptr;
  if (scope == nullptr) return nullptr;
  const auto found = scope->sequences_by_name_.find(name.text());
  if (found == scope->sequences_by_name_.end()) return nullptr;
  return found->second.is_list && !is_only_indexed(name.text()) ? nullptr : &found->second;
}

/// An element of a tuple or list of constants: TAPS[k], OFFSETS[k][0].
std::optional<Constant> ModuleScope::constant_element(SyntaxNode subscript) const {
  std::vector<SyntaxNode> indices;
  SyntaxNode name = subscript;
  for (; name.is(SyntaxKind::kSubscript); name = name.children()[0]) {
    if (name.children().size() != 2) return std::nullopt;
    indices.insert(indices.begin(), name.children()[1]);
  }
  const Sequence* at = known_sequence(name);
  for (const SyntaxNode node : indices) {
    const auto index = at == nullptr ? std::nullopt : constant(node);
    if (!index || index->type != ir::kI32 || index->number().exceeds_int64) return std::nullopt;
    const auto count = static_cast<std::int64_t>(at->elements.size());
    const std::int64_t position = index->number().integer + (index->number().integer < 0 ? count : 0);
    if (position < 0 || position >= count) return std::nullopt;
    at = &at->elements[static_cast<std::size_t>(position)];
  }
  return at == nullptr ? std::nullopt : at->value;
}

/// Whether all code assigns the name, or reads elements or the length of what it names: NAME = ..., NAME[k], len(NAME).
bool ModuleScope::is_only_indexed(std::string_view name) const {
  const auto is_of_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (const std::string& whole : source_lines()) {
    const std::string_view line = std::string_view(whole).substr(0, whole.find('#'));
    for (std::size_t at = line.find(name); at != line.npos; at = line.find(name, at + 1)) {
      std::size_t next = at + name.size();
      const bool is_part_of_name =
          (at > 0 && is_of_name(line[at - 1])) || (next < line.size() && is_of_name(line[next]));
      if (is_part_of_name) continue;
      next = std::min(line.find_first_not_of(' ', next), line.size());
      if (line.substr(0, at).ends_with("len(") && line.substr(next).starts_with(')')) continue;
      if (next < line.size() && line[next] == '[') {
        next = line.find(']', next);
        if (next == line.npos) return false;
        next = std::min(line.find_first_not_of(' ', next + 1), line.size());
        const std::string_view after = line.substr(next);
        // A later = may assign the element: NAME[k] += 1, NAME[0], NAME[1] = 1, 2.
        const bool is_read = after.starts_with("==") || after.find('=') == after.npos;
        if (!is_read || after.starts_with('[') || after.starts_with(']') || after.starts_with('.')) return false;
      } else if (next >= line.size() || line[next] != '=' || line.substr(next).starts_with("==")) {
        return false;
      }
    }
  }
  return true;
}

/// np.finfo(np.float32).eps and similar attributes.
std::optional<Constant> ModuleScope::constant_of_floats(SyntaxNode call, std::string_view name) const {
  const SyntaxNode function = call.part(SyntaxField::kFunction);
  const auto given = arguments_of(call).positional_arguments;
  const bool is_finfo = module_name(function.part(SyntaxField::kObject)) == "numpy" &&
                        function.part(SyntaxField::kAttribute).text() == "finfo" && given.size() == 1;
  if (!is_finfo || !given[0].is(SyntaxKind::kAttribute)) return std::nullopt;
  const std::string_view type = given[0].part(SyntaxField::kAttribute).text();
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

/// wp.PI, wp.Volume.LINEAR, physics.LIMIT of another file, and Kind.MEMBER or Kind.MEMBER.value of an enumeration.
std::optional<Constant> ModuleScope::constant_attribute(SyntaxNode attribute) const {
  const SyntaxNode object = attribute.part(SyntaxField::kObject);
  const std::string_view name = attribute.part(SyntaxField::kAttribute).text();
  if (object.is(SyntaxKind::kAttribute) && name == "value" && module_name(object.part(SyntaxField::kObject)).empty()) {
    return constant_attribute(object);
  }
  if (warp_name(object) == "Volume" && (name == "CLOSEST" || name == "LINEAR"))
    return Constant::integer(name == "LINEAR" ? 1 : 0);
  if (const ModuleScope* scope = member_owner(attribute)) {
    const auto found = scope->constants_by_name_.find(attribute.text());
    return found == scope->constants_by_name_.end() ? std::nullopt : std::optional(found->second);
  }
  if (object.is(SyntaxKind::kCall)) return constant_of_floats(object, name);
  const ModuleScope* const kind = object.is(SyntaxKind::kIdentifier) ? owner(object.text()) : member_owner(object);
  if (const ModuleScope* scope = kind) {
    if (const auto found = scope->enumerations_.find(object.text()); found != scope->enumerations_.end()) {
      const auto member = found->second.find(name);
      return member == found->second.end() ? std::nullopt : std::optional(member->second);
    }
  }
  const std::string_view module = module_name(object);
  if (module != "warp" && module != "math" && module != "numpy") return std::nullopt;
  const auto number = warp_constant(name);
  return number ? std::optional(Constant::real(*number)) : std::nullopt;
}

std::optional<Constant> ModuleScope::constant_call(SyntaxNode call) const {
  const SyntaxNode function = call.part(SyntaxField::kFunction);
  const CallArguments arguments = arguments_of(call);
  if (arguments.has_star_argument || !arguments.keyword_arguments.empty()) return std::nullopt;
  if (function.is(SyntaxKind::kIdentifier) && function.text() == "len" && owner("len") == nullptr &&
      arguments.positional_arguments.size() == 1) {
    const Sequence* const measured = known_sequence(arguments.positional_arguments[0]);
    return measured == nullptr ? std::nullopt
                               : std::optional(Constant::integer(static_cast<std::int64_t>(measured->elements.size())));
  }
  std::vector<Constant> values;
  for (const SyntaxNode argument : arguments.positional_arguments) {
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
    // Python's int(), float() and bool() return Python numbers.
    if (function.is(SyntaxKind::kIdentifier) && warp_name(function).empty()) {
      converted.is_typed = false;
      if (target->is_float_scalar()) converted.components = {{.is_real = true, .real = values[0].number().as_real()}};
    }
    return converted;
  }
  if (target->is_scalar() || target->components() == 0) return std::nullopt;
  const auto count = static_cast<std::size_t>(target->components());
  const bool may_repeat = target->is_vector() || target->is_matrix();
  if (values.size() != count && !(may_repeat && values.size() == 1)) return std::nullopt;
  Constant made{.type = *target, .is_typed = true, .components = {}};
  for (std::size_t i = 0; i < count; ++i)
    made.components.push_back(values[values.size() == 1 ? 0 : i].as(target->component()).number());
  return made;
}

std::optional<bool> ModuleScope::constant_truth(SyntaxNode expression) const {
  const auto value = constant(expression);
  if (!value || !value->type.is_scalar()) return std::nullopt;
  const ScalarConstant& number = value->number();
  return number.is_real ? number.real != 0 : number.integer != 0 || number.exceeds_int64;
}

std::optional<Constant> ModuleScope::constant_comparison(SyntaxNode comparison) const {
  const auto tokens = comparison.tokens();
  bool result = true;
  for (std::size_t i = 1; i + 1 < tokens.size() && result; i += 2) {
    const auto left = constant(tokens[i - 1]);
    const auto right = constant(tokens[i + 1]);
    if (!left || !right || !left->type.is_scalar() || !right->type.is_scalar()) return std::nullopt;
    const ScalarConstant& a = left->number();
    const ScalarConstant& b = right->number();
    if (a.exceeds_int64 || b.exceeds_int64) return std::nullopt;
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

/// min, max, abs, round and functions of the math module, for numbers not made by a Warp type.
std::optional<Constant> ModuleScope::constant_function(SyntaxNode function, const std::vector<Constant>& values) const {
  const bool plain = std::all_of(values.begin(), values.end(), [](const Constant& value) {
    return value.type.is_scalar() && !value.is_typed && !value.number().exceeds_int64;
  });
  if (!plain || values.empty()) return std::nullopt;
  const auto less = [](const Constant& a, const Constant& b) { return a.number().as_real() < b.number().as_real(); };
  if (function.is(SyntaxKind::kIdentifier) && owner(function.text()) == nullptr) {
    if (function.text() == "min" && values.size() > 1) return *std::min_element(values.begin(), values.end(), less);
    if (function.text() == "max" && values.size() > 1) return *std::max_element(values.begin(), values.end(), less);
    if (function.text() == "round" && values.size() == 1) {
      // Python rounds halves to even, as the default rounding mode does.
      const double whole = std::nearbyint(values[0].number().as_real());
      if (!values[0].number().is_real) return values[0];
      return std::abs(whole) < 0x1p63 ? std::optional(Constant::integer(static_cast<std::int64_t>(whole)))
                                      : std::nullopt;
    }
    if (function.text() == "abs" && values.size() == 1) {
      return less(values[0], Constant::integer(0)) ? negate(values[0]) : values[0];
    }
    return std::nullopt;
  }
  if (!function.is(SyntaxKind::kAttribute) || module_name(function.part(SyntaxField::kObject)) != "math")
    return std::nullopt;
  return math_function(function.part(SyntaxField::kAttribute).text(), values);
}

}  // namespace assay::frontend
