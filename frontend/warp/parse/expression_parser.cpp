#include "frontend/warp/parse/expression_parser.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "frontend/warp/parse/warp_names.hpp"
#include "ir/algebra.hpp"

namespace assay::frontend {
namespace {

using ir::ExprId;
using ir::kNone;
using ir::Op;

/// The type in which C compares two numbers of these types.
ir::Type comparison_type(ir::Type a, ir::Type b) {
  const auto promoted = [](ir::Type type) {
    return type.is_bool() || (!type.is_float_scalar() && ir::row(type.scalar).bytes < 4) ? ir::kI32 : type;
  };
  if (a == b) return a;
  a = promoted(a);
  b = promoted(b);
  if (a.is_float_scalar() != b.is_float_scalar()) return a.is_float_scalar() ? a : b;
  const auto& row_a = ir::row(a.scalar);
  const auto& row_b = ir::row(b.scalar);
  if (row_a.bytes != row_b.bytes) return row_a.bytes > row_b.bytes ? a : b;
  return row_a.is_signed ? b : a;
}

bool is_and_or_xor(SyntaxNode node) {
  if (!node.is(SyntaxKind::kBinary)) return false;
  const std::string_view symbol = node.part(SyntaxField::kOperator).text();
  return symbol == "&" || symbol == "^";
}

}  // namespace

ExprId WarpExpressionParser::value(SyntaxNode node) {
  switch (node.kind()) {
    case SyntaxKind::kInteger:
    case SyntaxKind::kFloat:
    case SyntaxKind::kTrue:
    case SyntaxKind::kFalse: {
      const auto number = literal_constant(node);
      return number ? constant(node, *number) : context_.error(node, "number is out of range for every Warp type");
    }
    case SyntaxKind::kIdentifier: return name(node);
    case SyntaxKind::kParenthesized: {
      const auto inner = node.children();
      return inner.size() == 1 ? value(inner[0]) : context_.error(node, "expected an expression with one value");
    }
    case SyntaxKind::kBinary: {
      if (is_and_or_xor(node)) return and_and_xor(node);
      const ExprId left = value(node.part(SyntaxField::kLeft));
      const ExprId right = value(node.part(SyntaxField::kRight));
      return binary(node, node.part(SyntaxField::kOperator).text(), left, right);
    }
    case SyntaxKind::kUnary: return unary(node);
    case SyntaxKind::kNot: {
      const SyntaxNode argument = node.part(SyntaxField::kArgument);
      if (is_array_expression(argument)) return context_.operation(node, Op::kNot, {presence(argument)});
      const ExprId operand = value(argument);
      if (operand != kNone && context_.type_of(operand).is_float_scalar()) {
        return context_.error(node, "`not` is not supported for floats; compare with 0.0");
      }
      return context_.operation(node, Op::kNot, {truth(node, operand)});
    }
    case SyntaxKind::kBoolean: return boolean(node);
    case SyntaxKind::kComparison: return comparison(node);
    case SyntaxKind::kConditional: return conditional(node);
    case SyntaxKind::kAttribute:
    case SyntaxKind::kSubscript:
      if (is_adjoint(node)) return context_.error(node, "adjoints cannot be read; accumulate into them with +=");
      if (const auto number = literal(node)) return constant(node, *number);
      if (const auto count = component_count(node)) return constant(node, Constant::integer(*count));
      if (const auto rank = rank_constant(node)) return constant(node, Constant::integer(*rank));
      return if_assigned(node, read_target(context_, node, place(node)));
    case SyntaxKind::kCall: return call(node);
    case SyntaxKind::kString: return context_.error(node, "strings are not supported in kernels");
    case SyntaxKind::kNone: return context_.error(node, "None is not supported in kernels");
    default:
      return context_.error(node, fmt::format("expression is not supported in kernels ({})", node.grammar_name()));
  }
}

ExprId WarpExpressionParser::constant(SyntaxNode node, const Constant& constant) {
  if (overflows(constant)) {
    return context_.error(node, "integer literal is out of range for int32; convert it, as in wp.int64(...)");
  }
  context_.builder.at(node.loc());
  return make_expression(context_.builder, constant);
}

void WarpExpressionParser::collect_and_and_xor(SyntaxNode node, std::vector<ExprId>& operands,
                                               std::vector<std::string_view>& symbols) {
  if (!is_and_or_xor(node)) {
    operands.push_back(value(node));
    return;
  }
  collect_and_and_xor(node.part(SyntaxField::kLeft), operands, symbols);
  symbols.push_back(node.part(SyntaxField::kOperator).text());
  collect_and_and_xor(node.part(SyntaxField::kRight), operands, symbols);
}

/// In the grammar ^ binds tighter than &; in Python it is the other way round.
ExprId WarpExpressionParser::and_and_xor(SyntaxNode node) {
  std::vector<ExprId> operands;
  std::vector<std::string_view> symbols;
  collect_and_and_xor(node, operands, symbols);
  ExprId result = kNone;
  for (std::size_t i = 0; i < operands.size();) {
    ExprId product = operands[i];
    for (++i; i < operands.size() && symbols[i - 1] == "&"; ++i)
      product = binary(node, "&", product, operands[i]);
    const bool is_first = result == kNone;
    if (product == kNone) return kNone;
    result = is_first ? product : binary(node, "^", result, product);
    if (result == kNone) return kNone;
  }
  return result;
}

/// Whether x in x.y.z is a variable of the function.
bool WarpExpressionParser::is_of_variable(SyntaxNode attribute) const {
  SyntaxNode root = attribute;
  while (root.is(SyntaxKind::kAttribute))
    root = root.part(SyntaxField::kObject);
  return root.is(SyntaxKind::kIdentifier) &&
         (context_.bindings.find(root.text()) != kNone || context_.data_flow.assignments(root.text()) > 0);
}

std::optional<Constant> WarpExpressionParser::literal(SyntaxNode node) const {
  if (node.is(SyntaxKind::kParenthesized) && node.children().size() == 1) return literal(node.children()[0]);
  if (node.is(SyntaxKind::kUnary) && node.part(SyntaxField::kOperator).text() == "-") {
    const SyntaxNode operand = node.part(SyntaxField::kArgument);
    const auto number = operand.is(SyntaxKind::kUnary) ? std::nullopt : literal(operand);
    return number ? negate(*number) : std::nullopt;
  }
  if (node.is(SyntaxKind::kAttribute)) return is_of_variable(node) ? std::nullopt : context_.constant(node);
  return literal_constant(node);
}

std::optional<Constant> WarpExpressionParser::known_number(SyntaxNode node) const {
  if (node.is(SyntaxKind::kParenthesized) && node.children().size() == 1) return known_number(node.children()[0]);
  if (node.is(SyntaxKind::kUnary) && node.part(SyntaxField::kOperator).text() == "-") {
    const SyntaxNode operand = node.part(SyntaxField::kArgument);
    const auto number = operand.is(SyntaxKind::kUnary) ? std::nullopt : known_number(operand);
    return number && number->type.is_scalar() ? negate(*number) : std::nullopt;
  }
  if (node.is(SyntaxKind::kIdentifier)) {
    const ir::VarId variable = context_.bindings.find(node.text());
    if (variable != kNone) {
      const auto found = context_.literals_by_variable.find(variable);
      return found == context_.literals_by_variable.end() ? std::nullopt : std::optional(found->second);
    }
    return context_.data_flow.assignments(node.text()) > 0 ? std::nullopt : context_.constant(node);
  }
  const bool is_static =
      node.is(SyntaxKind::kCall) && context_.scope().warp_name(node.part(SyntaxField::kFunction)) == "static";
  return is_static ? context_.constant(node) : literal(node);
}

/// A named constant has the type that an earlier conversion to 64 bits gave it, as in Warp.
ExprId WarpExpressionParser::named_constant(SyntaxNode node, std::string_view name, const Constant& number) {
  const auto retyped = context_.retyped_constant_types_by_name.find(name);
  if (retyped != context_.retyped_constant_types_by_name.end()) return constant(node, number.as(retyped->second));
  context_.used_constants.insert(name);
  return constant(node, number);
}

ExprId WarpExpressionParser::name(SyntaxNode node) {
  const std::string_view text = node.text();
  if (const ir::VarId variable = context_.bindings.find(text); variable != kNone) {
    const auto held = context_.literals_by_variable.find(variable);
    if (held != context_.literals_by_variable.end() && context_.retyped_constant_types_by_name.contains(text)) {
      return named_constant(node, text, held->second);
    }
    if (held != context_.literals_by_variable.end()) context_.used_constants.insert(text);
    // A later random draw in the statement would change it too early.
    const bool is_state =
        !FunctionContext::is_alias(variable) && context_.function.var(variable).type == scalar_type(ir::Scalar::kU32);
    if (is_state) context_.loaded_arrays.push_back(variable);
    return if_assigned(node, read_target(context_, node, name_target(node)));
  }
  if (context_.data_flow.assignments(text) > 0) {
    context_.has_failed = true;  // reported by the data flow analysis
    return kNone;
  }
  if (const auto number = context_.constant(node)) return named_constant(node, text, *number);
  if (const std::string why = context_.scope().reason_unknown(text); !why.empty()) return context_.error(node, why);
  if (context_.scope().type(node).ok()) return context_.error(node, "types cannot be used as values");
  if (!context_.functions(text).empty()) return context_.error(node, "functions cannot be used as values");
  return context_.error(node, "name is not defined");
}

/// The value of a variable or a part of it, with a check that the variable is assigned if it may be unassigned here.
ExprId WarpExpressionParser::if_assigned(SyntaxNode node, ExprId value) {
  SyntaxNode name = node;
  while (name.is(SyntaxKind::kAttribute) || name.is(SyntaxKind::kSubscript))
    name = name.part(name.is(SyntaxKind::kAttribute) ? SyntaxField::kObject : SyntaxField::kValue);
  if (value == kNone || !name.is(SyntaxKind::kIdentifier) || !context_.data_flow.is_unassigned(name)) return value;
  const auto flag = context_.assigned_flags_by_variable.find(context_.bindings.find(name.text()));
  if (flag == context_.assigned_flags_by_variable.end() || !context_.type_of(value).is_value()) return value;
  context_.guarded_reads.insert(name.id());
  ir::Builder& builder = context_.builder;
  builder.at(name.loc());
  const ExprId index = builder.cast(ir::kI32, builder.op(Op::kNot, {builder.var(flag->second.flag_variable)}));
  const ExprId test = builder.op(Op::kEq, {builder.load(flag->second.guard_array, {index}), builder.i32(0)});
  return builder.op(Op::kWhere, {test, value, context_.copy(value)});
}

std::optional<int> WarpExpressionParser::rank_constant(SyntaxNode node) {
  if (!node.is(SyntaxKind::kAttribute) || node.part(SyntaxField::kAttribute).text() != "ndim") return std::nullopt;
  const int rank = array_rank_of(node.part(SyntaxField::kObject));
  return rank > 0 ? std::optional(rank) : std::nullopt;
}

ExprId WarpExpressionParser::unary(SyntaxNode node) {
  const std::string_view symbol = node.part(SyntaxField::kOperator).text();
  // Warp folds the negative of a constant, so that -0.0 stays a negative zero.
  const auto number = known_number(node);
  if (number && symbol == "-" && !number->is_typed) {
    SyntaxNode operand = node.part(SyntaxField::kArgument);
    while (operand.is(SyntaxKind::kParenthesized))
      operand = operand.children()[0];
    const bool is_name = operand.is(SyntaxKind::kIdentifier);
    // Of a variable that holds a literal the negative is the same value with and without folding, except for zero.
    const bool is_zero = number->number().is_real && number->number().real == 0;
    if (!is_name) return constant(node, *number);
    if (is_zero || context_.bindings.find(operand.text()) == kNone)
      return named_constant(node, operand.text(), *number);
  }
  const ExprId operand = value(node.part(SyntaxField::kArgument));
  if (symbol == "+") return operand;
  const auto op = unary_operator(symbol);
  if (!op) return context_.error(node, fmt::format("operator '{}' is not supported by Warp", symbol));
  if (context_.compound_tile(operand)) {
    return map_elements(node, {operand},
                        [&](const std::vector<ExprId>& elements) { return context_.operation(node, *op, elements); });
  }
  const ir::Type type = operand == kNone ? ir::kVoid : context_.type_of(operand);
  if (symbol == "-" && type.is_integer_scalar() && !ir::row(type.scalar).is_signed) {
    context_.builder.at(node.loc());
    return context_.operation(node, Op::kSub, {context_.builder.zero(type), operand});
  }
  return context_.operation(node, *op, {operand});
}

bool WarpExpressionParser::is_any_tile(ExprId value) const {
  return context_.compound_tile(value).has_value() || context_.type_of(value).is_tile();
}

ExprId WarpExpressionParser::binary(SyntaxNode node, std::string_view symbol, ExprId left, ExprId right) {
  if (left == kNone || right == kNone) return kNone;
  if (const auto overloaded = call_operator_function(node, symbol, left, right)) return *overloaded;
  return builtin_binary(node, symbol, left, right);
}

/// The call of a function of the file that has the operator's name in Warp and accepts the operands. As in Warp, such a
/// function replaces the operator in all code that sees it, also in its own body.
std::optional<ExprId> WarpExpressionParser::call_operator_function(SyntaxNode node, std::string_view symbol,
                                                                   ExprId left, ExprId right) {
  const std::string_view name = operator_function_name(symbol);
  if (name.empty() || !context_.defines(name)) return std::nullopt;
  std::vector<CallArgument> operands;
  for (const ExprId operand : {left, right})
    operands.push_back(
        {.spec = {.kind = ArgumentSpec::Kind::kValue, .type = context_.type_of(operand)}, .values = {operand}});
  // Warp takes the first that fits, in the order of the file; generic functions come last.
  const std::vector<SourceFunction*> candidates = context_.functions(name);
  for (const bool generic : {false, true}) {
    for (SourceFunction* candidate : candidates) {
      const bool has_types = candidate->is_generic || candidate->parameter_types.size() >= operands.size();
      const bool is_function = !candidate->is_kernel && candidate->is_generic == generic && has_types;
      const auto matched = is_function ? match_arguments(*candidate, operands, {}) : std::nullopt;
      std::size_t misfit = 0;
      if (matched && takes(*candidate, *matched, misfit)) return call_operator(node, candidate, *matched);
    }
  }
  return std::nullopt;
}

ExprId WarpExpressionParser::call_operator(SyntaxNode node, SourceFunction* function,
                                           std::vector<CallArgument> arguments) {
  if (!is_callable(node, function)) return kNone;
  function = specialize(node, function, arguments);
  if (function == nullptr) return kNone;
  const auto fail = [&](std::string_view why) {
    return context_.error(node,
                          fmt::format("in Warp, this operator calls the function '{}' of the file, {}; call it by "
                                      "its name",
                                      function->name, why));
  };
  if (function->has_side_effects) return fail("which changes arrays");
  if (!function->reference_parameters.empty()) return fail("which has a parameter of type wp.ref");
  if (context_.file.module().functions[static_cast<std::size_t>(function->function_index)].results.size() != 1)
    return fail("which does not return one value");
  std::vector<ExprId> values;
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    if (arguments[k].values.empty())
      arguments[k].values.push_back(
          constant(node, function->default_arguments.find(function->parameter_names[k])->second));
    values.insert(values.end(), arguments[k].values.begin(), arguments[k].values.end());
  }
  const HiddenParameters hidden = WarpFileParser::hidden_parameters(*function);
  for (const HiddenParameterEntry& row : kHiddenParameters) {
    if (!hidden[static_cast<std::size_t>(row.parameter)]) continue;
    values.push_back(hidden_parameter(node, row.parameter));
    if (values.back() == kNone) return kNone;
  }
  context_.builder.at(node.loc());
  return context_.builder.call(function->function_index, std::move(values));
}

