// The part of WarpExpressionParser that parses statements which change a tile, and the checks of such changes.
//
// Tiles are values in the language: a change assigns a new tile to the variable. In Warp, a view of a tile shares the
// tile's memory, so that a change of one is a change of the other. Kernels in which this matters are rejected.
#include <array>
#include <cstdint>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "frontend/warp/parse/tile_arguments.hpp"
#include "ir/analysis.hpp"

namespace assay::frontend {

using ir::ExprId;
using ir::kNone;
using ir::Op;
using ir::Type;
using ir::VarId;

namespace {

/// The position of an argument that can only be given by name.
constexpr std::size_t kNoPosition = SIZE_MAX;

}  // namespace

/// The tile variable that the node names, which the statement changes; kNone after a reported error.
VarId WarpExpressionParser::changed_tile(SyntaxNode call, SyntaxNode node) {
  if (!node) return context_.error(call, "tile argument is missing");
  const AssignmentTarget target = place(node);
  if (target.failed()) return kNone;
  if (target.root_kind != AssignmentTarget::RootKind::kVariable || !target.type.is_tile() ||
      !target.accessors.empty() || !target.pending_tile_indices.empty())
    return context_.error(node, "the changed tile must be a variable");
  context_.changed_tiles.emplace_back(target.variable, call);
  return target.variable;
}

/// An i32 index of one of `extent` positions, which must be inside if it is a constant; kNone after a reported error.
ExprId WarpExpressionParser::tile_index(SyntaxNode node, int extent) {
  const ExprId index = value(node);
  if (index == kNone) return kNone;
  if (context_.type_of(index) != ir::kI32) return context_.error(node, "offset must be an int32");
  const auto number = context_.constant(node);
  if (!number || (number->number().integer >= 0 && number->number().integer < extent)) return index;
  return context_.error(
      node, fmt::format("the offset {} is outside the tile; expected 0 to {}", number->number().integer, extent - 1));
}

/// The offset of a part of a tile, one i32 for each dimension. Empty after a reported error.
std::vector<ExprId> WarpExpressionParser::part_offset(SyntaxNode call, SyntaxNode offset, Type tile, Type part) {
  std::vector<ExprId> offsets;
  const auto fail = [&](SyntaxNode node, const char* reason) {
    context_.error(node ? node : call, reason);
    return std::vector<ExprId>();
  };
  const auto rank = static_cast<std::size_t>(tile.tile_rank());
  if (part.tile_rank() != tile.tile_rank()) return fail(call, "both tiles must have the same number of dimensions");
  if (offset && (!offset.is(SyntaxKind::kTuple) || offset.children().size() != rank))
    return fail(offset, "offset must be a tuple with an integer for each dimension");
  for (std::size_t d = 0; d < rank; ++d) {
    if (part.tile[d] > tile.tile[d]) return fail(call, "the part does not fit into the tile");
    context_.builder.at(call.loc());
    offsets.push_back(offset ? tile_index(offset.children()[d], tile.tile[d] - part.tile[d] + 1)
                             : context_.builder.i32(0));
    if (offsets.back() == kNone) return {};
  }
  return offsets;
}

/// wp.tile_axpy(alpha, src, dest): dest += alpha * src
void WarpExpressionParser::tile_axpy(SyntaxNode call) {
  const TileArguments given(call);
  if (const std::string_view unknown = given.unknown({"alpha", "src", "dest"}); !unknown.empty()) {
    context_.error(call, fmt::format("argument '{}' is not supported", unknown));
    return;
  }
  const SyntaxNode factor = given(0, "alpha");
  const ExprId alpha = factor ? value(factor) : context_.error(call, "argument 'alpha' is missing");
  const ExprId source = alpha == kNone ? kNone : tile_value(call, given(1, "src"));
  const VarId changed = source == kNone ? kNone : changed_tile(call, given(2, "dest"));
  if (changed == kNone) return;
  const Type type = context_.function.var(changed).type;
  if (context_.type_of(source) != type || context_.type_of(alpha) != type.component()) {
    context_.error(
        call, fmt::format("both tiles must have the same type and alpha the type of their elements, got {}, {} "
                          "and {}",
                          context_.type_name(context_.type_of(alpha)), context_.type_name(context_.type_of(source)),
                          context_.type_name(type)));
    return;
  }
  const ExprId scaled = context_.operation(call, Op::kMul, {alpha, source});
  context_.builder.at(call.loc());
  const ExprId sum = context_.operation(call, Op::kAdd, {context_.builder.var(changed), scaled});
  if (sum != kNone) context_.builder.assign(changed, sum);
}

/// wp.tile_assign(dst, src, offset): the elements of src are converted to the type of those of dst.
void WarpExpressionParser::tile_assign(SyntaxNode call) {
  const TileArguments given(call);
  if (const std::string_view unknown = given.unknown({"dst", "src", "offset"}); !unknown.empty()) {
    context_.error(call, fmt::format("argument '{}' is not supported", unknown));
    return;
  }
  const VarId changed = changed_tile(call, given(0, "dst"));
  ExprId part = changed == kNone ? kNone : tile_value(call, given(1, "src"));
  if (part == kNone) return;
  const Type type = context_.function.var(changed).type;
  std::vector<ExprId> operands = part_offset(call, given(2, "offset"), type, context_.type_of(part));
  if (operands.empty()) return;
  const Type converted = type.component().with_tile_extents_of(context_.type_of(part));
  if (converted != context_.type_of(part)) part = context_.operation(call, Op::kCast, {part}, converted);
  context_.builder.at(call.loc());
  operands.insert(operands.begin(), context_.builder.var(changed));
  operands.push_back(part);
  const ExprId whole = context_.operation(call, Op::kTileAssign, operands);
  if (whole != kNone) context_.builder.assign(changed, whole);
}

/// The factor `alpha` or `beta`, a number of the type of the elements, multiplied by the tile; the tile if it is
/// missing. kNone after a reported error.
ExprId WarpExpressionParser::scaled_tile(SyntaxNode call, SyntaxNode factor, ExprId tile) {
  if (!factor || tile == kNone) return tile;
  const ExprId number = component(factor, context_.type_of(tile).component());
  return number == kNone ? kNone : context_.operation(call, Op::kMul, {number, tile});
}

/// alpha a b for the arguments of wp.tile_matmul. Warp converts the elements of both tiles to `element`, the type in
/// which it adds up the products, or to that of `a` if `element` is void. kNone after a reported error.
ExprId WarpExpressionParser::tile_product(SyntaxNode call, Type element, SyntaxNode alpha) {
  const TileArguments given(call);
  const SyntaxNode precision = given(kNoPosition, "precision");
  if (precision && precision.text() != "\"default\"" && precision.text() != "'default'")
    return context_.error(precision,
                          "precision must be \"default\": the rounding of other products depends on the GPU");
  std::array<ExprId, 2> tiles{kNone, kNone};
  for (std::size_t k = 0; k < tiles.size(); ++k) {
    const SyntaxNode node = given(k, k == 0 ? "a" : "b");
    tiles[k] = tile_value(call, node);
    if (tiles[k] == kNone) return kNone;
    const Type type = context_.type_of(tiles[k]);
    const bool is_supported = ir::is_float(type.scalar) && type.scalar != ir::Scalar::kBF16;
    if (!is_supported)
      return context_.error(node, fmt::format("Warp multiplies only tiles of float16, float32 and float64, got {}",
                                              context_.type_name(type)));
    if (element.is_void()) element = type.component();
    if (type.component() != element)
      tiles[k] = context_.operation(call, Op::kCast, {tiles[k]}, element.with_tile_extents_of(type));
  }
  return scaled_tile(call, alpha, context_.operation(call, Op::kTileProduct, {tiles[0], tiles[1]}));
}

/// wp.tile_matmul(a, b, out): the product is added to the variable. With the factors alpha and beta, the variable
/// becomes alpha a b + beta out.
void WarpExpressionParser::tile_accumulate(SyntaxNode call) {
  const TileArguments given(call);
  const std::string_view unknown = given.unknown({"a", "b", "out", "alpha", "beta", "precision"});
  if (!unknown.empty()) {
    context_.error(call, fmt::format("argument '{}' is not supported", unknown));
    return;
  }
  const VarId out = changed_tile(call, given(2, "out"));
  if (out == kNone) return;
  const ExprId product = tile_product(call, context_.function.var(out).type.component(), given(3, "alpha"));
  if (product == kNone) return;
  context_.builder.at(call.loc());
  const ExprId before = scaled_tile(call, given(4, "beta"), context_.builder.var(out));
  if (before == kNone) return;
  const ExprId sum = context_.operation(call, Op::kAdd, {before, product});
  if (sum != kNone) context_.builder.assign(out, sum);
}

namespace {

/// Finds the variables that hold views of other variables, and the changes of either.
class TileViews {
 public:
  explicit TileViews(const ir::Function& function) : function_(function) { visit(function.body, 0); }

