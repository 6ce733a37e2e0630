// The part of WarpExpressionParser that parses tiles, which the threads of a block own and process together.
//
// A tile kernel has the semantics of one thread per block, which is how Warp runs it on the CPU. Constructs whose
// result would differ with more threads are rejected.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "frontend/warp/parse/expression_parser.hpp"
#include "frontend/warp/parse/tile_arguments.hpp"
#include "frontend/warp/parse/warp_names.hpp"
#include "ir/limits.hpp"

namespace assay::frontend {

using ir::ExprId;
using ir::kNone;
using ir::Op;
using ir::Type;

namespace {

constexpr const char* kNotCompound =
    "this function does not support tiles of vectors, matrices or structs, or of more than two dimensions";

constexpr const char* kBoolElements =
    "the mapped function returns bool, which Warp does not support for elements of tiles; return a number";

bool is_tile_of_numbers(Type type) { return type.is_tile() && type.scalar != ir::Scalar::kBool; }

/// Whether the language has tiles of these elements and extents.
bool is_simple(Type element, const TileExtents& extents) { return element.is_scalar() && extents.size() <= 2; }

Type tile_of(Type element, const TileExtents& extents) {
  element.tile = {extents[0], extents.size() == 1 ? std::uint16_t{0} : extents[1]};
  return element;
}

}  // namespace

/// The extents of a shape: a number or a tuple of one to four. None after a reported error.
std::optional<TileExtents> WarpExpressionParser::tile_extents(SyntaxNode call, SyntaxNode shape) {
  const auto fail = [&](const char* reason) -> std::optional<TileExtents> {
    context_.error(shape ? shape : call, reason);
    return std::nullopt;
  };
  if (!shape) return fail("tile shape is missing");
  const std::span<const SyntaxNode> parts = shape.elements({SyntaxKind::kTuple});
  if (parts.empty() || parts.size() > ir::kMaxRank) return fail("tile must have one to four dimensions");
  TileExtents extents;
  std::int64_t size = 1;
  for (const SyntaxNode part : parts) {
    const auto extent = context_.constant(part);
    if (!extent || !extent->type.is_integer_scalar()) return fail("tile extents must be compile-time constants");
    const std::int64_t length = extent->number().integer;
    if (length < 1 || length > ir::kMaxTileSize) return fail("tile must have 1 to 4096 elements");
    extents.push_back(static_cast<std::uint16_t>(length));
    size *= length;
  }
  return size <= ir::kMaxTileSize ? std::optional(extents) : fail("tile must have 1 to 4096 elements");
}

/// The tile type of a shape of one or two dimensions. Void after a reported error.
Type WarpExpressionParser::tile_shape(SyntaxNode call, SyntaxNode shape, Type element) {
  const std::optional<TileExtents> extents = tile_extents(call, shape);
  if (!extents) return ir::kVoid;
  if (!element.is_scalar() || extents->size() > 2) {
    context_.error(shape, element.is_scalar() ? "this function supports tiles of one or two dimensions only"
                                              : "tile elements must be scalars");
    return ir::kVoid;
  }
  return tile_of(element, *extents);
}

/// Indices of the first element; zeros without an offset. Empty after a reported error.
std::vector<ExprId> WarpExpressionParser::tile_offset(SyntaxNode call, SyntaxNode offset, int rank) {
  std::vector<ExprId> offsets;
  if (!offset) {
    context_.builder.at(call.loc());
    for (int d = 0; d < rank; ++d)
      offsets.push_back(context_.builder.i32(0));
    return offsets;
  }
  const std::span<const SyntaxNode> parts = offset.elements({SyntaxKind::kTuple});
  if (static_cast<int>(parts.size()) != rank) {
    context_.error(offset, fmt::format("array has {} dimensions, but the offset has {}", rank, parts.size()));
    return {};
  }
  for (const SyntaxNode part : parts) {
    offsets.push_back(value(part));
    if (offsets.back() == kNone) return {};
    if (context_.type_of(offsets.back()).is_integer_scalar()) continue;
    context_.error(part, "offset must be an integer");
    return {};
  }
  return offsets;
}

/// The array, or the part of an array with given first indices, that a tile is loaded from or stored to; failed after a
/// reported error.
AssignmentTarget WarpExpressionParser::tile_array(SyntaxNode node, Type tile) {
  if (!node) return {};
  const AssignmentTarget array = place(node);
  if (array.failed()) return {};
  const auto is_whole = [](const SliceDimension& d) { return d.kind == SliceDimension::Kind::kAllIndices; };
  const auto is_fixed = [](const SliceDimension& d) { return d.kind == SliceDimension::Kind::kSingleIndex; };
  const auto rest = std::ranges::find_if_not(array.dimensions, is_fixed);
  if (!array.lacks_indices() || !array.type.is_array() || !std::all_of(rest, array.dimensions.end(), is_whole)) {
    context_.error(node, "tiles must be loaded from and stored to arrays, or their parts with given first indices");
    return {};
  }
  if (tile.is_void() || fits(node, array, tile)) return array;
  return {};
}

/// Whether a tile has the elements and the rank of the array; reports an error if not.
bool WarpExpressionParser::fits(SyntaxNode node, const AssignmentTarget& array, Type tile) {
  if (array.type.element() == tile.tile_element_type() && array.type.rank == tile.tile_rank()) return true;
  context_.error(node, fmt::format("tile type {} is incompatible with array type {}", context_.type_name(tile),
                                   context_.type_name(array.type)));
  return false;
}

namespace {

/// The indices of an access: those that select the part of the array, and those in the part.
std::vector<ExprId> all_indices(const AssignmentTarget& array, std::vector<ExprId> offset) {
  std::vector<ExprId> indices;
  for (const SliceDimension& dimension : array.dimensions)
    if (dimension.kind == SliceDimension::Kind::kSingleIndex) indices.push_back(dimension.index);
  indices.insert(indices.end(), offset.begin(), offset.end());
  return indices;
}

}  // namespace

/// A value that must be a tile; kNone after a reported error.
ExprId WarpExpressionParser::tile_value(SyntaxNode call, SyntaxNode node) {
  if (!node) return context_.error(call, "tile argument is missing");
  const ExprId tile = value(node);
  if (tile == kNone || is_tile_of_numbers(context_.type_of(tile))) return tile;
  if (context_.compound_tile(tile)) return context_.error(node, kNotCompound);
  return context_.error(node,
                        fmt::format("expected a tile of numbers, got {}", context_.type_name(context_.type_of(tile))));
}

/// A tile of numbers or of compound elements; kNone after a reported error.
ExprId WarpExpressionParser::any_tile(SyntaxNode call, SyntaxNode node) {
  if (!node) return context_.error(call, "tile argument is missing");
  const ExprId tile = value(node);
  if (tile == kNone || context_.compound_tile(tile) || is_tile_of_numbers(context_.type_of(tile))) return tile;
  return context_.error(node, fmt::format("expected a tile, got {}", context_.type_name(context_.type_of(tile))));
}

ExprId WarpExpressionParser::tile_call(SyntaxNode node, std::string_view name) {
  const bool is_reduction =
      name == "tile_sum" || name == "tile_reduce" || name == "tile_min" || name == "tile_max" || name == "tile_extract";
  if (!context_.entry.is_kernel && !(context_.has_thread_values && is_reduction))
    return context_.error(node, "tiles are supported in kernels only");
  const TileArguments given(node);
  if (given.has_star_argument()) return context_.error(node, "starred arguments are not supported");
  if (is_tile_solver(name) && !name.ends_with("_inplace")) return tile_solver(node, name);
  if (name == "tile_matmul") {
    const std::string_view unknown = given.unknown({"a", "b", "alpha", "precision"});
    if (!unknown.empty()) return context_.error(node, fmt::format("argument '{}' is not supported", unknown));
    return tile_product(node, ir::kVoid, given(2, "alpha"));
  }
  const std::string_view unknown =
      given.unknown({"a",  "b", "shape", "offset", "dtype",   "value",      "axis", "t", "i", "j",
                     "op", "x", "y",     "d",      "indices", "thread_idx", "k",    "l", "m", "n"});
  if (!unknown.empty()) return context_.error(node, fmt::format("argument '{}' is not supported", unknown));
  if (name == "tile_load") return tile_load(node);
  if (name == "tile_from_thread") return tile_from_thread(node);
  if (name == "tile_load_indexed") return tile_load_indexed(node);
  if (name == "tile_arange") return tile_arange(node);
  if (name == "tile_squeeze") return tile_squeeze(node);
  if (name == "tile_view") return tile_view(node);
  if (name == "tile_empty") return context_.error(node, "elements of wp.tile_empty are undefined; use wp.tile_zeros");
  if (name == "tile_diag_add") {
    const ExprId square = tile_value(node, given(0, "a"));
    const ExprId diagonal = tile_value(node, given(1, "d"));
    return square == kNone || diagonal == kNone ? kNone
                                                : context_.operation(node, Op::kTileDiagAdd, {square, diagonal});
  }
  if (name == "tile_zeros" || name == "tile_ones" || name == "tile_full") return tile_filled(node, name);
  if (name == "tile_map") return tile_map(node);
  if (name == "tile_reduce") return tile_reduce(node);
  if (name == "tile_sum") return tile_sum(node, given(0, "a"), given(1, "axis"));
  if (name == "tile_extract") return tile_extract(node);
  if (name == "tile_astype") {
    const ExprId tile = tile_value(node, given(0, "t"));
    const auto type = given(1, "dtype") ? type_of_node(given(1, "dtype")) : Result<Type>(Error{""});
    if (tile == kNone) return kNone;
    if (!type.ok() || !type->is_scalar()) return context_.error(node, "wp.tile_astype requires a scalar dtype");
    return context_.operation(node, Op::kCast, {tile}, type->with_tile_extents_of(context_.type_of(tile)));
  }
  if (name == "tile_broadcast" || name == "tile_reshape") {
    const ExprId tile = any_tile(node, given(0, name == "tile_reshape" ? "t" : "a"));
    if (tile == kNone) return kNone;
    if (const SyntaxNode shape = given(1, "shape"); shape && !shape.is(SyntaxKind::kTuple))
      return context_.error(shape, fmt::format("shape must be a tuple, as in wp.{}(t, (12,))", name));
    if (context_.compound_tile(tile)) {
      const auto extents = tile_extents(node, given(1, "shape"));
      if (extents && name == "tile_reshape") return reshape_elements(node, tile, *extents);
      return extents ? context_.error(node, kNotCompound) : kNone;
    }
    const Type shaped = tile_shape(node, given(1, "shape"), context_.type_of(tile).component());
    if (shaped.is_void()) return kNone;
    // Sums along the last axis drop that axis by a reshape; a reshape back to a column cancels it.
    const ir::Expr& made = context_.function.expr(tile);
    const bool undoes = name == "tile_reshape" && made.kind == ir::ExprKind::kOperation &&
                        made.op == Op::kTileReshape && context_.type_of(made.args[0]) == shaped;
    if (undoes) return made.args[0];
    return context_.operation(node, name == "tile_reshape" ? Op::kTileReshape : Op::kTileBroadcast, {tile}, shaped);
  }
  if (name == "tile_dot") {
    const ExprId a = tile_value(node, given(0, "a"));
    const ExprId b = tile_value(node, given(1, "b"));
    if (a == kNone || b == kNone) return kNone;
    const ExprId product = context_.operation(node, Op::kMul, {a, b});
    if (product == kNone) return kNone;
    return context_.operation(node, Op::kTileSum, {product}, ir::tile_type(context_.type_of(a).scalar, 1));
  }
  const auto op = warp_function(name);
  if (!op || ir::is_elementwise(*op)) return context_.error(node, "unknown or unsupported tile function");
  if (const bool is_extreme = op == Op::kTileMin || op == Op::kTileMax; is_extreme && given.positional_count() == 1) {
    const ExprId tile = any_tile(node, given(0, "a"));
    if (tile == kNone) return kNone;
    if (context_.compound_tile(tile)) return extreme_element(node, tile, op == Op::kTileMin ? Op::kMin : Op::kMax);
    return context_.operation(node, *op, {tile});
  }
  if (op == Op::kTileTranspose && given.positional_count() == 1) {
    const ExprId tile = any_tile(node, given(0, "a"));
    if (tile == kNone) return kNone;
    return context_.compound_tile(tile) ? transpose_elements(node, tile) : context_.operation(node, *op, {tile});
  }
  std::vector<ExprId> tiles;
  for (std::size_t k = 0; k < given.positional_count(); ++k) {
    tiles.push_back(tile_value(node, given(k, "")));
    if (tiles.back() == kNone) return kNone;
  }
  if (tiles.size() == 1 && ir::row(*op).rule == ir::TypeRule::kTileScan) return tile_scan(node, *op, tiles[0]);
  return context_.operation(node, *op, tiles);
}

/// A tile of two dimensions is scanned in row-major order.
ExprId WarpExpressionParser::tile_scan(SyntaxNode node, Op op, ExprId tile) {
  const Type type = context_.type_of(tile);
  const bool fits =
      type.scalar == ir::Scalar::kF32 || type.scalar == ir::Scalar::kI32 || type.scalar == ir::Scalar::kU32;
  if (!fits) return context_.error(node, "elements must be float32, int32 or uint32");
  if (type.tile_rank() == 1) return context_.operation(node, op, {tile});
  const ExprId row = context_.operation(node, Op::kTileReshape, {tile}, ir::tile_type(type.scalar, type.tile_size()));
  return context_.operation(node, Op::kTileReshape, {context_.operation(node, op, {row})}, type);
}

namespace {

/// Number of elements of a range that is not empty. The quotient is rounded to the element type, as in Warp.
double range_length(Type element, const ScalarConstant& start, const ScalarConstant& stop, const ScalarConstant& step) {
  if (element.is_float_scalar()) {
    const double quotient = (stop.real - start.real) / step.real;
    return std::ceil(element == ir::kF32 ? static_cast<double>(static_cast<float>(quotient)) : quotient);
  }
  const auto difference = [](std::int64_t a, std::int64_t b) {  // a - b, which may need 64 bits
    return static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b);
  };
  const bool ascends = step.integer > 0;
  const std::uint64_t span =
      ascends ? difference(stop.integer, start.integer) : difference(start.integer, stop.integer);
  const std::uint64_t distance = ascends ? difference(step.integer, 0) : difference(0, step.integer);
  return static_cast<double>((span - 1) / distance + 1);
}

}  // namespace

