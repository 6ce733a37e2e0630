#include "ir/custom.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "ir/text.hpp"
#include "ir/visit.hpp"

namespace assay::ir {
namespace {

bool is_function(const Module& module, std::int32_t index) {
  return index >= 0 && static_cast<std::size_t>(index) < module.functions.size();
}

std::vector<Type> parameter_types(const Function& function) {
  std::vector<Type> types;
  for (VarId p = 0; p < function.parameter_count; ++p)
    types.push_back(function.var(p).type);
  return types;
}

std::string list(const Module& module, const std::vector<Type>& types) {
  std::string text;
  for (const Type type : types)
    text += (text.empty() ? "" : ", ") + to_text(module, type);
  return fmt::format("({})", text);
}

std::optional<std::string> signature_error(const Module& module, const Function& custom,
                                           const std::vector<Type>& parameters, const std::vector<Type>& results) {
  const std::vector<Type> taken = parameter_types(custom);
  if (taken != parameters) {
    return fmt::format("{} takes parameters {}, expected {}", custom.name, list(module, taken),
                       list(module, parameters));
  }
  if (custom.results != results) {
    return fmt::format("{} returns {}, expected {}", custom.name, list(module, custom.results), list(module, results));
  }
  return std::nullopt;
}

/// Determines which variables of a function depend on given parameters, and whether all do so linearly.
class Linearity {
 public:
  Linearity(const Module& module, const Function& function, std::vector<bool> depends)
      : module_(module), function_(function), depends_(std::move(depends)) {
    depends_.resize(function.variables.size());
  }

  /// Whether all returned values, and the operands of all atomics, are linear in the parameters.
  bool check() {
    do {
      grown_ = false;
      for_each_statement(function_.body, [&](const Stmt& each) { statement(each); });
    } while (grown_ && linear_);
    // The dependences are complete only now.
    for_each_statement(function_.body, [&](const Stmt& each) {
      if (const auto* atomic = std::get_if<Atomic>(&each.node)) {
        if (!depends(atomic->value) && !is_zero(atomic->value)) linear_ = false;
      }
    });
    return linear_;
  }
  const std::vector<bool>& returned() const { return returned_; }

 private:
  void note(VarId variable, bool depends) {
    if (!depends || depends_[static_cast<std::size_t>(variable)]) return;
    depends_[static_cast<std::size_t>(variable)] = grown_ = true;
  }
  /// Requires that the expression does not depend on the parameters.
  void fix(ExprId id) {
    if (id != kNone && depends(id)) linear_ = false;
  }
  bool is_zero(ExprId id) const {
    const Expr& expr = function_.expr(id);
    return expr.kind == ExprKind::kLiteral && expr.bits == 0;
  }

  void statement(const Stmt& statement) {
    std::visit(Overloaded{
                   [&](const Let& let) {
                     if (let.value != kNone) note(let.variable, depends(let.value));
                   },
                   [&](const Assign& assign) { note(assign.variable, depends(assign.value)); },
                   [&](const Call& call) {
                     const std::vector<bool> results = called(call.function, call.args);
                     for (std::size_t i = 0; i < call.results.size(); ++i)
                       note(call.results[i], results[i]);
                   },
                   [&](const Atomic& atomic) {
                     for (const ExprId index : atomic.indices)
                       fix(index);
                     depends(atomic.value);
                   },
                   [&](const Return& leave) {
                     returned_.resize(leave.values.size());
                     for (std::size_t i = 0; i < leave.values.size(); ++i)
                       if (depends(leave.values[i])) returned_[i] = true;
                   },
                   [&](const auto&) { for_each_root_expression(statement, [&](const ExprId& root) { fix(root); }); },
               },
               statement.node);
  }

  std::vector<bool> called(std::int32_t index, const std::vector<ExprId>& args) {
    const Function& callee = module_.functions[static_cast<std::size_t>(index)];
    std::vector<bool> given;
    for (const ExprId arg : args)
      given.push_back(depends(arg));
    if (std::find(given.begin(), given.end(), true) == given.end()) return std::vector<bool>(callee.results.size());
    Linearity inner(module_, callee, std::move(given));
    if (!inner.check()) linear_ = false;
    std::vector<bool> results = inner.returned();
    results.resize(callee.results.size());
    return results;
  }