  struct View {
    VarId view = kNone;    ///< variable that holds the view
    VarId source = kNone;  ///< variable whose elements it shows; kNone: elements of the view itself share memory
    ir::Loc loc;
  };
  /// An assignment in a deeper block than the declaration, which Warp turns into a copy of the elements.
  struct Change {
    VarId variable = kNone;
    ir::Loc loc;
  };
  const std::vector<View>& views() const { return views_; }
  const std::vector<Change>& changes() const { return changes_; }

 private:
  void visit(const ir::Block& block, int depth) {
    for (const ir::Stmt& statement : block.statements) {
      if (const auto* let = std::get_if<ir::Let>(&statement.node)) {
        depths_[let->variable] = depth;
        note(let->variable, let->value, statement.loc);
      } else if (const auto* assign = std::get_if<ir::Assign>(&statement.node)) {
        note(assign->variable, assign->value, statement.loc);
        const bool is_tile = function_.var(assign->variable).type.is_tile();
        if (is_tile && depth > depths_[assign->variable]) changes_.push_back({assign->variable, statement.loc});
      } else if (const auto* branch = std::get_if<ir::If>(&statement.node)) {
        visit(branch->then_block, depth + 1);
        visit(branch->else_block, depth + 1);
      } else if (const auto* loop = std::get_if<ir::For>(&statement.node)) {
        visit(loop->body, depth + 1);
      } else if (const auto* repeat = std::get_if<ir::While>(&statement.node)) {
        visit(repeat->body, depth + 1);
      }
    }
  }

