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

  /// Whether all returned values are linear in the parameters.
  bool check() {
    do {
      grown_ = false;
      for_each_statement(function_.body, [&](const Stmt& each) { statement(each); });
    } while (grown_ && linear_);
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

bool calls_gradient(const Module& module, const Function& function, std::vector<bool>& seen) {
  bool found = false;
  const auto visit = [&](std::int32_t index) {
    if (found || seen[static_cast<std::size_t>(index)]) return;
    seen[static_cast<std::size_t>(index)] = true;
    const Function& callee = module.functions[static_cast<std::size_t>(index)];
    found = callee.gradient_function_index != kNone || calls_gradient(module, callee, seen);
  };
  for (const Expr& expr : function.expressions)
    if (expr.kind == ExprKind::kCall) visit(expr.index);
  for_each_statement(function.body, [&](const Stmt& statement) {
    if (const auto* call = std::get_if<Call>(&statement.node)) visit(call->function);
  });
  return found;
}

}  // namespace

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
  std::vector<Type> results;
  for (const VarId target : gradient_targets(module, function))
    results.push_back(function.var(target).type);
  if (auto fault = signature_error(module, gradient, parameters, results)) return fault;
  for (const Function* changing : {&function, &gradient}) {
    const auto number = static_cast<std::size_t>(changing - module.functions.data());
    for (VarId p = 0; p < changing->parameter_count; ++p) {
      if (!uses[number][static_cast<std::size_t>(p)].changed()) continue;
      if (changing == &function && !is_differentiable(module, changing->var(p).type)) continue;
      return fmt::format("{} must not change the array {}", changing->name, changing->var(p).name);
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

bool is_linear_gradient(const Module& module, const Function& gradient, std::size_t results) {
  const auto parameters = static_cast<std::size_t>(gradient.parameter_count);
  std::vector<bool> depends(parameters);
  for (std::size_t p = parameters - results; p < parameters; ++p)
    depends[p] = true;
  return Linearity(module, gradient, std::move(depends)).check();
}

bool has_custom_gradient(const Module& module, const Function& kernel) {
  std::vector<bool> seen(module.functions.size());
  return calls_gradient(module, kernel, seen);
}

bool trusts_custom_gradients(const Function& kernel) {
  return std::ranges::find(kernel.annotations, kTrustCustomGradientsAnnotation) != kernel.annotations.end();
}

}  // namespace assay::ir