ExprId WarpExpressionParser::builtin_binary(SyntaxNode node, std::string_view symbol, ExprId left, ExprId right) {
  const auto op = binary_operator(symbol);
  if (!op) return context_.error(node, fmt::format("operator '{}' is not supported", symbol));
  if (context_.compound_tile(left) || context_.compound_tile(right)) {
    const bool scales = symbol == "*" || symbol == "/";
    if (!scales && symbol != "+" && symbol != "-")
      return context_.error(node,
                            "this operator does not support tiles of vectors, matrices or structs, or of more than "
                            "two dimensions");
    const bool are_tiles = is_any_tile(left) && is_any_tile(right);
    if (!are_tiles && !scales) return context_.error(node, "this operator supports two tiles only");
    return map_elements(node, {left, right}, [&](const std::vector<ExprId>& elements) {
      return builtin_binary(node, symbol, elements[0], elements[1]);
    });
  }
  const ir::Type divided = context_.type_of(left);
  const ir::Type divisor = context_.type_of(right);
  if (symbol == "@" && (divided.is_scalar() || divisor.is_scalar())) {
    return context_.error(node, "@ is supported for matrices and vectors only; use *");
  }
  const bool by_components = divisor.is_vector() || divisor.is_matrix();
  if (*op == Op::kDiv && by_components && divided == divisor.component()) {
    // A scalar over a vector or matrix divides component by component.
    const ExprId spread = context_.operation(node, Op::kSplat, {left}, divisor);
    return context_.operation(node, Op::kCwDiv, {spread, right});
  }
  if (*op == Op::kDiv && divisor.is_quaternion() && divided == divisor.component()) {
    std::vector<ExprId> quotients;
    for (int k = 0; k < divisor.components(); ++k) {
      context_.builder.at(node.loc());
      const ExprId whole = k == 0 ? right : context_.copy(right);
      const ExprId component = context_.operation(node, Op::kExtract, {whole, context_.builder.i32(k)});
      quotients.push_back(context_.operation(node, Op::kDiv, {k == 0 ? left : context_.copy(left), component}));
    }
    return context_.operation(node, Op::kMake, quotients, divisor);
  }
  return context_.operation(node, *op, {left, right});
}

