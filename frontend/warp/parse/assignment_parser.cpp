// The part of WarpStatementParser that parses assignments.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "frontend/warp/parse/statement_parser.hpp"
#include "ir/analysis.hpp"
#include "ir/guard_array.hpp"
#include "ir/library.hpp"
#include "ir/visit.hpp"

namespace assay::frontend {

using ir::ExprId;
using ir::kNone;
using ir::Op;

namespace {

bool is_tuple_target(SyntaxNode target) {
  return target.is(SyntaxKind::kPatternList) || target.is(SyntaxKind::kTuplePattern);
}
bool is_tuple_value(SyntaxNode value) { return value.is(SyntaxKind::kExpressionList) || value.is(SyntaxKind::kTuple); }

bool mentions(SyntaxNode node, std::string_view name) {
  if (node.is(SyntaxKind::kIdentifier)) return node.text() == name;
  const auto children = node.children();
  return std::any_of(children.begin(), children.end(), [&](SyntaxNode child) { return mentions(child, name); });
}

/// Array element types for which Warp's += and similar operators are not atomic.
bool lacks_atomics(ir::Type element) {
  return !element.is_struct() && !element.is_bool() && ir::row(element.scalar).bytes < 4 &&
         !ir::is_float(element.scalar);
}

/// Whether the function's decorator or the file's options switch off Warp's backward pass.
bool is_forward_only(const FunctionContext& context) {
  const std::vector<std::string>& lines = context.scope().source_lines();
  const auto disables = [](std::string line, std::string_view option) {
    std::erase_if(line, [](char c) { return c == ' ' || c == '\'' || c == '"'; });
    return line.find(option) != std::string::npos;
  };
  const auto first = static_cast<std::size_t>(context.entry.first_line);
  const auto last = static_cast<std::size_t>(context.entry.definition.loc().line);
  for (std::size_t line = first; line > 0 && line < last && line <= lines.size(); ++line)
    if (disables(lines[line - 1], "enable_backward=False")) return true;
  return std::ranges::any_of(lines, [&](const std::string& line) { return disables(line, "enable_backward:False"); });
}

/// The names of FunctionContext::AssignedFlag.
std::string flag_name(std::string_view name) { return fmt::format("{}_is_assigned", name); }
std::string guard_name(std::string_view name) { return fmt::format("{}{}", name, ir::kUnassignedGuardArraySuffix); }

}  // namespace

bool WarpStatementParser::is_new_here(std::string_view name) const {
  const VariableBindings& bindings = context_.bindings;
  return bindings.find(name) == kNone && context_.data_flow.declares(bindings.block(bindings.depth() - 1), name);
}

void WarpStatementParser::assignment(SyntaxNode node) {
  const SyntaxNode target = node.part(SyntaxField::kLeft);
  SyntaxNode right = node.part(SyntaxField::kRight);
  while (right.is(SyntaxKind::kParenthesized) && right.children().size() == 1)
    right = right.children()[0];
  if (node.part(SyntaxField::kType) || !right) {
    context_.error(node, "annotated variables are not supported in kernels; write x = float(...) instead");
    return;
  }
  if (right.is(SyntaxKind::kAssignment)) {
    context_.error(node, "chained assignment is not supported by Warp: assign each target in its own statement");
    return;
  }
  context_.whole_value = right.id();
  if (is_tuple_target(target)) {
    const auto targets = target.children();
    const bool all_names =
        std::all_of(targets.begin(), targets.end(), [](SyntaxNode part) { return part.is(SyntaxKind::kIdentifier); });
    if (!all_names) {
      context_.error(target, "targets of a multiple assignment must be plain variables");
    } else if (is_tuple_value(right)) {
      assign_tuple(node, targets, right.children());
    } else if (right.is(SyntaxKind::kCall) && expressions_.warp_function_name(right) == "tid") {
      assign_thread_indices(node, targets);
    } else if (right.is(SyntaxKind::kCall) && expressions_.is_file_function(right)) {
      assign_call_results(target, right);
    } else if (right.is(SyntaxKind::kCall) && expressions_.warp_function_name(right) == "tile_stack_pop") {
      assign_popped(targets, right);
    } else if (right.is(SyntaxKind::kCall) && ir::is_in_library(expressions_.warp_function_name(right))) {
      assign_library_results(targets, right);
    } else if (!right.is(SyntaxKind::kCall) || expressions_.value(right) != kNone) {
      context_.error(right, fmt::format("cannot assign one value to {} variables", targets.size()));
    }
    return;
  }
  if (is_tuple_value(right)) {
    // The usual way to mark parameters that a function does not use.
    const bool is_ignored = target.is(SyntaxKind::kIdentifier) && target.text() == "_";
    if (!is_ignored) context_.error(right, "tuples are not supported as values in kernels");
    for (std::size_t k = 0; is_ignored && k < right.children().size(); ++k)
      expressions_.value(right.children()[k]);
    return;
  }
  if (target.is(SyntaxKind::kIdentifier) && right.is(SyntaxKind::kCall)) {
    if (expressions_.warp_function_name(right) == "tid") return assign_thread_indices(node, target.elements({}));
    if (assign_zero(target, right) || assign_effect(target, right) || assign_local_array(target, right) ||
        assign_stack(target, right))
      return;
  }
  if (expressions_.is_array_expression(right)) {
    if (target.is(SyntaxKind::kIdentifier)) return assign_alias(target, right);
    if (assign_array_field(target, right)) return;
  }
  if (target.is(SyntaxKind::kIdentifier) &&
      (expressions_.component_count(right) || expressions_.rank_constant(right))) {
    context_.error(right, fmt::format("Warp does not compile the assignment of this number; write {} = int({})",
                                      target.text(), right.text()));
    return;
  }
  ExprId value = expressions_.value(right);
  if (value == kNone) return;
  if (!target.is(SyntaxKind::kIdentifier) && expressions_.has_side_effects(target)) {
    // Python evaluates the value before the target's indices.
    context_.builder.at(right.loc());
    value = context_.builder.var(context_.builder.let("value", value));
    context_.loaded_arrays.clear();
  }
  const bool starts_here = target.is(SyntaxKind::kIdentifier) && is_new_here(target.text());
  name_assignment_ = shared_storage(right, value, false);
  name_assignment_.is_first = true;
  name_assignment_.is_constant = is_constant_in_warp(right, value, false);
  assign_target(target, value);
  name_assignment_ = {};
  if (starts_here) note_literal(target, right);
}

/// Notes the value of a name that starts here if it is a literal.
void WarpStatementParser::note_literal(SyntaxNode name, SyntaxNode value) {
  const bool is_number = !value.is(SyntaxKind::kCall) && expressions_.literal(value).has_value();
  if (!is_number) return;
  const ir::VarId variable = context_.bindings.find(name.text());
  const bool is_constant = context_.data_flow.assignments(name.text()) == 1 && !value.is(SyntaxKind::kAttribute);
  if (is_constant && variable != kNone) context_.literals_by_variable.emplace(variable, *expressions_.literal(value));
}

/// The variable or array whose storage a name shares in Warp if it gets this value (shared_storage.hpp). A single
/// assignment copies references, but shares the variable that a conditional expression with a constant condition
/// chooses.
FunctionContext::NameAssignment WarpStatementParser::shared_storage(SyntaxNode value, ExprId result,
                                                                    bool is_multiple) const {
  while (value.is(SyntaxKind::kParenthesized) && value.children().size() == 1)
    value = value.children()[0];
  const ir::Expr* expr = &context_.function.expr(result);
  if (value.is(SyntaxKind::kConditional)) {
    const auto parts = value.children();
    const auto test = expressions_.known_number(parts[1]);
    const bool is_known = test && test->type.is_scalar() && !test->is_typed;
    if (!is_known || expr->kind != ir::ExprKind::kOperation || expr->op != Op::kConditional) return {};
    const bool holds = test->number().is_real ? test->number().real != 0 : test->number().integer != 0;
    FunctionContext::NameAssignment chosen = shared_storage(parts[holds ? 0 : 2], expr->args[holds ? 1 : 2], true);
    return is_multiple || !chosen.is_part ? chosen : FunctionContext::NameAssignment();
  }
  if (!is_multiple && !value.is(SyntaxKind::kConditional)) return {};
  const bool is_place =
      value.is(SyntaxKind::kIdentifier) || value.is(SyntaxKind::kAttribute) || value.is(SyntaxKind::kSubscript);
  if (!is_place) return {};
  // A variable that may be unassigned is read under a condition.
  if (expr->kind == ir::ExprKind::kOperation && expr->op == Op::kWhere) expr = &context_.function.expr(expr->args[1]);
  bool is_part = false;
  for (; expr->kind == ir::ExprKind::kField; is_part = true)
    expr = &context_.function.expr(expr->args[0]);
  if (expr->kind == ir::ExprKind::kLoad && expr->type.is_value()) {
    const ir::VarId array = context_.function.expr(expr->args[0]).variable;
    const bool is_tile = context_.compound_tiles.contains(array) || context_.function.var(array).replaces_tile;
    return is_tile ? FunctionContext::NameAssignment()
                   : FunctionContext::NameAssignment{.shared = array, .is_part = true};
  }
  const bool is_variable = expr->kind == ir::ExprKind::kVariable && expr->type.is_value() &&
                           !context_.bindings.name_of(expr->variable).empty();
  return is_variable ? FunctionContext::NameAssignment{.shared = expr->variable, .is_part = is_part}
                     : FunctionContext::NameAssignment();
}

/// Whether Warp makes a name with this value stand for a constant (changed_constants.hpp). A single assignment of a
/// name copies the value.
bool WarpStatementParser::is_constant_in_warp(SyntaxNode value, ExprId result, bool is_multiple) const {
  switch (value.kind()) {
    case SyntaxKind::kParenthesized:
      return value.children().size() == 1 && is_constant_in_warp(value.children()[0], result, is_multiple);
    case SyntaxKind::kUnary: {
      if (value.part(SyntaxField::kOperator).text() != "-") return false;
      const SyntaxNode operand = value.part(SyntaxField::kArgument);
      const auto number = expressions_.known_number(operand);
      return number ? number->type.is_scalar() && !number->is_typed
                    : operand.is(SyntaxKind::kUnary) && is_constant_in_warp(operand, result, true);
    }
    case SyntaxKind::kConditional: {
      const auto parts = value.children();
      const auto test = expressions_.known_number(parts[1]);
      const ir::Expr& expr = context_.function.expr(result);
      if (!test || !test->type.is_scalar() || expr.kind != ir::ExprKind::kOperation || expr.op != Op::kConditional)
        return false;
      const bool holds = test->number().is_real ? test->number().real != 0 : test->number().integer != 0;
      return is_constant_in_warp(parts[holds ? 0 : 2], expr.args[holds ? 1 : 2], true);
    }
    case SyntaxKind::kIdentifier:
      return is_multiple && context_.bindings.find(value.text()) == kNone &&
             expressions_.known_number(value).has_value();
    case SyntaxKind::kCall: {
      const std::string name = expressions_.warp_function_name(value);
      const bool is_length = name == "len" && context_.function.expr(result).kind == ir::ExprKind::kLiteral;
      return name == "static" || name == "constant" || is_length;
    }
    default: return expressions_.literal(value).has_value();
  }
}

/// Records that the statement assigns the name as a whole.
void WarpStatementParser::note_name_assignment(SyntaxNode name, ir::VarId variable) {
  FunctionContext::NameAssignment assignment = name_assignment_;
  assignment.name = name;
  assignment.type = context_.function.var(variable).type;
  context_.name_assignments[{variable, name.loc().line, name.loc().column}] = assignment;
}

/// row = a[i]: the name becomes an alias for this part of the array.
void WarpStatementParser::assign_alias(SyntaxNode name, SyntaxNode part) {
  if (context_.bindings.find(name.text()) != kNone || !is_new_here(name.text())) {
    context_.error(name, "a part of an array must be assigned to a new variable, which becomes an alias of the part");
    return;
  }
  const ir::VarId alias = expressions_.alias(part, name.text());
  if (alias != kNone) context_.bindings.bind(name.text(), alias);
}

void WarpStatementParser::assign_target(SyntaxNode target, ExprId value) {
  if (value == kNone) return;
  if (target.is(SyntaxKind::kIdentifier)) return assign_name(target, value);
  if (expressions_.is_adjoint(target)) {
    context_.error(target, "adjoints cannot be assigned; use +=, which keeps the contributions of other uses");
    return;
  }
  const AssignmentTarget place = expressions_.place(target);
  if (place.failed()) return;
  if (place.is_slice() && is_variable(value, place.variable)) {
    context_.error(target,
                   "Warp would change the variable while it copies components from it to the slice; assign a copy of "
                   "the variable");
    return;
  }
  if (!place.lacks_indices() && place.type != context_.type_of(value)) {
    context_.error(target, fmt::format("assigned value must be {}, got {}", context_.type_name(place.type),
                                       context_.type_name(context_.type_of(value))));
    return;
  }
  if (context_.compound_tiles.contains(place.variable) && !expressions_.can_change(target, place.variable)) return;
  if (const auto* const read = earlier_read(place)) {
    const int line = read->node.loc().line;
    context_.error(target, fmt::format("{} may read this element of the tile: on a GPU, every thread of the block "
                                       "reads and changes it, and some read it after others have changed it",
                                       line == target.loc().line ? "the value" : fmt::format("line {}", line)));
    return;
  }
  if (place.root_kind == AssignmentTarget::RootKind::kArray && place.type.is_value()) {
    const bool is_local = context_.function.var(place.variable).type.is_local_array();
    if (!is_local) context_.entry.has_side_effects = true;
  }
  write_target(context_, target, place, value);
}

/// After the variable got another tile, its elements have not been read. In a nested block, it may keep the tile.
void WarpStatementParser::forget_element_reads(ir::VarId tile) {
  constexpr std::size_t kDepthOfBody = 2;
  if (context_.bindings.depth() > kDepthOfBody) return;
  std::erase_if(context_.tile_element_reads,
                [&](const FunctionContext::TileElementRead& read) { return read.tile == tile; });
}

/// The read of the element of a tile that is the place, or of one that may be the same; null if there is none.
const FunctionContext::TileElementRead* WarpStatementParser::earlier_read(const AssignmentTarget& place) const {
  const auto changed = tile_element(context_, place);
  if (!changed) return nullptr;
  const auto may_be_same = [&](const FunctionContext::TileElementRead& read) {
    if (read.tile != place.variable) return false;
    for (std::size_t d = 0; d < changed->size(); ++d) {
      const auto& first = (*changed)[d];
      const auto& second = read.indices[d];
      if (first && second && *first != *second) return false;
    }
    return true;
  };
  const auto found = std::ranges::find_if(context_.tile_element_reads, may_be_same);
  return found == context_.tile_element_reads.end() ? nullptr : &*found;
}

bool WarpStatementParser::is_variable(ExprId value, ir::VarId variable) const {
  const ir::Expr& expr = context_.function.expr(value);
  return expr.kind == ir::ExprKind::kVariable && expr.variable == variable;
}

std::size_t WarpStatementParser::declaring_depth(std::string_view name) const {
  std::size_t depth = context_.bindings.depth() - 1;
  while (depth > 0 && !context_.data_flow.declares(context_.bindings.block(depth), name))
    --depth;
  return depth;
}

void WarpStatementParser::assign_name(SyntaxNode name, ExprId value) {
  const std::string_view text = name.text();
  const ir::Type type = context_.type_of(value);
  ir::VarId variable = context_.bindings.find(text);
  context_.builder.at(name.loc());
  if (context_.compound_tile(value)) return assign_compound_tile(name, value);
  if (type.is_array()) {
    context_.error(name, "arrays cannot be assigned");
    return;
  }
  const bool needs_flag = context_.data_flow.has_unassigned_reads(text);
  if (variable == kNone && is_new_here(text)) {
    variable = context_.builder.let(std::string(text), value);
    context_.bindings.bind(text, variable);
    note_name_assignment(name, variable);
    if (needs_flag) {
      const ir::VarId flag = context_.builder.let(flag_name(text), context_.builder.boolean(true));
      const ir::VarId guard = context_.builder.let_zero(guard_name(text), ir::kUnassignedGuardArrayType);
      context_.assigned_flags_by_variable[variable] = {.flag_variable = flag, .guard_array = guard};
    }
    return;
  }
  if (variable == kNone) {
    const std::size_t depth = declaring_depth(text);
    variable = context_.builder.declare(std::string(text), type);
    context_.bindings.bind_in_enclosing_block(depth, text, variable);
    if (needs_flag) {
      const FunctionContext::AssignedFlag flag{
          .flag_variable = context_.builder.declare(flag_name(text), ir::kBool),
          .guard_array = context_.builder.declare(guard_name(text), ir::kUnassignedGuardArrayType)};
      context_.bindings.declare_in_enclosing_block(depth, flag.flag_variable);
      context_.bindings.declare_in_enclosing_block(depth, flag.guard_array);
      context_.assigned_flags_by_variable[variable] = flag;
    }
  }
  if (FunctionContext::is_alias(variable)) {
    context_.error(name, "a variable that is an alias of a part of an array cannot be reassigned");
    return;
  }
  const ir::Type held = context_.function.var(variable).type;
  if (held != type) {
    context_.error(name, fmt::format("variable has type {}, cannot assign {}", context_.type_name(held),
                                     context_.type_name(type)));
    return;
  }
  note_name_assignment(name, variable);
  context_.builder.at(name.loc());
  context_.builder.assign(variable, value);
  forget_element_reads(variable);
  set_assigned(variable, true);
}

/// A tile that was just computed gets the name; of another tile, a copy does.
void WarpStatementParser::assign_compound_tile(SyntaxNode name, ExprId value) {
  const std::string_view text = name.text();
  const ir::VarId source = context_.function.expr(value).variable;
  const ir::Type type = context_.type_of(value);
  const TileExtents extents = context_.compound_tiles.at(source);
  ir::VarId variable = context_.bindings.find(text);
  if (context_.data_flow.has_unassigned_reads(text)) {
    context_.error(name,
                   "a tile of vectors, matrices or structs may be used before assignment; assign it on every path");
    return;
  }
  if (variable == kNone && is_new_here(text)) {
    variable = source;
    if (context_.named_compound_tiles.contains(source)) {
      variable = context_.new_compound_tile(std::string(text), type.element(), extents);
      context_.copy_compound_tile(variable, source);
    }
    context_.function.variables[static_cast<std::size_t>(variable)].name = text;
    context_.named_compound_tiles.insert(variable);
    context_.bindings.bind(text, variable);
    return;
  }
  if (variable == kNone) {
    const std::size_t depth = declaring_depth(text);
    variable = context_.builder.declare(std::string(text), type);
    context_.compound_tiles[variable] = extents;
    context_.named_compound_tiles.insert(variable);
    context_.bindings.bind_in_enclosing_block(depth, text, variable);
  }
  const auto held = context_.compound_tiles.find(variable);
  if (held == context_.compound_tiles.end() || held->second != extents ||
      context_.function.var(variable).type != type) {
    context_.error(name, "the assigned tile must have the type and the shape of the variable");
    return;
  }
  context_.copy_compound_tile(variable, source);
  forget_element_reads(variable);
}

/// Sets the variable's flag, if it has one.
void WarpStatementParser::set_assigned(ir::VarId variable, bool is_assigned) {
  const auto flag = context_.assigned_flags_by_variable.find(variable);
  if (flag != context_.assigned_flags_by_variable.end())
    context_.builder.assign(flag->second.flag_variable, context_.builder.boolean(is_assigned));
}

/// x = S() and x = wp.vec3() declare a variable that starts as zero.
bool WarpStatementParser::assign_zero(SyntaxNode name, SyntaxNode call) {
  if (!is_new_here(name.text()) || expressions_.is_file_function(call)) return false;
  const CallArguments arguments = arguments_of(call);
  if (!arguments.positional_arguments.empty() || !arguments.keyword_arguments.empty() || arguments.has_star_argument)
    return false;
  const auto type = context_.scope().type(call.part(SyntaxField::kFunction));
  if (!type.ok() || type->is_scalar() || !type->is_value()) return false;
  context_.builder.at(name.loc());
  if (contains_arrays(context_.file.module(), *type)) {
    context_.bindings.bind(name.text(), new_array_struct(context_, std::string(name.text()), *type));
    return true;
  }
  context_.bindings.bind(name.text(), context_.builder.let_zero(std::string(name.text()), *type));
  return true;
}

/// s.a = x for an array field of a struct that this block has constructed. The field becomes an alias of the array.
bool WarpStatementParser::assign_array_field(SyntaxNode target, SyntaxNode array) {
  ir::VarId* const field = expressions_.array_field(target);
  if (field == nullptr) return false;
  SyntaxNode root = target;
  while (root.is(SyntaxKind::kAttribute))
    root = root.part(SyntaxField::kObject);
  const ArrayView* const held = context_.find_array_view(*field);
  if (held == nullptr || held->array != kNone || !context_.bindings.is_bound_in_block(root.text())) {
    context_.error(target,
                   "an array field can be assigned only once, in the block that constructs the struct; after that, it "
                   "is an alias of the array");
    return true;
  }
  const ir::Type wanted = held->type;
  const AssignmentTarget given = expressions_.place(array);
  if (given.failed()) return true;
  if (given.root_kind != AssignmentTarget::RootKind::kArray || given.type != wanted || given.is_indexed_array()) {
    context_.error(array, fmt::format("expected {}, got {}", context_.type_name(wanted),
                                      given.is_indexed_array() ? "an indexed array" : context_.type_name(given.type)));
    return true;
  }
  *field = make_view(context_, array, given, root.text());
  return true;
}

/// x = atomic(...), x = wp.randf(state) and x = function_with_effects(...): the result goes into the variable itself.
bool WarpStatementParser::assign_effect(SyntaxNode name, SyntaxNode call) {
  if (!is_new_here(name.text())) return false;
  if (const auto op = expressions_.atomic(call)) {
    const ir::VarId result = expressions_.atomic_call(call, *op, std::string(name.text()));
    if (result != kNone) context_.bindings.bind(name.text(), result);
    return true;
  }
  if (const std::string function = expressions_.warp_function_name(call); draws_from_state(function)) {
    const ExprId drawn = expressions_.random(call, function, std::string(name.text()));
    if (drawn != kNone) context_.bindings.bind(name.text(), context_.function.expr(drawn).variable);
    return true;
  }
  if (!expressions_.is_file_function(call)) return false;
  const ResolvedCall resolved = expressions_.resolve(call);
  if (resolved.callee == nullptr) return true;
  if (expressions_.returned_types(resolved).size() != 1) {
    context_.error(call,
                   "function must return exactly one value to be assigned to one variable; assign several values as in "
                   "'a, b = f(x)'");
    return true;
  }
  if (!resolved.references.empty()) {
    context_.bindings.bind(name.text(), expressions_.run(call, resolved, {std::string(name.text())})[0]);
    return true;
  }
  context_.builder.at(call.loc());
  assign_name(name, context_.builder.call(resolved.callee->function_index, resolved.arguments));
  return true;
}

/// x = wp.zeros(shape=3, dtype=float): a thread-local array.
bool WarpStatementParser::assign_local_array(SyntaxNode name, SyntaxNode call) {
  if (expressions_.warp_function_name(call) != "zeros") return false;
  const auto fail = [&](const char* reason) {
    context_.error(call, reason);
    return true;
  };
  const CallArguments arguments = arguments_of(call);
  SyntaxNode shape;
  SyntaxNode dtype;
  if (!arguments.positional_arguments.empty()) shape = arguments.positional_arguments[0];
  if (arguments.positional_arguments.size() > 1) dtype = arguments.positional_arguments[1];
  if (const auto found = arguments.keyword_arguments.find("shape"); found != arguments.keyword_arguments.end())
    shape = found->second;
  if (const auto found = arguments.keyword_arguments.find("dtype"); found != arguments.keyword_arguments.end())
    dtype = found->second;
  if (shape && shape.is(SyntaxKind::kTuple) && shape.children().size() == 1) shape = shape.children()[0];
  const auto extent = shape ? context_.constant(shape) : std::nullopt;
  if (!extent || !extent->type.is_integer_scalar()) return fail("local array length must be one compile-time constant");
  constexpr std::int64_t kLongest = 65536;
  if (extent->number().integer < 1 || extent->number().integer > kLongest)
    return fail("local array must have 1 to 65536 elements");
  const auto element = dtype ? expressions_.type_of_node(dtype) : Result<ir::Type>(Error{"no dtype"});
  if (!element.ok() || !element->is_value()) return fail("local array dtype must be a Warp type");
  if (!is_new_here(name.text())) return fail("local array must be assigned to a new variable");
  context_.builder.at(name.loc());
  const ir::Type type = element->local_array_of(static_cast<std::uint32_t>(extent->number().integer));
  context_.bindings.bind(name.text(), context_.builder.let_zero(std::string(name.text()), type));
  return true;
}

/// s = wp.tile_stack(capacity=8, dtype=int)
bool WarpStatementParser::assign_stack(SyntaxNode name, SyntaxNode call) {
  if (!is_new_here(name.text()) || expressions_.warp_function_name(call) != "tile_stack") return false;
  const ir::VarId stack = expressions_.new_tile_stack(call, std::string(name.text()));
  if (stack != kNone) context_.bindings.bind(name.text(), stack);
  return true;
}

/// value, slot = wp.tile_stack_pop(s)
void WarpStatementParser::assign_popped(std::span<const SyntaxNode> targets, SyntaxNode call) {
  const auto [value, slot] = expressions_.pop(call);
  if (value == kNone) return;
  if (targets.size() != 2) {
    context_.error(call, fmt::format("function returns 2 values, but {} variables are assigned", targets.size()));
    return;
  }
  assign_name(targets[0], context_.builder.var(value));
  assign_name(targets[1], context_.builder.var(slot));
}

void WarpStatementParser::assign_tuple(SyntaxNode node, std::span<const SyntaxNode> targets,
                                       std::span<const SyntaxNode> values) {
  if (targets.size() != values.size()) {
    context_.error(node, fmt::format("cannot unpack: {} variables for {} values", targets.size(), values.size()));
    return;
  }
  // All values are evaluated before any assignment: save those that an assignment would change.
  bool overlaps = false;
  for (std::size_t target = 0; target < targets.size(); ++target) {
    for (std::size_t value = target + 1; value < values.size(); ++value)
      overlaps = overlaps || mentions(values[value], targets[target].text());
  }
  const auto is_reference = [&](ir::VarId variable) {
    return std::ranges::find(context_.references, variable) != context_.references.end();
  };
  // If one of the names is a parameter of type wp.ref, Warp copies references, and the values of such parameters.
  const bool copies_references = std::ranges::any_of(
      targets, [&](SyntaxNode target) { return is_reference(context_.bindings.find(target.text())); });
  std::vector<ExprId> results;
  std::vector<FunctionContext::NameAssignment> shared;
  for (const SyntaxNode value : values) {
    results.push_back(expressions_.value(value));
    if (results.back() == kNone) return;
    shared.push_back(shared_storage(value, results.back(), true));
    if (copies_references && (shared.back().is_part || is_reference(shared.back().shared))) shared.back() = {};
    shared.back().is_constant = is_constant_in_warp(value, results.back(), true);
    if (overlaps) {
      context_.builder.at(value.loc());
      results.back() = context_.builder.var(context_.builder.let("value", results.back()));
    }
  }
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const bool starts_here = is_new_here(targets[i].text());
    name_assignment_ = shared[i];
    name_assignment_.is_first = i == 0;
    assign_name(targets[i], results[i]);
    name_assignment_ = {};
    if (starts_here) note_literal(targets[i], values[i]);
  }
}

