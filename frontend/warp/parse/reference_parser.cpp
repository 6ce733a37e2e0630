// The part of WarpExpressionParser that parses calls with arguments passed by reference (wp.ref).
#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "frontend/warp/parse/expression_parser.hpp"

namespace assay::frontend {

using ir::ExprId;
using ir::kNone;

/// Determines which places the call changes.
bool WarpExpressionParser::pass_references(SyntaxNode call, const SourceFunction& callee, ResolvedCall& resolved) {
  const auto fail = [&](SyntaxNode node, std::string reason) {
    context_.error(node, std::move(reason));
    return false;
  };
  if (!context_.may_hoist || context_.whole_value != call.id()) {
    return fail(call,
                "a call that passes an argument by reference must be a statement of its own, or the whole value that "
                "a statement assigns or returns");
  }
  const CallArguments arguments = arguments_of(call);
  if (arguments.has_star_argument) return fail(call, "starred arguments cannot be passed by reference");
  std::set<ir::VarId> roots;
  for (const std::size_t p : callee.reference_parameters) {
    const auto keyword = arguments.keyword_arguments.find(callee.parameter_names[p]);
    const bool is_named = keyword != arguments.keyword_arguments.end();
    if (!is_named && p >= arguments.positional_arguments.size())
      return fail(call, fmt::format("missing argument '{}'", callee.parameter_names[p]));
    const SyntaxNode node = is_named ? keyword->second : arguments.positional_arguments[p];
    if (has_side_effects(node)) return fail(node, "an argument passed by reference must not have side effects");
    const AssignmentTarget target = fixed(node, place(node));
    if (target.failed()) return false;
    const bool is_variable = target.root_kind == AssignmentTarget::RootKind::kVariable;
    const bool is_place = is_variable || target.root_kind == AssignmentTarget::RootKind::kArray;
    if (!is_place || target.is_slice() || target.lacks_indices()) {
      return fail(node, "only a variable, or an element, component or field of one, can be passed by reference");
    }
    const ir::Function& function = context_.function;
    if (is_variable && (function.is_parameter(target.variable) || function.is_thread_index(target.variable)))
      return fail(node, "a parameter or thread index cannot be passed by reference; copy it to a variable");
    if (context_.literals_by_variable.contains(target.variable)) {
      return fail(node,
                  "Warp treats a variable that is initialized with a bare literal as a constant; write x = float(0.0)");
    }
    if (!roots.insert(target.variable).second)
      return fail(node, "two arguments that are passed by reference must not be parts of one variable or array");
    const bool is_also_argument = std::ranges::any_of(resolved.arguments, [&](ExprId argument) {
      const ir::Expr& expr = function.expr(argument);
      return expr.type.is_array() && expr.variable == target.variable;
    });
    if (is_also_argument)
      return fail(node, "an array and one of its elements cannot be passed in one call if the element is a reference");
    if (!is_variable) context_.entry.has_side_effects = true;
    resolved.references.push_back(target);
  }
  return true;
}

/// The target with its indices in variables, because the call may change what they are computed from.
AssignmentTarget WarpExpressionParser::fixed(SyntaxNode node, AssignmentTarget target) {
  const auto keep = [&](ExprId& index) {
    if (index == kNone || context_.function.expr(index).kind == ir::ExprKind::kLiteral) return;
    context_.builder.at(node.loc());
    index = context_.builder.var(context_.builder.let("index", index));
  };
  for (SliceDimension& dimension : target.dimensions)
    keep(dimension.index);
  for (AssignmentTarget::Accessor& step : target.accessors) {
    keep(step.index);
    for (ExprId& index : step.tile_indices)
      keep(index);
  }
  return target;
}

std::span<const ir::Type> WarpExpressionParser::returned_types(const ResolvedCall& resolved) const {
  const auto& results =
      context_.file.module().functions[static_cast<std::size_t>(resolved.callee->function_index)].results;
  return std::span(results).first(results.size() - resolved.references.size());
}

std::vector<ir::VarId> WarpExpressionParser::run(SyntaxNode call, const ResolvedCall& resolved,
                                                 std::vector<std::string> names) {
  const std::size_t returned = names.size();
  for (const AssignmentTarget& reference : resolved.references)
    names.push_back(fmt::format("new_{}", context_.function.var(reference.variable).name));
  context_.builder.at(call.loc());
  const int function = resolved.callee->function_index;
  std::vector<ir::VarId> results;
  if (names.size() == 1) {
    results = {context_.builder.let(names[0], context_.builder.call(function, resolved.arguments))};
  } else {
    results = context_.builder.call_statement(function, resolved.arguments, names);
  }
  for (std::size_t k = 0; k < resolved.references.size(); ++k) {
    context_.builder.at(call.loc());
    write_target(context_, call, resolved.references[k], context_.builder.var(results[returned + k]));
  }
  results.resize(returned);
  return results;
}

}  // namespace assay::frontend
