// The part of ExpressionReader that reads tiles: what the threads of a block hold and do together.
//
// A tile kernel means what it does with one thread in each block, which is how Warp runs it on the CPU. What would
// come out differently with more threads is refused.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "frontend/warp/parse/expression_parser.hpp"
#include "frontend/warp/parse/warp_names.hpp"
#include "ir/analysis.hpp"
#include "ir/limits.hpp"

namespace assay::frontend {

using ir::ExprId;
using ir::kNone;
using ir::Op;
using ir::Type;

namespace {

/// Arguments of a call by position or keyword, whichever the user chose.
class TileArguments {
 public:
  explicit TileArguments(Node call) : arguments_(arguments_of(call)) {}

  bool has_star() const { return arguments_.has_star; }
  std::size_t positional() const { return arguments_.positional.size(); }
  /// The argument with this position and name, or none.
  Node operator()(std::size_t position, std::string_view name) const {
    if (position < arguments_.positional.size()) return arguments_.positional[position];
    const auto found = arguments_.keyword.find(name);
    return found == arguments_.keyword.end() ? Node() : found->second;
  }
  /// A keyword that is none of these, or empty. How a tile is stored does not change what it means.
  std::string_view unknown(std::initializer_list<std::string_view> known) const {
    for (const auto& [name, value] : arguments_.keyword) {
      const bool harmless = name == "storage" || name == "aligned";
      if (!harmless && std::ranges::find(known, name) == known.end()) return name;
    }
    return {};
  }