void WarpStatementParser::assign_thread_indices(SyntaxNode node, std::span<const SyntaxNode> targets) {
  const int rank = context_.function.launch_rank;
  if (!context_.entry.is_kernel) {
    context_.error(node, "wp.tid() is supported in kernels only; pass the index to the function");
    return;
  }
  if (static_cast<int>(targets.size()) != rank) {
    context_.error(node, fmt::format("the first wp.tid() call sets the number of launch dimensions to {}; unpack the "
                                     "same number of indices here",
                                     rank));
    return;
  }
  const bool outermost = context_.bindings.depth() == 2;
  for (int i = 0; i < rank; ++i) {
    const SyntaxNode target = targets[static_cast<std::size_t>(i)];
    const ir::VarId index = context_.function.parameter_count + i;
    if (outermost && context_.data_flow.assignments(target.text()) == 1) {
      context_.bindings.bind(target.text(), index);
    } else {
      context_.builder.at(target.loc());
      assign_name(target, context_.builder.var(index));
    }
  }
}

/// axis, angle = wp.quat_to_axis_angle(q)
void WarpStatementParser::assign_library_results(std::span<const SyntaxNode> targets, SyntaxNode call) {
  const CallArguments arguments = arguments_of(call);
  std::vector<ExprId> values;
  std::vector<ir::Type> types;
  for (const SyntaxNode argument : arguments.positional_arguments) {
    values.push_back(expressions_.value(argument));
    if (values.back() == kNone) return;
    types.push_back(context_.type_of(values.back()));
  }
  const auto function = ir::library_function(context_.file.module(), expressions_.warp_function_name(call), types);
  if (!function.ok() || arguments.has_star_argument || !arguments.keyword_arguments.empty()) {
    context_.error(call,
                   function.ok() ? "arguments of this function must be passed by position" : function.error().message);
    return;
  }
  context_.builder.at(call.loc());
  bind_results(targets, call, *function, std::move(values));
}

