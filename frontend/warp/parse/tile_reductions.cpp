// The part of WarpExpressionParser that reads reductions of tiles: sums and extremes of all elements or along an axis.
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "frontend/warp/parse/expression_parser.hpp"
#include "frontend/warp/parse/tile_arguments.hpp"
#include "frontend/warp/parse/warp_names.hpp"

namespace assay::frontend {

using ir::ExprId;
using ir::kNone;
using ir::Op;
using ir::Type;
using ir::VarId;

/// Sums of all elements, or along one axis.
ExprId WarpExpressionParser::tile_sum(SyntaxNode node, SyntaxNode tile_node, SyntaxNode axis) {
  const ExprId tile = any_tile(node, tile_node);
  if (tile == kNone) return kNone;
  if (context_.compound_tile(tile)) {
    if (!axis) return sum_elements(node, tile);
    const auto number = context_.constant(axis);
    const std::int64_t along = number && number->type.is_integer_scalar() ? number->number().integer : -1;
    return sum_along(axis, tile, along);
  }
  const Type type = context_.type_of(tile);
  if (!axis) return context_.operation(node, Op::kTileSum, {tile}, ir::tile_type(type.scalar, 1));
  const auto number = context_.constant(axis);
  const std::int64_t along = number && number->type.is_integer_scalar() ? number->number().integer : -1;
  if (along < 0 || along >= type.tile_rank())
    return context_.error(axis, "axis must be the number of a tile dimension");
  if (type.tile_rank() == 1) return context_.operation(node, Op::kTileSum, {tile}, ir::tile_type(type.scalar, 1));
  if (along == 0) return context_.operation(node, Op::kTileSum, {tile}, ir::tile_type(type.scalar, type.tile[1]));
  const ExprId column = context_.operation(node, Op::kTileSum, {tile}, ir::tile_type(type.scalar, type.tile[0], 1));
  return context_.operation(node, Op::kTileReshape, {column}, ir::tile_type(type.scalar, type.tile[0]));
}

/// The least or greatest elements along one axis: the elements of the rows or columns, combined in pairs.
ExprId WarpExpressionParser::extremes_along(SyntaxNode node, ExprId tile, Op op, SyntaxNode axis) {
  constexpr std::int64_t kMostParts = 128;
  if (context_.compound_tile(tile)) return context_.error(axis, "only wp.add can reduce this tile along an axis");
  const Type type = context_.type_of(tile);
  const auto number = context_.constant(axis);
  const std::int64_t along = number && number->type.is_integer_scalar() ? number->number().integer : -1;
  if (along < 0 || along >= type.tile_rank())
    return context_.error(axis, "axis must be the number of a tile dimension");
  if (type.tile_rank() == 1) return context_.operation(node, op == Op::kMin ? Op::kTileMin : Op::kTileMax, {tile});
  const int count = type.tile[static_cast<std::size_t>(along)];
  const int rest = type.tile[static_cast<std::size_t>(1 - along)];
  if (count > kMostParts)
    return context_.error(
        axis, fmt::format("wp.min and wp.max can reduce at most {} elements along an axis, got {}", kMostParts, count));
  const bool is_variable = context_.function.expr(tile).kind == ir::ExprKind::kVariable;
  if (!is_variable && !context_.may_hoist)
    return context_.error(node, "assign the tile to a variable before it is reduced along an axis");
  ir::Builder& b = context_.builder;
  b.at(node.loc());
  const VarId whole = is_variable ? context_.function.expr(tile).variable : b.let("tile", tile);
  const Type part = along == 0 ? ir::tile_type(type.scalar, 1, rest) : ir::tile_type(type.scalar, rest, 1);
  std::vector<ExprId> parts;
  for (int k = 0; k < count; ++k) {
    b.at(node.loc());
    const std::vector<ExprId> operands{b.var(whole), b.i32(along == 0 ? k : 0), b.i32(along == 0 ? 0 : k)};
    parts.push_back(context_.operation(node, Op::kTileView, operands, part));
  }
  while (parts.size() > 1) {
    std::vector<ExprId> combined;
    for (std::size_t k = 0; k + 1 < parts.size(); k += 2)
      combined.push_back(context_.apply_by_element(node, op, {parts[k], parts[k + 1]}));
    if (parts.size() % 2 == 1) combined.push_back(parts.back());
    parts = std::move(combined);
  }
  return context_.operation(node, Op::kTileReshape, {parts[0]}, ir::tile_type(type.scalar, rest));
}

ExprId WarpExpressionParser::tile_reduce(SyntaxNode node) {
  const TileArguments given(node);
  const SyntaxNode function = given(0, "op");
  const auto op = function ? warp_function(context_.scope().warp_name(function)) : std::nullopt;
  if (op == Op::kAdd) return tile_sum(node, given(1, "a"), given(2, "axis"));
  if (op == Op::kMin || op == Op::kMax) {
    const ExprId tile = any_tile(node, given(1, "a"));
    if (tile == kNone) return kNone;
    if (const SyntaxNode axis = given(2, "axis")) return extremes_along(node, tile, *op, axis);
    if (context_.compound_tile(tile)) return extreme_element(node, tile, *op);
    return context_.operation(node, op == Op::kMin ? Op::kTileMin : Op::kTileMax, {tile});
  }
  return context_.error(node,
                        "tiles can be reduced with wp.add, wp.min or wp.max only: the results of other functions "
                        "depend on the unspecified order in which threads combine elements");
}

}  // namespace assay::frontend