ExprId WarpExpressionParser::truth(SyntaxNode node, ExprId value) {
  if (value == kNone) return kNone;
  const ir::Type type = context_.type_of(value);
  if (type.is_bool()) return value;
  if (!type.is_scalar()) {
    return context_.error(node,
                          fmt::format("a value of type {} cannot be used as a condition", context_.type_name(type)));
  }
  if (type.scalar == ir::Scalar::kF16 || type.scalar == ir::Scalar::kBF16) {
    return context_.error(node, fmt::format("a value of type {} cannot be used as a condition: compare it with "
                                            "another value of that type",
                                            context_.type_name(type)));
  }
  context_.builder.at(node.loc());
  const ExprId zero = context_.builder.zero(type);
  return context_.operation(node, Op::kNe, {value, zero});
}

/// An array or array slice is true if it has elements. An absent array, None in Python, has none.
ExprId WarpExpressionParser::presence(SyntaxNode node) {
  const AssignmentTarget named = place(node);
  if (named.failed() || !named.lacks_indices() || named.type.is_local_array())
    return read_target(context_, node, named);
  if (named.is_indexed_array()) return context_.error(node, "indexed arrays cannot be used as conditions");
  ExprId result = kNone;
  for (int d = 0; d < context_.function.var(named.variable).type.rank; ++d) {
    context_.builder.at(node.loc());
    const ExprId extent = context_.builder.shape_of(named.variable, d);
    const ExprId test = context_.operation(node, Op::kGt, {extent, context_.builder.i32(0)});
    result = d == 0 ? test : context_.operation(node, Op::kAnd, {result, test});
  }
  return result;
}