void WarpStatementParser::assign_call_results(SyntaxNode target, SyntaxNode call) {
  const auto targets = target.children();
  const ResolvedCall resolved = expressions_.resolve(call);
  if (resolved.callee == nullptr) return;
  if (resolved.references.empty())
    return bind_results(targets, call, resolved.callee->function_index, resolved.arguments);
  if (expressions_.returned_types(resolved).size() != targets.size()) {
    context_.error(call, fmt::format("function returns {} values, but {} variables are assigned",
                                     expressions_.returned_types(resolved).size(), targets.size()));
    return;
  }
  const std::vector<ir::VarId> results =
      expressions_.run(call, resolved, std::vector<std::string>(targets.size(), "result"));
  for (std::size_t i = 0; i < targets.size(); ++i)
    assign_name(targets[i], context_.builder.var(results[i]));
}

/// Assigns the results of the function to the names.
void WarpStatementParser::bind_results(std::span<const SyntaxNode> targets, SyntaxNode call, int function,
                                       std::vector<ExprId> arguments) {
  const auto& results = context_.file.module().functions[static_cast<std::size_t>(function)].results;
  if (results.size() != targets.size()) {
    context_.error(
        call, fmt::format("function returns {} values, but {} variables are assigned", results.size(), targets.size()));
    return;
  }
  std::vector<std::string> names;
  for (const SyntaxNode name : targets)
    names.emplace_back(name.text());
  context_.builder.at(call.loc());
  const auto variables = context_.builder.call_statement(function, std::move(arguments), names);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (is_new_here(targets[i].text())) {
      context_.bindings.bind(targets[i].text(), variables[i]);
    } else {
      assign_name(targets[i], context_.builder.var(variables[i]));
    }
  }
}

