// The part of WarpStatementParser that parses loops.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "frontend/warp/parse/statement_parser.hpp"

namespace assay::frontend {

using ir::ExprId;
using ir::kNone;

namespace {

/// The most iterations of a loop that is copied once for each value of its variable.
constexpr std::size_t kMostCopies = 256;

/// Whether a name occurs in an expression.
bool mentions(SyntaxNode node, std::string_view name) {
  if (node.is(SyntaxKind::kIdentifier)) return node.text() == name;
  return std::ranges::any_of(node.children(), [&](SyntaxNode child) { return mentions(child, name); });
}

/// Whether a `break` or `continue` in the block leaves the loop around it.
bool jumps(SyntaxNode node) {
  if (node.is(SyntaxKind::kBreak) || node.is(SyntaxKind::kContinue)) return true;
  if (node.is(SyntaxKind::kFor) || node.is(SyntaxKind::kWhile)) return false;
  return std::ranges::any_of(node.children(), jumps);
}

/// Whether a loop in the block has this variable.
bool has_loop_over(SyntaxNode node, std::string_view name) {
  if (node.is(SyntaxKind::kFor) && node.part(SyntaxField::kLeft).text() == name) return true;
  return std::ranges::any_of(node.children(), [&](SyntaxNode child) { return has_loop_over(child, name); });
}

/// Whether a `break` in the block leaves the loop around it.
bool breaks(SyntaxNode node) {
  if (node.is(SyntaxKind::kBreak)) return true;
  if (node.is(SyntaxKind::kFor) || node.is(SyntaxKind::kWhile)) return false;
  return std::ranges::any_of(node.children(), breaks);
}

/// The most iterations of a loop that Warp unrolls, by default.
constexpr std::size_t kMostUnrolled = 16;

/// The start, stop and step of a range if `constant_of` knows each argument, and all are of type i32.
template <class ConstantOf>
std::optional<std::array<std::int64_t, 3>> bounds_of(std::span<const SyntaxNode> given, ConstantOf constant_of) {
  std::vector<std::int64_t> bounds;
  for (const SyntaxNode node : given) {
    const auto bound = constant_of(node);
    if (!bound || bound->type != ir::kI32) return std::nullopt;
    bounds.push_back(bound->number().integer);
  }
  return std::array{bounds.size() == 1 ? 0 : bounds[0], bounds[bounds.size() == 1 ? 0 : 1],
                    bounds.size() == 3 ? bounds[2] : 1};
}

}  // namespace

/// The range of a loop; without arguments after a reported error.
WarpStatementParser::LoopRange WarpStatementParser::range_of(SyntaxNode node) {
  const SyntaxNode target = node.part(SyntaxField::kLeft);
  SyntaxNode range = node.part(SyntaxField::kRight);
  if (node.part(SyntaxField::kAlternative)) {
    context_.error(node.part(SyntaxField::kAlternative), "else clauses of loops are not supported");
    return {};
  }
  const auto is_call_of = [&](std::string_view name) {
    return range.is(SyntaxKind::kCall) && expressions_.warp_function_name(range) == name;
  };
  const bool is_reversed = is_call_of("reversed") && arguments_of(range).positional_arguments.size() == 1;
  if (is_reversed) range = arguments_of(range).positional_arguments[0];
  if (!target.is(SyntaxKind::kIdentifier) || !is_call_of("range")) {
    context_.error(range, "for loops must iterate over range(...) or reversed(range(...)) with one variable");
    return {};
  }
  const CallArguments arguments = arguments_of(range);
  const auto& given = arguments.positional_arguments;
  if (given.empty() || given.size() > 3 || !arguments.keyword_arguments.empty() || arguments.has_star_argument) {
    context_.error(range, "range takes 1 to 3 positional arguments");
    return {};
  }
  const auto step = given.size() == 3 ? context_.static_scope().constant(given[2]) : std::nullopt;
  const auto values = known_range(given);
  const bool has_unit_step = given.size() < 3 || (step && std::abs(step->number().integer) == 1);
  const bool has_zero_step = step && step->number().integer == 0;
  if (has_zero_step) context_.error(given[2], "range step must not be zero");
  if (is_reversed && !has_unit_step && !has_zero_step && (!values || values->empty())) {
    context_.error(given[2],
                   "the step of a reversed range must be 1 or -1, unless the range has constant bounds and is not "
                   "empty: with other steps, Warp 1.18 runs a loop over an empty range once");
    return {};
  }
  return {.arguments = given, .is_reversed = is_reversed};
}

/// Whether wp.static(...) in the node contains the name.
bool WarpStatementParser::is_static_in(SyntaxNode node, std::string_view name) const {
  if (node.is(SyntaxKind::kCall) && context_.scope().warp_name(node.part(SyntaxField::kFunction)) == "static")
    return mentions(node.part(SyntaxField::kArguments), name);
  return std::ranges::any_of(node.children(), [&](SyntaxNode child) { return is_static_in(child, name); });
}

/// The start, stop and step of a range of constants.
std::optional<std::array<std::int64_t, 3>> WarpStatementParser::constant_bounds(
    std::span<const SyntaxNode> given) const {
  return bounds_of(given, [this](SyntaxNode node) { return context_.static_scope().constant(node); });
}

/// The values of the variable of a loop whose range is known; nothing if it is not.
std::optional<std::vector<std::int64_t>> WarpStatementParser::known_range(std::span<const SyntaxNode> given) const {
  const auto bounds = constant_bounds(given);
  if (!bounds) return std::nullopt;
  const auto [start, stop, step] = *bounds;
  std::vector<std::int64_t> values;
  for (std::int64_t k = start; step > 0 ? k < stop : step < 0 && k > stop; k += step) {
    values.push_back(k);
    if (values.size() > kMostCopies) break;
  }
  return values;
}

/// The number of iterations of the loop if Warp unrolls it, because its bounds are constants and it is short.
std::optional<std::int64_t> WarpStatementParser::unrolled_iterations(SyntaxNode loop,
                                                                     std::span<const SyntaxNode> given) const {
  const auto bounds = bounds_of(given, [this](SyntaxNode node) { return expressions_.known_number(node); });
  if (!bounds) return std::nullopt;
  const auto [start, stop, step] = *bounds;
  if (step == 0 || breaks(loop.part(SyntaxField::kBody))) return std::nullopt;
  const std::int64_t span = step > 0 ? stop - start : start - stop;
  const std::int64_t count = span <= 0 ? 0 : (span + std::abs(step) - 1) / std::abs(step);
  return count <= static_cast<std::int64_t>(kMostUnrolled) ? std::optional(count) : std::nullopt;
}

/// A use of the variable of an unrolled loop.
struct WarpStatementParser::LoopVariableUse {
  SyntaxNode name;              ///< the identifier
  ir::Type converted = {};      ///< type of 64 bits whose constructor gets it as its only argument; void: none
  bool is_conditional = false;  ///< whether it is in code that an iteration may skip or repeat
};

/// Appends the uses of the name in the node, except those in wp.static(...), in the order of the text.
void WarpStatementParser::collect_uses(SyntaxNode node, std::string_view name, bool is_conditional,
                                       std::vector<LoopVariableUse>& uses) const {
  if (node.is(SyntaxKind::kIdentifier) && node.text() == name) {
    uses.push_back({.name = node, .is_conditional = is_conditional});
    return;
  }
  if (node.is(SyntaxKind::kAttribute)) return collect_uses(node.part(SyntaxField::kObject), name, is_conditional, uses);
  if (node.is(SyntaxKind::kKeywordArgument))
    return collect_uses(node.part(SyntaxField::kValue), name, is_conditional, uses);
  if (node.is(SyntaxKind::kCall)) {
    const SyntaxNode function = node.part(SyntaxField::kFunction);
    if (context_.scope().warp_name(function) == "static") return;
    const auto arguments = node.part(SyntaxField::kArguments).children();
    const auto type = context_.scope().type(function);
    const bool is_wide = type.ok() && type->is_scalar() && !type->is_bool() && ir::row(type->scalar).bytes == 8;
    if (is_wide && arguments.size() == 1) {
      SyntaxNode argument = arguments[0];
      while (argument.is(SyntaxKind::kParenthesized) && argument.children().size() == 1)
        argument = argument.children()[0];
      if (argument.is(SyntaxKind::kIdentifier) && argument.text() == name) {
        uses.push_back({.name = argument, .converted = *type, .is_conditional = is_conditional});
        return;
      }
    }
  }
  if (node.is(SyntaxKind::kIf)) {
    collect_uses(node.part(SyntaxField::kCondition), name, is_conditional, uses);
    for (const SyntaxNode child : node.children())
      if (child.id() != node.part(SyntaxField::kCondition).id()) collect_uses(child, name, true, uses);
    return;
  }
  bool may_be_skipped = is_conditional || node.is(SyntaxKind::kWhile) || node.is(SyntaxKind::kConditional) ||
                        node.is(SyntaxKind::kBoolean);
  if (node.is(SyntaxKind::kFor)) {
    const SyntaxNode range = node.part(SyntaxField::kRight);
    const bool is_range = range.is(SyntaxKind::kCall) && expressions_.warp_function_name(range) == "range";
    const auto count = is_range ? unrolled_iterations(node, arguments_of(range).positional_arguments) : std::nullopt;
    may_be_skipped = may_be_skipped || count.value_or(0) == 0;
  }
  for (const SyntaxNode child : node.children())
    collect_uses(child, name, may_be_skipped, uses);
}

/// Warp changes the type of a constant that is passed to a constructor of a 64-bit type, and the variable of an
/// unrolled loop is a constant in each iteration. The conversion assigns it where it stands, so that an earlier use, or
/// one in code that skips the conversion, reads it unassigned; later uses get the other type.
void WarpStatementParser::reject_retyped_variable(SyntaxNode loop) {
  const SyntaxNode target = loop.part(SyntaxField::kLeft);
  const SyntaxNode body = loop.part(SyntaxField::kBody);
  if (!target.is(SyntaxKind::kIdentifier) || context_.data_flow.assigned_in(body, target.text())) return;
  std::vector<LoopVariableUse> uses;
  collect_uses(body, target.text(), false, uses);
  const auto conversion =
      std::ranges::find_if(uses, [](const LoopVariableUse& use) { return use.converted != ir::kVoid; });
  if (conversion == uses.end()) return;
  const auto keeps_type = [&](const LoopVariableUse& use) { return use.converted == conversion->converted; };
  const bool is_used_later = is_declared_outside(target.text());
  const bool is_assigned_first = uses.size() == 1 || !uses.front().is_conditional;
  if (std::ranges::all_of(uses, keeps_type) && is_assigned_first && !is_used_later) return;
  context_.error(
      conversion->name,
      fmt::format("Warp unrolls this loop, and this conversion changes the type of its variable '{0}' itself "
                  "to {1}, which its other uses would read with another type or unassigned; convert a copy: "
                  "{1}(int({0}))",
                  target.text(), context_.type_name(conversion->converted)));
}

void WarpStatementParser::for_statement(SyntaxNode node) {
  if (expressions_.is_query_iteration(node.part(SyntaxField::kRight))) return loop_over_query(node);
  const LoopRange range = range_of(node);
  const std::vector<SyntaxNode>& given = range.arguments;
  if (given.empty()) return;
  // Warp does not copy the body of a loop over a reversed range.
  if (!range.is_reversed && is_static_in(node.part(SyntaxField::kBody), node.part(SyntaxField::kLeft).text())) {
    if (const auto values = known_range(given)) {
      if (!values->empty()) reject_retyped_variable(node);
      return copied_loop(node, *values);
    }
  }
  const SyntaxNode target = node.part(SyntaxField::kLeft);
  const auto unrolled = range.is_reversed ? std::nullopt : unrolled_iterations(node, given);
  if (unrolled && *unrolled > 0) reject_retyped_variable(node);
  if (const ir::VarId outer = context_.bindings.find(target.text());
      outer != kNone && known_range(given).value_or(std::vector<std::int64_t>()).empty()) {
    // Without iterations, the variable is undefined in Warp and unchanged in Python.
    if (context_.assigned_flags_by_variable.contains(outer)) {
      context_.builder.at(target.loc());
      set_assigned(outer, false);
    } else if (!context_.data_flow.has_unassigned_reads(target.text())) {
      shadowing_loop_targets_.insert(target.id());
    } else {
      context_.error(target,
                     "loop variable is already defined outside the loop, which may have no iterations; use "
                     "another name");
      return;
    }
  }
  loop(node, range);
}

/// A loop in which wp.static(...) contains the loop variable: Warp copies the body for each of its values.
void WarpStatementParser::copied_loop(SyntaxNode node, std::span<const std::int64_t> values) {
  const SyntaxNode target = node.part(SyntaxField::kLeft);
  const SyntaxNode body = node.part(SyntaxField::kBody);
  if (values.size() > kMostCopies) {
    context_.error(
        node.part(SyntaxField::kRight),
        fmt::format("a loop whose variable is used in wp.static(...) must have at most {} iterations", kMostCopies));
    return;
  }
  if (has_loop_over(body, target.text())) {
    context_.error(target,
                   "an inner loop changes this variable, which wp.static(...) uses; give the inner loop another "
                   "variable");
    return;
  }
  if (jumps(body) || context_.data_flow.assigned_in(body, target.text())) {
    context_.error(target,
                   "Warp does not support the loop variable in wp.static(...) if the loop changes the "
                   "variable or contains break or continue");
    return;
  }
  for (const std::int64_t value : values) {
    context_.enter_static(target.text(), value);
    ir::If copy{.condition = context_.builder.boolean(true), .then_block = {}, .else_block = {}};
    copy.then_block = nested(body, [&] {
      context_.builder.at(target.loc());
      bind_loop_variable(target, context_.builder.i32(value), true);
    });
    context_.leave_static();
    append(node, std::move(copy));
  }
}

/// Gives the loop variable its value at the start of an iteration. A variable that is used after the loop is declared
/// outside it. `counter` is the value; the loop's own variable is bound directly unless it must be copied.
void WarpStatementParser::bind_loop_variable(SyntaxNode target, ExprId counter, bool must_copy) {
  const std::string_view name = target.text();
  const bool is_outer = context_.bindings.find(name) != kNone || is_declared_outside(name);
  if (is_outer && !shadowing_loop_targets_.contains(target.id())) return assign_name(target, counter);
  const ir::VarId variable =
      must_copy ? context_.builder.let(std::string(name), counter) : context_.function.expr(counter).variable;
  context_.bindings.bind(name, variable);
}

/// Whether the data flow places the declaration of the name in a block around the current one.
bool WarpStatementParser::is_declared_outside(std::string_view name) const {
  for (std::size_t depth = 0; depth < context_.bindings.depth(); ++depth)
    if (context_.data_flow.declares(context_.bindings.block(depth), name)) return true;
  return false;
}

/// Makes the loop visit the same numbers from last to first.
void WarpStatementParser::reverse_range(SyntaxNode node, const LoopRange& range, ir::For& loop) {
  ir::Builder& builder = context_.builder;
  if (const auto bounds = constant_bounds(range.arguments)) {
    const auto [start, stop, step] = *bounds;
    const std::int64_t most =
        stop - start - (step > 0 ? 1 : -1);  // from the first number to the last one, or beyond it
    const bool is_empty = step > 0 ? most < 0 : most > 0;
    loop.start = builder.i32(is_empty ? start : start + most / step * step);
    loop.stop = builder.i32(is_empty ? start : start - step);
    loop.step = builder.i32(-step);
    return;
  }
  const bool ascends =
      range.arguments.size() < 3 || context_.static_scope().constant(range.arguments[2])->number().integer > 0;
  const auto before = [&](ExprId bound) {
    const ir::Expr& known = context_.function.expr(bound);
    if (known.kind == ir::ExprKind::kLiteral)
      return builder.i32(static_cast<std::int64_t>(known.bits) + (ascends ? -1 : 1));
    return context_.operation(node, ascends ? ir::Op::kSub : ir::Op::kAdd, {bound, builder.i32(1)});
  };
  const ExprId first = loop.start;
  loop.start = before(loop.stop);
  loop.stop = before(first);
  loop.step = builder.i32(ascends ? -1 : 1);
}

void WarpStatementParser::loop(SyntaxNode node, const LoopRange& range) {
  const std::vector<SyntaxNode>& given = range.arguments;
  const SyntaxNode target = node.part(SyntaxField::kLeft);
  std::vector<ExprId> bounds;
  bool sound = true;
  for (const SyntaxNode bound : given) {
    bounds.push_back(expressions_.value(bound));
    if (bounds.back() == kNone) {
      sound = false;
    } else if (context_.type_of(bounds.back()) != ir::kI32) {
      context_.error(bound, fmt::format("range arguments must be int32, got {}",
                                        context_.type_name(context_.type_of(bounds.back()))));
      sound = false;
    }
  }
  context_.builder.at(node.loc());
  ir::For loop;
  loop.start = given.size() == 1 ? context_.builder.i32(0) : bounds[0];
  loop.stop = given.size() == 1 ? bounds[0] : bounds[1];
  loop.step = given.size() == 3 ? bounds[2] : context_.builder.i32(1);
  if (sound && range.is_reversed) reverse_range(node, range, loop);
  context_.builder.at(target.loc());
  loop.variable = context_.builder.declare(std::string(target.text()), ir::kI32);
  const SyntaxNode body = node.part(SyntaxField::kBody);
  const auto iterations = range.is_reversed ? std::nullopt : unrolled_iterations(node, given);
  if (iterations) context_.unrolled_loops[loop.variable] = *iterations;
  context_.loop_targets[loop.variable] = target.text();
  loop.body = nested(body, [&] {
    // If the body changes the variable, the loop counter continues unchanged, as in Python.
    context_.builder.at(target.loc());
    const ExprId counter = context_.builder.var(loop.variable);
    bind_loop_variable(target, counter, context_.data_flow.assigned_in(body, target.text()));
  });
  if (sound) append(node, std::move(loop));
}

/// `for face in query:`, where `query` is a query that visits faces, points or boxes, or a variable that holds one.
void WarpStatementParser::loop_over_query(SyntaxNode node) {
  const SyntaxNode target = node.part(SyntaxField::kLeft);
  const SyntaxNode query = node.part(SyntaxField::kRight);
  if (!target.is(SyntaxKind::kIdentifier) || node.part(SyntaxField::kAlternative)) {
    context_.error(target, "a loop over a query must have one variable and no else clause");
    return;
  }
  const ir::VarId visited = expressions_.iterated_query(query);
  if (visited == kNone) return;
  context_.builder.at(node.loc());
  const ir::VarId index = context_.builder.let("index", context_.builder.i32(-1));
  ir::While loop{.condition = context_.builder.boolean(true), .body = {}};
  loop.body = nested(node.part(SyntaxField::kBody), [&] {
    const ir::VarId has_next = expressions_.advance_query(query, visited, index);
    if (has_next == kNone) return;
    const ExprId ends = context_.operation(query, ir::Op::kNot, {context_.builder.var(has_next)});
    context_.builder.if_(ends, [&] { context_.builder.break_(); });
    context_.builder.at(target.loc());
    bind_loop_variable(target, context_.builder.var(index), true);
  });
  append(node, std::move(loop));
}

void WarpStatementParser::while_statement(SyntaxNode node) {
  if (node.part(SyntaxField::kAlternative)) {
    context_.error(node.part(SyntaxField::kAlternative), "else clauses of loops are not supported");
    return;
  }
  const SyntaxNode condition = node.part(SyntaxField::kCondition);
  const bool has_side_effects = expressions_.needs_statements(condition);
  // A condition with effects is evaluated at the start of the body.
  const auto leave_if_false = [&] {
    const ExprId test = expressions_.condition(condition);
    if (test == kNone) return;
    context_.builder.at(condition.loc());
    context_.builder.if_(context_.operation(condition, ir::Op::kNot, {test}), [&] { context_.builder.break_(); });
  };
  ir::While loop;
  loop.condition = has_side_effects ? context_.builder.boolean(true) : expressions_.lazy_condition(condition);
  loop.body = nested(node.part(SyntaxField::kBody), has_side_effects ? leave_if_false : std::function<void()>());
  append(node, std::move(loop));
}

}  // namespace assay::frontend