/// wp.tile_arange(stop), (start, stop) or (start, stop, step) of constants, with the dtype float32 by default.
ExprId WarpExpressionParser::tile_arange(SyntaxNode node) {
  const TileArguments given(node);
  const auto dtype = given(4, "dtype") ? type_of_node(given(4, "dtype")) : Result<Type>(ir::kF32);
  if (!dtype.ok()) return context_.error(node, dtype.error().message);
  const Type element = *dtype;
  if (!element.is_scalar() || element.is_bool() || ir::row(element.scalar).bytes < 4 ||
      element.scalar == ir::Scalar::kU64)
    return context_.error(node, "dtype of wp.tile_arange must be int32, uint32, int64, float32 or float64");
  const std::size_t count = given.positional_count();
  if (count < 1 || count > 3) return context_.error(node, "wp.tile_arange takes 1 to 3 positional arguments");
  std::array<ScalarConstant, 3> range{ScalarConstant{}, ScalarConstant{}, ScalarConstant{.integer = 1, .real = 1}};
  for (std::size_t k = 0; k < count; ++k) {
    const SyntaxNode argument = given(k, "");
    const auto constant = context_.constant(argument);
    if (!constant || !constant->type.is_scalar() || constant->type.is_bool())
      return context_.error(argument, "arguments of wp.tile_arange must be compile-time constants");
    const ScalarConstant number = constant->number();
    const ScalarConstant converted = constant->as(element).number();
    const bool is_exact = converted.as_real() == number.as_real() && !number.exceeds_int64;
    if (element.is_integer_scalar() && !is_exact)
      return context_.error(argument, fmt::format("{} cannot represent this number", context_.type_name(element)));
    range[count == 1 ? 1 : k] = converted;
  }
  const auto [start, stop, step] = range;
  const bool ascends = step.as_real() > 0;
  if (step.as_real() == 0) return context_.error(node, "step must not be zero");
  if (ascends ? start.as_real() >= stop.as_real() : start.as_real() <= stop.as_real())
    return context_.error(node, "the range is empty; a tile must have at least one element");
  const double length = std::max(1.0, range_length(element, start, stop, step));
  if (!(length <= ir::kMaxTileSize)) return context_.error(node, "tile must have 1 to 4096 elements");
  const auto literal = [&](const ScalarConstant& number) {
    return element.is_float_scalar() ? context_.builder.literal(element, number.as_real())
                                     : context_.builder.literal(element, number.integer);
  };
  context_.builder.at(node.loc());
  return context_.operation(node, Op::kTileArange, {literal(start), literal(step)},
                            ir::tile_type(element.scalar, static_cast<int>(length)));
}

