#include "ir/transforms/thread_private.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "ir/analysis.hpp"
#include "ir/builder.hpp"
#include "ir/visit.hpp"

namespace assay::transforms {
namespace {

using namespace ir;

/// Facts about the accesses to one array.
struct ElementAccesses {
  std::vector<ExprId> indices = {};  ///< of the first access
  bool any = false;
  bool same = true;  ///< all accesses use the same thread-private element, which a variable can hold
  bool read = false;
  bool changed = false;
  bool in_loop = false;
  Loc loc = {};

  bool wants_variable() const { return any && same && read && changed && in_loop; }
};

/// Collects the accesses to each array parameter.
class Inspector {
 public:
  explicit Inspector(const Function& kernel)
      : kernel_(kernel), accesses_(static_cast<std::size_t>(kernel.parameter_count)) {}

  std::vector<ElementAccesses> run() {
    inspect(kernel_.body, false);
    return std::move(accesses_);
  }

 private:
  bool is_index(const Expr& index) const {
    return index.kind == ExprKind::kLiteral ||
           (index.kind == ExprKind::kVariable && kernel_.is_thread_index(index.variable));
  }
  static bool equal(const Expr& a, const Expr& b) {
    return a.kind == b.kind && a.type == b.type && a.bits == b.bits && a.variable == b.variable;
  }

  void access(ExprId array, std::span<const ExprId> indices, bool in_loop, Loc loc) {
    const VarId variable = kernel_.expr(array).variable;
    if (!kernel_.is_parameter(variable)) return;
    ElementAccesses& known = accesses_[static_cast<std::size_t>(variable)];
    if (!known.any) {
      known.indices.assign(indices.begin(), indices.end());
      known.loc = loc;
    }
    known.any = true;
    known.in_loop |= in_loop;
    const auto same = [&](ExprId a, ExprId b) { return equal(kernel_.expr(a), kernel_.expr(b)); };
    known.same = known.same && is_private_element(indices) && std::ranges::equal(indices, known.indices, same);
  }
  bool is_private_element(std::span<const ExprId> indices) const {
    const auto expr = [&](ExprId id) -> const Expr& { return kernel_.expr(id); };
    for (int d = 0; d < kernel_.launch_rank; ++d) {
      const VarId thread = kernel_.parameter_count + d;
      const auto is_thread = [&](const Expr& index) { return index.variable == thread; };
      if (std::ranges::none_of(indices, is_thread, expr)) return false;
    }
    return std::ranges::all_of(
        indices, [&](const Expr& index) { return is_index(index); }, expr);
  }
  ElementAccesses* of(ExprId array) {
    const VarId variable = kernel_.expr(array).variable;
    return kernel_.is_parameter(variable) ? &accesses_[static_cast<std::size_t>(variable)] : nullptr;
  }

  void inspect(const Block& block, bool in_loop) {
    for (const Stmt& statement : block.statements) {
      const bool loops = std::holds_alternative<While>(statement.node);
      for_each_root_expression(statement, [&](ExprId root) {
        for_each_expression(kernel_, root,
                            [&](ExprId, const Expr& expr) { inspect(expr, in_loop || loops, statement.loc); });
      });
      if (const auto* store = std::get_if<Store>(&statement.node)) {
        access(store->array, store->indices, in_loop, statement.loc);
        if (ElementAccesses* known = of(store->array)) known->changed = true;
      } else if (const auto* atomic = std::get_if<Atomic>(&statement.node)) {
        access(atomic->array, atomic->indices, in_loop, statement.loc);
        const bool sums = atomic->op == AtomicOp::kAdd || atomic->op == AtomicOp::kSub;
        if (ElementAccesses* known = of(atomic->array)) {
          known->changed = true;
          known->same &= sums;
          known->read |= atomic->result != kNone;
        }
      } else if (const auto* call = std::get_if<Call>(&statement.node)) {
        hand_over(call->args);
      }
      const bool repeats = in_loop || loops || std::holds_alternative<For>(statement.node);
      for_each_child_block(statement, [&](const Block& inner) { inspect(inner, repeats); });
    }
  }
  void inspect(const Expr& expr, bool in_loop, Loc loc) {
    if (expr.kind == ExprKind::kCall) hand_over(expr.args);
    if (expr.kind != ExprKind::kLoad) return;
    access(expr.args[0], std::span(expr.args).subspan(1), in_loop, loc);
    if (ElementAccesses* known = of(expr.args[0])) known->read = true;
  }
  /// Arrays passed to functions are not analyzed.
  void hand_over(const std::vector<ExprId>& args) {
    for (const ExprId arg : args) {
      if (!kernel_.expr(arg).type.is_array()) continue;
      if (ElementAccesses* known = of(arg)) known->same = false;
    }
  }

  const Function& kernel_;
  std::vector<ElementAccesses> accesses_;
};

/// Creates variables for the selected elements.
class Keeper {
 public:
  Keeper(const Module& module, Function kernel, std::vector<ElementAccesses> accesses)
      : module_(module), kernel_(std::move(kernel)), accesses_(std::move(accesses)), cells_(accesses_.size(), kNone) {}

