// The part of WarpExpressionParser that parses the tiles that the language does not have: tiles of compound elements,
// which are vectors, matrices, quaternions, transforms and structs, and tiles of three and four dimensions.
//
// Such a tile is a local array in row-major order, and what a kernel does with it is a loop over its elements, which
// every thread of a block executes. So are the tiles of scalars that a kernel computes from such a tile. Sums are sums
// of tiles of the language, whose bounds hold for any order of the terms.
#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "frontend/warp/parse/expression_parser.hpp"
#include "frontend/warp/parse/tile_arguments.hpp"
#include "ir/limits.hpp"

namespace assay::frontend {

using ir::ExprId;
using ir::kNone;
using ir::Op;
using ir::Type;
using ir::VarId;

namespace {

int size_of(const TileExtents& extents) {
  return std::accumulate(extents.begin(), extents.end(), 1, std::multiplies<>());
}

TileExtents extents_of(Type tile) {
  TileExtents extents{tile.tile[0]};
  if (tile.tile[1] != 0) extents.push_back(tile.tile[1]);
  return extents;
}

/// The position of an element in row-major order, given its index in each dimension.
ExprId position_of(ir::Builder& b, const TileExtents& extents, std::span<const ExprId> indices) {
  ExprId position = indices[0];
  for (std::size_t d = 1; d < indices.size(); ++d)
    position = b.op(Op::kAdd, {b.op(Op::kMul, {position, b.i32(extents[d])}), indices[d]});
  return position;
}

/// The same for indices of the source: a number if they are known, otherwise unsigned, because a position below zero
/// does not count from the end of the local array.
ExprId position_from_start(const ir::Function& function, ir::Builder& b, const TileExtents& extents,
                           std::span<const ExprId> indices) {
  std::int64_t number = 0;
  for (std::size_t d = 0; d < indices.size(); ++d) {
    const ir::Expr& index = function.expr(indices[d]);
    if (index.kind != ir::ExprKind::kLiteral)
      return b.cast(ir::scalar_type(ir::Scalar::kU32), position_of(b, extents, indices));
    number = number * extents[d] + static_cast<std::int64_t>(index.bits);
  }
  return b.i32(number);
}

/// The place of an element while a loop visits all of them.
struct ElementPlace {
  const TileExtents& extents;
  std::vector<VarId> loops;  ///< the variable of the loop over each dimension