/// wp.tile_squeeze(t, axis=(...)): drops dimensions of extent 1, by default all.
ExprId WarpExpressionParser::tile_squeeze(SyntaxNode node) {
  const TileArguments given(node);
  const ExprId tile = tile_value(node, given(0, "t"));
  if (tile == kNone) return kNone;
  const Type type = context_.type_of(tile);
  std::array<bool, 2> drops{type.tile[0] == 1, type.tile[1] == 1};
  if (const SyntaxNode axis = given(1, "axis")) {
    drops = {};
    for (const SyntaxNode part : axis.elements({SyntaxKind::kTuple})) {
      const auto number = context_.constant(part);
      if (!axis.is(SyntaxKind::kTuple) || !number || !number->type.is_integer_scalar())
        return context_.error(axis, "axis must be a tuple of constant integers");
      const std::int64_t written = number->number().integer;
      const std::int64_t along = written < 0 ? written + type.tile_rank() : written;
      if (along < 0 || along >= type.tile_rank() || type.tile[static_cast<std::size_t>(along)] != 1)
        return context_.error(part, "axis must be a tile dimension of extent 1");
      drops[static_cast<std::size_t>(along)] = true;
    }
  }
  std::vector<int> kept;
  for (std::size_t d = 0; d < static_cast<std::size_t>(type.tile_rank()); ++d)
    if (!drops[d]) kept.push_back(type.tile[d]);
  if (kept.empty()) return context_.error(node, "a tile without dimensions is not supported");
  const Type shape = ir::tile_type(type.scalar, kept[0], kept.size() == 2 ? kept[1] : 0);
  return shape == type ? tile : context_.operation(node, Op::kTileReshape, {tile}, shape);
}

