#include "frontend/warp/parse/statement_parser.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace assay::frontend {

using ir::ExprId;
using ir::kNone;

namespace {

/// Why a call of this function of Warp is left out; empty if it is not.
std::string_view why_left_out(std::string_view function) {
  if (function == "print" || function == "printf") return "is left out: printing is not part of what a kernel computes";
  if (function == "expect_eq" || function == "expect_neq" || function == "expect_near")
    return "is left out: Warp prints what is not as expected, and computes nothing";
  return {};
}

bool ends_block(Node statement) {
  return statement.is(Syntax::kReturn) || statement.is(Syntax::kBreak) || statement.is(Syntax::kContinue);
}

}  // namespace

void StatementReader::body(Node block) {
  context_.bindings.enter(block);
  statements(block);
  context_.bindings.leave();
}

void StatementReader::statements(Node block) {
  const auto all = block.children();
  for (std::size_t i = 0; i < all.size(); ++i) {
    context_.loads.clear();
    statement(all[i]);
    if (ends_block(all[i]) && i + 1 < all.size()) {
      context_.note(all[i + 1], "is never reached and left out");
      return;
    }
  }
}

void StatementReader::statement(Node node) {
  switch (node.kind()) {
    case Syntax::kExpressionStatement: return expression_statement(node);
    case Syntax::kIf: return if_statement(node);
    case Syntax::kFor: return for_statement(node);
    case Syntax::kWhile: return while_statement(node);
    case Syntax::kReturn: return return_statement(node);
    case Syntax::kPass: return;
    case Syntax::kBreak: return append(node, ir::Break{});
    case Syntax::kContinue: return append(node, ir::Continue{});
    default: break;
  }
  if (node.grammar_name() == "assert_statement") {
    context_.note(node, "is left out: Warp checks it in debug builds only");
    effects_of(node.children());
  } else {
    context_.error(node, fmt::format("Warp kernels have no such statement ({})", node.grammar_name()));
  }
}

void StatementReader::expression_statement(Node node) {
  const auto parts = node.children();
  if (parts.size() != 1) {
    context_.error(node, "an expression without use");
    return;
  }
  const Node part = parts[0];
  switch (part.kind()) {
    case Syntax::kAssignment: return assignment(part);
    case Syntax::kAugmentedAssignment: return augmented_assignment(part);
    case Syntax::kCall: return call_statement(part);
    case Syntax::kString: return;  // a docstring
    default: expressions_.value(part);
  }
}

void StatementReader::call_statement(Node call) {
  if (const auto op = expressions_.atomic(call)) {
    expressions_.atomic_call(call, *op, "");
    return;
  }
  if (expressions_.is_file_function(call)) {
    const ResolvedCall resolved = expressions_.resolve(call);
    if (resolved.callee == nullptr) return;
    const auto& results = context_.file.module().functions[static_cast<std::size_t>(resolved.callee->index)].results;
    context_.builder.at(call.loc());
    context_.builder.call_statement(resolved.callee->index, resolved.arguments,
                                    std::vector<std::string>(results.size(), "unused"));
    return;
  }
  const std::string name = expressions_.warp_function_name(call);
  if (const std::string_view why = why_left_out(name); !why.empty()) {
    context_.note(call, std::string(why));
    return effects_of(call.part(Part::kArguments).children());
  }
  if (name.starts_with("tile_") && expressions_.tile_statement(call, name)) return;
  if (name == "transform_set_translation" || name == "transform_set_rotation") return set_part(call, name);
  expressions_.value(call);
}

/// Reads what the arguments of a statement that is left out do besides having a value.
void StatementReader::effects_of(std::span<const Node> arguments) {
  for (const Node argument : arguments)
    if (expressions_.has_effects(argument) || draws(argument)) expressions_.value(argument);
}

/// Whether a random number is drawn in the expression, which changes the variable that holds the generator's state.
bool StatementReader::draws(Node expression) const {
  if (expression.is(Syntax::kCall) && is_random_function(expressions_.warp_function_name(expression))) return true;
  return std::ranges::any_of(expression.children(), [this](Node child) { return draws(child); });
}

