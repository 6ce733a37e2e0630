// The part of WarpExpressionParser that parses tiles of compound elements: vectors, matrices, quaternions, transforms
// and structs.
//
// The tiles of the language have scalar elements. A tile of compound elements is a local array in row-major order, and
// what a kernel does with it is a loop over its elements, which every thread of a block executes. So are the tiles of
// scalars that a kernel computes from such a tile.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "frontend/warp/parse/expression_parser.hpp"
#include "frontend/warp/parse/tile_arguments.hpp"

namespace assay::frontend {

using ir::ExprId;
using ir::kNone;
using ir::Op;
using ir::Type;
using ir::VarId;

namespace {

int size_of(TileExtents extents) { return extents[0] * std::max<int>(extents[1], 1); }

/// The place of an element while a loop visits all of them.
struct ElementPlace {
  VarId row = kNone;
  VarId column = kNone;  ///< kNone for a tile of one dimension
  int columns = 1;

  /// One index for each dimension.
  std::vector<ExprId> indices(ir::Builder& b) const {
    std::vector<ExprId> result{b.var(row)};
    if (column != kNone) result.push_back(b.var(column));
    return result;
  }
  /// The position in row-major order.
  ExprId position(ir::Builder& b) const {
    if (column == kNone) return b.var(row);
    return b.op(Op::kAdd, {b.op(Op::kMul, {b.var(row), b.i32(columns)}), b.var(column)});
  }
};

void for_each_element(ir::Builder& b, TileExtents extents, const std::function<void(const ElementPlace&)>& body) {
  b.for_("row", b.i32(0), b.i32(extents[0]), b.i32(1), [&](VarId row) {
    if (extents[1] == 0) return body({.row = row});
    b.for_("column", b.i32(0), b.i32(extents[1]), b.i32(1),
           [&](VarId column) { body({.row = row, .column = column, .columns = extents[1]}); });
  });
}

}  // namespace

std::optional<TileExtents> FunctionContext::compound_tile(ExprId value) const {
  if (value == kNone || function.expr(value).kind != ir::ExprKind::kVariable) return std::nullopt;
  const auto found = compound_tiles.find(function.expr(value).variable);
  return found == compound_tiles.end() ? std::nullopt : std::optional(found->second);
}

VarId FunctionContext::new_compound_tile(std::string name, Type element, TileExtents extents) {
  const VarId tile =
      builder.let_zero(std::move(name), element.local_array_of(static_cast<std::uint32_t>(size_of(extents))));
  compound_tiles[tile] = extents;
  return tile;
}

void FunctionContext::copy_compound_tile(VarId target, VarId source) {
  for_each_element(builder, compound_tiles.at(source), [&](const ElementPlace& at) {
    builder.store(target, {at.position(builder)}, builder.load(source, {at.position(builder)}));
  });
}

/// Whether statements can be added here; reports an error if not.
bool WarpExpressionParser::can_loop(SyntaxNode node) {
  if (!context_.entry.is_kernel) context_.error(node, "tiles are supported in kernels only");
  else if (!context_.may_hoist)
    context_.error(node,
                   "tiles of vectors, matrices and structs are not supported in expressions evaluated conditionally or "
                   "repeatedly; use a separate statement");
  return context_.entry.is_kernel && context_.may_hoist;
}

/// The tile of the results of `apply`, which gets one element of each tile, and the other values as they are.
ExprId WarpExpressionParser::map_elements(SyntaxNode node, const std::vector<ExprId>& values,
                                          const std::function<ExprId(const std::vector<ExprId>&)>& apply) {
  if (!can_loop(node)) return kNone;
  ir::Builder& b = context_.builder;
  b.at(node.loc());
  TileExtents extents{};
  std::vector<VarId> operands;
  for (const ExprId value : values) {
    const auto compound = context_.compound_tile(value);
    const Type type = context_.type_of(value);
    if (compound || type.is_tile()) {
      const TileExtents found = compound.value_or(type.tile);
      if (extents[0] != 0 && found != extents) return context_.error(node, "the tiles must have the same shape");
      extents = found;
    }
    operands.push_back(compound ? context_.function.expr(value).variable : b.let("operand", value));
  }
  // The type of the elements is known when the first of them was made.
  const VarId result = context_.new_compound_tile("tile", ir::kF32, extents);
  bool is_complete = false;
  for_each_element(b, extents, [&](const ElementPlace& at) {
    std::vector<ExprId> elements;
    for (const VarId operand : operands) {
      const Type type = context_.function.var(operand).type;
      if (context_.compound_tiles.contains(operand)) elements.push_back(b.load(operand, {at.position(b)}));
      else if (!type.is_tile()) elements.push_back(b.var(operand));
      else {
        std::vector<ExprId> place = at.indices(b);
        place.insert(place.begin(), b.var(operand));
        elements.push_back(b.op(Op::kTileExtract, std::move(place)));
      }
    }
    const ExprId element = apply(elements);
    if (element == kNone) return;
    is_complete = true;
    Type& type = context_.function.variables[static_cast<std::size_t>(result)].type;
    type = context_.type_of(element).local_array_of(type.extent);
    b.at(node.loc());
    b.store(result, {at.position(b)}, element);
  });
  return is_complete ? b.var(result) : kNone;
}

ExprId WarpExpressionParser::fill_elements(SyntaxNode node, TileExtents extents, ExprId element) {
  if (!can_loop(node)) return kNone;
  ir::Builder& b = context_.builder;
  b.at(node.loc());
  const VarId value = b.let("element", element);
  const VarId tile = context_.new_compound_tile("tile", context_.type_of(element), extents);
  for_each_element(b, extents, [&](const ElementPlace& at) { b.store(tile, {at.position(b)}, b.var(value)); });
  return b.var(tile);
}

namespace {

/// The indices of an element in an array, and whether it is inside.
struct ArrayPlace {
  std::vector<ExprId> indices;
  ExprId is_inside = kNone;
};

/// `first`: variables that hold the fixed indices of the part of the array; `offset`: those of the first element.
ArrayPlace place_in_array(ir::Builder& b, VarId array, const std::vector<VarId>& first,
                          const std::vector<VarId>& offset, const ElementPlace& at) {
  ArrayPlace place;
  for (const VarId index : first)
    place.indices.push_back(b.var(index));
  const auto moved = [&](std::size_t d) {
    const ExprId by = d == 0 ? b.var(at.row) : b.var(at.column);
    return b.op(Op::kAdd, {b.var(offset[d]), by});
  };
  for (std::size_t d = 0; d < offset.size(); ++d) {
    const ExprId extent = b.shape_of(array, static_cast<int>(first.size() + d));
    const ExprId test = b.op(Op::kLt, {moved(d), extent});
    place.is_inside = d == 0 ? test : b.op(Op::kAnd, {place.is_inside, test});
    place.indices.push_back(moved(d));
  }
  return place;
}

}  // namespace

/// Saves the indices in variables: loops use them for each element. Empty after a reported error.
std::vector<VarId> WarpExpressionParser::saved_offset(SyntaxNode call, const std::vector<ExprId>& offset) {
  std::vector<VarId> saved;
  for (const ExprId index : offset) {
    if (context_.type_of(index) != ir::kI32) {
      context_.error(call, "offset must be an int32");
      return {};
    }
    saved.push_back(context_.builder.let("offset", index));
  }
  return saved;
}

namespace {

std::vector<VarId> saved_indices(ir::Builder& b, const AssignmentTarget& array) {
  std::vector<VarId> saved;
  for (const SliceDimension& dimension : array.dimensions) {
    if (dimension.kind == SliceDimension::Kind::kSingleIndex) saved.push_back(b.let("part", dimension.index));
  }
  return saved;
}

}  // namespace

/// Elements outside of the array are zero.
ExprId WarpExpressionParser::load_elements(SyntaxNode node, const AssignmentTarget& array, TileExtents extents,
                                           const std::vector<ExprId>& offset) {
  if (!can_loop(node)) return kNone;
  ir::Builder& b = context_.builder;
  b.at(node.loc());
  const std::vector<VarId> first = saved_indices(b, array);
  const std::vector<VarId> saved = saved_offset(node, offset);
  if (saved.empty()) return kNone;
  const VarId tile = context_.new_compound_tile("tile", array.type.element(), extents);
  for_each_element(b, extents, [&](const ElementPlace& at) {
    const ArrayPlace place = place_in_array(b, array.variable, first, saved, at);
    b.if_(place.is_inside, [&] { b.store(tile, {at.position(b)}, b.load(array.variable, place.indices)); });
  });
  return b.var(tile);
}

/// Stores the elements of the tile that are inside of the array, or adds them to it.
void WarpExpressionParser::store_elements(SyntaxNode call, const AssignmentTarget& array, ExprId tile,
                                          const std::vector<ExprId>& offset, bool adds) {
  ir::Builder& b = context_.builder;
  b.at(call.loc());
  const VarId source = context_.function.expr(tile).variable;
  const TileExtents extents = context_.compound_tiles.at(source);
  const std::vector<VarId> first = saved_indices(b, array);
  const std::vector<VarId> saved = saved_offset(call, offset);
  if (saved.empty()) return;
  context_.entry.has_side_effects = true;
  for_each_element(b, extents, [&](const ElementPlace& at) {
    const ArrayPlace place = place_in_array(b, array.variable, first, saved, at);
    b.if_(place.is_inside, [&] {
      const ExprId element = b.load(source, {at.position(b)});
      if (!adds) return b.store(array.variable, place.indices, element);
      b.atomic(ir::AtomicOp::kAdd, array.variable, place.indices, element);
      context_.block_updates.insert(element);
    });
  });
}

/// The tile with one element that combines all elements, in row-major order.
ExprId WarpExpressionParser::combine_elements(SyntaxNode node, ExprId tile, Op op) {
  if (!can_loop(node)) return kNone;
  ir::Builder& b = context_.builder;
  b.at(node.loc());
  const VarId source = context_.function.expr(tile).variable;
  const Type type = context_.function.var(source).type;
  const VarId combined = b.let("combined", b.load(source, {b.i32(0)}));
  bool is_complete = true;
  if (type.extent > 1) {
    b.for_("number", b.i32(1), b.i32(static_cast<int>(type.extent)), b.i32(1), [&](VarId number) {
      // Of equal elements, min and max select the second operand, which is the earlier one.
      const ExprId both = context_.operation(node, op, {b.load(source, {b.var(number)}), b.var(combined)});
      is_complete = both != kNone;
      if (is_complete) b.assign(combined, both);
    });
  }
  if (!is_complete) return kNone;
  const VarId result = context_.new_compound_tile("tile", type.element(), {1, 0});
  b.store(result, {b.i32(0)}, b.var(combined));
  return b.var(result);
}

/// The tile with other extents, for the same number of elements.
ExprId WarpExpressionParser::reshape_elements(SyntaxNode node, ExprId tile, TileExtents extents) {
  if (!can_loop(node)) return kNone;
  const VarId source = context_.function.expr(tile).variable;
  const Type type = context_.function.var(source).type;
  if (size_of(extents) != static_cast<int>(type.extent))
    return context_.error(node, "the tiles must have the same number of elements");
  context_.builder.at(node.loc());
  const VarId result = context_.new_compound_tile("tile", type.element(), extents);
  ir::Builder& b = context_.builder;
  b.for_("number", b.i32(0), b.i32(static_cast<int>(type.extent)), b.i32(1),
         [&](VarId number) { b.store(result, {b.var(number)}, b.load(source, {b.var(number)})); });
  return b.var(result);
}

ExprId WarpExpressionParser::extract_element(SyntaxNode node, ExprId tile, const std::vector<ExprId>& indices) {
  const VarId source = context_.function.expr(tile).variable;
  const TileExtents extents = context_.compound_tiles.at(source);
  if (extents[1] != 0 || indices.size() != 1)
    return context_.error(node,
                          "elements of tiles of vectors, matrices and structs can be indexed in tiles of one "
                          "dimension only");
  context_.builder.at(node.loc());
  return context_.builder.load(source, {indices[0]});
}

}  // namespace assay::frontend
