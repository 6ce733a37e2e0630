#include "backends/source/warp/expression_writer.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <variant>

#include <fmt/format.h>

#include "backends/source/warp/unassigned_guards.hpp"
#include "ir/analysis.hpp"
#include "ir/visit.hpp"
#include "support/concat.hpp"

namespace assay::source::warp {
namespace {

using enum Precedence;

/// The precedence of an operation's pattern, and the precedence required of its operands.
struct Binding {
  Precedence own = kAtom;
  Precedence left = kLowest;    ///< of $0
  Precedence others = kLowest;  ///< of $1 and $2
};

constexpr Precedence tighter(Precedence precedence) {
  return static_cast<Precedence>(static_cast<int>(precedence) + 1);
}
constexpr Binding left_to_right(Precedence precedence) { return {precedence, precedence, tighter(precedence)}; }

/// Python's precedence of the operators; every other operation is a call.
Binding binding(ir::Op op) {
  switch (op) {
    case ir::Op::kConditional: return {kConditional, kOr, kOr};
    case ir::Op::kOr: return left_to_right(kOr);
    case ir::Op::kAnd: return left_to_right(kAnd);
    case ir::Op::kNot: return {kNot, kNot, kNot};
    case ir::Op::kEq:
    case ir::Op::kNe:
    case ir::Op::kLt:
    case ir::Op::kLe:
    case ir::Op::kGt:
    case ir::Op::kGe: return {kComparison, kBitOr, kBitOr};  // two comparisons in a row would be chained
    case ir::Op::kBitOr: return left_to_right(kBitOr);
    case ir::Op::kBitXor: return left_to_right(kBitXor);
    case ir::Op::kBitAnd: return left_to_right(kBitAnd);
    case ir::Op::kShiftLeft:
    case ir::Op::kShiftRight: return left_to_right(kShift);
    case ir::Op::kAdd:
    case ir::Op::kSub: return left_to_right(kSum);
    case ir::Op::kMul:
    case ir::Op::kDiv:
    case ir::Op::kMod:
    case ir::Op::kFloorDiv: return left_to_right(kProduct);
    case ir::Op::kNeg:
    case ir::Op::kBitNot: return {kUnary, kUnary, kUnary};
    case ir::Op::kExtract: return {kPostfix, kPostfix, kLowest};
    default: return {};
  }
}

}  // namespace

bool is_tile_of_threads(const ir::Function& function, const ir::Expr& expr) {
  return expr.kind == ir::ExprKind::kOperation && expr.op == ir::Op::kSplat && expr.type.tile_rank() == 1 &&
         expr.type.tile_size() == 1 && function.expr(expr.args[0]).kind != ir::ExprKind::kLiteral;
}

bool has_tiles_of_threads(const ir::Function& function) {
  return std::ranges::any_of(function.expressions,
                             [&](const ir::Expr& expr) { return is_tile_of_threads(function, expr); });
}

std::string ExpressionWriter::operand(ir::ExprId id, Precedence precedence) {
  WrittenExpression spelled = spell(id);
  return spelled.precedence < precedence ? concat("(", spelled.text, ")") : std::move(spelled.text);
}

std::string ExpressionWriter::write_variable_start(ir::ExprId id) {
  return is_literal(id) ? literal_call(function_.expr(id)) : write(id);
}

std::string ExpressionWriter::list(const std::vector<ir::ExprId>& ids, std::size_t first) {
  std::string text;
  for (std::size_t i = first; i < ids.size(); ++i)
    append(text, i > first ? ", " : "", write(ids[i]));
  return text;
}

std::string ExpressionWriter::indices(const std::vector<ir::ExprId>& ids, std::size_t first) {
  std::vector<ir::ExprId> written(ids.begin() + static_cast<std::ptrdiff_t>(first), ids.end());
  for (ir::ExprId& id : written)
    id = unwrapped_index(id);
  return list(written);
}

ir::ExprId ExpressionWriter::unwrapped_index(ir::ExprId id) const {
  const ir::Expr& expr = function_.expr(id);
  const bool wraps = expr.kind == ir::ExprKind::kOperation && expr.op == ir::Op::kWrapIndex;
  return wraps ? expr.args[0] : id;
}

std::string ExpressionWriter::field_name(ir::Type type, std::int32_t field) const {
  return module_.structs[type.struct_id].fields[static_cast<std::size_t>(field)].name;
}

std::string ExpressionWriter::constructor(ir::Type type) {
  if (type.shape == ir::Shape::kStruct) return module_level_names_.struct_names[type.struct_id];
  return module_level_names_.type_aliases.spell(type);
}

std::string ExpressionWriter::annotation(ir::Type type) {
  std::string element = constructor(type.element());
  if (!type.is_array()) return element;
  return concat("wp.array", type.rank == 1 ? "" : concat(std::to_string(type.rank), "d"), "(dtype=", element, ")");
}

void ExpressionWriter::fail(ir::Loc loc, std::string message) {
  if (error_) return;
  std::string where = module_.source_name.empty() ? function_.name : module_.source_name;
  if (loc.line > 0) where += fmt::format(":{}:{}", loc.line, loc.column);
  error_ = Error{std::move(message), std::move(where)};
}

ExpressionWriter::WrittenExpression ExpressionWriter::spell(ir::ExprId id) {
  const ir::Expr& expr = function_.expr(id);
  switch (expr.kind) {
    case ir::ExprKind::kLiteral: return literal(expr);
    case ir::ExprKind::kVariable: return {variable_names_[static_cast<std::size_t>(expr.variable)]};
    case ir::ExprKind::kOperation: {
      const ir::ExprId value = guarded_value(function_, expr);
      return value == ir::kNone ? operation(expr) : spell(value);
    }
    case ir::ExprKind::kLoad:
      if (ir::loads_tile(function_, expr)) {
        std::vector<ir::ExprId> offsets(expr.args.begin() + 1, expr.args.end());
        const std::string array = tile_array(expr.args[0], offsets, expr.type);
        if (!ir::has_tile(function_, offsets))
          return {
              fmt::format("wp.tile_load({}, shape={}, offset={})", array, tile_shape(expr.type), tile_offset(offsets))};
        return {fmt::format("wp.tile_load_indexed({}, shape={}, {})", array, shape_tuple(expr.type),
                            tile_indices(expr.loc, offsets))};
      }
      return {concat(operand(expr.args[0], kPostfix), "[", indices(expr.args, 1), "]"), kPostfix};
    case ir::ExprKind::kShapeOf:
      return {concat(operand(expr.args[0], kPostfix), ".shape[", std::to_string(expr.index), "]"), kPostfix};
    case ir::ExprKind::kField: {
      const ir::Type object = function_.expr(expr.args[0]).type;
      return {concat(operand(expr.args[0], kPostfix), ".", field_name(object, expr.index)), kPostfix};
    }
    case ir::ExprKind::kCall:
      if (expr.type.is_tile()) return {tile_map(expr, function_name(expr.index))};
      return {concat(function_name(expr.index), "(", list(expr.args), ")")};
  }
  return {};
}

ExpressionWriter::WrittenExpression ExpressionWriter::literal(const ir::Expr& expr) const {
  const ir::Scalar scalar = expr.type.scalar;
  const bool bare = scalar == ir::Scalar::kF32 || scalar == ir::Scalar::kI32 || scalar == ir::Scalar::kBool;
  if (!bare) return {literal_call(expr)};
  std::string text = spell_number(scalar, expr.bits);
  const Precedence precedence = text.front() == '-' ? kUnary : kAtom;
  return {std::move(text), precedence};
}

std::string ExpressionWriter::literal_call(const ir::Expr& expr) const {
  return concat(spell_scalar(expr.type.scalar), "(", spell_number(expr.type.scalar, expr.bits), ")");
}

bool ExpressionWriter::is_made_of_rows(const ir::Expr& make) const {
  return make.type.is_matrix() && std::all_of(make.args.begin(), make.args.end(), [&](ir::ExprId arg) {
           return function_.expr(arg).type == make.type.indexed_part_type();
         });
}

bool ExpressionWriter::is_row(ir::ExprId id) const {
  const ir::Expr& expr = function_.expr(id);
  return expr.kind == ir::ExprKind::kOperation && expr.op == ir::Op::kExtract && expr.type.is_vector();
}

std::string ExpressionWriter::tile_shape(ir::Type tile) {
  return tile.tile_rank() == 1 ? fmt::format("{}", tile.tile[0]) : fmt::format("({}, {})", tile.tile[0], tile.tile[1]);
}

std::string ExpressionWriter::tile_offset(const std::vector<ir::ExprId>& offsets) {
  return offsets.size() == 1 ? write(offsets[0]) : fmt::format("({})", list(offsets));
}

std::string ExpressionWriter::tile_array(ir::ExprId array, std::vector<ir::ExprId>& indices, ir::Type tile) {
  const auto leading = static_cast<std::ptrdiff_t>(ir::leading_index_count(function_.expr(array).type, tile));
  if (leading == 0) return write(array);
  const std::vector<ir::ExprId> first(indices.begin(), indices.begin() + leading);
  indices.erase(indices.begin(), indices.begin() + leading);
  return concat(operand(array, kPostfix), "[", this->indices(first), "]");
}

std::string ExpressionWriter::shape_tuple(ir::Type tile) {
  return tile.tile_rank() == 1 ? fmt::format("({},)", tile.tile[0]) : tile_shape(tile);
}

std::string ExpressionWriter::tile_indices(ir::Loc loc, const std::vector<ir::ExprId>& offsets) {
  std::string indices;
  std::string written;
  std::size_t axis = 0;
  for (std::size_t d = 0; d < offsets.size(); ++d) {
    const bool indexed = function_.expr(offsets[d]).type.is_tile();
    if (indexed && !indices.empty()) fail(loc, "Warp supports a tile of indices for one dimension only");
    if (!indexed) {
      append(written, d == 0 ? "" : ", ", write(offsets[d]));
      continue;
    }
    axis = d;
    // Warp adds no number to a tile, but adds the offset to each index.
    const ir::Expr& numbers = function_.expr(offsets[d]);
    const bool is_moved = numbers.kind == ir::ExprKind::kOperation && numbers.op == ir::Op::kAdd &&
                          !function_.expr(numbers.args[1]).type.is_tile();
    indices = write(is_moved ? numbers.args[0] : offsets[d]);
    append(written, d == 0 ? "" : ", ", is_moved ? write(numbers.args[1]) : "0");
  }
  return fmt::format("indices={}, offset=({}{}), axis={}", indices, written, offsets.size() == 1 ? "," : "", axis);
}

std::string ExpressionWriter::tile_zeros(ir::Type tile) {
  return fmt::format("wp.tile_zeros(shape={}, dtype={})", tile_shape(tile), spell_scalar(tile.scalar));
}

std::string ExpressionWriter::tile_map(const ir::Expr& expr, std::string_view function) {
  if (!function_.expr(expr.args[0]).type.is_tile())
    fail(expr.loc, "wp.tile_map must have a tile as its first argument");
  std::string arguments;
  for (const ir::ExprId arg : expr.args) {
    // Warp treats a number as a constant, for which tile_map has no adjoint; a conversion creates a variable.
    const bool is_number = is_literal(arg) && function_.expr(arg).type == ir::kF32;
    append(arguments, ", ", is_number ? concat("float(", write(arg), ")") : write(arg));
  }
  return fmt::format("wp.tile_map({}{})", function, arguments);
}

/// The end of the range is half a step after the last element, so that rounding cannot change the number of elements.
ExpressionWriter::WrittenExpression ExpressionWriter::tile_arange(const ir::Expr& expr) {
  if (!is_literal(expr.args[0]) || !is_literal(expr.args[1])) {
    fail(expr.loc, "arguments of wp.tile_arange must be compile-time constants");
    return {};
  }
  const ir::Scalar scalar = expr.type.scalar;
  const int count = expr.type.tile[0];
  const std::uint64_t first = function_.expr(expr.args[0]).bits;
  const std::uint64_t step = function_.expr(expr.args[1]).bits;
  const double real_end = std::bit_cast<double>(first) + (count - 0.5) * std::bit_cast<double>(step);
  const std::uint64_t end =
      ir::is_float(scalar) ? std::bit_cast<std::uint64_t>(real_end) : first + static_cast<std::uint64_t>(count) * step;
  return {fmt::format("wp.tile_arange({}, {}, {}, dtype={})", spell_number(scalar, first), spell_number(scalar, end),
                      spell_number(scalar, step), spell_scalar(scalar))};
}

/// Tile operations that Warp writes differently from scalar operations.
std::optional<ExpressionWriter::WrittenExpression> ExpressionWriter::tile_operation(const ir::Expr& expr) {
  const std::string_view pattern = row(expr.op).warp_pattern;
  const auto first = [&] { return write(expr.args[0]); };
  switch (expr.op) {
    case ir::Op::kSplat:
      if (is_tile_of_threads(function_, expr)) return WrittenExpression{fmt::format("wp.tile({})", first())};
      if (is_literal(expr.args[0]) && function_.expr(expr.args[0]).bits == 0)
        return WrittenExpression{tile_zeros(expr.type)};
      return WrittenExpression{fmt::format("wp.tile_full(shape={}, value={}, dtype={})", tile_shape(expr.type), first(),
                                           spell_scalar(expr.type.scalar))};
    case ir::Op::kTileReshape:
      // Warp does not reshape a part of a tile unless it is contiguous.
      if (ir::reshapes_row_or_column(function_, expr))
        return WrittenExpression{fmt::format("wp.tile_squeeze({})", first())};
      [[fallthrough]];
    case ir::Op::kTileBroadcast:
      // These two accept only a tuple.
      return WrittenExpression{
          fmt::format("wp.{}({}, shape={})", row(expr.op).mnemonic, first(), shape_tuple(expr.type))};
    case ir::Op::kTileSum: {
      const ir::Type from = function_.expr(expr.args[0]).type;
      const bool along_rows = from.tile_rank() == 2 && expr.type.tile_rank() == 1 && expr.type.tile[0] == from.tile[1];
      if (expr.type.tile_size() == 1 && expr.type.tile_rank() == 1)
        return WrittenExpression{fmt::format("wp.tile_sum({})", first())};
      if (along_rows) return WrittenExpression{fmt::format("wp.tile_sum({}, axis=0)", first())};
      if (expr.type.tile_rank() == 2 && expr.type.tile[1] == 1 && expr.type.tile[0] == from.tile[0])
        return WrittenExpression{
            fmt::format("wp.tile_reshape(wp.tile_sum({}, axis=1), shape={})", first(), tile_shape(expr.type))};
      fail(expr.loc, "Warp supports sums of a tile only over all elements or along one axis");
      return WrittenExpression{};
    }
    case ir::Op::kTileArange: return tile_arange(expr);
    case ir::Op::kTileView:
      return WrittenExpression{fmt::format("wp.tile_view({}, offset=({}{}), shape={})", first(), indices(expr.args, 1),
                                           expr.type.tile_rank() == 1 ? "," : "", shape_tuple(expr.type))};
    case ir::Op::kCast:
      return WrittenExpression{fmt::format("wp.tile_astype({}, dtype={})", first(), spell_scalar(expr.type.scalar))};
    case ir::Op::kAdd:
    case ir::Op::kSub:
    case ir::Op::kMul:
    case ir::Op::kDiv:
    case ir::Op::kNeg: return std::nullopt;
    case ir::Op::kBitAnd:
    case ir::Op::kBitOr:
    case ir::Op::kBitXor:
      if (std::ranges::all_of(expr.args, [&](ir::ExprId arg) { return function_.expr(arg).type.is_tile(); }))
        return std::nullopt;
      break;
    default: break;
  }
  if (!ir::is_elementwise(expr.op)) return std::nullopt;
  if (!pattern.starts_with("wp.")) {
    fail(expr.loc, fmt::format("operation {} on tiles is not supported in Warp", row(expr.op).mnemonic));
    return WrittenExpression{};
  }
  return WrittenExpression{tile_map(expr, pattern.substr(0, pattern.find('(')))};
}

namespace {

/// Whether the expression converts a number to a type of 64 bits.
bool is_wide_cast(const ir::Expr& expr) {
  return expr.kind == ir::ExprKind::kOperation && expr.op == ir::Op::kCast && expr.type.is_scalar() &&
         ir::row(expr.type.scalar).bytes == 8;
}

}  // namespace

ExpressionWriter::ExpressionWriter(const ir::Module& module, const ir::Function& function, ModuleLevelNames& file,
                                   const std::vector<std::string>& variables)
    : module_(module), function_(function), module_level_names_(file), variable_names_(variables) {
  std::map<ir::VarId, int> uses;
  std::map<ir::VarId, std::map<ir::Scalar, int>> conversions;
  for (const ir::Expr& expr : function.expressions) {
    if (expr.kind == ir::ExprKind::kVariable) ++uses[expr.variable];
    if (is_wide_cast(expr) && function.expr(expr.args[0]).kind == ir::ExprKind::kVariable)
      ++conversions[function.expr(expr.args[0]).variable][expr.type.scalar];
  }
  ir::for_each_statement(function.body, [&](const ir::Stmt& statement) {
    const auto* const loop = std::get_if<ir::For>(&statement.node);
    const bool has_constant_bounds =
        loop != nullptr && is_literal(loop->start) && is_literal(loop->stop) && is_literal(loop->step);
    if (!has_constant_bounds || !conversions.contains(loop->variable)) return;
    const auto& by_type = conversions[loop->variable];
    if (by_type.size() > 1 || by_type.begin()->second != uses[loop->variable])
      retyped_variables_.insert(loop->variable);
  });
}

ExpressionWriter::WrittenExpression ExpressionWriter::operation(const ir::Expr& expr) {
  const ir::OperationEntry& operation = row(expr.op);
  if (expr.type.is_tile()) {
    if (auto spelled = tile_operation(expr)) return *spelled;
  }
  if (operation.warp_pattern.empty()) {
    const bool update = expr.op == ir::Op::kTileInsert || expr.op == ir::Op::kTileAssign ||
                        expr.op == ir::Op::kInsert || expr.op == ir::Op::kWithField;
    fail(expr.loc,
         update ? fmt::format("Warp supports {} only as an assignment to a part of a variable or of an array element",
                              operation.mnemonic)
                : fmt::format("operation {} is not supported in Warp", operation.mnemonic));
    return {};
  }
  // Warp has no quaternion of four equal components; its constructor without arguments returns zeros.
  if (expr.op == ir::Op::kSplat && expr.type.is_quaternion() && is_literal(expr.args[0]) &&
      function_.expr(expr.args[0]).bits == 0)
    return {constructor(expr.type) + "()"};
  const bool after_minus = expr.op == ir::Op::kNeg || expr.op == ir::Op::kCast;
  if (after_minus && is_literal(expr.args[0])) {
    const std::string call = literal_call(function_.expr(expr.args[0]));
    if (expr.op == ir::Op::kNeg) return {"-" + call, kUnary};
    return {fmt::format("{}({})", constructor(expr.type), call)};
  }
  if (is_wide_cast(expr) && function_.expr(expr.args[0]).kind == ir::ExprKind::kVariable &&
      retyped_variables_.contains(function_.expr(expr.args[0]).variable))
    return {fmt::format("{}(int({}))", constructor(expr.type), write(expr.args[0]))};
  if (expr.op == ir::Op::kMake && is_made_of_rows(expr))
    return {fmt::format("wp.matrix_from_rows({})", list(expr.args))};
  const bool spatial =
      expr.op == ir::Op::kMake && expr.type.is_vector() && !function_.expr(expr.args[0]).type.is_scalar();
  if (spatial)
    return {fmt::format("wp.spatial_vector{}({})", expr.type.scalar == ir::Scalar::kF64 ? "d" : "", list(expr.args))};
  if (expr.op == ir::Op::kExtract && is_row(expr.args[0])) {
    const ir::Expr& row = function_.expr(expr.args[0]);
    return {fmt::format("{}[{}, {}]", operand(row.args[0], kPostfix), index(row.args[1]), index(expr.args[1])),
            kPostfix};
  }
  const Binding bind = binding(expr.op);
  return {expand(operation.warp_pattern, expr, bind.left, bind.others), bind.own};
}

std::string ExpressionWriter::expand(std::string_view pattern, const ir::Expr& expr, Precedence left,
                                     Precedence others) {
  std::string text;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const std::size_t dollar = std::min(pattern.find('$', i), pattern.size());
    text += pattern.substr(i, dollar - i);
    if (dollar == pattern.size()) break;
    i = dollar + 1;
    const char what = pattern[i];
    if (what == 'T') {
      text += constructor(expr.type);
    } else if (what == '*') {
      text += list(expr.args);
    } else {
      const auto number = static_cast<std::size_t>(what - '0');
      const bool is_index = number > 0 && (expr.op == ir::Op::kExtract || expr.op == ir::Op::kTileExtract);
      const ir::ExprId arg = is_index ? unwrapped_index(expr.args[number]) : expr.args[number];
      text += operand(arg, number == 0 ? left : others);
    }
  }
  return text;
}

}  // namespace assay::source::warp
