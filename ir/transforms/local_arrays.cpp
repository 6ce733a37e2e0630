#include "ir/transforms/local_arrays.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "ir/builder.hpp"
#include "ir/limits.hpp"
#include "ir/transforms/split_arrays.hpp"
#include "ir/visit.hpp"

namespace assay::transforms {
namespace {

using namespace ir;

/// The longest vector, and the most rows or columns of a matrix, that replaces a local array.
constexpr int kMaxHolderSide = 16;

/// The aggregate type that replaces the array; void if there is none.
Type holder(Type array) {
  if (!array.is_local_array()) return kVoid;
  const Type element = array.element();
  const auto extent = static_cast<int>(array.extent);
  const bool is_number = element.is_scalar() && !element.is_bool();
  if (is_number && extent <= kMaxHolderSide) return vector_type(element.scalar, extent);
  if (is_number && extent <= kMaxHolderSide * kMaxHolderSide) {
    return matrix_type(element.scalar, (extent + kMaxHolderSide - 1) / kMaxHolderSide, kMaxHolderSide);
  }
  if (element.is_vector() && extent <= kMaxHolderSide) return matrix_type(element.scalar, extent, element.rows);
  return kVoid;
}

class Rewriter {
 public:
  Rewriter(const Module& module, Function function) : function_(std::move(function)), builder_(module, function_) {}

  Function run() {
    arrays_.resize(function_.variables.size(), kVoid);
    for (std::size_t v = 0; v < arrays_.size(); ++v) {
      const Type type = holder(function_.variables[v].type);
      if (type.is_void()) continue;
      arrays_[v] = std::exchange(function_.variables[v].type, type);
    }
    const std::size_t given = function_.expressions.size();
    for (std::size_t id = 0; id < given; ++id)
      rewrite(static_cast<ExprId>(id));
    for_each_statement(function_.body, [&](Stmt& statement) { rewrite(statement); });
    return std::move(function_);
  }

 private:
  Type array_of(ExprId id) const {
    const Expr& expr = function_.expr(id);
    return expr.kind == ExprKind::kVariable ? arrays_[static_cast<std::size_t>(expr.variable)] : kVoid;
  }
  static bool is_split(Type array) { return array.element().is_scalar() && array.extent > kMaxHolderSide; }

  ExprId number(ExprId index) { return builder_.type_of(index) == kI32 ? index : builder_.cast(kI32, index); }
  ExprId row(ExprId index) { return builder_.op(Op::kDiv, {number(index), builder_.i32(kMaxHolderSide)}); }
  ExprId column(ExprId index) { return builder_.op(Op::kMod, {number(index), builder_.i32(kMaxHolderSide)}); }

  /// A load becomes the extraction of a part; the array variable gets the new type.
  void rewrite(ExprId id) {
    Expr& expr = function_.expressions[static_cast<std::size_t>(id)];
    const Loc loc = expr.loc;
    if (expr.kind == ExprKind::kVariable && !array_of(id).is_void()) expr.type = function_.var(expr.variable).type;
    if (expr.kind == ExprKind::kShapeOf && !array_of(expr.args[0]).is_void()) {
      const std::uint64_t extent = array_of(expr.args[0]).extent;
      expr = Expr{.kind = ExprKind::kLiteral, .type = kI32, .bits = extent, .loc = loc};
    }
    if (expr.kind != ExprKind::kLoad || array_of(expr.args[0]).is_void()) return;
    const Type type = expr.type;
    const Type array = array_of(expr.args[0]);
    const VarId variable = function_.expr(expr.args[0]).variable;
    const ExprId index = expr.args[1];
    builder_.at(loc);
    ExprId whole = builder_.var(variable);
    if (is_split(array)) whole = builder_.op(Op::kExtract, {whole, row(index)});
    const ExprId part = is_split(array) ? column(index) : number(index);
    function_.expressions[static_cast<std::size_t>(id)] =
        Expr{.kind = ExprKind::kOperation, .op = Op::kExtract, .type = type, .args = {whole, part}, .loc = loc};
  }

  void rewrite(Stmt& statement) {
    const auto* store = std::get_if<Store>(&statement.node);
    if (store == nullptr || array_of(store->array).is_void()) return;
    const Type array = array_of(store->array);
    const VarId variable = function_.expr(store->array).variable;
    const ExprId index = store->indices[0];
    ExprId value = store->value;
    builder_.at(statement.loc);
    if (is_split(array)) {
      const ExprId old = builder_.op(Op::kExtract, {builder_.var(variable), row(index)});
      value = builder_.op(Op::kInsert, {old, column(index), value});
    }
    const ExprId place = is_split(array) ? row(index) : number(index);
    statement.node = Assign{variable, builder_.op(Op::kInsert, {builder_.var(variable), place, value})};
  }

  Function function_;
  Builder builder_;
  std::vector<Type> arrays_;  ///< by variable: original type of a replaced array, otherwise void
};

}  // namespace

bool is_held(Type array) { return !holder(array).is_void(); }

std::optional<Function> replace_local_arrays(const Module& module, const Function& function) {
  std::optional<Function> split = split_local_arrays(module, function);
  const Function& given = split ? *split : function;
  if (std::ranges::none_of(given.variables, [](const Variable& variable) { return is_held(variable.type); }))
    return split;
  return Rewriter(module, given).run();
}

std::optional<Module> replace_local_arrays(const Module& module) {
  std::optional<Module> rewritten;
  for (std::size_t f = 0; f < module.functions.size(); ++f) {
    std::optional<Function> function = replace_local_arrays(module, module.functions[f]);
    if (!function) continue;
    if (!rewritten) rewritten = module;
    rewritten->functions[f] = *std::move(function);
  }
  return rewritten;
}

}  // namespace assay::transforms
