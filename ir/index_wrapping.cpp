#include "ir/index_wrapping.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "ir/analysis.hpp"
#include "ir/builder.hpp"
#include "ir/visit.hpp"

namespace assay::ir {
namespace {

/// The least value that is known of an integer; nothing where it may be any.
using Least = std::optional<std::int64_t>;

/// Larger constants say nothing about a sign and might overflow a sum of bounds.
constexpr std::int64_t kLargest = std::int64_t{1} << 40;

Least known(std::int64_t value) { return -kLargest <= value && value <= kLargest ? Least(value) : std::nullopt; }

std::optional<std::int64_t> constant(const Function& function, ExprId id) {
  const Expr& expr = function.expr(id);
  if (expr.kind != ExprKind::kLiteral || !expr.type.is_integer_scalar()) return std::nullopt;
  return static_cast<std::int64_t>(expr.bits);
}

/// The least values of a function's variables and expressions. Signed arithmetic does not overflow in a valid run.
class LeastValues {
 public:
  explicit LeastValues(const Function& function) : function_(function) {
    for_each_statement(function.body, [&](const Stmt& statement) {
      if (const auto* assign = std::get_if<Assign>(&statement.node)) assigned_[assign->variable] = true;
    });
    for_each_statement(function.body, [&](const Stmt& statement) { declare(statement); });
  }

  Least of(ExprId id) const {
    const Expr& expr = function_.expr(id);
    if (!expr.type.is_integer_scalar()) return std::nullopt;
    const Least value = of(expr);
    const bool is_unsigned = !row(expr.type.scalar).is_signed;
    return is_unsigned ? Least(std::max(value.value_or(0), std::int64_t{0})) : value;
  }

 private:
  /// Declarations come before uses, so one pass in the order of the text sees every value.
  void declare(const Stmt& statement) {
    if (const auto* let = std::get_if<Let>(&statement.node); let != nullptr && !assigned_.contains(let->variable)) {
      const Least value = let->value == kNone ? Least(0) : of(let->value);
      if (value) least_[let->variable] = *value;
    }
    if (const auto* loop = std::get_if<For>(&statement.node)) {
      const auto step = constant(function_, loop->step);
      const Least end = of(loop->stop);
      if (step && *step > 0) {
        if (const Least start = of(loop->start)) least_[loop->variable] = *start;
      } else if (step && end) {
        least_[loop->variable] = *end + 1;
      }
    }
  }

  Least of(const Expr& expr) const {
    switch (expr.kind) {
      case ExprKind::kLiteral: return known(static_cast<std::int64_t>(expr.bits));
      case ExprKind::kShapeOf: return 0;
      case ExprKind::kVariable: {
        if (function_.is_thread_index(expr.variable)) return 0;
        const auto found = least_.find(expr.variable);
        return found == least_.end() ? std::nullopt : Least(found->second);
      }
      case ExprKind::kOperation: return of_operation(expr);
      default: return std::nullopt;
    }
  }

  Least of_operation(const Expr& expr) const {
    const auto operand = [&](std::size_t number) { return of(expr.args[number]); };
    const auto never_negative = [&](std::size_t number) { return operand(number).value_or(-1) >= 0; };
    const auto least_of_all = [&](std::size_t first) -> Least {
      Least least = operand(first);
      for (std::size_t k = first + 1; k < expr.args.size() && least; ++k) {
        const Least next = operand(k);
        least = next ? Least(std::min(*least, *next)) : std::nullopt;
      }
      return least;
    };
    switch (expr.op) {
      case Op::kAdd: {
        const Least a = operand(0), b = operand(1);
        return a && b ? known(*a + *b) : std::nullopt;
      }
      case Op::kSub: {
        const Least a = operand(0);
        const auto b = constant(function_, expr.args[1]);
        return a && b && known(*b) ? known(*a - *b) : std::nullopt;
      }
      case Op::kMul:
      case Op::kDiv:
      case Op::kFloorDiv: return never_negative(0) && never_negative(1) ? Least(0) : std::nullopt;
      case Op::kWrapIndex: return never_negative(0) ? operand(0) : std::nullopt;
      case Op::kMod:
      case Op::kShiftRight: return never_negative(0) ? Least(0) : std::nullopt;
      case Op::kBitAnd: return never_negative(0) || never_negative(1) ? Least(0) : std::nullopt;
      case Op::kMin: return least_of_all(0);
      case Op::kMax: {
        const Least a = operand(0), b = operand(1);
        return a && b ? Least(std::max(*a, *b)) : a ? a : b;
      }
      case Op::kConditional:
      case Op::kWhere: return least_of_all(1);
      case Op::kClamp: {
        // min(max(low, x), high)
        const Least low = operand(1), high = operand(2);
        return low && high ? Least(std::min(*low, *high)) : std::nullopt;
      }
      case Op::kAbs:
      case Op::kNonzero:
      case Op::kStep: return 0;
      case Op::kCast: return function_.expr(expr.args[0]).type.is_bool() ? Least(0) : of_cast(expr);
      default: return std::nullopt;
    }
  }