  std::vector<ExprId> indices(ir::Builder& b) const {
    std::vector<ExprId> result;
    for (const VarId loop : loops)
      result.push_back(b.var(loop));
    return result;
  }
  ExprId position(ir::Builder& b) const { return position_of(b, extents, indices(b)); }
};

void for_each_element(ir::Builder& b, const TileExtents& extents,
                      const std::function<void(const ElementPlace&)>& body) {
  constexpr std::array<const char*, ir::kMaxRank> kNames{"row", "column", "layer", "part"};
  ElementPlace at{extents, {}};
  const std::function<void()> visit = [&] {
    const std::size_t d = at.loops.size();
    if (d == extents.size()) return body(at);
    b.for_(kNames[d], b.i32(0), b.i32(extents[d]), b.i32(1), [&](VarId loop) {
      at.loops.push_back(loop);
      visit();
      at.loops.pop_back();
    });
  };
  visit();
}

}  // namespace

std::optional<TileExtents> FunctionContext::compound_tile(ExprId value) const {
  if (value == kNone || function.expr(value).kind != ir::ExprKind::kVariable) return std::nullopt;
  const auto found = compound_tiles.find(function.expr(value).variable);
  return found == compound_tiles.end() ? std::nullopt : std::optional(found->second);
}

VarId FunctionContext::new_compound_tile(std::string name, Type element, const TileExtents& extents) {
  const VarId tile =
      builder.let_zero(std::move(name), element.local_array_of(static_cast<std::uint32_t>(size_of(extents))));
  compound_tiles[tile] = extents;
  function.variables[static_cast<std::size_t>(tile)].replaces_tile = true;
  return tile;
}

void FunctionContext::copy_compound_tile(VarId target, VarId source) {
  for_each_element(builder, compound_tiles.at(source), [&](const ElementPlace& at) {
    builder.store(target, {at.position(builder)}, builder.load(source, {at.position(builder)}));
  });
}

/// Whether statements can be added here; reports an error if not.
bool WarpExpressionParser::can_loop(SyntaxNode node) {
  const bool may_have_tiles = context_.entry.is_kernel || context_.has_thread_values;
  if (!may_have_tiles) context_.error(node, "tiles are supported in kernels only");
  else if (!context_.may_hoist)
    context_.error(node,
                   "tiles of vectors, matrices and structs are not supported in expressions evaluated conditionally or "
                   "repeatedly; use a separate statement");
  return may_have_tiles && context_.may_hoist;
}

/// Notes that both tiles are one piece of memory in Warp.
void WarpExpressionParser::share(VarId source, VarId view) {
  context_.shared_compound_tiles.insert(view);
  if (context_.named_compound_tiles.contains(source)) context_.shared_compound_tiles.insert(source);
}

/// Whether a statement may change the tile; reports an error if not.
bool WarpExpressionParser::can_change(SyntaxNode node, VarId tile) {
  if (!context_.shared_compound_tiles.contains(tile)) return true;
  context_.error(node,
                 "in Warp, the tile shares memory with another one, because one is a reshape or the transpose of the "
                 "other, and this statement would change both");
  return false;
}

/// The tile of the results of `apply`, which gets one element of each tile, and the other values as they are.
ExprId WarpExpressionParser::map_elements(SyntaxNode node, const std::vector<ExprId>& values,
                                          const std::function<ExprId(const std::vector<ExprId>&)>& apply) {
  if (!can_loop(node)) return kNone;
  ir::Builder& b = context_.builder;
  b.at(node.loc());
  TileExtents extents;
  std::vector<VarId> operands;
  for (const ExprId value : values) {
    const auto compound = context_.compound_tile(value);
    const Type type = context_.type_of(value);
    if (compound || type.is_tile()) {
      const TileExtents found = compound ? *compound : extents_of(type);
      if (!extents.empty() && found != extents) return context_.error(node, "the tiles must have the same shape");
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

ExprId WarpExpressionParser::fill_elements(SyntaxNode node, const TileExtents& extents, ExprId element) {
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
  const auto moved = [&](std::size_t d) { return b.op(Op::kAdd, {b.var(offset[d]), b.var(at.loops[d])}); };
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
ExprId WarpExpressionParser::load_elements(SyntaxNode node, const AssignmentTarget& array, const TileExtents& extents,
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

namespace {

/// The sum of `count` elements in any order: one sum of a tile for each number of the element. `element` makes the
/// element with a number, given the variable of a loop.
ExprId sum_of(ir::Builder& b, Type type, int count, const std::function<ExprId(VarId)>& element) {
  const std::vector<std::vector<int>> paths = [&] {
    std::vector<std::vector<int>> found;
    for (int part = 0; part < (type.is_scalar() ? 1 : type.parts()); ++part) {
      for (int k = 0; k < (type.is_matrix() ? int{type.cols} : 1); ++k)
        found.push_back(type.is_scalar()   ? std::vector<int>{}
                        : type.is_matrix() ? std::vector{part, k}
                                           : std::vector{part});
    }
    return found;
  }();
  const Type number = type.is_scalar() ? type : type.component();
  std::vector<VarId> terms;
  for (std::size_t k = 0; k < paths.size(); ++k)
    terms.push_back(b.let("terms", b.zero(ir::tile_type(number.scalar, count))));
  b.for_("term", b.i32(0), b.i32(count), b.i32(1), [&](VarId term) {
    const VarId value = b.let("value", element(term));
    for (std::size_t k = 0; k < paths.size(); ++k) {
      ExprId part = b.var(value);
      for (const int index : paths[k])
        part = b.op(Op::kExtract, {part, b.i32(index)});
      b.assign(terms[k], b.op(Op::kTileInsert, {b.var(terms[k]), b.var(term), part}));
    }
  });
  std::vector<ExprId> sums;
  for (const VarId tile : terms) {
    const ExprId sum = b.op(Op::kTileSum, {b.var(tile)}, ir::tile_type(number.scalar, 1));
    sums.push_back(b.op(Op::kTileExtract, {sum, b.i32(0)}));
  }
  return type.is_scalar() ? sums[0] : b.make(type, sums);
}

}  // namespace

/// Whether elements of the type can be added; reports an error if not.
bool WarpExpressionParser::can_add(SyntaxNode node, Type element) {
  if (!element.is_struct() && !element.is_bool()) return true;
  context_.error(node, fmt::format("elements of type {} cannot be added", context_.type_name(element)));
  return false;
}

/// The tile with the sum of all elements.
ExprId WarpExpressionParser::sum_elements(SyntaxNode node, ExprId tile) {
  ir::Builder& b = context_.builder;
  const VarId source = context_.function.expr(tile).variable;
  const Type type = context_.function.var(source).type;
  if (!can_loop(node) || !can_add(node, type.element())) return kNone;
  b.at(node.loc());
  const bool is_single = type.extent == 1;
  const ExprId sum = is_single ? b.load(source, {b.i32(0)})
                               : sum_of(b, type.element(), static_cast<int>(type.extent),
                                        [&](VarId term) { return b.load(source, {b.var(term)}); });
  const VarId result = context_.new_compound_tile("tile", type.element(), {1});
  b.store(result, {b.i32(0)}, sum);
  return b.var(result);
}

/// The tile with the least or the greatest element; for vectors, of each component.
ExprId WarpExpressionParser::extreme_element(SyntaxNode node, ExprId tile, Op op) {
  ir::Builder& b = context_.builder;
  const VarId source = context_.function.expr(tile).variable;
  const Type type = context_.function.var(source).type;
  const Type element = type.element();
  if ((!element.is_scalar() && !element.is_vector()) || element.is_bool())
    return context_.error(node, "only tiles of numbers and of vectors have a least and a greatest element");
  if (!can_loop(node)) return kNone;
  b.at(node.loc());
  const VarId extreme = b.let("extreme", b.load(source, {b.i32(0)}));
  const auto compare = [&](VarId number) {
    // Of equal elements, min and max select the second operand, which is the earlier one.
    b.assign(extreme, context_.operation(node, op, {b.load(source, {b.var(number)}), b.var(extreme)}));
  };
  if (type.extent > 1) b.for_("number", b.i32(1), b.i32(static_cast<int>(type.extent)), b.i32(1), compare);
  const VarId result = context_.new_compound_tile("tile", type.element(), {1});
  b.store(result, {b.i32(0)}, b.var(extreme));
  return b.var(result);
}

/// The sums along one dimension, in a tile without it.
ExprId WarpExpressionParser::sum_along(SyntaxNode axis, ExprId tile, std::int64_t along) {
  ir::Builder& b = context_.builder;
  const VarId source = context_.function.expr(tile).variable;
  const Type element = context_.type_of(tile).element();
  const TileExtents extents = context_.compound_tiles.at(source);
  if (along < 0 || along >= static_cast<std::int64_t>(extents.size()))
    return context_.error(axis, "axis must be the number of a tile dimension");
  TileExtents rest = extents;
  rest.erase(rest.begin() + along);
  if (rest.empty()) return sum_elements(axis, tile);
  if (!can_loop(axis) || !can_add(axis, element)) return kNone;
  b.at(axis.loc());
  const VarId sums = context_.new_compound_tile("tile", element, rest);
  for_each_element(b, rest, [&](const ElementPlace& at) {
    const ExprId sum = sum_of(b, element, extents[static_cast<std::size_t>(along)], [&](VarId term) {
      std::vector<ExprId> indices = at.indices(b);
      indices.insert(indices.begin() + along, b.var(term));
      return b.load(source, {position_of(b, extents, indices)});
    });
    b.store(sums, {at.position(b)}, sum);
  });
  return b.var(sums);
}

/// The tile with other extents, for the same number of elements.
ExprId WarpExpressionParser::reshape_elements(SyntaxNode node, ExprId tile, const TileExtents& extents) {
  if (!can_loop(node)) return kNone;
  const VarId source = context_.function.expr(tile).variable;
  const Type type = context_.function.var(source).type;
  if (size_of(extents) != static_cast<int>(type.extent))
    return context_.error(node, "the tiles must have the same number of elements");
  context_.builder.at(node.loc());
  const VarId result = context_.new_compound_tile("tile", type.element(), extents);
  share(source, result);
  ir::Builder& b = context_.builder;
  b.for_("number", b.i32(0), b.i32(static_cast<int>(type.extent)), b.i32(1),
         [&](VarId number) { b.store(result, {b.var(number)}, b.load(source, {b.var(number)})); });
  return b.var(result);
}

/// The tile of two dimensions with rows and columns exchanged.
ExprId WarpExpressionParser::transpose_elements(SyntaxNode node, ExprId tile) {
  if (!can_loop(node)) return kNone;
  ir::Builder& b = context_.builder;
  const VarId source = context_.function.expr(tile).variable;
  const TileExtents extents = context_.compound_tiles.at(source);
  if (extents.size() != 2) return context_.error(node, "only tiles of two dimensions can be transposed");
  b.at(node.loc());
  const TileExtents exchanged{extents[1], extents[0]};
  const VarId result = context_.new_compound_tile("tile", context_.type_of(tile).element(), exchanged);
  share(source, result);
  for_each_element(b, extents, [&](const ElementPlace& at) {
    const std::vector<ExprId> place{b.var(at.loops[1]), b.var(at.loops[0])};
    b.store(result, {position_of(b, exchanged, place)}, b.load(source, {at.position(b)}));
  });
  return b.var(result);
}

/// The element with the first indices, or its part with the others.
ExprId WarpExpressionParser::extract_element(SyntaxNode node, ExprId tile, const std::vector<ExprId>& indices) {
  const VarId source = context_.function.expr(tile).variable;
  const TileExtents& extents = context_.compound_tiles.at(source);
  if (indices.size() < extents.size())
    return context_.error(node, fmt::format("the tile has {} dimension{}, but {} indices are given", extents.size(),
                                            extents.size() == 1 ? "" : "s", indices.size()));
  context_.builder.at(node.loc());
  const std::span<const ExprId> given(indices);
  const ExprId position =
      position_from_start(context_.function, context_.builder, extents, given.first(extents.size()));
  ExprId part = context_.builder.load(source, {position});
  for (const ExprId index : given.subspan(extents.size())) {
    if (part == kNone) break;
    part = context_.operation(node, Op::kExtract, {part, index});
  }
  return part;
}

/// Adds one index of an element of a tile with several dimensions. False after a reported error.
bool WarpExpressionParser::index_compound_tile(AssignmentTarget& place, SyntaxNode index, const TileExtents& extents) {
  if (is_slice(index)) {
    context_.error(index, "tiles cannot be sliced");
    return false;
  }
  const int extent = extents[place.pending_tile_indices.size()];
  const ExprId position = index_below(index, context_.function.var(place.variable).type.element(), extent, "positions");
  if (position == kNone) return false;
  place.pending_tile_indices.push_back(as_i32(index, context_.wrapped_index(index, position, extent)));
  if (place.pending_tile_indices.size() < extents.size()) return true;
  context_.builder.at(index.loc());
  place.dimensions[0] = {.kind = SliceDimension::Kind::kSingleIndex,
                         .index = position_from_start(context_.function, context_.builder, extents,
                                                      std::exchange(place.pending_tile_indices, {}))};
  place.type = place.type.element();
  return true;
}

/// wp.tile_fft(t) and wp.tile_ifft(t): each row of complex numbers becomes its discrete Fourier transform, computed by
/// the definition: X[k] is the sum over j of x[j] exp(-2 pi i j k / n), or with the opposite sign, and without a
/// factor.
void WarpExpressionParser::tile_fourier(SyntaxNode call, bool is_inverse) {
  const TileArguments given(call);
  const ExprId tile = any_tile(call, given(0, "inout"));
  if (tile == kNone) return;
  const auto extents = context_.compound_tile(tile);
  const Type element = extents ? context_.type_of(tile).element() : ir::kVoid;
  const bool is_complex =
      element == ir::vector_type(ir::Scalar::kF32, 2) || element == ir::vector_type(ir::Scalar::kF64, 2);
  if (!is_complex || extents->size() < 2 ||
      !context_.named_compound_tiles.contains(context_.function.expr(tile).variable)) {
    context_.error(call, "expected a variable that holds a tile of vec2f or vec2d with two or more dimensions");
    return;
  }
  if (!can_loop(call) || !can_change(call, context_.function.expr(tile).variable)) return;
  ir::Builder& b = context_.builder;
  b.at(call.loc());
  const VarId changed = context_.function.expr(tile).variable;
  const int length = extents->back();
  const Type number = element.component();
  constexpr double kPi = 0x1.921fb54442d18p+1;
  const double step = (is_inverse ? 2 : -2) * kPi / length;
  const TileExtents rows(extents->begin(), extents->end() - 1);
  // The positions and their multiples modulo the length, as unsigned numbers: of x and x - length, the one below the
  // length is less, because the other wraps around.
  const Type whole = ir::tile_type(ir::Scalar::kU32, length);
  const auto unsigned_number = [&](int value) { return b.literal(whole.component(), std::int64_t{value}); };
  const VarId positions = b.let("positions", b.op(Op::kTileArange, {unsigned_number(0), unsigned_number(1)}, whole));
  const VarId lengths = b.let("lengths", b.op(Op::kSplat, {unsigned_number(length)}, whole));
  for_each_element(b, rows, [&](const ElementPlace& at) {
    const auto place = [&](VarId column) {
      std::vector<ExprId> indices = at.indices(b);
      indices.push_back(b.var(column));
      return position_of(b, *extents, indices);
    };
    const VarId real = b.let("real", b.zero(ir::tile_type(number.scalar, length)));
    const VarId imaginary = b.let("imaginary", b.zero(ir::tile_type(number.scalar, length)));
    b.for_("column", b.i32(0), b.i32(length), b.i32(1), [&](VarId column) {
      for (const auto& [numbers, part] : {std::pair(real, 0), std::pair(imaginary, 1)}) {
        const ExprId component = b.op(Op::kExtract, {b.load(changed, {place(column)}), b.i32(part)});
        b.assign(numbers, b.op(Op::kTileInsert, {b.var(numbers), b.var(column), component}));
      }
    });
    const VarId turns = b.let("turns", b.zero(whole));
    b.for_("frequency", b.i32(0), b.i32(length), b.i32(1), [&](VarId frequency) {
      const ExprId angles = b.cast(ir::tile_type(number.scalar, length), b.var(turns));
      const VarId angle = b.let("angle", b.op(Op::kMul, {angles, b.literal(number, step)}));
      const VarId cosine = b.let("cosine", b.op(Op::kCos, {b.var(angle)}));
      const VarId sine = b.let("sine", b.op(Op::kSin, {b.var(angle)}));
      const auto product = [&](VarId x, VarId y) { return b.op(Op::kMul, {b.var(x), b.var(y)}); };
      const auto sum = [&](ExprId terms) {
        const ExprId total = b.op(Op::kTileSum, {terms}, ir::tile_type(number.scalar, 1));
        return b.op(Op::kTileExtract, {total, b.i32(0)});
      };
      const ExprId first = sum(b.op(Op::kSub, {product(real, cosine), product(imaginary, sine)}));
      const ExprId second = sum(b.op(Op::kAdd, {product(real, sine), product(imaginary, cosine)}));
      b.store(changed, {place(frequency)}, b.make(element, {first, second}));
      const VarId next = b.let("next", b.op(Op::kAdd, {b.var(turns), b.var(positions)}));
      b.assign(turns, b.op(Op::kMin, {b.var(next), b.op(Op::kSub, {b.var(next), b.var(lengths)})}));
    });
  });
}

}  // namespace assay::frontend