ExprId WarpExpressionParser::condition(SyntaxNode node) {
  note_whole_condition(node);
  return is_array_expression(node) ? presence(node) : truth(node, value(node));
}

ExprId WarpExpressionParser::choice_condition(SyntaxNode node) {
  if (is_array_expression(node)) return presence(node);
  const ExprId test = value(node);
  if (test != kNone && context_.type_of(test).is_float_scalar()) {
    return context_.error(node, fmt::format("condition must be a bool or an integer, got {}: compare it with 0.0",
                                            context_.type_name(context_.type_of(test))));
  }
  return truth(node, test);
}

ExprId WarpExpressionParser::lazy_condition(SyntaxNode node) {
  const bool before = std::exchange(context_.may_hoist, false);
  const ExprId result = condition(node);
  context_.may_hoist = before;
  return result;
}

ExprId WarpExpressionParser::lazy_value(SyntaxNode node) {
  const bool before = std::exchange(context_.may_hoist, false);
  const ExprId result = value(node);
  context_.may_hoist = before;
  return result;
}

ExprId WarpExpressionParser::boolean(SyntaxNode node) {
  const SyntaxNode second = node.part(SyntaxField::kRight);
  const std::size_t loads_before = context_.loaded_arrays.size();
  const ExprId left = condition(node.part(SyntaxField::kLeft));
  if (context_.may_hoist && needs_statements(second)) {
    context_.loaded_arrays.resize(loads_before);
    return boolean_statement(node, left);
  }
  const ExprId right = lazy_condition(second);
  const auto op = binary_operator(node.part(SyntaxField::kOperator).text());
  return context_.operation(node, op.value(), {left, right});
}

