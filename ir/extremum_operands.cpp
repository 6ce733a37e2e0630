#include "ir/extremum_operands.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "ir/visit.hpp"

namespace assay::ir {
namespace {

bool is_extremum_of_floats(const Function& function, const Atomic& atomic) {
  return (atomic.op == AtomicOp::kMin || atomic.op == AtomicOp::kMax) &&
         is_float(function.expr(atomic.value).type.scalar);
}

bool has_extremum_of_floats(const Function& function) {
  bool found = false;
  for_each_statement(function.body, [&](const Stmt& statement) {
    const auto* atomic = std::get_if<Atomic>(&statement.node);
    found |= atomic != nullptr && is_extremum_of_floats(function, *atomic);
  });
  return found;
}

/// What is known of one function.
struct FunctionState {
  const Function* function = nullptr;
  bool compares_with_final_content = false;  ///< whether it is a backward kernel
  std::vector<bool> is_operand;              ///< by expression
  std::vector<bool> holds_operand;           ///< by variable
  bool returns_operand = false;
};

class OperandSearch {
 public:
  OperandSearch(const Module& module, const Function& forward, const Function* backward) {
    for (const Function& function : module.functions)
      add(function);
    add(forward);
    if (backward != nullptr) {
      add(*backward);
      states_.back().compares_with_final_content = true;
    }
  }

  std::vector<FunctionState> run() {
    do {
      is_changed_ = false;
      for (FunctionState& state : states_)
        visit(state);
    } while (is_changed_);
    return std::move(states_);
  }

 private:
  void add(const Function& function) {
    states_.push_back({.function = &function,
                       .is_operand = std::vector<bool>(function.expressions.size()),
                       .holds_operand = std::vector<bool>(function.variables.size())});
  }

  FunctionState& callee(std::int32_t index) { return states_[static_cast<std::size_t>(index)]; }

  void set(std::vector<bool>::reference known) {
    if (known) return;
    known = true;
    is_changed_ = true;
  }

  void mark(FunctionState& state, ExprId id) {
    if (id == kNone || state.is_operand[static_cast<std::size_t>(id)]) return;
    set(state.is_operand[static_cast<std::size_t>(id)]);
    const Expr& expr = state.function->expr(id);
    switch (expr.kind) {
      case ExprKind::kVariable: set(state.holds_operand[static_cast<std::size_t>(expr.variable)]); break;
      case ExprKind::kLoad: mark(state, expr.args[0]); break;
      case ExprKind::kCall: mark_results(expr.index); [[fallthrough]];
      default:
        for (const ExprId arg : expr.args)
          mark(state, arg);
    }
  }

  void mark_results(std::int32_t function) {
    if (std::exchange(callee(function).returns_operand, true)) return;
    is_changed_ = true;
  }

  bool holds_operand(const FunctionState& state, ExprId array_or_variable) const {
    const Expr& expr = state.function->expr(array_or_variable);
    return expr.kind == ExprKind::kVariable && state.holds_operand[static_cast<std::size_t>(expr.variable)];
  }

  /// An argument is an operand if the parameter holds one; a function may store operands in an array of its caller.
  void pass(FunctionState& state, std::int32_t function, std::span<const ExprId> args) {
    FunctionState& called = callee(function);
    for (std::size_t i = 0; i < args.size(); ++i) {
      if (called.holds_operand[i]) mark(state, args[i]);
      const bool is_array = state.function->expr(args[i]).type.is_array();
      if (is_array && holds_operand(state, args[i])) set(called.holds_operand[i]);
    }
  }

  void visit(FunctionState& state) {
    const Function& function = *state.function;
    const auto assign = [&](VarId variable, ExprId value) {
      if (state.holds_operand[static_cast<std::size_t>(variable)]) mark(state, value);
    };
    for_each_statement(function.body, [&](const Stmt& statement) {
      std::visit(Overloaded{
                     [&](const Let& let) { assign(let.variable, let.value); },
                     [&](const Assign& node) { assign(node.variable, node.value); },
                     [&](const Store& store) {
                       if (holds_operand(state, store.array)) mark(state, store.value);
                     },
                     [&](const Atomic& atomic) {
                       if (is_extremum_of_floats(function, atomic)) mark(state, atomic.value);
                     },
                     [&](const Call& call) {
                       const bool is_used = std::ranges::any_of(call.results, [&](VarId result) {
                         return state.holds_operand[static_cast<std::size_t>(result)];
                       });
                       if (is_used) {
                         mark_results(call.function);
                         for (const ExprId arg : call.args)
                           mark(state, arg);
                       }
                       pass(state, call.function, call.args);
                     },
                     [&](const Return& leave) {
                       for (const ExprId value : leave.values)
                         if (state.returns_operand) mark(state, value);
                     },
                     [](const auto&) {},
                 },
                 statement.node);
    });
    for (std::size_t id = 0; id < function.expressions.size(); ++id) {
      const Expr& expr = function.expressions[id];
      if (expr.kind == ExprKind::kCall) pass(state, expr.index, expr.args);
      const bool is_equality = expr.kind == ExprKind::kOperation && expr.op == Op::kEq;
      if (is_equality && state.compares_with_final_content && is_float(function.expr(expr.args[0]).type.scalar))
        mark(state, static_cast<ExprId>(id));
    }
  }

  std::vector<FunctionState> states_;  ///< of the functions of the module and the kernels
  bool is_changed_ = false;
};

}  // namespace

ExtremumOperandsOfKernel extremum_operands(const Module& module, const Function& forward, const Function* backward) {
  ExtremumOperandsOfKernel operands;
  if (!has_extremum_of_floats(forward) && std::ranges::none_of(module.functions, has_extremum_of_floats))
    return operands;
  std::vector<FunctionState> states = OperandSearch(module, forward, backward).run();
  if (backward != nullptr) {
    operands.backward = std::move(states.back().is_operand);
    states.pop_back();
  }
  operands.forward = std::move(states.back().is_operand);
  states.pop_back();
  for (FunctionState& state : states)
    operands.functions.push_back(std::move(state.is_operand));
  return operands;
}

}  // namespace assay::ir