/// wp.tile_view(t, offset=(...), shape=(...)), whose result is a copy here: reject_changes_of_viewed_tiles rejects
/// kernels in which this makes a difference.
ExprId WarpExpressionParser::tile_view(SyntaxNode node) {
  const TileArguments given(node);
  const ExprId tile = tile_value(node, given(0, "t"));
  if (tile == kNone) return kNone;
  const Type type = context_.type_of(tile);
  const SyntaxNode offset = given(1, "offset");
  if (!offset || !offset.is(SyntaxKind::kTuple)) return context_.error(node, "offset must be a tuple of integers");
  if (const SyntaxNode shape = given(2, "shape")) {
    if (!shape.is(SyntaxKind::kTuple)) return context_.error(shape, "shape must be a tuple");
    const Type part = tile_shape(node, shape, type.component());
    if (part.is_void()) return kNone;
    std::vector<ExprId> operands = part_offset(node, offset, type, part);
    if (operands.empty()) return kNone;
    operands.insert(operands.begin(), tile);
    return context_.operation(node, Op::kTileView, operands, part);
  }
  if (offset.children().size() != 1 || type.tile_rank() != 2)
    return context_.error(node, "without a shape, the offset must be the number of a row of a tile of two dimensions");
  const ExprId row = tile_index(offset.children()[0], type.tile[0]);
  if (row == kNone) return kNone;
  context_.builder.at(node.loc());
  const ExprId part = context_.operation(node, Op::kTileView, {tile, row, context_.builder.i32(0)},
                                         ir::tile_type(type.scalar, 1, type.tile[1]));
  return context_.operation(node, Op::kTileReshape, {part}, ir::tile_type(type.scalar, type.tile[1]));
}

