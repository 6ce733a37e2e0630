#include "backends/source/expressions.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "ir/analysis.hpp"
#include "ir/element_part.hpp"
#include "support/concat.hpp"

namespace assay::source {
namespace {

using ir::Expr;
using ir::ExprId;
using ir::ExprKind;
using ir::Op;
using ir::Scalar;
using ir::Shape;
using ir::Type;

// Precedence as in expressions.hpp.
constexpr int kComma = 0;
constexpr int kTernary = kTernaryPrecedence;
constexpr int kOrder = 9;
constexpr int kSum = 12;
constexpr int kProduct = 13;
constexpr int kUnary = 14;
constexpr int kPostfix = kPostfixPrecedence;

struct Infix {
  std::string_view token = {};
  int precedence = 0;
};
constexpr auto kInfix = std::to_array<Infix>({
    {"||", 3},
    {"&&", 4},
    {"|", 5},
    {"^", 6},
    {"&", 7},
    {"==", 8},
    {"!=", 8},
    {"<", kOrder},
    {"<=", kOrder},
    {">", kOrder},
    {">=", kOrder},
    {"<<", 11},
    {">>", 11},
    {"+", kSum},
    {"-", kSum},
    {"*", kProduct},
    {"/", kProduct},
    {"%", kProduct},
});

bool is_comparison(int precedence) { return precedence == 8 || precedence == kOrder; }
bool is_bits(int precedence) { return (precedence >= 5 && precedence <= 7) || precedence == 11; }

/// Operator combinations that are unclear to a reader; -Wparentheses warns about most.
bool is_unclear(const Infix& outer, const PrintedExpression& inner) {
  if (inner.infix_operator.empty() || inner.infix_operator == outer.token) return false;
  return is_bits(outer.precedence) || is_bits(inner.precedence) ||
         (outer.token == "||" && inner.infix_operator == "&&") ||
         (is_comparison(outer.precedence) && is_comparison(inner.precedence));
}

std::string parenthesized(PrintedExpression text, bool parentheses) {
  return parentheses ? concat("(", text.text, ")") : std::move(text.text);
}

bool is_narrow(Type type) { return type.is_integer_scalar() && ir::row(type.scalar).bytes < 4; }
bool is_half_scalar(Type type) { return type.is_scalar() && is_half(type.scalar); }
bool is_one_word(std::string_view type) { return type.find(' ') == std::string_view::npos; }
bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The operator of a pattern "$0 + $1"; an Infix without token for other patterns.
constexpr Infix parse_infix(std::string_view pattern) {
  if (!pattern.starts_with("$0 ") || !pattern.ends_with(" $1")) return {};
  const std::string_view token = pattern.substr(3, pattern.size() - 6);
  return token.find(' ') == std::string_view::npos ? *std::ranges::find(kInfix, token, &Infix::token) : Infix{};
}
/// The infix operator of each operation.
constexpr auto kInfixOf = [] {
  std::array<Infix, ir::kOperations.size()> infix{};
  std::ranges::transform(ir::kOperations, infix.begin(),
                         [](const ir::OperationEntry& row) { return parse_infix(row.cpp_pattern); });
  return infix;
}();

std::string_view wrapping_function(Op op) {
  switch (op) {
    case Op::kAdd: return "wrap_add";
    case Op::kSub: return "wrap_sub";
    case Op::kMul: return "wrap_mul";
    case Op::kNeg: return "wrap_neg";
    default: return {};
  }
}

std::string_view operator_suffix(Op op) {
  switch (op) {
    case Op::kAdd: return "add";
    case Op::kSub: return "sub";
    case Op::kNeg: return "neg";
    case Op::kMul: return "mul";
    case Op::kDiv: return "div";
    default: return {};
  }
}

static_assert(std::ranges::all_of(ir::kOperations,
                                  [](const ir::OperationEntry& row) { return row.cpp_pattern == row.cuda_pattern; }),
              "an operation must have the same spelling in C++ and CUDA C++");

/// The identifiers in an operation's pattern, which are the functions that it calls.
std::vector<std::string_view> functions_in(std::string_view pattern) {
  std::vector<std::string_view> functions;
  for (std::size_t at = 0; at < pattern.size();) {
    std::size_t end = at;
    while (end < pattern.size() && is_word(pattern[end]))
      ++end;
    if (end > at && is_letter(pattern[at]) && (at == 0 || pattern[at - 1] != '$')) {
      functions.push_back(pattern.substr(at, end - at));
    }
    at = std::max(end, at + 1);
  }
  return functions;
}

bool is_positive_zero(const Expr& expr) { return expr.kind == ExprKind::kLiteral && expr.bits == 0; }

}  // namespace

const std::vector<std::string_view>& functions_of(Op op) {
  static const std::vector<std::vector<std::string_view>> kFunctions = [] {
    std::vector<std::vector<std::string_view>> functions;
    for (const ir::OperationEntry& row : ir::kOperations)
      functions.push_back(functions_in(row.cpp_pattern));
    return functions;
  }();
  return kFunctions[static_cast<std::size_t>(op)];
}

ExpressionPrinter::ExpressionPrinter(SourceUnit& unit, const ir::Function& function,
                                     const std::vector<std::string>& names,
                                     const ir::ExtremumOperands& extremum_operands)
    : unit_(unit), function_(function), variable_names_(names), extremum_operands_(extremum_operands) {}

std::string ExpressionPrinter::print(ExprId id, LiteralForm form) { return text(id, form).text; }

std::string ExpressionPrinter::initializer(ExprId id) {
  const Expr& value = expr(id);
  if (lists_components(value)) return "{" + arguments(value.args, LiteralForm::kUntyped) + "}";
  return print(id, LiteralForm::kUntyped);
}

/// Whether the value is made of scalars that can be listed in an initializer.
bool ExpressionPrinter::lists_components(const Expr& e) const {
  return e.kind == ExprKind::kOperation && e.op == Op::kMake &&
         std::ranges::all_of(e.args, [&](ExprId arg) { return expr(arg).type.is_scalar(); });
}

std::string ExpressionPrinter::condition(ExprId id) { return "(" + print(id) + ")"; }

std::string ExpressionPrinter::negated_condition(ExprId id) {
  const Expr& e = expr(id);
  if (e.kind == ExprKind::kOperation && e.op == Op::kNot) return condition(e.args[0]);
  return "(!" + operand(id, kUnary) + ")";
}

std::string ExpressionPrinter::compared(ExprId id) {
  PrintedExpression inner = text(id, LiteralForm::kTyped);
  const bool parentheses = inner.precedence <= kOrder || is_unclear({"<", kOrder}, inner);
  return parenthesized(std::move(inner), parentheses);
}

std::string ExpressionPrinter::operand(ExprId id, int precedence, LiteralForm form) {
  PrintedExpression inner = text(id, form);
  const bool parentheses = inner.precedence < precedence;
  return parenthesized(std::move(inner), parentheses);
}

std::string ExpressionPrinter::arguments(const std::vector<ExprId>& args, LiteralForm form) {
  std::string list;
  for (const ExprId arg : args)
    append(list, list.empty() ? "" : ", ", print(arg, form));
  return list;
}

std::string ExpressionPrinter::element(ExprId array, const std::vector<ExprId>& indices) {
  const std::string base = operand(array, kPostfix);
  if (expr(array).type.is_local_array()) return base + subscript(indices[0]);
  return concat(base, ".at(", arguments(indices, LiteralForm::kUntyped), ")");
}

std::string ExpressionPrinter::null_test(ExprId array) {
  const Expr* root = &expr(array);
  while (root->kind == ExprKind::kField)
    root = &expr(root->args[0]);
  const bool nullable = root->kind == ExprKind::kVariable && function_.var(root->variable).is_nullable;
  return nullable ? operand(array, kPostfix) + ".data" : "";
}

std::string ExpressionPrinter::zero(Type type) {
  if (!type.is_scalar()) return unit_.type(type) + "{}";
  if (type.is_bool()) return "false";
  if (is_half_scalar(type)) return unit_.type(type) + "(0)";
  return is_narrow(type) ? concat("(", unit_.type(type), ")0") : "0";
}

PrintedExpression ExpressionPrinter::text(ExprId id, LiteralForm form) {
  const Expr& e = expr(id);
  const bool by_elements = e.kind == ExprKind::kCall || (e.kind == ExprKind::kOperation && ir::is_elementwise(e.op));
  if (e.type.is_tile() && by_elements) return print_elementwise(id);
  if (std::optional<PrintedExpression> part = nullable_part(id)) return *part;
  switch (e.kind) {
    case ExprKind::kLiteral: {
      std::string literal = literal_text(unit_, e, form);
      const int precedence = literal[0] == '-' || (literal[0] == '(' && literal.back() != ')') ? kUnary : kPostfix;
      return {std::move(literal), precedence};
    }
    case ExprKind::kVariable: return {variable_names_[static_cast<std::size_t>(e.variable)], kPostfix};
    case ExprKind::kOperation: return narrowed(e, operation(id));
    case ExprKind::kLoad: return load(e);
    case ExprKind::kShapeOf:
      return {concat(operand(e.args[0], kPostfix), ".shape[", std::to_string(e.index), "]"), kPostfix};
    case ExprKind::kField:
      return {concat(operand(e.args[0], kPostfix), ".", unit_.field_name(expr(e.args[0]).type.struct_id, e.index)),
              kPostfix};
    case ExprKind::kCall:
      return {concat(unit_.function_name(e.index), "(", arguments(e.args, LiteralForm::kUntyped), ")"), kPostfix};
  }
  return {};
}

std::optional<PrintedExpression> ExpressionPrinter::nullable_part(ExprId id) {
  const ir::LoadedElementPart part = ir::loaded_part(function_, id);
  if (part.load == ir::kNone) return std::nullopt;
  const Expr& load = expr(part.load);
  const std::string test = null_test(load.args[0]);
  if (test.empty()) return std::nullopt;
  std::string place = element(load.args[0], {load.args.begin() + 1, load.args.end()});
  for (const ir::ElementPartStep& step : part.path) {
    if (step.field_index != ir::kNone) {
      append(place, ".", unit_.field_name(step.whole_type.struct_id, step.field_index));
    } else if (step.whole_type.is_matrix() && &step == &part.path.back()) {
      unit_.helpers().use("row");
      place = concat("row(", place, ", ", print(step.index), ")");
    } else {
      place += subscript(step.index);
    }
  }
  return PrintedExpression{concat(test, " ? ", place, " : ", zero(expr(id).type)), kTernary};
}

PrintedExpression ExpressionPrinter::load(const Expr& e) {
  if (ir::loads_tile(function_, e)) return load_tile(e);
  const std::vector<ExprId> indices(e.args.begin() + 1, e.args.end());
  std::string cell = element(e.args[0], indices);
  const std::string test = null_test(e.args[0]);
  if (test.empty()) return {std::move(cell), kPostfix};
  return {concat(test, " ? ", cell, " : ", zero(e.type)), kTernary};
}

/// Whether to print wrapping arithmetic: signed arithmetic that may overflow, and all 8- and 16-bit arithmetic, which
/// C++ would compute in int.
bool ExpressionPrinter::wraps(const Expr& e) const {
  if (!e.type.is_integer_scalar() || wrapping_function(e.op).empty()) return false;
  if (is_narrow(e.type)) return true;
  if (!ir::row(e.type.scalar).is_signed) return false;
  return !overflow_analysis().is_plain(e);
}

/// An operation of an operand of an atomic minimum or maximum, if it has sums that a compiler might contract.
std::optional<PrintedExpression> ExpressionPrinter::rounded(ExprId id) {
  if (extremum_operands_.empty() || !extremum_operands_[static_cast<std::size_t>(id)]) return std::nullopt;
  const Expr& e = expr(id);
  const Type left = e.args.empty() ? ir::kVoid : expr(e.args[0]).type;
  if (!ir::is_float(left.scalar)) return std::nullopt;
  std::string_view helper;
  std::string_view function;
  if (e.op == Op::kAdd || e.op == Op::kSub) {
    const bool is_sum = e.op == Op::kAdd;
    function = is_sum ? "rounded_sum" : "rounded_difference";
    helper = e.type.is_scalar() ? "rounded_sum" : is_sum ? "rounded_components_add" : "rounded_components_sub";
  } else if (e.op == Op::kMul && !left.is_scalar() && !expr(e.args[1]).type.is_scalar()) {
    function = "rounded_product";
    helper = e.type.is_quaternion() ? "rounded_quat_product" : "rounded_matrix_product";
  }
  if (!function.empty()) {
    unit_.helpers().use(helper);
    return PrintedExpression{concat(function, "(", arguments(e.args, LiteralForm::kTyped), ")"), kPostfix};
  }
  const std::vector<std::string_view>& functions = functions_of(e.op);
  const bool has_version = functions.size() == 1 && HelperSet::exists(concat(kRoundedPrefix, functions[0]));
  if (!has_version) return std::nullopt;
  return call_pattern(e, ir::row(e.op).cpp_pattern, kRoundedPrefix);
}

PrintedExpression ExpressionPrinter::operation(ExprId id) {
  if (std::optional<PrintedExpression> printed = rounded(id)) return *std::move(printed);
  const Expr& e = expr(id);
  if (wraps(e)) {
    const std::string_view function = wrapping_function(e.op);
    unit_.helpers().use(function);
    return {concat(function, "(", arguments(e.args, LiteralForm::kTyped), ")"), kPostfix};
  }
  switch (e.op) {
    case Op::kCast: return cast(e);
    case Op::kMake:
      if (lists_components(e))
        return {unit_.type(e.type) + "{" + arguments(e.args, LiteralForm::kUntyped) + "}", kPostfix};
      break;
    case Op::kExtract: return extract(e);
    case Op::kNeg:
      // As Warp does, which makes the negative of a zero a positive zero.
      if (e.type.is_float_scalar()) return {concat("0 - ", operand(e.args[0], kProduct)), kSum, "-"};
      break;
    case Op::kSplat:
      if (is_positive_zero(expr(e.args[0]))) return {zero(e.type), kPostfix};
      if (e.type.is_tile()) {
        unit_.helpers().use("tile_fill");
        return {concat("tile_fill<", unit_.type(e.type), ">(", print(e.args[0]), ")"), kPostfix};
      }
      break;
    case Op::kWithField:
      return {concat(unit_.use_setter(e.type.struct_id, e.index), "(", arguments(e.args, LiteralForm::kUntyped), ")"),
              kPostfix};
    default: break;
  }
  if (const Infix& infix = kInfixOf[static_cast<std::size_t>(e.op)]; !infix.token.empty()) {
    return this->infix(e, infix.token, infix.precedence);
  }
  return pattern(e);
}

/// v[i], m[i][j], or a row of a matrix as a value.
PrintedExpression ExpressionPrinter::extract(const Expr& e) {
  const Expr& whole = expr(e.args[0]);
  if (whole.type.is_matrix()) {
    unit_.helpers().use("row");
    return {concat("row(", print(e.args[0]), ", ", print(e.args[1]), ")"), kPostfix};
  }
  if (whole.kind == ExprKind::kOperation && whole.op == Op::kExtract && expr(whole.args[0]).type.is_matrix()) {
    return {operand(whole.args[0], kPostfix) + subscript(whole.args[1]) + subscript(e.args[1]), kPostfix};
  }
  return {operand(e.args[0], kPostfix) + subscript(e.args[1]), kPostfix};
}

PrintedExpression ExpressionPrinter::pattern(const Expr& e) {
  const std::string_view pattern = ir::row(e.op).cpp_pattern;
  if (pattern == "$0 ? $1 : $2") return conditional(e);
  if (pattern.ends_with("$0") && !is_word(pattern[0])) return prefix(e, pattern.substr(0, pattern.size() - 2));
  return call_pattern(e, pattern);
}

PrintedExpression ExpressionPrinter::infix(const Expr& e, std::string_view token, int precedence) {
  use_operator(e);
  std::array<std::string, 2> sides;
  for (std::size_t i = 0; i < 2; ++i) {
    // The other operand of type `real` converts a float constant; in a template it does not.
    const Expr& other = expr(e.args[1 - i]);
    const bool bare = other.kind != ExprKind::kLiteral && other.type.is_scalar();
    PrintedExpression side = text(e.args[i], bare ? LiteralForm::kUntyped : LiteralForm::kTyped);
    const bool looser = side.precedence < precedence || (i == 1 && side.precedence == precedence);
    const bool parentheses =
        looser || is_unclear({token, precedence}, side) || (is_comparison(precedence) && side.text[0] == '!');
    sides[i] = parenthesized(std::move(side), parentheses);
  }
  append(sides[0], " ", token, " ", sides[1]);
  return {std::move(sides[0]), precedence, token};
}

PrintedExpression ExpressionPrinter::prefix(const Expr& e, std::string_view token) {
  use_operator(e);
  std::string inner = operand(e.args[0], kUnary);
  if (inner.starts_with(token)) inner = "(" + inner + ")";
  return {std::string(token) + inner, kUnary};
}

PrintedExpression ExpressionPrinter::conditional(const Expr& e) {
  const LiteralForm form = LiteralForm::kTyped;
  return {concat(operand(e.args[0], kTernary + 1), " ? ", operand(e.args[1], kTernary + 1, form), " : ",
                 operand(e.args[2], kTernary, form)),
          kTernary};
}

/// Patterns such as "f($0, $1)" and "f<$T>($0)", with a prefix of the name of the function.
PrintedExpression ExpressionPrinter::call_pattern(const Expr& e, std::string_view pattern, std::string_view prefix) {
  for (const std::string_view function : functions_of(e.op))
    unit_.helpers().use(prefix.empty() ? function : std::string_view(concat(prefix, function)));
  const bool is_call = is_letter(pattern[0]) && pattern.ends_with(')');
  std::string result(prefix);
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    const std::size_t dollar = std::min(pattern.find('$', at), pattern.size());
    result += pattern.substr(at, dollar - at);
    if (dollar == pattern.size()) break;
    at = dollar + 1;
    const char what = pattern[at];
    if (what == 'T') {
      result += unit_.type(e.type);
    } else if (what == '*') {
      result += arguments(e.args, LiteralForm::kTyped);
    } else {
      const ExprId arg = e.args[static_cast<std::size_t>(what - '0')];
      // Library functions are overloaded for float and double.
      const bool widened = is_half_scalar(expr(arg).type);
      result += widened ? "real(" + print(arg) + ")" : operand(arg, is_call ? kComma : kPostfix);
    }
  }
  return {std::move(result), is_call ? kPostfix : kComma};
}