/// `and` or `or` whose right side has effects: an if statement that evaluates it where needed.
ExprId WarpExpressionParser::boolean_statement(SyntaxNode node, ExprId left) {
  if (left == kNone) return kNone;
  context_.builder.at(node.loc());
  const ir::VarId test = context_.builder.let("test", left);
  const bool is_and = binary_operator(node.part(SyntaxField::kOperator).text()) == Op::kAnd;
  ExprId needed = context_.builder.var(test);
  if (!is_and) needed = context_.operation(node, Op::kNot, {needed});
  const std::size_t loads_before = context_.loaded_arrays.size();
  ExprId right = kNone;
  context_.builder.if_(needed, [&] {
    right = condition(node.part(SyntaxField::kRight));
    context_.builder.at(node.loc());
    if (right != kNone) context_.builder.assign(test, right);
  });
  context_.loaded_arrays.resize(loads_before);
  context_.builder.at(node.loc());
  return right == kNone ? kNone : context_.builder.var(test);
}

ExprId WarpExpressionParser::compare(SyntaxNode node, std::string_view symbol, ExprId left, ExprId right) {
  if (left == kNone || right == kNone) return kNone;
  const auto op = binary_operator(symbol);
  if (!op) return context_.error(node, fmt::format("operator '{}' is not supported", symbol));
  const ir::Type a = context_.type_of(left);
  const ir::Type b = context_.type_of(right);
  const auto is_half = [](ir::Type type) {
    return type.is_scalar() && (type.scalar == ir::Scalar::kF16 || type.scalar == ir::Scalar::kBF16);
  };
  if (a != b && a.is_scalar() && b.is_scalar()) {
    if (is_half(a) || is_half(b)) {
      return context_.error(node,
                            fmt::format("Warp does not compile a comparison of {} with {}; convert one of them, as "
                                        "in float(x) > 0.5",
                                        context_.type_name(a), context_.type_name(b)));
    }
    // Warp compares numbers of different types as C does.
    const ir::Type common = comparison_type(a, b);
    context_.builder.at(node.loc());
    if (a != common) left = context_.builder.cast(common, left);
    if (b != common) right = context_.builder.cast(common, right);
  }
  const bool has_parts = a == b && a.is_aggregate();
  return has_parts ? equal_parts(node, *op, left, right) : context_.operation(node, *op, {left, right});
}

