#include "ir/analysis.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <variant>

namespace assay::ir {
namespace {

std::vector<VarId> sorted_unique(std::vector<VarId> ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

/// Collects the parameter uses of one function.
class UseCollector {
 public:
  UseCollector(const Function& function, std::span<const ParameterUses> callees)
      : function_(function), callees_(callees), uses_(static_cast<std::size_t>(function.parameter_count)) {}

  ParameterUses collect() && {
    for_each_statement(function_.body, [this](const Stmt& statement) {
      std::visit(Overloaded{
                     [this](const Store& store) { change(store.array, &ParameterUse::written); },
                     [this](const Atomic& atomic) {
                       change(atomic.array, &ParameterUse::is_atomically_updated);
                       if (atomic.result != kNone) change(atomic.array, &ParameterUse::read);
                     },
                     [this](const Call& call) { pass(call.function, call.args); },
                     [](const auto&) {},
                 },
                 statement.node);
      for_each_root_expression(statement, [this](ExprId root) { read(root); });
    });
    return std::move(uses_);
  }

 private:
  ParameterUse* use_of(ExprId id) {
    const Expr& expr = function_.expr(id);
    const bool parameter = expr.kind == ExprKind::kVariable && function_.is_parameter(expr.variable);
    return parameter ? &uses_[static_cast<std::size_t>(expr.variable)] : nullptr;
  }

  void change(ExprId array, bool ParameterUse::*how) {
    if (ParameterUse* use = use_of(array)) use->*how = true;
  }

  /// Adds the uses of array arguments by the callee.
  void pass(std::int32_t function, const std::vector<ExprId>& args) {
    const ParameterUses& callee = callees_[static_cast<std::size_t>(function)];
    for (std::size_t i = 0; i < args.size(); ++i) {
      ParameterUse* use = use_of(args[i]);
      if (use == nullptr || !function_.expr(args[i]).type.is_array()) continue;
      use->read |= callee[i].read;
      use->written |= callee[i].written;
      use->is_atomically_updated |= callee[i].is_atomically_updated;
    }
  }

  /// A value is read wherever it occurs, an array only by loads.
  void read(ExprId root) {
    for_each_expression(function_, root, [this](ExprId id, const Expr& expr) {
      if (expr.kind == ExprKind::kCall) pass(expr.index, expr.args);
      const ExprId source = expr.kind == ExprKind::kLoad ? expr.args[0] : id;
      ParameterUse* use = use_of(source);
      if (use != nullptr && (source != id || !expr.type.is_array())) use->read = true;
    });
  }

  const Function& function_;
  std::span<const ParameterUses> callees_;
  ParameterUses uses_;
};

}  // namespace

ParameterUses parameter_use(const Function& function, std::span<const ParameterUses> callees) {
  return UseCollector(function, callees).collect();
}

ParameterUses parameter_use(const Module& module, const Function& function) {
  std::vector<ParameterUses> callees;
  for (const Function& callee : module.functions) {
    if (&callee == &function) break;
    callees.push_back(parameter_use(callee, callees));
  }
  return parameter_use(function, callees);
}

bool has_effects(const ParameterUses& uses) {
  return std::any_of(uses.begin(), uses.end(), [](const ParameterUse& use) { return use.changed(); });
}

bool reshapes_row_or_column(const Function& function, const Expr& reshape) {
  const Expr& from = function.expr(reshape.args[0]);
  return from.kind == ExprKind::kOperation && from.op == Op::kTileView && from.type.tile_rank() == 2 &&
         (from.type.tile[0] == 1) != (from.type.tile[1] == 1) && reshape.type.tile_rank() == 1;
}

bool has_tile(const Function& function, std::span<const ExprId> expressions) {
  return std::ranges::any_of(expressions, [&](ExprId id) { return function.expr(id).type.is_tile(); });
}

bool is_constant(const Function& function, ExprId expression) {
  const Expr& expr = function.expr(expression);
  return expr.kind == ExprKind::kLiteral ||
         (expr.kind == ExprKind::kOperation &&
          std::ranges::all_of(expr.args, [&](ExprId operand) { return is_constant(function, operand); }));
}

bool loads_tile(const Function& function, const Expr& load) {
  return load.type.is_tile() && !load.args.empty() && function.expr(load.args[0]).type.is_array();
}

Type called_type(const Function& caller, const Function& callee, std::span<const ExprId> args) {
  for (const ExprId arg : args) {
    if (arg != kNone && caller.expr(arg).type.is_tile())
      return callee.results[0].with_tile_extents_of(caller.expr(arg).type);
  }
  return callee.results[0];
}

bool works_with_tiles(const Function& function, ExprId root) {
  bool found = false;
  for_each_expression(function, root, [&](ExprId, const Expr& expr) { found |= expr.type.is_tile(); });
  return found;
}

bool uses_tiles(const Function& function) {
  const auto held = [](const Variable& variable) { return variable.type.tile_rank() > 0; };
  const auto made = [](const Expr& expr) { return expr.type.tile_rank() > 0; };
  return std::ranges::any_of(function.variables, held) || std::ranges::any_of(function.expressions, made);
}

bool is_differentiable(const Module& module, Type type) {
  if (type.shape != Shape::kStruct) return type.has_float_components();
  const std::vector<Field>& fields = module.structs[type.struct_id].fields;
  return std::any_of(fields.begin(), fields.end(),
                     [&](const Field& field) { return is_differentiable(module, field.type); });
}

bool is_differentiable(const Module& module) {
  return std::any_of(module.kernels.begin(), module.kernels.end(), [&](const Function& kernel) {
    const auto parameters = std::span(kernel.variables).first(static_cast<std::size_t>(kernel.parameter_count));
    return std::any_of(parameters.begin(), parameters.end(),
                       [&](const Variable& variable) { return is_differentiable(module, variable.type); });
  });
}

std::vector<VarId> assigned_variables(const Block& block) {
  std::vector<VarId> ids;
  for_each_statement(block, [&](const Stmt& statement) {
    if (const auto* assign = std::get_if<Assign>(&statement.node)) ids.push_back(assign->variable);
  });
  return sorted_unique(std::move(ids));
}

namespace {

constexpr std::int64_t kMostTrips = std::int64_t{1} << 40;

/// The trips of a loop over a range; 1 if the bounds are not constants.
std::int64_t constant_trips(const Function& function, const For& loop) {
  std::array<double, 3> bounds{};
  for (std::size_t i = 0; const ExprId id : {loop.start, loop.stop, loop.step}) {
    const Expr& expr = function.expr(id);
    if (expr.kind != ExprKind::kLiteral) return 1;
    bounds[i++] = static_cast<double>(static_cast<std::int64_t>(expr.bits));
  }
  const auto [start, stop, step] = bounds;
  if (step == 0) return 1;
  const double trips = std::ceil((stop - start) / step);
  return static_cast<std::int64_t>(std::clamp(trips, 1.0, static_cast<double>(kMostTrips)));
}

std::int64_t most_constant_trips(const Function& function, const Block& block) {
  std::int64_t most = 1;
  for (const Stmt& statement : block.statements) {
    std::int64_t inner = 1;
    for_each_child_block(statement,
                         [&](const Block& child) { inner = std::max(inner, most_constant_trips(function, child)); });
    if (const auto* loop = std::get_if<For>(&statement.node)) {
      const std::int64_t trips = constant_trips(function, *loop);
      inner = inner > kMostTrips / trips ? kMostTrips : inner * trips;
    }
    most = std::max(most, inner);
  }
  return most;
}

}  // namespace

std::int64_t most_constant_trips(const Function& function) { return most_constant_trips(function, function.body); }

std::vector<VarId> declared_variables(const Block& block) {
  std::vector<VarId> ids;
  for_each_statement(block, [&](const Stmt& statement) {
    for_each_declared_variable(statement, [&](VarId id) { ids.push_back(id); });
  });
  return sorted_unique(std::move(ids));
}

std::vector<VarId> variables_read(const Function& function, ExprId root) {
  std::vector<VarId> ids;
  for_each_expression(function, root, [&](ExprId, const Expr& expr) {
    if (expr.kind == ExprKind::kVariable) ids.push_back(expr.variable);
  });
  return sorted_unique(std::move(ids));
}

}  // namespace assay::ir