/// t[2:6, :], a view of the elements with constant bounds. An index that is a number drops its dimension.
ExprId WarpExpressionParser::tile_slice(SyntaxNode node, ir::VarId tile, std::span<const SyntaxNode> indices) {
  const Type whole = context_.function.var(tile).type;
  const auto rank = static_cast<std::size_t>(whole.tile_rank());
  if (indices.size() > rank)
    return context_.error(node, fmt::format("the tile has {} dimension{}", rank, rank == 1 ? "" : "s"));
  Type part = whole;
  TileExtents kept;
  context_.builder.at(node.loc());
  std::vector<ExprId> operands{context_.builder.var(tile)};
  for (std::size_t d = 0; d < rank; ++d) {
    const int extent = whole.tile[d];
    const bool is_number = d < indices.size() && !is_slice(indices[d]);
    std::array<std::int64_t, 2> bounds{0, extent};
    if (is_number) {
      const ExprId position = index_below(indices[d], whole, extent, "positions");
      if (position == kNone) return kNone;
      operands.push_back(context_.wrapped_index(indices[d], position, extent));
      part.tile[d] = 1;
      continue;
    }
    if (d < indices.size()) {
      const SliceParts parts = slice_parts(indices[d]);
      const auto step = parts.step ? context_.constant(parts.step) : std::optional(Constant::integer(1));
      if (!step || !step->type.is_integer_scalar() || step->number().integer != 1)
        return context_.error(indices[d], "slices of tiles must have the step 1");
      for (std::size_t k = 0; k < 2; ++k) {
        const SyntaxNode bound = k == 0 ? parts.start : parts.stop;
        if (!bound) continue;
        const auto written = context_.constant(bound);
        if (!written || !written->type.is_integer_scalar())
          return context_.error(bound, "bounds of slices of tiles must be compile-time constants");
        const std::int64_t given = written->number().integer;
        bounds[k] = std::clamp<std::int64_t>(given < 0 ? given + extent : given, 0, extent);
      }
      if (bounds[0] >= bounds[1]) return context_.error(indices[d], "the slice is empty");
    }
    context_.builder.at(node.loc());
    operands.push_back(context_.builder.i32(bounds[0]));
    part.tile[d] = static_cast<std::uint16_t>(bounds[1] - bounds[0]);
    kept.push_back(part.tile[d]);
  }
  const ExprId view = context_.operation(node, Op::kTileView, operands, part);
  return kept.size() == rank ? view
                             : context_.operation(node, Op::kTileReshape, {view}, tile_of(whole.component(), kept));
}

ExprId WarpExpressionParser::tile_load(SyntaxNode node) {
  const TileArguments given(node);
  const AssignmentTarget array = tile_array(given(0, "a"), ir::kVoid);
  if (array.failed()) return given(0, "a") ? kNone : context_.error(node, "array argument is missing");
  const auto extents = tile_extents(node, given(1, "shape"));
  if (!extents) return kNone;
  if (const SyntaxNode offset = given(2, "offset");
      offset && offset.is(SyntaxKind::kTuple) != given(1, "shape").is(SyntaxKind::kTuple))
    return context_.error(offset, "shape and offset must both be tuples or both be integers");
  if (!is_simple(array.type.element(), *extents)) {
    const auto rank = static_cast<int>(extents->size());
    if (rank != array.type.rank)
      return context_.error(given(0, "a"), fmt::format("the tile has {} dimension{}, but the array has {}", rank,
                                                       rank == 1 ? "" : "s", int{array.type.rank}));
    context_.loaded_arrays.push_back(array.variable);
    const std::vector<ExprId> offset = tile_offset(node, given(2, "offset"), rank);
    return offset.empty() ? kNone : load_elements(node, array, *extents, offset);
  }
  const Type tile = tile_of(array.type.element(), *extents);
  if (!fits(given(0, "a"), array, tile)) return kNone;
  std::vector<ExprId> offset = tile_offset(node, given(2, "offset"), array.type.rank);
  if (offset.empty()) return kNone;
  context_.loaded_arrays.push_back(array.variable);
  context_.builder.at(node.loc());
  return context_.builder.load_tile(tile, array.variable, all_indices(array, std::move(offset)));
}

/// The indices of an access with a tile of indices for the dimension `axis`, whose offset is added to each of them.
std::vector<ExprId> WarpExpressionParser::tile_indices(SyntaxNode call, SyntaxNode indices, SyntaxNode offset,
                                                       SyntaxNode axis, Type tile) {
  const ExprId numbers = tile_value(call, indices);
  if (numbers == kNone) return {};
  const auto fail = [&](SyntaxNode node, const char* reason) {
    context_.error(node ? node : call, reason);
    return std::vector<ExprId>();
  };
  std::int64_t dimension = 0;
  if (axis) {
    const auto number = context_.constant(axis);
    dimension = number && number->type.is_integer_scalar() ? number->number().integer : -1;
  }
  if (dimension < 0 || dimension >= tile.tile_rank()) return fail(axis, "axis must be the number of a tile dimension");
  const auto d = static_cast<std::size_t>(dimension);
  if (context_.type_of(numbers) != ir::tile_type(ir::Scalar::kI32, tile.tile[d]))
    return fail(indices, "indices must be a tile of int32 with one number for each position along the axis");
  if (offset && !offset.is(SyntaxKind::kTuple)) return fail(offset, "offset must be a tuple of integers");
  std::vector<ExprId> places = tile_offset(call, offset, tile.tile_rank());
  if (places.empty()) return {};
  const ir::Expr& first = context_.function.expr(places[d]);
  if (first.kind == ir::ExprKind::kLiteral && first.bits == 0) {
    places[d] = numbers;
    return places;
  }
  if (context_.type_of(places[d]) != ir::kI32) return fail(offset, "offset must be an int32");
  context_.builder.at(call.loc());
  places[d] = context_.builder.op(Op::kAdd, {numbers, places[d]});
  return places;
}