void WarpStatementParser::augmented_assignment(SyntaxNode node) {
  const SyntaxNode target = node.part(SyntaxField::kLeft);
  const std::string_view written = node.part(SyntaxField::kOperator).text();
  const std::string_view symbol = written.substr(0, written.size() - 1);
  const AssignmentTarget place = expressions_.place(target);
  if (place.failed()) return;
  if (expressions_.is_adjoint(target) && symbol != "+" && symbol != "-") {
    context_.error(node, "adjoints can only be accumulated, with += or -=");
    return;
  }
  if (place.root_kind == AssignmentTarget::RootKind::kArray && !place.lacks_indices() && !place.is_slice()) {
    const ir::Type array = context_.function.var(place.variable).type;
    if (array.is_array()) {
      const ExprId value = expressions_.value(node.part(SyntaxField::kRight));
      if (value == kNone) return;
      context_.entry.has_side_effects = true;
      if (atomic_update(node, symbol, place, value)) return;
      const ExprId old = read_target(context_, target, copy_target(context_, place));
      const ExprId result = expressions_.binary(node, symbol, old, value);
      if (result == kNone) return;
      return write_target(context_, target, place, result);
    }
  }
  if (tile_element(context_, place)) {
    context_.error(node,
                   "tile elements cannot be updated: every thread of the block would execute the update on a GPU, but "
                   "only one on the CPU");
    return;
  }
  const ExprId old = read_target(context_, target, copy_target(context_, place));
  const ExprId value = expressions_.value(node.part(SyntaxField::kRight));
  const ExprId result = expressions_.binary(node, symbol, old, value);
  if (result == kNone) return;
  if (context_.type_of(result) != place.type) {
    context_.error(node, fmt::format("cannot assign the result of type {} to a target of type {}",
                                     context_.type_name(context_.type_of(result)), context_.type_name(place.type)));
    return;
  }
  if (place.type.is_tile()) context_.changed_tiles.emplace_back(place.variable, node);
  if (target.is(SyntaxKind::kIdentifier)) return assign_name(target, result);
  write_target(context_, target, place, result);
  const bool is_component = target.is(SyntaxKind::kSubscript) && !place.is_slice() && !expressions_.is_adjoint(target);
  // For other operators and for attributes such as `v.x`, Warp evaluates `v[k] = v[k] * e`.
  if (is_component && symbol.size() == 1 && std::string_view("+-&|^").find(symbol) != std::string_view::npos)
    context_.builder.mark_as_augmented();
}

