// The part of WarpExpressionParser that parses functions of hash grids and hierarchies of boxes.
#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "frontend/warp/parse/expression_parser.hpp"
#include "frontend/warp/parse/spatial_queries.hpp"
#include "ir/visit.hpp"

namespace assay::frontend {

using ir::ExprId;
using ir::kNone;
using ir::VarId;

bool WarpExpressionParser::is_spatial_function(std::string_view name) {
  return find_spatial_query(name) != nullptr || continued_kind(name) || name == "hash_grid_point_id" ||
         name == "bvh_get_group_root" || name == "mesh_get_group_root";
}

ExprId WarpExpressionParser::spatial_call(SyntaxNode node, std::string_view name) {
  if (const SpatialQuery* const query = find_spatial_query(name)) return spatial_query(node, *query);
  if (const std::optional<SpatialKind> continued = continued_kind(name)) return continue_query(node, *continued);
  const bool is_grid = name == "hash_grid_point_id";
  const std::string_view parameters = is_grid ? "id index" : "id group";
  std::vector<SyntaxNode> given;
  if (!match_named_arguments(node, {parameters}, given) || given.size() != 2)
    return context_.error(node, fmt::format("expected the arguments {}", parameters));
  const SpatialKind kind = is_grid                         ? SpatialKind::kGrid
                           : name == "mesh_get_group_root" ? SpatialKind::kMesh
                                                           : SpatialKind::kBvh;
  const std::vector<HiddenParameter> arrays =
      is_grid                      ? std::vector{HiddenParameter::kGridOrder}
      : kind == SpatialKind::kMesh ? std::vector{HiddenParameter::kMeshGroups, HiddenParameter::kMeshOrder}
                                   : std::vector{HiddenParameter::kBvhGroups, HiddenParameter::kBvhOrder};
  std::vector<ExprId> arguments = spatial_arguments(node, kind, arrays, given);
  if (arguments.empty() || !have_types(given, arguments, {ir::kI32})) return kNone;
  if (is_grid) arguments.erase(arguments.begin() + 1);  // all grids have the same order
  context_.builder.at(node.loc());
  return context_.builder.call(is_grid ? function_of_point_id(context_.file) : function_of_group_root(context_.file),
                               arguments);
}

/// Whether a call inside the node restricts the query to a group.
bool WarpExpressionParser::restricts(SyntaxNode node, const SpatialQuery& query) const {
  if (node.is(SyntaxKind::kCall) && warp_function_name(node) == query.name && is_restricted(node, query)) return true;
  return std::ranges::any_of(node.children(), [&](SyntaxNode child) { return restricts(child, query); });
}

ExprId WarpExpressionParser::spatial_query(SyntaxNode node, const SpatialQuery& query) {
  const std::string restricted = fmt::format("{} {}", query.parameters, query.restriction());
  std::vector<SyntaxNode> given;
  std::size_t least = query.operands.size() + 1;
  const bool matches = (match_named_arguments(node, {query.parameters}, given) && given.size() == least) ||
                       (match_named_arguments(node, {restricted}, given) && given.size() == least + 1);
  if (!matches)
    return context_.error(node, fmt::format("expected the arguments {} or {}", query.parameters, restricted));
  const bool is_of_group = is_restricted(node, query);
  if (given.size() > least && !is_of_group) given.pop_back();
  // A variable may hold either kind of query. The root -1 selects all boxes.
  const bool has_group =
      is_of_group || (query.kind == SpatialKind::kBvh && restricts(context_.entry.definition, query));
  const bool is_grid = query.kind == SpatialKind::kGrid;
  std::vector<HiddenParameter> arrays;
  if (is_grid) arrays.push_back(HiddenParameter::kGridWidths);
  std::vector<ExprId> arguments = spatial_arguments(node, query.kind, arrays, given);
  if (arguments.empty()) return kNone;
  std::vector<ir::Type> operands = query.operands;
  ir::Scalar scalar = ir::Scalar::kF32;
  if (is_grid) {
    const ir::Scalar given_scalar = context_.type_of(arguments[2]).scalar;
    if (given_scalar == ir::Scalar::kF16 || given_scalar == ir::Scalar::kF64) scalar = given_scalar;
    operands = {ir::vector_type(scalar, 3), ir::scalar_type(scalar)};
  }
  if (is_of_group) operands.push_back(ir::kI32);
  if (!have_types(given, arguments, operands)) return kNone;
  context_.builder.at(node.loc());
  if (has_group && !is_of_group) arguments.push_back(context_.builder.i32(-1));
  return context_.builder.call(function_of_spatial_query(context_.file, query, scalar, has_group), arguments);
}

bool WarpExpressionParser::pass_spatial_arrays(SyntaxNode call, const std::vector<HiddenParameter>& arrays,
                                               std::vector<ExprId>& arguments) {
  for (const HiddenParameter array : arrays) {
    const ExprId passed = hidden_parameter(call, array);
    if (passed == kNone) return false;
    arguments.push_back(passed);
    context_.loaded_arrays.push_back(context_.function.expr(passed).variable);
  }
  return true;
}

ExprId WarpExpressionParser::spatial_id(SyntaxNode node, SpatialKind kind) {
  const ExprId id = value(node);
  if (id == kNone) return kNone;
  if (context_.type_of(id) != ir::scalar_type(ir::Scalar::kU64)) {
    return context_.error(node, fmt::format("a {} identifier must be a uint64, got {}", spatial_noun(kind),
                                            context_.type_name(context_.type_of(id))));
  }
  note_id_range(id, rows_of(kind));
  return id;
}

std::vector<ExprId> WarpExpressionParser::spatial_arguments(SyntaxNode call, SpatialKind kind,
                                                            const std::vector<HiddenParameter>& arrays,
                                                            std::span<const SyntaxNode> given) {
  std::vector<ExprId> arguments;
  if (!pass_spatial_arrays(call, arrays, arguments)) return {};
  arguments.push_back(spatial_id(given[0], kind));
  if (arguments.back() == kNone) return {};
  for (const SyntaxNode node : given.subspan(1)) {
    arguments.push_back(value(node));
    if (arguments.back() == kNone) return {};
  }
  return arguments;
}

bool WarpExpressionParser::have_types(std::span<const SyntaxNode> given, const std::vector<ExprId>& arguments,
                                      const std::vector<ir::Type>& operands) {
  for (std::size_t k = 1; k < given.size(); ++k) {
    const ir::Type type = context_.type_of(arguments[arguments.size() - given.size() + k]);
    if (type == operands[k - 1]) continue;
    context_.error(given[k],
                   fmt::format("expected {}, got {}", context_.type_name(operands[k - 1]), context_.type_name(type)));
    return false;
  }
  return true;
}

/// States that a parameter of the kernel, or each element of an array, is an identifier: the number of a row.
void WarpExpressionParser::note_id_range(ExprId id, HiddenParameter array) {
  if (!context_.entry.is_kernel) return;
  const ir::Expr* expr = &context_.function.expr(id);
  if (expr->kind == ir::ExprKind::kVariable) {
    // The initial value of a local variable.
    ir::for_each_statement(context_.function.body, [&](const ir::Stmt& statement) {
      const auto* let = std::get_if<ir::Let>(&statement.node);
      if (let != nullptr && let->variable == context_.function.expr(id).variable && let->value != kNone)
        expr = &context_.function.expr(let->value);
    });
  }
  if (expr->kind == ir::ExprKind::kLoad) expr = &context_.function.expr(expr->args[0]);
  if (expr->kind != ir::ExprKind::kVariable || !context_.function.is_parameter(expr->variable)) return;
  const VarId rows = context_.hidden[static_cast<std::size_t>(array)];
  if (rows == kNone) return;
  const std::string line = fmt::format("domain: 1 <= {} <= {}.shape[0]", context_.function.var(expr->variable).name,
                                       context_.function.var(rows).name);
  std::vector<std::string>& annotations = context_.function.annotations;
  if (std::ranges::find(annotations, line) == annotations.end()) annotations.push_back(line);
}

ExprId WarpExpressionParser::continue_query(SyntaxNode call, SpatialKind kind) {
  std::vector<SyntaxNode> given;
  const bool may_have_limit = kind == SpatialKind::kBvh;
  const bool matches =
      (match_named_arguments(call, {"query index"}, given) && given.size() == 2) ||
      (may_have_limit && match_named_arguments(call, {"query index max_dist"}, given) && given.size() == 3);
  if (!matches)
    return context_.error(call, may_have_limit ? "expected the arguments query index or query index max_dist"
                                               : "expected the arguments query index");
  const VarId index = changed_variable(given[1], ir::kI32);
  if (index == kNone) return kNone;
  ExprId limit = kNone;
  if (given.size() == 3) {
    limit = value(given[2]);
    if (limit == kNone) return kNone;
    if (context_.type_of(limit) != ir::kF32) {
      return context_.error(given[2],
                            fmt::format("expected float32, got {}", context_.type_name(context_.type_of(limit))));
    }
  }
  const VarId query = given[0].is(SyntaxKind::kIdentifier) ? context_.bindings.find(given[0].text()) : kNone;
  const auto step = step_of(query);
  if (!step || step->kind != kind) {
    const std::string_view starts = kind == SpatialKind::kMesh   ? "wp.mesh_query_aabb or wp.mesh_query_sphere"
                                    : kind == SpatialKind::kGrid ? "wp.hash_grid_query"
                                                                 : "a function such as wp.bvh_query_aabb";
    return context_.error(call, fmt::format("query must be a variable that holds the result of {}", starts));
  }
  const std::size_t loads_before = context_.loaded_arrays.size();
  const VarId found = advance_query(call, query, index, limit);
  if (found == kNone || !can_change_variables(call, loads_before, found)) return kNone;
  return context_.builder.var(found);
}

std::optional<QueryStep> WarpExpressionParser::step_of(VarId query) const {
  if (query == kNone || FunctionContext::is_alias(query) || context_.function.is_parameter(query)) return std::nullopt;
  const ir::Type type = context_.function.var(query).type;
  return type.is_struct() ? step_of_struct(context_.file.module().structs[type.struct_id].name) : std::nullopt;
}

bool WarpExpressionParser::is_query_iteration(SyntaxNode node) const {
  if (node.is(SyntaxKind::kIdentifier)) return step_of(context_.bindings.find(node.text())).has_value();
  if (!node.is(SyntaxKind::kCall)) return false;
  const std::string name = warp_function_name(node);
  const MeshQuery* const of_mesh = find_mesh_query(name);
  return find_spatial_query(name) != nullptr || (of_mesh != nullptr && of_mesh->visits_faces);
}

VarId WarpExpressionParser::iterated_query(SyntaxNode node) {
  VarId variable = kNone;
  if (node.is(SyntaxKind::kIdentifier)) {
    variable = context_.bindings.find(node.text());
  } else {
    const ExprId query = value(node);
    if (query == kNone) return kNone;
    variable = context_.builder.let("query", query);
  }
  if (step_of(variable)->kind != SpatialKind::kBvh) return variable;
  return context_.error(
      node, "Warp does not support for loops over queries of a BVH; write while wp.bvh_query_next(query, index)");
}

VarId WarpExpressionParser::advance_query(SyntaxNode node, VarId query, VarId index, ExprId limit) {
  const QueryStep step = *step_of(query);
  std::vector<ExprId> arguments;
  if (!pass_spatial_arrays(node, step.arrays, arguments)) return kNone;
  ir::Builder& b = context_.builder;
  b.at(node.loc());
  arguments.push_back(b.var(query));
  arguments.push_back(b.var(index));
  if (step.has_limit) arguments.push_back(limit == kNone ? b.f32(std::numeric_limits<double>::infinity()) : limit);
  const std::vector<VarId> results =
      b.call_statement(step.function(context_.file), arguments, {"has_next", "next", "next_index"});
  b.assign(query, b.op(ir::Op::kWithField, {b.var(query), b.var(results[1])}, ir::kVoid, kNextField));
  b.assign(index, b.var(results[2]));
  return results[0];
}

}  // namespace assay::frontend