  bool depends(ExprId id) {
    const Expr& expr = function_.expr(id);
    switch (expr.kind) {
      case ExprKind::kLiteral:
      case ExprKind::kShapeOf: return false;
      case ExprKind::kVariable: return depends_[static_cast<std::size_t>(expr.variable)];
      case ExprKind::kField: return depends(expr.args[0]);
      case ExprKind::kCall: return called(expr.index, expr.args)[0];
      case ExprKind::kLoad:
        for (const ExprId arg : expr.args)
          if (function_.expr(arg).type.is_value()) fix(arg);
        return depends_[static_cast<std::size_t>(function_.expr(expr.args[0]).variable)];
      case ExprKind::kOperation: break;
    }
    std::vector<bool> operands;
    for (const ExprId arg : expr.args)
      operands.push_back(depends(arg));
    const auto count = std::count(operands.begin(), operands.end(), true);
    if (count == 0) return false;
    if (!is_linear(expr.op, operands, count)) linear_ = false;
    return true;
  }

  static bool is_linear(Op op, const std::vector<bool>& operands, std::ptrdiff_t count) {
    switch (op) {
      case Op::kAdd:
      case Op::kSub:
      case Op::kNeg:
      case Op::kCast:
      case Op::kMake:
      case Op::kSplat:
      case Op::kTranspose:
      case Op::kTranslation:
      case Op::kRotation:
      case Op::kSpatialTop:
      case Op::kSpatialBottom:
      case Op::kWithField: return true;
      case Op::kMul:
      case Op::kDot:
      case Op::kCross:
      case Op::kCwMul:
      case Op::kOuter:
      case Op::kDoubleDot: return count == 1;
      case Op::kDiv:
      case Op::kCwDiv:
      case Op::kExtract: return !operands[1];
      case Op::kInsert: return !operands[1];
      case Op::kConditional:
      case Op::kWhere: return !operands[0];
      default: return false;
    }
  }