  void note(VarId variable, ExprId value, ir::Loc loc) {
    bool is_view = false;
    bool repeats = false;
    while (value != kNone) {
      const ir::Expr& expr = function_.expr(value);
      if (expr.kind == ir::ExprKind::kVariable && is_view) views_.push_back({variable, expr.variable, loc});
      const bool shows =
          expr.kind == ir::ExprKind::kOperation && (expr.op == Op::kTileReshape || expr.op == Op::kTileBroadcast ||
                                                    expr.op == Op::kTileTranspose || expr.op == Op::kTileView);
      if (!shows) break;
      is_view = true;
      repeats = repeats || expr.op == Op::kTileBroadcast;
      value = expr.args[0];
    }
    if (repeats) views_.push_back({variable, kNone, loc});
  }

  const ir::Function& function_;
  std::map<VarId, int> depths_;
  std::vector<View> views_;
  std::vector<Change> changes_;
};

bool is_after(ir::Loc a, ir::Loc b) { return a.line != b.line ? a.line > b.line : a.column > b.column; }

}  // namespace

void reject_changes_of_viewed_tiles(FunctionContext& context) {
  if (!ir::uses_tiles(context.function)) return;
  const TileViews found(context.function);
  const auto viewed = [&](VarId variable, ir::Loc loc) -> const TileViews::View* {
    for (const TileViews::View& view : found.views())
      if ((view.view == variable || view.source == variable) && is_after(loc, view.loc)) return &view;
    return nullptr;
  };
  const auto reason = [](const TileViews::View& view) {
    return fmt::format(
        "in Warp, the tile shares memory with another one, because line {} makes a view, and this "
        "statement would change both; change a copy, such as wp.tile_astype(...)",
        view.loc.line);
  };
  for (const auto& [variable, node] : context.changed_tiles)
    if (const TileViews::View* view = viewed(variable, node.loc())) context.error(node, reason(*view));
  for (const TileViews::Change& change : found.changes()) {
    if (const TileViews::View* view = viewed(change.variable, change.loc))
      context.error(context.entry.definition, fmt::format("line {}: {}", change.loc.line, reason(*view)));
  }
}

}  // namespace assay::frontend
