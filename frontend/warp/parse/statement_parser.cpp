#include "frontend/warp/parse/statement_parser.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "ir/library.hpp"

namespace assay::frontend {

using ir::ExprId;
using ir::kNone;

namespace {

/// Why a call of this Warp function is ignored; empty if it is not.
std::string_view why_left_out(std::string_view function) {
  if (function == "print" || function == "printf") return "ignored: printing does not affect the results of a kernel";
  if (function == "expect_eq" || function == "expect_neq" || function == "expect_near")
    return "ignored: Warp only prints a message if the check fails";
  return {};
}

bool ends_block(SyntaxNode statement) {
  return statement.is(SyntaxKind::kReturn) || statement.is(SyntaxKind::kBreak) || statement.is(SyntaxKind::kContinue);
}

}  // namespace

void WarpStatementParser::body(SyntaxNode block) {
  context_.bindings.enter(block);
  statements(block);
  context_.bindings.leave();
}

void WarpStatementParser::statements(SyntaxNode block) {
  const auto all = block.children();
  for (std::size_t i = 0; i < all.size(); ++i) {
    context_.loaded_arrays.clear();
    statement(all[i]);
    if (ends_block(all[i]) && i + 1 < all.size()) {
      context_.note(all[i + 1], "ignored: unreachable statement");
      return;
    }
  }
}

void WarpStatementParser::statement(SyntaxNode node) {
  switch (node.kind()) {
    case SyntaxKind::kExpressionStatement: return expression_statement(node);
    case SyntaxKind::kIf: return if_statement(node);
    case SyntaxKind::kFor: return for_statement(node);
    case SyntaxKind::kWhile: return while_statement(node);
    case SyntaxKind::kReturn: return return_statement(node);
    case SyntaxKind::kPass: return;
    case SyntaxKind::kBreak: return append(node, ir::Break{});
    case SyntaxKind::kContinue: return append(node, ir::Continue{});
    default: break;
  }
  if (node.grammar_name() == "function_definition" || node.grammar_name() == "decorated_definition") {
    context_.error(node,
                   "Warp does not support functions inside kernels and functions; define the function at module level "
                   "with @wp.func");
  } else if (node.grammar_name() == "assert_statement") {
    context_.note(node, "ignored: Warp checks assertions in debug builds only");
    effects_of(node.children());
  } else {
    context_.error(node, fmt::format("statement is not supported in kernels ({})", node.grammar_name()));
  }
}

void WarpStatementParser::expression_statement(SyntaxNode node) {
  const auto parts = node.children();
  if (parts.size() != 1) {
    context_.error(node, "expression has no effect");
    return;
  }
  const SyntaxNode part = parts[0];
  switch (part.kind()) {
    case SyntaxKind::kAssignment: return assignment(part);
    case SyntaxKind::kAugmentedAssignment: return augmented_assignment(part);
    case SyntaxKind::kCall: return call_statement(part);
    case SyntaxKind::kString: return;  // a docstring
    default: expressions_.value(part);
  }
}

void WarpStatementParser::call_statement(SyntaxNode call) {
  if (const auto op = expressions_.atomic(call)) {
    expressions_.atomic_call(call, *op, "");
    return;
  }
  if (expressions_.is_file_function(call)) {
    context_.whole_value = call.id();
    const ResolvedCall resolved = expressions_.resolve(call);
    if (resolved.callee == nullptr) return;
    expressions_.run(call, resolved, std::vector<std::string>(expressions_.returned_types(resolved).size(), "unused"));
    return;
  }
  const std::string name = expressions_.warp_function_name(call);
  if (name == "print" && !can_print(call)) return;
  if (const std::string_view why = why_left_out(name); !why.empty()) {
    context_.note(call, std::string(why));
    return effects_of(call.part(SyntaxField::kArguments).children());
  }
  if (name.starts_with("tile_") && expressions_.tile_statement(call, name)) return;
  if (returns_in_arguments(call, name)) return assign_results_in_arguments(call, name);
  if (name == "transform_set_translation" || name == "transform_set_rotation") return set_part(call, name);
  context_.whole_value = call.id();
  expressions_.value(call);
}

/// Whether Warp compiles the call of print; reports an error if not.
bool WarpStatementParser::can_print(SyntaxNode call) {
  const CallArguments arguments = arguments_of(call);
  const bool is_single = arguments.positional_arguments.size() == 1 && arguments.keyword_arguments.empty();
  if (!is_single) {
    context_.error(call, "in Warp, print takes one argument; use wp.printf for several values");
    return false;
  }
  const SyntaxNode printed = arguments.positional_arguments[0];
  const std::string_view text = printed.text();
  const std::string_view prefix = text.substr(0, text.find_first_of("'\""));
  const bool is_formatted = printed.is(SyntaxKind::kString) && prefix.find_first_of("fF") != prefix.npos;
  if (is_formatted) context_.error(printed, "Warp does not support f-strings in kernels; use wp.printf");
  return !is_formatted;
}

/// Parses only the side effects of the arguments of an ignored statement.
void WarpStatementParser::effects_of(std::span<const SyntaxNode> arguments) {
  for (const SyntaxNode argument : arguments)
    if (expressions_.needs_statements(argument)) expressions_.value(argument);
}

/// Whether the arguments after the first one receive the results, as in wp.qr3(A, Q, R).
bool WarpStatementParser::returns_in_arguments(SyntaxNode call, std::string_view name) {
  const std::size_t count = arguments_of(call).positional_arguments.size();
  if (name == "qr3" || name == "quat_to_axis_angle") return count == 3;
  return name == "svd2" && count == 4;
}

void WarpStatementParser::assign_results_in_arguments(SyntaxNode call, std::string_view name) {
  const auto given = arguments_of(call).positional_arguments;
  const ExprId operand = expressions_.value(given[0]);
  if (operand == kNone) return;
  const ir::Type type = context_.type_of(operand);
  const auto function = ir::library_function(context_.file.module(), name, {&type, 1});
  if (!function.ok()) {
    context_.error(call, function.error().message);
    return;
  }
  context_.builder.at(call.loc());
  const std::vector<ir::VarId> results =
      context_.builder.call_statement(*function, {operand}, std::vector<std::string>(given.size() - 1, "result"));
  for (std::size_t i = 0; i < results.size(); ++i) {
    const SyntaxNode node = given[i + 1];
    const AssignmentTarget target = expressions_.place(node);
    if (target.failed()) return;
    const ir::Type result = context_.function.var(results[i]).type;
    if (target.type != result || target.is_slice()) {
      context_.error(node, fmt::format("expected a place of type {} for the result, got {}", context_.type_name(result),
                                       context_.type_name(target.type)));
      return;
    }
    context_.builder.at(node.loc());
    write_target(context_, node, target, context_.builder.var(results[i]));
  }
}

/// wp.transform_set_translation(x, p) and wp.transform_set_rotation(x, q) change the variable x.
void WarpStatementParser::set_part(SyntaxNode call, std::string_view name) {
  const CallArguments arguments = arguments_of(call);
  if (arguments.positional_arguments.size() != 2 || !arguments.keyword_arguments.empty() ||
      arguments.has_star_argument) {
    context_.error(call, "expected two positional arguments: a transform and its new translation or rotation");
    return;
  }
  const AssignmentTarget whole = expressions_.place(arguments.positional_arguments[0]);
  if (whole.failed()) return;
  if (whole.root_kind != AssignmentTarget::RootKind::kVariable || !whole.accessors.empty() ||
      !whole.type.is_transform()) {
    context_.error(call, "first argument must be a transform variable");
    return;
  }
  const AssignmentTarget part = WarpExpressionParser::transform_part(whole, name == "transform_set_translation");
  const ExprId value = expressions_.value(arguments.positional_arguments[1]);
  if (value == ir::kNone) return;
  if (context_.type_of(value) != part.type) {
    context_.error(call, fmt::format("the new translation or rotation must be {}, got {}",
                                     context_.type_name(part.type), context_.type_name(context_.type_of(value))));
    return;
  }
  write_target(context_, call, part, value);
}

// ---- blocks

ir::Block WarpStatementParser::nested(SyntaxNode block, const std::function<void()>& before) {
  return context_.builder.block([&] {
    context_.bindings.enter(block);
    if (before) before();
    statements(block);
    context_.bindings.leave();
  });
}

void WarpStatementParser::declare_pending(SyntaxNode node) {
  for (const ir::VarId variable : context_.bindings.take_undeclared()) {
    // As the writer spells it: a scalar initialized with zero.
    const ir::Type type = context_.function.var(variable).type;
    context_.builder.at(node.loc());
    const ExprId zero = type.is_scalar() ? context_.builder.zero(type) : kNone;
    context_.builder.append({.node = ir::Let{variable, zero}, .loc = node.loc()});
  }
}

/// The branch of an `if wp.static(...)` that Warp compiles, dropping the others. Null if it drops all.
SyntaxNode WarpStatementParser::static_branch(SyntaxNode node, bool& is_static) const {
  const auto decided = [&](SyntaxNode test) -> std::optional<bool> {
    if (!test.is(SyntaxKind::kCall) || context_.scope().warp_name(test.part(SyntaxField::kFunction)) != "static")
      return {};
    const auto value = context_.constant(test);
    if (!value || !value->type.is_scalar()) return {};
    return value->number().is_real ? value->number().real != 0 : value->number().integer != 0;
  };
  const auto first = decided(node.part(SyntaxField::kCondition));
  is_static = first.has_value();
  if (!is_static || *first) return node.part(SyntaxField::kConsequence);
  for (const SyntaxNode clause : node.children()) {
    if (clause.is(SyntaxKind::kElse)) return clause.part(SyntaxField::kBody);
    if (!clause.is(SyntaxKind::kElif)) continue;
    const auto other = decided(clause.part(SyntaxField::kCondition));
    is_static = other.has_value();
    if (!is_static || *other) return clause.part(SyntaxField::kConsequence);
  }
  return {};
}

void WarpStatementParser::if_statement(SyntaxNode node) {
  bool is_static = false;
  if (const SyntaxNode taken = static_branch(node, is_static); is_static) {
    if (taken) append(node, ir::If{context_.builder.boolean(true), nested(taken), {}});
    return;
  }
  std::vector<SyntaxNode> clauses;
  for (const SyntaxNode child : node.children()) {
    if (child.is(SyntaxKind::kElif) || child.is(SyntaxKind::kElse)) clauses.push_back(child);
  }
  const ExprId condition = expressions_.condition(node.part(SyntaxField::kCondition));
  ir::If result{.condition = condition, .then_block = nested(node.part(SyntaxField::kConsequence)), .else_block = {}};
  result.else_block = context_.builder.block([&] { alternative(clauses, 0); });
  append(node, std::move(result));
}

/// The elif and else clauses from index `first` on, as the statements of an else block.
void WarpStatementParser::alternative(std::span<const SyntaxNode> clauses, std::size_t first) {
  if (first == clauses.size()) return;
  const SyntaxNode clause = clauses[first];
  if (clause.is(SyntaxKind::kElse)) {
    context_.bindings.enter(clause.part(SyntaxField::kBody));
    statements(clause.part(SyntaxField::kBody));
    context_.bindings.leave();
    return;
  }
  context_.loaded_arrays.clear();
  const ExprId condition = expressions_.condition(clause.part(SyntaxField::kCondition));
  ir::If result{.condition = condition, .then_block = nested(clause.part(SyntaxField::kConsequence)), .else_block = {}};
  result.else_block = context_.builder.block([&] { alternative(clauses, first + 1); });
  context_.builder.append({.node = std::move(result), .loc = clause.loc()});
}

void WarpStatementParser::return_statement(SyntaxNode node) {
  std::span<const SyntaxNode> parts = node.children();
  if (parts.size() == 1 && (parts[0].is(SyntaxKind::kExpressionList) || parts[0].is(SyntaxKind::kTuple))) {
    parts = parts[0].children();
  }
  if (parts.size() == 1 && parts[0].is(SyntaxKind::kNone)) {
    context_.error(node, "Warp does not support None as a returned value; write return without a value");
    return;
  }
  if (context_.entry.is_kernel && !parts.empty()) {
    context_.error(node, "kernels cannot return values; write results to arrays");
    return;
  }
  if (context_.entry.differentiated_function != nullptr) {
    if (!parts.empty()) {
      context_.error(node, "gradient functions cannot return values; accumulate into wp.adjoint[...]");
      return;
    }
    context_.builder.at(node.loc());
    return append(node, ir::Return{context_.adjoint_values()});
  }
  std::vector<ExprId> values;
  std::vector<ir::Type> types;
  if (parts.size() == 1 && parts[0].is(SyntaxKind::kCall) && expressions_.is_file_function(parts[0])) {
    context_.whole_value = parts[0].id();
    values = expressions_.call_results(parts[0]);
    if (values.empty()) return;
  } else {
    for (const SyntaxNode part : parts) {
      values.push_back(expressions_.value(part));
      if (values.back() == kNone) return;
    }
  }
  for (const ExprId reference : context_.reference_values())
    values.push_back(reference);
  for (const ExprId value : values)
    types.push_back(context_.type_of(value));
  if (!context_.entry.is_kernel) {
    if (!context_.has_results) {
      context_.function.results = types;
      context_.has_results = true;
    } else if (context_.function.results != types) {
      context_.error(node, "return types differ from those of an earlier return");
      return;
    }
  }
  append(node, ir::Return{std::move(values)});
}

}  // namespace assay::frontend