/// Whether all components are equal. Warp cannot compile other comparisons of vectors.
ExprId WarpExpressionParser::equal_parts(SyntaxNode node, Op op, ExprId left, ExprId right) {
  const ir::Type type = context_.type_of(left);
  if (op != Op::kEq) {
    return context_.error(node, fmt::format("Warp does not compile this comparison of {} values; use not (a == b)",
                                            context_.type_name(type)));
  }
  context_.builder.at(node.loc());
  const auto part = [&](ExprId whole, int k) {
    return ir::algebra::component({&context_.builder, k == 0 ? whole : context_.copy(whole)}, k).id;
  };
  ExprId result = kNone;
  for (int k = 0; k < type.components(); ++k) {
    const ExprId first = part(left, k);
    const ExprId test = context_.builder.op(op, {first, part(right, k)});
    result = k == 0 ? test : context_.builder.op(Op::kAnd, {result, test});
  }
  return result;
}

/// Whether Warp evaluates the node, whose value is `value`, to a reference: to an element of an array, to a field of a
/// struct, or to a name that a multiple assignment made a reference to one of these.
bool WarpExpressionParser::is_reference(SyntaxNode node, ExprId value) const {
  while (node.is(SyntaxKind::kParenthesized) && node.children().size() == 1)
    node = node.children()[0];
  const ir::Expr* expr = &context_.function.expr(value);
  // A variable that may be unassigned is read under a condition.
  if (expr->kind == ir::ExprKind::kOperation && expr->op == Op::kWhere) expr = &context_.function.expr(expr->args[1]);
  if (node.is(SyntaxKind::kIdentifier)) {
    if (expr->kind != ir::ExprKind::kVariable) return false;
    const ir::VarId variable = expr->variable;
    return std::ranges::find(context_.references, variable) != context_.references.end() ||
           std::ranges::any_of(context_.name_assignments, [&](const auto& entry) {
             return std::get<0>(entry.first) == variable && entry.second.is_part;
           });
  }
  if (node.is(SyntaxKind::kAttribute))  // a field of a struct with arrays is a variable
    return expr->kind == ir::ExprKind::kField || expr->kind == ir::ExprKind::kVariable;
  if (!node.is(SyntaxKind::kSubscript) || expr->kind != ir::ExprKind::kLoad) return false;
  const ir::VarId array = context_.function.expr(expr->args[0]).variable;
  return !context_.compound_tiles.contains(array) && !context_.function.var(array).replaces_tile;
}