/// wp.transform_set_translation(x, p) and its like change the variable x.
void StatementReader::set_part(Node call, std::string_view name) {
  const Arguments arguments = arguments_of(call);
  if (arguments.positional.size() != 2 || !arguments.keyword.empty() || arguments.has_star) {
    context_.error(call, "takes a transform and its new part by position");
    return;
  }
  const Place whole = expressions_.place(arguments.positional[0]);
  if (whole.failed()) return;
  if (whole.root != Place::Root::kVariable || !whole.path.empty() || !whole.type.is_transform()) {
    context_.error(call, "changes a variable that is a transform");
    return;
  }
  const Place part = ExpressionReader::transform_part(whole, name == "transform_set_translation");
  const ExprId value = expressions_.value(arguments.positional[1]);
  if (value == ir::kNone) return;
  if (context_.type_of(value) != part.type) {
    context_.error(call, fmt::format("the part is {}, got {}", context_.type_name(part.type),
                                     context_.type_name(context_.type_of(value))));
    return;
  }
  write_place(context_, call, part, value);
}

// ---- blocks

ir::Block StatementReader::nested(Node block, const std::function<void()>& before) {
  return context_.builder.block([&] {
    context_.bindings.enter(block);
    if (before) before();
    statements(block);
    context_.bindings.leave();
  });
}

void StatementReader::declare_pending(Node node) {
  for (const ir::VarId variable : context_.bindings.take_undeclared()) {
    // As what is written of it reads: a scalar that starts as zero says so.
    const ir::Type type = context_.function.var(variable).type;
    context_.builder.at(node.loc());
    const ExprId zero = type.is_scalar() ? context_.builder.zero(type) : kNone;
    context_.builder.append({.node = ir::Let{variable, zero}, .loc = node.loc()});
  }
}

template <class Statement>
void StatementReader::append(Node node, Statement statement) {
  declare_pending(node);
  context_.builder.append({.node = std::move(statement), .loc = node.loc()});
}

/// The block of an `if wp.static(...)` that Warp compiles; it drops the others. Null where it drops all.
Node StatementReader::static_branch(Node node, bool& is_static) const {
  const auto decided = [&](Node test) -> std::optional<bool> {
    if (!test.is(Syntax::kCall) || context_.scope().warp_name(test.part(Part::kFunction)) != "static") return {};
    const auto value = context_.scope().constant(test);
    if (!value || !value->type.is_scalar()) return {};
    return value->number().is_real ? value->number().real != 0 : value->number().integer != 0;
  };
  const auto first = decided(node.part(Part::kCondition));
  is_static = first.has_value();
  if (!is_static || *first) return node.part(Part::kConsequence);
  for (const Node clause : node.children()) {
    if (clause.is(Syntax::kElse)) return clause.part(Part::kBody);
    if (!clause.is(Syntax::kElif)) continue;
    const auto other = decided(clause.part(Part::kCondition));
    is_static = other.has_value();
    if (!is_static || *other) return clause.part(Part::kConsequence);
  }
  return {};
}

void StatementReader::if_statement(Node node) {
  bool is_static = false;
  if (const Node taken = static_branch(node, is_static); is_static) {
    if (taken) append(node, ir::If{context_.builder.boolean(true), nested(taken), {}});
    return;
  }
  std::vector<Node> clauses;
  for (const Node child : node.children()) {
    if (child.is(Syntax::kElif) || child.is(Syntax::kElse)) clauses.push_back(child);
  }
  const ExprId condition = expressions_.condition(node.part(Part::kCondition));
  ir::If result{.condition = condition, .then_block = nested(node.part(Part::kConsequence)), .else_block = {}};
  result.else_block = context_.builder.block([&] { alternative(clauses, 0); });
  append(node, std::move(result));
}

/// The elif and else clauses from number `first` on, as the statements of an else block.
void StatementReader::alternative(std::span<const Node> clauses, std::size_t first) {
  if (first == clauses.size()) return;
  const Node clause = clauses[first];
  if (clause.is(Syntax::kElse)) {
    context_.bindings.enter(clause.part(Part::kBody));
    statements(clause.part(Part::kBody));
    context_.bindings.leave();
    return;
  }
  context_.loads.clear();
  const ExprId condition = expressions_.condition(clause.part(Part::kCondition));
  ir::If result{.condition = condition, .then_block = nested(clause.part(Part::kConsequence)), .else_block = {}};
  result.else_block = context_.builder.block([&] { alternative(clauses, first + 1); });
  context_.builder.append({.node = std::move(result), .loc = clause.loc()});
}

/// Whether Warp unrolls the loop: its bounds are numbers and it runs at most 16 times.
bool StatementReader::is_unrolled(const ir::For& loop) const {
  std::int64_t bounds[3];
  for (int i = 0; i < 3; ++i) {
    const ExprId bound = i == 0 ? loop.start : i == 1 ? loop.stop : loop.step;
    if (bound == kNone || context_.function.expr(bound).kind != ir::ExprKind::kLiteral) return false;
    bounds[i] = static_cast<std::int64_t>(context_.function.expr(bound).bits);
  }
  const auto [start, stop, step] = bounds;
  return step != 0 && (stop - start) / step <= 16;
}