  const Module& module_;
  const Function& function_;
  std::vector<bool> depends_;
  std::vector<bool> returned_;
  bool linear_ = true;
  bool grown_ = false;
};

/// Whether `function` calls, directly or indirectly, a function with a custom derivative of the kind `custom`. Skips
/// the functions that are marked in `seen`, and marks those that it visits.
bool calls_custom(const Module& module, const Function& function, std::int32_t Function::*custom,
                  std::vector<bool>& seen) {
  bool found = false;
  const auto visit = [&](std::int32_t index) {
    if (found || seen[static_cast<std::size_t>(index)]) return;
    seen[static_cast<std::size_t>(index)] = true;
    const Function& callee = module.functions[static_cast<std::size_t>(index)];
    found = callee.*custom != kNone || calls_custom(module, callee, custom, seen);
  };
  for (const Expr& expr : function.expressions)
    if (expr.kind == ExprKind::kCall) visit(expr.index);
  for_each_statement(function.body, [&](const Stmt& statement) {
    if (const auto* call = std::get_if<Call>(&statement.node)) visit(call->function);
  });
  return found;
}

/// Whether a gradient uses one of its adjoint arrays only to add to its elements.
bool only_adds_to(const Function& gradient, VarId adjoint) {
  bool is_valid = true;
  for_each_statement(gradient.body, [&](const Stmt& statement) {
    const auto* atomic = std::get_if<Atomic>(&statement.node);
    const bool adds =
        atomic != nullptr && (atomic->op == AtomicOp::kAdd || atomic->op == AtomicOp::kSub) && atomic->result == kNone;
    for_each_root_expression(statement, [&](ExprId root) {
      if (adds && root == atomic->array) return;
      std::vector<ExprId> measured;
      for_each_expression(gradient, root, [&](ExprId id, const Expr& expr) {
        if (expr.kind == ExprKind::kShapeOf) measured.push_back(expr.args[0]);
        const bool is_use = expr.kind == ExprKind::kVariable && expr.variable == adjoint;
        if (is_use && std::ranges::find(measured, id) == measured.end()) is_valid = false;
      });
    });
  });
  return is_valid;
}

/// The number of parameters of a gradient before its adjoint arrays.
std::size_t count_before_adjoint_arrays(const Function& function) {
  return static_cast<std::size_t>(function.parameter_count) + function.results.size();
}

}  // namespace

std::vector<VarId> adjoint_array_targets(const Function& function) {
  std::vector<VarId> targets;
  for (VarId p = 0; p < function.parameter_count; ++p) {
    const Type type = function.var(p).type;
    if (type.is_array() && type.has_float_components()) targets.push_back(p);
  }
  return targets;
}

std::vector<VarId> taken_adjoint_arrays(const Module& module, const Function& function) {
  const Function& gradient = module.functions[static_cast<std::size_t>(function.gradient_function_index)];
  const bool takes_none = static_cast<std::size_t>(gradient.parameter_count) == count_before_adjoint_arrays(function);
  return takes_none ? std::vector<VarId>() : adjoint_array_targets(function);
}

std::vector<VarId> gradient_targets(const Module& module, const Function& function) {
  std::vector<VarId> targets;
  for (VarId p = 0; p < function.parameter_count; ++p) {
    const Type type = function.var(p).type;
    if (type.is_value() && is_differentiable(module, type)) targets.push_back(p);
  }
  return targets;
}

std::optional<std::string> find_custom_gradient_error(const Module& module, const Function& function,
                                                      const std::vector<ParameterUses>& uses) {
  if (function.gradient_function_index == kNone) return std::nullopt;
  if (!is_function(module, function.gradient_function_index) || function.is_kernel)
    return "only functions can have a gradient, and the gradient must be a function";
  const Function& gradient = module.functions[static_cast<std::size_t>(function.gradient_function_index)];
  std::vector<Type> parameters = parameter_types(function);
  parameters.insert(parameters.end(), function.results.begin(), function.results.end());
  const auto first_adjoint = static_cast<VarId>(parameters.size());
  if (gradient.parameter_count > first_adjoint) {
    for (const VarId target : adjoint_array_targets(function))
      parameters.push_back(function.var(target).type);
  }
  std::vector<Type> results;
  for (const VarId target : gradient_targets(module, function))
    results.push_back(function.var(target).type);
  if (auto fault = signature_error(module, gradient, parameters, results)) return fault;
  for (const Function* changing : {&function, &gradient}) {
    const auto number = static_cast<std::size_t>(changing - module.functions.data());
    for (VarId p = 0; p < function.parameter_count; ++p) {
      if (!uses[number][static_cast<std::size_t>(p)].changed()) continue;
      const std::string& array = changing->var(p).name;
      if (changing == &gradient) return fmt::format("{} must not change the array {}", gradient.name, array);
      if (is_differentiable(module, changing->var(p).type)) {
        return fmt::format("{} has a custom gradient and must not change the float array {}", function.name, array);
      }
    }
  }
  VarId adjoint = first_adjoint;
  for (const VarId target : taken_adjoint_arrays(module, function)) {
    const Variable& parameter = gradient.var(adjoint);
    if (!parameter.is_nullable)
      return fmt::format("the adjoint array {} of {} must be nullable", parameter.name, gradient.name);
    if (!only_adds_to(gradient, adjoint++)) {
      return fmt::format("{} must use the adjoint of the array {} only to add to its elements", gradient.name,
                         gradient.var(target).name);
    }
  }
  return std::nullopt;
}

std::optional<std::string> find_custom_replay_error(const Module& module, const Function& function,
                                                    const std::vector<ParameterUses>& uses) {
  if (function.replay_function_index == kNone) return std::nullopt;
  if (!is_function(module, function.replay_function_index) || function.is_kernel)
    return "only functions can have a replay, and the replay must be a function";
  const Function& replay = module.functions[static_cast<std::size_t>(function.replay_function_index)];
  if (auto fault = signature_error(module, replay, parameter_types(function), function.results)) return fault;
  const ParameterUses& used = uses[static_cast<std::size_t>(function.replay_function_index)];
  for (VarId p = 0; p < replay.parameter_count; ++p) {
    if (used[static_cast<std::size_t>(p)].changed())
      return fmt::format("{} must not change the array {}", replay.name, replay.var(p).name);
  }
  return std::nullopt;
}

bool has_linear_gradient(const Module& module, const Function& function) {
  const Function& gradient = module.functions[static_cast<std::size_t>(function.gradient_function_index)];
  std::vector<bool> depends(static_cast<std::size_t>(gradient.parameter_count));
  for (auto p = static_cast<std::size_t>(function.parameter_count); p < count_before_adjoint_arrays(function); ++p)
    depends[p] = true;
  return Linearity(module, gradient, std::move(depends)).check();
}

bool has_custom_gradient(const Module& module, const Function& kernel) {
  std::vector<bool> seen(module.functions.size());
  return calls_custom(module, kernel, &Function::gradient_function_index, seen);
}

bool has_custom_replay(const Module& module, const Function& kernel) {
  std::vector<bool> seen(module.functions.size());
  return calls_custom(module, kernel, &Function::replay_function_index, seen);
}

bool trusts_custom_gradients(const Function& kernel) {
  return std::ranges::find(kernel.annotations, kTrustCustomGradientsAnnotation) != kernel.annotations.end();
}

}  // namespace assay::ir