  /// A conversion keeps the value where the result's type is as wide and as signed.
  Least of_cast(const Expr& expr) const {
    const Type from = function_.expr(expr.args[0]).type;
    if (!from.is_integer_scalar()) return std::nullopt;
    const auto& source = row(from.scalar);
    const auto& target = row(expr.type.scalar);
    const bool keeps = target.bytes > source.bytes || (target.bytes == source.bytes && source.is_signed);
    return keeps ? of(expr.args[0]) : std::nullopt;
  }

  const Function& function_;
  std::map<VarId, bool> assigned_;
  std::map<VarId, std::int64_t> least_;
};

/// Makes the expressions of a function again, with wrapped indices.
class Wrapper {
 public:
  explicit Wrapper(Function& function) : function_(function), least_(function) {}

  void run() {
    for_each_statement(function_.body, [&](Stmt& statement) {
      if (auto* store = std::get_if<Store>(&statement.node)) {
        mark(store->array, wrapped_indices(store->array, store->indices, store->value));
      } else if (auto* atomic = std::get_if<Atomic>(&statement.node)) {
        mark(atomic->array, wrapped_indices(atomic->array, atomic->indices, atomic->value));
      }
    });
    for (ExprId id = 0; id < static_cast<ExprId>(function_.expressions.size()); ++id) {
      const Expr& expr = function_.expr(id);
      if (is_wrapped(expr)) slice_indices_[id] = least_.of(expr.args[0]).value_or(-1) < 0;
      if (expr.kind == ExprKind::kLoad)
        mark(expr.args[0], wrapped_indices(expr.args[0], {expr.args.begin() + 1, expr.args.end()}, id));
      const bool is_part = expr.kind == ExprKind::kOperation && (expr.op == Op::kExtract || expr.op == Op::kInsert);
      if (is_part && may_be_negative(expr.args[1])) extents_[expr.args[1]] = {.parts = parts_of(expr)};
      if (expr.kind == ExprKind::kOperation && expr.op == Op::kTileInsert) mark_tile_indices(expr);
    }
    if (extents_.empty() && slice_indices_.empty()) return;
    std::vector<Expr> old = std::exchange(function_.expressions, {});
    for_each_statement(function_.body, [&](Stmt& statement) {
      for_each_root_expression(statement, [&](ExprId& root) { root = made_again(old, root); });
    });
  }

 private:
  /// How many elements or components an index chooses from.
  struct Extent {
    ExprId array = kNone;
    int dimension = 0;
    int parts = 0;  ///< of an aggregate or a local array; 0: that of the array
  };

  static bool is_wrapped(const Expr& expr) { return expr.kind == ExprKind::kOperation && expr.op == Op::kWrapIndex; }

  bool may_be_negative(ExprId index) const { return least_.of(index).value_or(-1) < 0; }

  int parts_of(const Expr& part) const { return function_.expr(part.args[0]).type.parts(); }

  /// The indices that count from the end if they are negative: of an access to a tile only those before its dimensions.
  std::vector<ExprId> wrapped_indices(ExprId array, std::vector<ExprId> indices, ExprId value) const {
    const Type type = function_.expr(value).type;
    if (type.is_tile() && function_.expr(array).type.is_array())
      indices.resize(leading_index_count(function_.expr(array).type, type));
    return indices;
  }