/// Warp makes +=, -=, &=, |= and ^= on array elements atomic. True if this is such an update, or if it was rejected.
bool WarpStatementParser::atomic_update(SyntaxNode node, std::string_view symbol, const AssignmentTarget& place,
                                        ExprId value) {
  const ir::Type element = context_.function.var(place.variable).type.element();
  const auto op = symbol == "+"   ? ir::AtomicOp::kAdd
                  : symbol == "-" ? ir::AtomicOp::kSub
                  : symbol == "&" ? ir::AtomicOp::kAnd
                  : symbol == "|" ? ir::AtomicOp::kOr
                                  : ir::AtomicOp::kXor;
  const bool is_sum = symbol == "+" || symbol == "-";
  if (!is_sum && !place.accessors.empty() && ir::is_differentiable(context_.file.module(), place.type) &&
      !is_forward_only(context_)) {
    context_.error(node, fmt::format("Warp rejects {}= on a component or field of an array element, unless the kernel "
                                     "has enable_backward=False: it has no gradient of it; read the element, change "
                                     "it, and store it",
                                     symbol));
    return true;
  }
  if (!is_sum && symbol != "&" && symbol != "|" && symbol != "^") return false;
  if (lacks_atomics(element)) return false;
  const ir::Type given = context_.type_of(value);
  const auto fail = [&](std::string reason) {
    context_.error(node, std::move(reason));
    return true;
  };
  if (given != place.type) {
    return fail(fmt::format("the updated element has type {}, but the operand has type {}",
                            context_.type_name(place.type), context_.type_name(given)));
  }
  context_.builder.at(node.loc());
  std::vector<std::int32_t> fields;
  ir::Type updated = element;
  while (fields.size() < place.accessors.size() && place.accessors[fields.size()].is_field) {
    const std::int32_t field = place.accessors[fields.size()].field_index;
    updated = context_.file.module().structs[updated.struct_id].fields[static_cast<std::size_t>(field)].type;
    fields.push_back(field);
  }
  const auto parts = std::span(place.accessors).subspan(fields.size());
  if (!fields.empty() && (place.type.is_bool() || lacks_atomics(place.type))) return false;
  if (parts.empty()) {
    const bool fits = is_sum ? !updated.is_struct() && !updated.is_bool() : updated.is_integer_scalar();
    if (!fits) return fail(fmt::format("atomic update is not supported for {}", context_.type_name(updated)));
    context_.builder.atomic_of_field(op, place.variable, place.indices(), std::move(fields), value);
    return true;
  }
  const bool is_component =
      std::ranges::none_of(parts, [](const auto& part) { return part.transform_part.has_value(); });
  if (!updated.is_aggregate() || !is_sum || !is_component) {
    return fail("updating a part of an array element is supported for fields, vectors and matrices only");
  }
  // A component: add a value that is zero elsewhere.
  ExprId change = value;
  for (std::size_t k = parts.size(); k-- > 0;) {
    const ExprId zero = context_.builder.zero(k == 0 ? updated : updated.indexed_part_type());
    change = context_.operation(node, Op::kInsert, {zero, parts[k].index, change});
  }
  context_.builder.atomic_of_field(op, place.variable, place.indices(), std::move(fields), change);
  return true;
}

}  // namespace assay::frontend