void StatementReader::for_statement(Node node) {
  const Node target = node.part(Part::kLeft);
  const Node range = node.part(Part::kRight);
  if (node.part(Part::kAlternative)) {
    context_.error(node.part(Part::kAlternative), "a loop has no else here");
    return;
  }
  if (!target.is(Syntax::kIdentifier) || !range.is(Syntax::kCall) ||
      expressions_.warp_function_name(range) != "range") {
    context_.error(range, "a loop runs over range(...) with one variable");
    return;
  }
  const Arguments arguments = arguments_of(range);
  const auto& given = arguments.positional;
  if (given.empty() || given.size() > 3 || !arguments.keyword.empty() || arguments.has_star) {
    context_.error(range, "range takes 1 to 3 values by position");
    return;
  }
  if (context_.bindings.find(target.text()) != kNone) {
    context_.error(target, "the loop's variable has a meaning around the loop already: give it a name of its own");
    return;
  }
  std::vector<ExprId> bounds;
  bool sound = true;
  for (const Node bound : given) {
    bounds.push_back(expressions_.value(bound));
    if (bounds.back() == kNone) {
      sound = false;
    } else if (context_.type_of(bounds.back()) != ir::kI32) {
      context_.error(
          bound, fmt::format("range takes int32 values, got {}", context_.type_name(context_.type_of(bounds.back()))));
      sound = false;
    }
  }
  if (const auto step = given.size() == 3 ? context_.scope().constant(given[2]) : std::nullopt;
      step && step->number().integer == 0) {
    context_.error(given[2], "the step of a range is not zero");
  }
  context_.builder.at(node.loc());
  ir::For loop;
  loop.start = given.size() == 1 ? context_.builder.i32(0) : bounds[0];
  loop.stop = given.size() == 1 ? bounds[0] : bounds[1];
  loop.step = given.size() == 3 ? bounds[2] : context_.builder.i32(1);
  context_.builder.at(target.loc());
  loop.variable = context_.builder.declare(std::string(target.text()), ir::kI32);
  const Node body = node.part(Part::kBody);
  const int unrolled = is_unrolled(loop) ? 0 : 1;
  dynamic_loops_ += unrolled;
  loop.body = nested(body, [&] {
    ir::VarId variable = loop.variable;
    if (context_.flow.assigned_in(body, target.text())) {
      // The loop's own count goes on unchanged, as in Python.
      context_.builder.at(target.loc());
      variable = context_.builder.let(std::string(target.text()), context_.builder.var(variable));
    }
    context_.bindings.bind(target.text(), variable);
  });
  dynamic_loops_ -= unrolled;
  if (sound) append(node, std::move(loop));
}

void StatementReader::while_statement(Node node) {
  if (node.part(Part::kAlternative)) {
    context_.error(node.part(Part::kAlternative), "a loop has no else here");
    return;
  }
  ir::While loop{.condition = expressions_.lazy_condition(node.part(Part::kCondition)), .body = {}};
  ++dynamic_loops_;
  loop.body = nested(node.part(Part::kBody));
  --dynamic_loops_;
  append(node, std::move(loop));
}

void StatementReader::return_statement(Node node) {
  std::span<const Node> parts = node.children();
  if (parts.size() == 1 && (parts[0].is(Syntax::kExpressionList) || parts[0].is(Syntax::kTuple))) {
    parts = parts[0].children();
  }
  if (parts.size() == 1 && parts[0].is(Syntax::kNone)) parts = {};
  if (context_.entry.is_kernel && !parts.empty()) {
    context_.error(node, "a kernel returns nothing: write results to arrays");
    return;
  }
  if (context_.entry.gradient_of != nullptr) {
    if (!parts.empty()) {
      context_.error(node, "a gradient returns nothing: it adds to wp.adjoint[...]");
      return;
    }
    context_.builder.at(node.loc());
    return append(node, ir::Return{context_.adjoint_values()});
  }
  std::vector<ExprId> values;
  std::vector<ir::Type> types;
  for (const Node part : parts) {
    values.push_back(expressions_.value(part));
    if (values.back() == kNone) return;
    types.push_back(context_.type_of(values.back()));
  }
  if (!context_.entry.is_kernel) {
    if (!context_.has_results) {
      context_.function.results = types;
      context_.has_results = true;
    } else if (context_.function.results != types) {
      context_.error(node, "returns other types than the return before it");
      return;
    }
  }
  append(node, ir::Return{std::move(values)});
}

}  // namespace assay::frontend