  void mark(ExprId array, const std::vector<ExprId>& indices) {
    const Type type = function_.expr(array).type;
    for (std::size_t d = 0; d < indices.size(); ++d) {
      if (!may_be_negative(indices[d])) continue;
      const int parts = type.is_local_array() ? static_cast<int>(type.extent) : 0;
      extents_[indices[d]] = {.array = array, .dimension = static_cast<int>(d), .parts = parts};
    }
  }

  /// Only of elements that are stored: a frontend wraps those of elements that are read, because Warp Python spells
  /// them as wp.tile_extract(...), which does not.
  void mark_tile_indices(const Expr& insert) {
    const Type tile = function_.expr(insert.args[0]).type;
    for (int d = 0; d < tile.tile_rank(); ++d) {
      const ExprId index = insert.args[static_cast<std::size_t>(d) + 1];
      if (may_be_negative(index)) extents_[index] = {.parts = tile.tile[d]};
    }
  }

  ExprId add(Expr expr) {
    function_.expressions.push_back(std::move(expr));
    return static_cast<ExprId>(function_.expressions.size()) - 1;
  }

  /// An index of an array slice, which a frontend wrapped by the slice's extent: as Warp Python spells it, or the index
  /// itself if it is never below zero.
  ExprId slice_index(const std::vector<Expr>& old, const Expr& wrapped, bool may_be_negative) {
    const ExprId index = made_again(old, wrapped.args[0]);
    if (!may_be_negative) return index;
    const Type type = wrapped.type;
    const Loc loc = wrapped.loc;
    const auto operation = [&](Op op, Type result, std::vector<ExprId> args) {
      return add({.kind = ExprKind::kOperation, .op = op, .type = result, .args = std::move(args), .loc = loc});
    };
    const ExprId zero = add({.kind = ExprKind::kLiteral, .type = type, .loc = loc});
    const ExprId test = operation(Op::kLt, kBool, {index, zero});
    const ExprId again = made_again(old, wrapped.args[0]);
    const ExprId from_end = operation(Op::kAdd, type, {again, made_again(old, wrapped.args[1])});
    const ExprId last = made_again(old, wrapped.args[0]);
    return operation(Op::kWhere, type, {test, from_end, last});
  }

  ExprId made_again(const std::vector<Expr>& old, ExprId id) {
    if (const auto slice = slice_indices_.find(id); slice != slice_indices_.end())
      return slice_index(old, old[static_cast<std::size_t>(id)], slice->second);
    Expr expr = old[static_cast<std::size_t>(id)];
    for (ExprId& arg : expr.args)
      arg = made_again(old, arg);
    const Type type = expr.type;
    const Loc loc = expr.loc;
    const ExprId copy = add(std::move(expr));
    const auto found = extents_.find(id);
    if (found == extents_.end()) return copy;
    ExprId extent = kNone;
    if (found->second.parts > 0) {
      extent = add({.kind = ExprKind::kLiteral,
                    .type = type,
                    .bits = static_cast<std::uint64_t>(found->second.parts),
                    .loc = loc});
    } else {
      const ExprId array = made_again(old, found->second.array);
      extent = add(
          {.kind = ExprKind::kShapeOf, .type = kI32, .index = found->second.dimension, .args = {array}, .loc = loc});
      if (type != kI32)
        extent = add({.kind = ExprKind::kOperation, .op = Op::kCast, .type = type, .args = {extent}, .loc = loc});
    }
    return add({.kind = ExprKind::kOperation, .op = Op::kWrapIndex, .type = type, .args = {copy, extent}, .loc = loc});
  }

  Function& function_;
  const LeastValues least_;
  std::map<ExprId, Extent> extents_;
  std::map<ExprId, bool> slice_indices_;  ///< whether each may be below zero
};

}  // namespace

void wrap_indices(Function& function) { Wrapper(function).run(); }

void wrap_indices(Module& module) {
  std::ranges::for_each(module.functions, [](Function& function) { wrap_indices(function); });
  std::ranges::for_each(module.kernels, [](Function& kernel) { wrap_indices(kernel); });
}

}  // namespace assay::ir