ExprId WarpExpressionParser::comparison(SyntaxNode node) {
  const std::span<const SyntaxNode> tokens = node.tokens();
  if (tokens.size() % 2 == 0) return context_.error(node, "this form of comparison is not supported");
  ExprId result = kNone;
  ExprId left = value(tokens[0]);
  for (std::size_t i = 1; i + 1 < tokens.size(); i += 2) {
    const bool has_next = i + 3 < tokens.size();
    // Warp evaluates all operands; where no effects show it, only the needed ones are evaluated here.
    const bool is_lazy = i > 1 && !needs_statements(tokens[i + 1]);
    const ExprId right = is_lazy ? lazy_value(tokens[i + 1]) : value(tokens[i + 1]);
    if (left == kNone || right == kNone) return kNone;
    if (tokens.size() > 3 && context_.type_of(left) != context_.type_of(right)) {
      return context_.error(
          node, fmt::format("chained comparisons must compare values of the same type, got {} and {}",
                            context_.type_name(context_.type_of(left)), context_.type_name(context_.type_of(right))));
    }
    if (i > 1 && is_reference(tokens[i + 1], right)) {
      return context_.error(tokens[i + 1],
                            "Warp does not compile a chained comparison whose last operands are array elements or "
                            "fields; assign the value to a variable before");
    }
    const ExprId next = has_next ? context_.copy(right) : kNone;
    const ExprId test = compare(node, tokens[i].text(), left, right);
    result = i == 1 ? test : context_.operation(node, Op::kAnd, {result, test});
    left = next;
  }
  return result;
}

ExprId WarpExpressionParser::conditional(SyntaxNode node) {
  const auto parts = node.children();
  if (parts.size() != 3) return context_.error(node, "this form of conditional expression is not supported");
  const std::size_t loads_before = context_.loaded_arrays.size();
  const ExprId test = choice_condition(parts[1]);
  if (context_.may_hoist && (needs_statements(parts[0]) || needs_statements(parts[2]))) {
    context_.loaded_arrays.resize(loads_before);
    return conditional_statement(node, test);
  }
  const ExprId if_true = lazy_value(parts[0]);
  const ExprId if_false = lazy_value(parts[2]);
  return context_.operation(node, Op::kConditional, {test, if_true, if_false});
}

/// A conditional expression with effects: an if statement that assigns one of the values to a variable.
ExprId WarpExpressionParser::conditional_statement(SyntaxNode node, ExprId test) {
  if (test == kNone) return kNone;
  const auto parts = node.children();
  const std::size_t loads_before = context_.loaded_arrays.size();
  ir::VarId chosen = kNone;
  const auto choose = [&](SyntaxNode choice) {
    context_.loaded_arrays.resize(loads_before);
    const ExprId result = value(choice);
    if (result == kNone) return false;
    context_.builder.at(choice.loc());
    if (chosen == kNone) chosen = context_.builder.declare("chosen", context_.type_of(result));
    const ir::Type wanted = context_.function.var(chosen).type;
    if (context_.type_of(result) != wanted) {
      context_.error(node, fmt::format("both values of a conditional expression must have the same type, got {} and {}",
                                       context_.type_name(wanted), context_.type_name(context_.type_of(result))));
      return false;
    }
    context_.builder.assign(chosen, result);
    return true;
  };
  bool sound = true;
  ir::If branches{.condition = test, .then_block = {}, .else_block = {}};
  branches.then_block = context_.builder.block([&] { sound = choose(parts[0]); });
  branches.else_block = context_.builder.block([&] { sound = sound && choose(parts[2]); });
  context_.loaded_arrays.resize(loads_before);
  if (!sound) return kNone;
  context_.builder.at(node.loc());
  const ir::Type type = context_.function.var(chosen).type;
  const ExprId zero = type.is_scalar() ? context_.builder.zero(type) : kNone;
  context_.builder.append({.node = ir::Let{chosen, zero}, .loc = node.loc()});
  context_.builder.append({.node = std::move(branches), .loc = node.loc()});
  return context_.builder.var(chosen);
}

}  // namespace assay::frontend