 private:
  Arguments arguments_;
};

bool is_tile_of_numbers(Type type) { return type.is_tile() && type.scalar != ir::Scalar::kBool; }

}  // namespace

/// The extents that a shape gives: a number or a tuple of one or two. Type void after a report.
Type ExpressionReader::tile_shape(Node call, Node shape, Type element) {
  const auto fail = [&](const char* reason) {
    context_.error(shape ? shape : call, reason);
    return ir::kVoid;
  };
  if (!shape) return fail("the shape is missing");
  if (!element.is_scalar()) return fail("a tile holds scalars");
  const std::span<const Node> parts = shape.elements({Syntax::kTuple});
  if (parts.empty() || parts.size() > 2) return fail("tiles of one or two dimensions are read");
  Type tile = element;
  for (std::size_t d = 0; d < parts.size(); ++d) {
    const auto extent = context_.scope().constant(parts[d]);
    if (!extent || !extent->type.is_integer_scalar()) return fail("the extents of a tile are numbers known here");
    const std::int64_t length = extent->number().integer;
    if (length < 1 || length > ir::kMaxTileSize) return fail("a tile has 1 to 4096 elements");
    tile.tile[d] = static_cast<std::uint16_t>(length);
  }
  return tile.tile_size() <= ir::kMaxTileSize ? tile : fail("a tile has 1 to 4096 elements");
}

/// Indices of the first element; zeros where there is no offset. Empty after a report.
std::vector<ExprId> ExpressionReader::tile_offset(Node call, Node offset, int rank) {
  std::vector<ExprId> offsets;
  if (!offset) {
    context_.builder.at(call.loc());
    for (int d = 0; d < rank; ++d)
      offsets.push_back(context_.builder.i32(0));
    return offsets;
  }
  const std::span<const Node> parts = offset.elements({Syntax::kTuple});
  if (static_cast<int>(parts.size()) != rank) {
    context_.error(offset, fmt::format("the array has {} dimensions, the offset {}", rank, parts.size()));
    return {};
  }
  for (const Node part : parts) {
    offsets.push_back(value(part));
    if (offsets.back() == kNone) return {};
    if (context_.type_of(offsets.back()).is_integer_scalar()) continue;
    context_.error(part, "an offset is an integer");
    return {};
  }
  return offsets;
}

/// The array that a tile is loaded from or goes to; failed after a report.
Place ExpressionReader::tile_array(Node node, Type tile) {
  if (!node) return {};
  const Place array = place(node);
  if (array.failed()) return {};
  if (!array.is_whole_array() || !array.type.is_array() || !array.type.element().is_scalar()) {
    context_.error(node, "a tile comes from and goes to an array of scalars that is a parameter");
    return {};
  }
  if (tile.is_void() || (array.type.element() == tile.tile_element() && array.type.rank == tile.tile_rank()))
    return array;
  context_.error(node, fmt::format("{} does not fit {}", context_.type_name(tile), context_.type_name(array.type)));
  return {};
}

/// A value that must be a tile; kNone after a report.
ExprId ExpressionReader::tile_value(Node call, Node node) {
  if (!node) return context_.error(call, "the tile is missing");
  const ExprId tile = value(node);
  if (tile == kNone || is_tile_of_numbers(context_.type_of(tile))) return tile;
  return context_.error(node,
                        fmt::format("expected a tile of numbers, got {}", context_.type_name(context_.type_of(tile))));
}

ExprId ExpressionReader::tile_call(Node node, std::string_view name) {
  if (!context_.entry.is_kernel) return context_.error(node, "tiles are read in kernels only");
  const TileArguments given(node);
  if (given.has_star()) return context_.error(node, "starred arguments are not read");
  const std::string_view unknown =
      given.unknown({"a", "b", "shape", "offset", "dtype", "value", "axis", "t", "i", "j", "op", "x", "y"});
  if (!unknown.empty()) return context_.error(node, fmt::format("the argument '{}' is not read", unknown));
  if (name == "tile_load") return tile_load(node);
  if (name == "tile_zeros" || name == "tile_ones" || name == "tile_full") return tile_filled(node, name);
  if (name == "tile_map") return tile_map(node);
  if (name == "tile_reduce") return tile_reduce(node);
  if (name == "tile_sum") return tile_sum(node, given(0, "a"), given(1, "axis"));
  if (name == "tile_extract") return tile_extract(node);
  if (name == "tile_astype") {
    const ExprId tile = tile_value(node, given(0, "t"));
    const auto type = given(1, "dtype") ? context_.scope().type(given(1, "dtype")) : Result<Type>(Error{""});
    if (tile == kNone) return kNone;
    if (!type.ok() || !type->is_scalar())
      return context_.error(node, "a tile is converted to a scalar type: dtype=...");
    return context_.operation(node, Op::kCast, {tile}, type->tiled_as(context_.type_of(tile)));
  }
  if (name == "tile_broadcast" || name == "tile_reshape") {
    const ExprId tile = tile_value(node, given(0, name == "tile_reshape" ? "t" : "a"));
    if (tile == kNone) return kNone;
    const Type shaped = tile_shape(node, given(1, "shape"), context_.type_of(tile).component());
    if (shaped.is_void()) return kNone;
    // Sums along the last axis lose that axis by a reshape, which one back to a column undoes.
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
  if (!op || ir::is_elementwise(*op)) return context_.error(node, "the reader does not know this function of tiles");
  std::vector<ExprId> tiles;
  for (std::size_t k = 0; k < given.positional(); ++k) {
    tiles.push_back(tile_value(node, given(k, "")));
    if (tiles.back() == kNone) return kNone;
  }
  return context_.operation(node, *op, tiles);
}

ExprId ExpressionReader::tile_load(Node node) {
  const TileArguments given(node);
  const Place array = tile_array(given(0, "a"), ir::kVoid);
  if (array.failed()) return given(0, "a") ? kNone : context_.error(node, "the array is missing");
  const Type tile = tile_shape(node, given(1, "shape"), array.type.element());
  if (tile.is_void() || tile_array(given(0, "a"), tile).failed()) return kNone;
  std::vector<ExprId> offset = tile_offset(node, given(2, "offset"), array.type.rank);
  if (offset.empty()) return kNone;
  context_.loads.push_back(array.variable);
  context_.builder.at(node.loc());
  return context_.builder.load_tile(tile, array.variable, std::move(offset));
}

ExprId ExpressionReader::tile_filled(Node node, std::string_view name) {
  const TileArguments given(node);
  const bool full = name == "tile_full";
  const Node dtype = given(full ? 2 : 1, "dtype");
  const auto type = dtype ? context_.scope().type(dtype) : Result<Type>(ir::kF32);
  if (!type.ok()) return context_.error(dtype, type.error().message);
  const Type tile = tile_shape(node, given(0, "shape"), *type);
  if (tile.is_void()) return kNone;
  context_.builder.at(node.loc());
  if (!full) {
    const ExprId number = context_.builder.literal(*type, std::int64_t{name == "tile_ones"});
    return context_.operation(node, Op::kSplat, {number}, tile);
  }
  const Node filling = given(1, "value");
  if (!filling) return context_.error(node, "the value is missing");
  const ExprId number = component(filling, *type);
  return number == kNone ? kNone : context_.operation(node, Op::kSplat, {number}, tile);
}

/// Sums of all elements, or along one axis.
ExprId ExpressionReader::tile_sum(Node node, Node tile_node, Node axis) {
  const ExprId tile = tile_value(node, tile_node);
  if (tile == kNone) return kNone;
  const Type type = context_.type_of(tile);
  if (!axis) return context_.operation(node, Op::kTileSum, {tile}, ir::tile_type(type.scalar, 1));
  const auto number = context_.scope().constant(axis);
  const std::int64_t along = number && number->type.is_integer_scalar() ? number->number().integer : -1;
  if (along < 0 || along >= type.tile_rank())
    return context_.error(axis, "the axis is a number of the tile's dimensions");
  if (type.tile_rank() == 1) return context_.operation(node, Op::kTileSum, {tile}, ir::tile_type(type.scalar, 1));
  if (along == 0) return context_.operation(node, Op::kTileSum, {tile}, ir::tile_type(type.scalar, type.tile[1]));
  const ExprId column = context_.operation(node, Op::kTileSum, {tile}, ir::tile_type(type.scalar, type.tile[0], 1));
  return context_.operation(node, Op::kTileReshape, {column}, ir::tile_type(type.scalar, type.tile[0]));
}

ExprId ExpressionReader::tile_reduce(Node node) {
  const TileArguments given(node);
  const Node function = given(0, "op");
  const auto op = function ? warp_function(context_.scope().warp_name(function)) : std::nullopt;
  if (op == Op::kAdd) return tile_sum(node, given(1, "a"), given(2, "axis"));
  if ((op == Op::kMin || op == Op::kMax) && !given(2, "axis")) {
    const ExprId tile = tile_value(node, given(1, "a"));
    return tile == kNone ? kNone : context_.operation(node, op == Op::kMin ? Op::kTileMin : Op::kTileMax, {tile});
  }
  return context_.error(node,
                        "a tile is reduced by wp.add, wp.min or wp.max: in which order the threads of a block "
                        "combine elements is open, so other functions have no value of their own");
}

/// wp.tile_map(f, a, ...): an operation, or a function of the file, applied to each element.
ExprId ExpressionReader::tile_map(Node node) {
  const TileArguments given(node);
  const Node function = given(0, "op");
  std::vector<ExprId> values;
  std::vector<Type> elements;
  for (std::size_t k = 1; k < given.positional(); ++k) {
    values.push_back(value(given(k, "")));
    if (values.back() == kNone) return kNone;
    elements.push_back(context_.type_of(values.back()).tile_element());
  }
  if (values.empty() || !context_.type_of(values[0]).is_tile())
    return context_.error(node, "takes a function and the tiles that it is applied to");
  context_.builder.at(node.loc());
  if (const auto op = warp_function(context_.scope().warp_name(function)); op && ir::is_elementwise(*op)) {
    const auto type = ir::result_type(*op, elements);
    if (!type.ok() || !type->is_scalar())
      return context_.error(node, "the operation does not make one scalar of these");
    return context_.apply_by_element(node, *op, values);
  }
  std::vector<Argument> arguments;
  for (std::size_t k = 0; k < values.size(); ++k)
    arguments.push_back({.given = {.type = elements[k]}, .values = {values[k]}});
  for (FunctionEntry* entry : context_.functions(function.text())) {
    std::size_t misfit = 0;
    const bool is_read = entry->is_generic || entry->state == FunctionEntry::State::kRead;
    if (!is_read || entry->is_kernel || entry->parameters.size() != elements.size()) continue;
    if (!takes(*entry, arguments, misfit)) continue;
    const FunctionEntry* callee = specialised(node, entry, arguments);
    if (callee == nullptr) return kNone;
    const ir::Function& made = context_.file.module().functions[static_cast<std::size_t>(callee->index)];
    if (made.results.size() == 1 && made.results[0].is_scalar()) return context_.builder.call(callee->index, values);
  }
  return context_.error(function, "no such function makes one scalar of elements of these tiles");
}

ExprId ExpressionReader::tile_extract(Node node) {
  const TileArguments given(node);
  const ExprId tile = tile_value(node, given(0, "a"));
  if (tile == kNone) return kNone;
  std::vector<ExprId> operands{tile};
  constexpr std::array<std::string_view, 2> kNames{"i", "j"};
  for (std::size_t d = 0; d < kNames.size() && given(d + 1, kNames[d]); ++d) {
    operands.push_back(value(given(d + 1, kNames[d])));
    if (operands.back() == kNone) return kNone;
  }
  return context_.operation(node, Op::kTileExtract, operands);
}

bool ExpressionReader::tile_statement(Node call, std::string_view name) {
  const bool stores = name == "tile_store";
  const TileArguments given(call);
  if (name == "tile_matmul" && given(2, "out")) return tile_accumulate(call), true;
  if (!stores && name != "tile_atomic_add") return false;
  if (!context_.entry.is_kernel) return context_.error(call, "tiles are read in kernels only"), true;
  const std::string_view unknown = given.unknown({"a", "t", "offset"});
  if (!unknown.empty()) return context_.error(call, fmt::format("the argument '{}' is not read", unknown)), true;
  const std::size_t loads_before = context_.loads.size();
  const ExprId tile = tile_value(call, given(1, "t"));
  if (tile == kNone) return true;
  const Place array = tile_array(given(0, "a"), context_.type_of(tile));
  if (array.failed()) return true;
  std::vector<ExprId> offset = tile_offset(call, given(2, "offset"), array.type.rank);
  if (offset.empty() || !may_take_effect(call, loads_before, array.variable)) return true;
  context_.entry.has_effects = true;
  context_.builder.at(call.loc());
  if (stores) context_.builder.store(array.variable, std::move(offset), tile);
  else context_.builder.atomic(ir::AtomicOp::kAdd, array.variable, std::move(offset), tile);
  return true;
}

/// wp.tile_matmul(a, b, out): the product is added to the variable.
void ExpressionReader::tile_accumulate(Node call) {
  const TileArguments given(call);
  const std::string_view unknown = given.unknown({"a", "b", "out"});
  if (!unknown.empty() || given.positional() > 3) {
    context_.error(call, "only the product itself is added: no alpha, no beta");
    return;
  }
  const Place out = place(given(2, "out"));
  if (out.failed()) return;
  const ExprId a = tile_value(call, given(0, "a"));
  const ExprId b = tile_value(call, given(1, "b"));
  if (a == kNone || b == kNone) return;
  if (out.root != Place::Root::kVariable || !out.type.is_tile() || !out.path.empty()) {
    context_.error(call, "the product is added to a variable that is a tile");
    return;
  }
  const ExprId product = context_.operation(call, Op::kTileProduct, {a, b});
  if (product == kNone) return;
  context_.builder.at(call.loc());
  const ExprId sum = context_.operation(call, Op::kAdd, {context_.builder.var(out.variable), product});
  if (sum != kNone) context_.builder.assign(out.variable, sum);
}

void reject_scalar_updates(FunctionContext& context, Node definition) {
  if (!ir::uses_tiles(context.function)) return;
  ir::for_each_statement(context.function.body, [&](const ir::Stmt& statement) {
    const auto* atomic = std::get_if<ir::Atomic>(&statement.node);
    if (atomic == nullptr || context.function.expr(atomic->value).type.is_tile()) return;
    context.error(definition,
                  fmt::format("line {}: on a GPU every thread of the block would do this atomic, on the CPU "
                              "one: use wp.tile_atomic_add",
                              statement.loc.line));
  });
}

}  // namespace assay::frontend