/// wp.tile_load_indexed(a, indices, shape, offset=..., axis=...)
ExprId WarpExpressionParser::tile_load_indexed(SyntaxNode node) {
  const TileArguments given(node);
  const AssignmentTarget array = tile_array(given(0, "a"), ir::kVoid);
  if (array.failed()) return given(0, "a") ? kNone : context_.error(node, "array argument is missing");
  const SyntaxNode shape = given(2, "shape");
  const Type tile = tile_shape(node, shape, array.type.element());
  if (tile.is_void() || !fits(given(0, "a"), array, tile)) return kNone;
  if (!shape.is(SyntaxKind::kTuple)) return context_.error(shape, "shape must be a tuple");
  std::vector<ExprId> places = tile_indices(node, given(1, "indices"), given(3, "offset"), given(4, "axis"), tile);
  if (places.empty()) return kNone;
  context_.loaded_arrays.push_back(array.variable);
  context_.builder.at(node.loc());
  return context_.builder.load_tile(tile, array.variable, all_indices(array, std::move(places)));
}

ExprId WarpExpressionParser::tile_filled(SyntaxNode node, std::string_view name) {
  const TileArguments given(node);
  const bool full = name == "tile_full";
  const SyntaxNode dtype = given(full ? 2 : 1, "dtype");
  const auto type = dtype ? type_of_node(dtype) : Result<Type>(ir::kF32);
  if (!type.ok()) return context_.error(dtype, type.error().message);
  const auto extents = tile_extents(node, given(0, "shape"));
  if (!extents) return kNone;
  if (!is_simple(*type, *extents)) return compound_filled(node, name, *type, *extents);
  const Type tile = tile_of(*type, *extents);
  context_.builder.at(node.loc());
  if (!full) {
    const ExprId number = context_.builder.literal(*type, std::int64_t{name == "tile_ones"});
    return context_.operation(node, Op::kSplat, {number}, tile);
  }
  const SyntaxNode filling = given(1, "value");
  if (!filling) return context_.error(node, "argument 'value' is missing");
  const ExprId number = component(filling, *type);
  return number == kNone ? kNone : context_.operation(node, Op::kSplat, {number}, tile);
}

/// The same for tiles that the language does not have.
ExprId WarpExpressionParser::compound_filled(SyntaxNode node, std::string_view name, Type type,
                                             const TileExtents& extents) {
  const TileArguments given(node);
  const SyntaxNode filling = name == "tile_full" ? given(1, "value") : SyntaxNode();
  if (name == "tile_full" && !filling) return context_.error(node, "argument 'value' is missing");
  if (name == "tile_ones" && type.is_struct())
    return context_.error(node, fmt::format("{} has no value one", context_.type_name(type)));
  context_.builder.at(node.loc());
  if (name == "tile_zeros")
    return can_loop(node) ? context_.builder.var(context_.new_compound_tile("tile", type, extents)) : kNone;
  ExprId element = kNone;
  if (name == "tile_full") {
    element = type.is_scalar() ? component(filling, type) : value(filling);
  } else {
    element = context_.builder.literal(type.is_scalar() ? type : type.component(), std::int64_t{1});
    if (!type.is_scalar()) element = context_.operation(node, Op::kSplat, {element}, type);
  }
  if (element == kNone || context_.type_of(element) == type)
    return element == kNone ? kNone : fill_elements(node, extents, element);
  return context_.error(filling, fmt::format("expected a value of type {}, got {}", context_.type_name(type),
                                             context_.type_name(context_.type_of(element))));
}

/// wp.tile_from_thread(shape, value, thread_idx): all threads of a block have the same value.
ExprId WarpExpressionParser::tile_from_thread(SyntaxNode node) {
  const TileArguments given(node);
  const SyntaxNode filling = given(1, "value");
  const ExprId number = filling ? value(filling) : context_.error(node, "argument 'value' is missing");
  if (number == kNone) return kNone;
  const auto extents = tile_extents(node, given(0, "shape"));
  if (!extents) return kNone;
  if (!is_simple(context_.type_of(number), *extents)) return fill_elements(node, *extents, number);
  const Type tile = tile_of(context_.type_of(number), *extents);
  const ExprId thread = given(2, "thread_idx") ? value(given(2, "thread_idx")) : kNone;
  if (thread == kNone || context_.type_of(thread) != ir::kI32)
    return context_.error(node, "argument 'thread_idx' must be an int32");
  return context_.operation(node, Op::kSplat, {number}, tile);
}