PrintedExpression ExpressionPrinter::cast(const Expr& e) {
  const std::string type = unit_.type(e.type);
  if (is_one_word(type)) return {concat(type, "(", print(e.args[0], LiteralForm::kUntyped), ")"), kPostfix};
  return {concat("(", type, ")", operand(e.args[0], kUnary)), kUnary};
}

/// C++ promotes narrower types to int, so the result is cast back to its type.
PrintedExpression ExpressionPrinter::narrowed(const Expr& e, PrintedExpression result) {
  if (is_half_scalar(e.type)) {
    const bool is_done = e.op == Op::kCast || e.op == Op::kConditional || e.op == Op::kExtract;
    return is_done ? result : PrintedExpression{concat(unit_.type(e.type), "(", result.text, ")"), kPostfix};
  }
  const bool computed = !result.infix_operator.empty() || (result.precedence == kUnary && e.op != Op::kCast);
  if (!computed || !is_narrow(e.type)) return result;
  return {concat("(", unit_.type(e.type), ")(", result.text, ")"), kUnary};
}

/// The operators of vectors, matrices, quaternions and transforms are helpers.
void ExpressionPrinter::use_operator(const Expr& e) {
  const std::string_view suffix = operator_suffix(e.op);
  if (suffix.empty() || e.type.is_scalar()) return;
  const bool scales = e.args.size() == 1 || expr(e.args[0]).type.is_scalar() || expr(e.args[1]).type.is_scalar();
  const bool product = e.op == Op::kMul && !scales;
  if (product) unit_.helpers().use(e.type.is_quaternion() ? "quat_product" : "matrix_product");
  else unit_.helpers().use(concat("components_", suffix));
}

}  // namespace assay::source
