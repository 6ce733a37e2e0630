#include "ir/transforms/split_arrays.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "ir/builder.hpp"
#include "ir/launch.hpp"
#include "ir/transforms/local_arrays.hpp"
#include "ir/visit.hpp"

namespace assay::transforms {
namespace {

using namespace ir;

/// Finds the variables that are used as a whole, not only in loads, stores and for their length.
class WholeUses {
 public:
  explicit WholeUses(const Function& function) : function_(function), used_(function.variables.size()) {
    for_each_statement(function.body, [&](const Stmt& statement) {
      const auto* const store = std::get_if<Store>(&statement.node);
      for_each_root_expression(statement, [&](ExprId root) {
        if (store == nullptr || root != store->array) walk(root);
      });
    });
  }
  bool contains(std::size_t variable) const { return used_[variable]; }

 private:
  void walk(ExprId id) {
    const Expr& expr = function_.expr(id);
    if (expr.kind == ExprKind::kVariable) used_[static_cast<std::size_t>(expr.variable)] = true;
    const bool has_array = expr.kind == ExprKind::kLoad || expr.kind == ExprKind::kShapeOf;
    for (std::size_t k = has_array ? 1 : 0; k < expr.args.size(); ++k)
      walk(expr.args[k]);
  }

  const Function& function_;
  std::vector<bool> used_;
};

class ArraySplitter {
 public:
  ArraySplitter(const Module& module, Function function)
      : module_(module), function_(std::move(function)), builder_(module, function_) {}

  std::optional<Function> run() {
    const std::size_t given_variables = function_.variables.size();
    const WholeUses whole_uses(function_);
    for (std::size_t v = 0; v < given_variables; ++v) {
      if (is_splittable(function_.variables[v].type) && !whole_uses.contains(v)) split(static_cast<VarId>(v));
    }
    if (parts_.empty()) return std::nullopt;
    const std::size_t given = function_.expressions.size();
    for (std::size_t id = 0; id < given; ++id)
      rewrite(static_cast<ExprId>(id));
    rewrite(function_.body);
    std::vector<Stmt> zeros;
    for (const auto& [struct_id, variable] : zeros_)
      zeros.push_back({.node = Let{.variable = variable}});
    function_.body.statements.insert(function_.body.statements.begin(), zeros.begin(), zeros.end());
    return std::move(function_);
  }

 private:
  bool is_splittable(Type array) const {
    if (!array.is_local_array() || array.element().is_scalar() || is_held(array)) return false;
    const std::vector<ScalarComponent> components = scalar_components(module_, array.element());
    return !components.empty() && !has_array_field(array.element()) &&
           std::ranges::none_of(components, [](const auto& part) { return part.scalar == Scalar::kBool; });
  }
  bool has_array_field(Type type) const {
    if (!type.is_struct()) return false;
    return std::ranges::any_of(module_.structs[type.struct_id].fields, [&](const Field& field) {
      return !field.type.is_value() || has_array_field(field.type);
    });
  }

  void split(VarId array) {
    const Variable whole = function_.var(array);
    std::vector<VarId>& parts = parts_[array];
    for (const ScalarComponent& component : scalar_components(module_, whole.type.element())) {
      const Type part = scalar_type(component.scalar).local_array_of(whole.type.extent);
      parts.push_back(builder_.declare(fmt::format("{}_{}", whole.name, parts.size()), part));
    }
  }

  const std::vector<VarId>* parts_of(ExprId id) const {
    const Expr& expr = function_.expr(id);
    const auto found = expr.kind == ExprKind::kVariable ? parts_.find(expr.variable) : parts_.end();
    return found == parts_.end() ? nullptr : &found->second;
  }