/// wp.tile_map(f, a, ...): an operation, or a function of the file, applied to each element.
ExprId WarpExpressionParser::tile_map(SyntaxNode node) {
  const TileArguments given(node);
  const SyntaxNode function = given(0, "op");
  std::vector<ExprId> values;
  std::vector<Type> elements;
  for (std::size_t k = 1; k < given.positional_count(); ++k) {
    values.push_back(value(given(k, "")));
    if (values.back() == kNone) return kNone;
    const Type type = context_.type_of(values.back());
    if (type.is_tile() && type.scalar == ir::Scalar::kBool)
      return context_.error(given(k, ""), "Warp does not compile functions of tiles of bool; use a tile of int32");
    elements.push_back(context_.compound_tile(values.back()) ? type.element() : type.tile_element_type());
  }
  const auto is_compound = [&](ExprId tile) { return context_.compound_tile(tile).has_value(); };
  if (values.empty() || (!context_.type_of(values[0]).is_tile() && !is_compound(values[0])))
    return context_.error(node, "expected a function and the tiles to apply it to");
  context_.builder.at(node.loc());
  const bool has_compound = std::ranges::any_of(values, is_compound);
  if (const std::string builtin = context_.scope().warp_name(function); has_compound && !builtin.empty()) {
    const auto op = warp_function(builtin);
    return map_elements(node, values, [&](const std::vector<ExprId>& arguments) {
      return op ? context_.operation(node, *op, arguments) : context_.library_call(node, builtin, arguments);
    });
  }
  if (const auto op = warp_function(context_.scope().warp_name(function)); op && ir::is_elementwise(*op)) {
    const auto type = ir::result_type(*op, elements);
    if (!type.ok() || !type->is_scalar())
      return context_.error(node, "the mapped operation must return one scalar for these element types");
    if (type->is_bool()) return context_.error(function, kBoolElements);
    return context_.apply_by_element(node, *op, values);
  }
  std::vector<CallArgument> arguments;
  for (std::size_t k = 0; k < values.size(); ++k)
    arguments.push_back({.spec = {.type = elements[k]}, .values = {values[k]}});
  for (SourceFunction* entry : context_.functions(function.text())) {
    std::size_t misfit = 0;
    const bool is_read = entry->is_generic || entry->parse_state == SourceFunction::State::kParsed;
    if (!is_read || entry->is_kernel || entry->parameter_names.size() != elements.size()) continue;
    if (!takes(*entry, arguments, misfit)) continue;
    const SourceFunction* callee = specialize(node, entry, arguments);
    if (callee == nullptr) return kNone;
    const ir::Function& made = context_.file.module().functions[static_cast<std::size_t>(callee->function_index)];
    if (static_cast<std::size_t>(made.parameter_count) != values.size())
      return context_.error(function,
                            "functions that use meshes, grids, hierarchies of boxes or the block size cannot "
                            "be applied to tiles");
    if (made.results.size() != 1) continue;
    if (made.results[0].is_bool()) return context_.error(function, kBoolElements);
    if (!has_compound && made.results[0].is_scalar()) return context_.builder.call(callee->function_index, values);
    return map_elements(node, values, [&](const std::vector<ExprId>& given_elements) {
      return context_.builder.call(callee->function_index, given_elements);
    });
  }
  return context_.error(function, "no function of this name returns one value for these element types");
}

ExprId WarpExpressionParser::tile_extract(SyntaxNode node) {
  const TileArguments given(node);
  const ExprId tile = any_tile(node, given(0, "a"));
  if (tile == kNone) return kNone;
  std::vector<ExprId> operands{tile};
  constexpr std::array<std::string_view, 6> kNames{"i", "j", "k", "l", "m", "n"};
  for (std::size_t d = 0; d < kNames.size() && given(d + 1, kNames[d]); ++d) {
    operands.push_back(value(given(d + 1, kNames[d])));
    if (operands.back() == kNone) return kNone;
  }
  const bool is_compound = context_.compound_tile(tile).has_value();
  if (const ir::Expr& expr = context_.function.expr(tile); expr.kind == ir::ExprKind::kVariable) {
    FunctionContext::TileElementRead read{.tile = expr.variable, .indices = {std::nullopt}, .node = node};
    if (!is_compound) {
      read.indices.clear();
      for (std::size_t d = 1; d < operands.size(); ++d)
        read.indices.push_back(known_integer(context_.function, operands[d]));
    }
    context_.tile_element_reads.push_back(std::move(read));
  }
  if (is_compound) return extract_element(node, tile, {operands.begin() + 1, operands.end()});
  return context_.operation(node, Op::kTileExtract, operands);
}