  Function run() {
    Builder builder(module_, kernel_);
    const std::size_t given = kernel_.expressions.size();
    Block loads = builder.block([&] {
      for (VarId array = 0; array < kernel_.parameter_count; ++array) {
        if (accesses_[static_cast<std::size_t>(array)].wants_variable()) load(builder, array);
      }
    });
    rewrite_loads(given);
    rewrite(builder, kernel_.body);
    std::vector<Stmt>& top = kernel_.body.statements;
    top.insert(top.begin(), loads.statements.begin(), loads.statements.end());
    return std::move(kernel_);
  }

 private:
  ExprId again(Builder& builder, ExprId id) {
    const Expr& index = kernel_.expr(id);
    if (index.kind == ExprKind::kVariable) return builder.var(index.variable);
    return builder.literal(index.type, static_cast<std::int64_t>(index.bits));
  }
  std::vector<ExprId> indices(Builder& builder, VarId array) {
    std::vector<ExprId> result;
    for (const ExprId index : accesses_[static_cast<std::size_t>(array)].indices)
      result.push_back(again(builder, index));
    return result;
  }

  /// The element of a thread that never accesses it may not exist; its variable then stays zero.
  void load(Builder& builder, VarId array) {
    const ElementAccesses& known = accesses_[static_cast<std::size_t>(array)];
    builder.at(known.loc);
    const Type type = kernel_.var(array).type.element();
    const VarId cell = builder.let_zero(kernel_.var(array).name + "_own", type);
    cells_[static_cast<std::size_t>(array)] = cell;
    ExprId inside = kNone;
    for (std::size_t d = 0; d < known.indices.size(); ++d) {
      const ExprId index = again(builder, known.indices[d]);
      const ExprId extent = builder.shape_of(array, static_cast<int>(d));
      const Type wide = builder.type_of(index);
      const ExprId below = builder.op(Op::kLt, {index, wide == kI32 ? extent : builder.cast(wide, extent)});
      inside = inside == kNone ? below : builder.op(Op::kAnd, {inside, below});
    }
    builder.if_(inside, [&] { builder.assign(cell, builder.load(array, indices(builder, array))); });
  }

  VarId cell_of(ExprId array) const {
    const VarId variable = kernel_.expr(array).variable;
    return kernel_.is_parameter(variable) ? cells_[static_cast<std::size_t>(variable)] : kNone;
  }

  /// Rewrites the first `given` expressions; later expressions are the loads created here.
  void rewrite_loads(std::size_t given) {
    for (std::size_t id = 0; id < given; ++id) {
      Expr& expr = kernel_.expressions[id];
      if (expr.kind != ExprKind::kLoad) continue;
      const VarId cell = cell_of(expr.args[0]);
      if (cell != kNone) expr = Expr{.kind = ExprKind::kVariable, .type = expr.type, .variable = cell, .loc = expr.loc};
    }
  }

  void rewrite(Builder& builder, Block& block) {
    std::vector<Stmt> statements;
    for (Stmt& statement : block.statements) {
      for_each_child_block(statement, [&](Block& inner) { rewrite(builder, inner); });
      const auto* store = std::get_if<Store>(&statement.node);
      const auto* atomic = std::get_if<Atomic>(&statement.node);
      const ExprId array = store != nullptr ? store->array : atomic != nullptr ? atomic->array : kNone;
      const VarId cell = array == kNone ? kNone : cell_of(array);
      if (cell == kNone) {
        statements.push_back(std::move(statement));
        continue;
      }
      builder.at(statement.loc);
      Block change = builder.block([&] {
        if (store != nullptr) builder.assign(cell, store->value);
        if (atomic != nullptr) add(builder, cell, *atomic);
        const VarId variable = kernel_.expr(array).variable;
        builder.store(variable, indices(builder, variable), builder.var(cell));
      });
      for (Stmt& made : change.statements)
        statements.push_back(std::move(made));
    }
    block.statements = std::move(statements);
  }
  static void add(Builder& builder, VarId cell, const Atomic& atomic) {
    if (atomic.result != kNone) builder.append({.node = Let{atomic.result, builder.var(cell)}, .loc = builder.at()});
    const Op op = atomic.op == AtomicOp::kAdd ? Op::kAdd : Op::kSub;
    builder.assign(cell, builder.op(op, {builder.var(cell), atomic.value}));
  }

  const Module& module_;
  Function kernel_;
  std::vector<ElementAccesses> accesses_;
  std::vector<VarId> cells_;  ///< by array parameter
};

}  // namespace

std::optional<Function> promote_private_elements(const Module& module, const Function& kernel) {
  // Tiles are loaded by a block of threads together, so they are not thread-private.
  if (uses_tiles(kernel)) return std::nullopt;
  std::vector<ElementAccesses> accesses = Inspector(kernel).run();
  const auto wanted = [](const ElementAccesses& known) { return known.wants_variable(); };
  if (std::ranges::none_of(accesses, wanted)) return std::nullopt;
  return Keeper(module, kernel, std::move(accesses)).run();
}

}  // namespace assay::transforms