  /// The value of a type whose numbers are the loads from the arrays that begin with `next`, which moves behind them.
  ExprId gathered(Type type, std::vector<VarId>::const_iterator& next, ExprId index) {
    if (type.is_scalar()) return builder_.load(*next++, {index});
    if (type.is_struct()) {
      const auto [zero, is_new] = zeros_.try_emplace(type.struct_id, kNone);
      if (is_new) zero->second = builder_.declare("zero", type);
      ExprId made = builder_.var(zero->second);
      const auto& fields = module_.structs[type.struct_id].fields;
      for (std::size_t f = 0; f < fields.size(); ++f) {
        const ExprId field = gathered(fields[f].type, next, index);
        made = builder_.op(Op::kWithField, {made, field}, kVoid, static_cast<std::int32_t>(f));
      }
      return made;
    }
    std::vector<ExprId> numbers;
    for (int k = 0; k < type.components(); ++k)
      numbers.push_back(builder_.load(*next++, {index}));
    return builder_.make(type, numbers);
  }

  /// Calls `store` with each number of a value, in order. `whole` makes the value.
  void scatter(Type type, const std::function<ExprId()>& whole, const std::function<void(ExprId)>& store) {
    if (type.is_scalar()) return store(whole());
    if (type.is_struct()) {
      const auto& fields = module_.structs[type.struct_id].fields;
      for (std::size_t f = 0; f < fields.size(); ++f)
        scatter(
            fields[f].type, [&] { return builder_.field(whole(), static_cast<int>(f)); }, store);
      return;
    }
    for (int k = 0; k < type.parts(); ++k) {
      scatter(
          type.indexed_part_type(),
          [&] {
            return builder_.op(Op::kExtract, {whole(), builder_.i32(k)});
          },
          store);
    }
  }

  void rewrite(ExprId id) {
    const Expr expr = function_.expr(id);
    const bool has_array = expr.kind == ExprKind::kLoad || expr.kind == ExprKind::kShapeOf;
    const std::vector<VarId>* const parts = has_array ? parts_of(expr.args[0]) : nullptr;
    if (parts == nullptr) return;
    builder_.at(expr.loc);
    ExprId made = kNone;
    if (expr.kind == ExprKind::kShapeOf) {
      made = builder_.i32(function_.var(parts->front()).type.extent);
    } else {
      auto next = parts->begin();
      made = gathered(expr.type, next, expr.args[1]);
    }
    // A copy, because adding expressions may move them.
    const Expr replacement = function_.expr(made);
    function_.expressions[static_cast<std::size_t>(id)] = replacement;
  }

  void rewrite(Block& block) {
    std::vector<Stmt> statements;
    for (Stmt& statement : block.statements) {
      for_each_child_block(statement, [&](Block& inner) { rewrite(inner); });
      const auto* const let = std::get_if<Let>(&statement.node);
      const auto* const store = std::get_if<Store>(&statement.node);
      if (let != nullptr && parts_.contains(let->variable)) {
        for (const VarId part : parts_.at(let->variable))
          statements.push_back({.node = Let{.variable = part}, .loc = statement.loc});
      } else if (const auto* const parts = store == nullptr ? nullptr : parts_of(store->array)) {
        store_parts(*parts, *store, statement.loc, statements);
      } else {
        statements.push_back(std::move(statement));
      }
    }
    block.statements = std::move(statements);
  }

  void store_parts(const std::vector<VarId>& parts, const Store& store, Loc loc, std::vector<Stmt>& statements) {
    builder_.at(loc);
    const VarId index = builder_.declare("index", builder_.type_of(store.indices[0]));
    const VarId value = builder_.declare("value", builder_.type_of(store.value));
    statements.push_back({.node = Let{.variable = index, .value = store.indices[0]}, .loc = loc});
    statements.push_back({.node = Let{.variable = value, .value = store.value}, .loc = loc});
    auto next = parts.begin();
    scatter(
        function_.var(value).type, [&] { return builder_.var(value); },
        [&](ExprId number) {
          const ExprId array = builder_.var(*next++);
          statements.push_back(
              {.node = Store{.array = array, .indices = {builder_.var(index)}, .value = number}, .loc = loc});
        });
  }

  const Module& module_;
  Function function_;
  Builder builder_;
  std::map<VarId, std::vector<VarId>> parts_;  ///< by split array: the arrays of its numbers, in order
  std::map<std::uint16_t, VarId> zeros_;       ///< by struct: a variable that is zero
};

}  // namespace

std::optional<Function> split_local_arrays(const Module& module, const Function& function) {
  return ArraySplitter(module, function).run();
}

}  // namespace assay::transforms