/// wp.tile_store(a, wp.tile_from_thread(shape=1, value=x, thread_idx=0), offset=i, bounds_check=False), the same with
/// wp.tile_atomic_add, and both with wp.tile(x): stores x in a[i], which must exist, or adds it, once for each block.
/// Other tiles are not supported without a check of bounds.
void WarpExpressionParser::change_element(SyntaxNode call, bool adds) {
  const TileArguments given(call);
  const SyntaxNode tile = given(1, "t");
  const auto is_checked = context_.constant(given(3, "bounds_check"));
  const std::string maker = tile && tile.is(SyntaxKind::kCall) ? warp_function_name(tile) : "";
  const bool is_of_thread = maker == "tile";
  const auto extents = is_of_thread                  ? std::optional(TileExtents{1})
                       : maker == "tile_from_thread" ? tile_extents(tile, TileArguments(tile)(0, "shape"))
                                                     : std::nullopt;
  const bool has_one_element =
      extents && std::ranges::all_of(*extents, [](std::uint16_t extent) { return extent == 1; });
  if (!has_one_element || !is_checked || !is_checked->type.is_bool() || is_checked->number().integer != 0) {
    context_.error(call, "argument 'bounds_check' is not supported");
    return;
  }
  const std::size_t loads_before = context_.loaded_arrays.size();
  const auto filling = [&]() -> std::pair<SyntaxNode, const char*> {
    if (is_of_thread) return {TileArguments(tile)(0, "x"), "x"};
    return {TileArguments(tile)(1, "value"), "value"};
  }();
  const ExprId element = filling.first ? value(filling.first)
                                       : context_.error(tile, fmt::format("argument '{}' is missing", filling.second));
  const AssignmentTarget array = element == kNone ? AssignmentTarget{} : tile_array(given(0, "a"), ir::kVoid);
  if (array.failed()) return;
  const ir::Type type = context_.type_of(element);
  const auto keeps_type = is_of_thread ? context_.constant(TileArguments(tile)(1, "preserve_type")) : std::nullopt;
  if (is_of_thread && !type.is_scalar() && !type.is_struct() && (!keeps_type || keeps_type->number().integer == 0)) {
    context_.error(tile, "argument 'preserve_type' must be True if 'bounds_check' is False");
    return;
  }
  if (array.type.element() != type || array.type.rank != static_cast<int>(extents->size()) ||
      (adds && type.is_struct())) {
    context_.error(call, fmt::format("a tile of {} is incompatible with array type {}", context_.type_name(type),
                                     context_.type_name(array.type)));
    return;
  }
  const std::vector<ExprId> offset = tile_offset(call, given(2, "offset"), array.type.rank);
  if (offset.empty() || !can_evaluate_effect(call, loads_before, array.variable)) return;
  context_.entry.has_side_effects = true;
  context_.builder.at(call.loc());
  if (!adds) return context_.builder.store(array.variable, all_indices(array, offset), element);
  context_.builder.atomic(ir::AtomicOp::kAdd, array.variable, all_indices(array, offset), element);
  context_.block_updates.insert(element);
}

bool WarpExpressionParser::tile_statement(SyntaxNode call, std::string_view name) {
  const bool stores = name == "tile_store" || name == "tile_store_indexed";
  const bool indexed = name == "tile_store_indexed" || name == "tile_atomic_add_indexed";
  const TileArguments given(call);
  if (name == "tile_matmul" && given(2, "out")) return tile_accumulate(call), true;
  if (name == "tile_axpy") return tile_axpy(call), true;
  if (name == "tile_fft" || name == "tile_ifft") return tile_fourier(call, name == "tile_ifft"), true;
  if (name == "tile_assign") return tile_assign(call), true;
  if (thread_value_statement(call, name)) return true;
  if (is_tile_solver(name) && name.ends_with("_inplace")) return tile_solver_in_place(call, name), true;
  if (!stores && name != "tile_atomic_add" && !indexed) return false;
  if (!context_.entry.is_kernel) return context_.error(call, "tiles are supported in kernels only"), true;
  if ((name == "tile_atomic_add" || name == "tile_store") && given(3, "bounds_check"))
    return change_element(call, !stores), true;
  const std::string_view unknown =
      indexed ? given.unknown({"a", "indices", "t", "offset", "axis"}) : given.unknown({"a", "t", "offset"});
  if (!unknown.empty()) return context_.error(call, fmt::format("argument '{}' is not supported", unknown)), true;
  const std::size_t loads_before = context_.loaded_arrays.size();
  const ExprId tile = any_tile(call, given(indexed ? 2 : 1, "t"));
  if (tile == kNone) return true;
  if (const auto compound = context_.compound_tile(tile)) {
    const Type element = context_.type_of(tile).element();
    const AssignmentTarget array = tile_array(given(0, "a"), ir::kVoid);
    if (array.failed()) return true;
    const auto rank = static_cast<int>(compound->size());
    const bool adds_structs = !stores && element.is_struct();
    if (indexed || adds_structs || array.type.element() != element || array.type.rank != rank) {
      context_.error(call, indexed ? "this function does not support tiles of vectors, matrices or structs"
                           : adds_structs
                               ? "structs cannot be added"
                               : fmt::format("a tile of {} and {} dimension{} is incompatible with array type {}",
                                             context_.type_name(element), rank, rank == 1 ? "" : "s",
                                             context_.type_name(array.type)));
      return true;
    }
    const std::vector<ExprId> offset = tile_offset(call, given(2, "offset"), rank);
    if (!offset.empty() && can_evaluate_effect(call, loads_before, array.variable))
      store_elements(call, array, tile, offset, !stores);
    return true;
  }
  const AssignmentTarget array = tile_array(given(0, "a"), context_.type_of(tile));
  if (array.failed()) return true;
  std::vector<ExprId> offset =
      indexed ? tile_indices(call, given(1, "indices"), given(3, "offset"), given(4, "axis"), context_.type_of(tile))
              : tile_offset(call, given(2, "offset"), array.type.rank);
  if (offset.empty() || !can_evaluate_effect(call, loads_before, array.variable)) return true;
  offset = all_indices(array, std::move(offset));
  context_.entry.has_side_effects = true;
  context_.builder.at(call.loc());
  if (stores) context_.builder.store(array.variable, std::move(offset), tile);
  else context_.builder.atomic(ir::AtomicOp::kAdd, array.variable, std::move(offset), tile);
  return true;
}

}  // namespace assay::frontend
