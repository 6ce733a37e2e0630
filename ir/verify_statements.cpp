#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "ir/limits.hpp"
#include "ir/text.hpp"
#include "ir/verify_parts.hpp"

namespace assay::ir::detail {
namespace {

bool leaves(const Stmt& statement) {
  return std::holds_alternative<Break>(statement.node) || std::holds_alternative<Continue>(statement.node) ||
         std::holds_alternative<Return>(statement.node);
}

/// Whether the block contains a break of the enclosing loop; breaks of loops inside the block do not count.
bool breaks(const Block& block) {
  return std::ranges::any_of(block.statements, [](const Stmt& statement) {
    if (const auto* branch = std::get_if<If>(&statement.node))
      return breaks(branch->then_block) || breaks(branch->else_block);
    return std::holds_alternative<Break>(statement.node);
  });
}

/// Whether every path through the block returns. A `while true` without a break can only be left by a return.
bool returns(const Function& function, const Block& block) {
  if (block.statements.empty()) return false;
  const Stmt& last = block.statements.back();
  if (const auto* branch = std::get_if<If>(&last.node))
    return returns(function, branch->then_block) && returns(function, branch->else_block);
  if (const auto* loop = std::get_if<While>(&last.node)) {
    const Expr& condition = function.expr(loop->condition);
    return condition.kind == ExprKind::kLiteral && condition.bits != 0 && !breaks(loop->body);
  }
  return std::holds_alternative<Return>(last.node);
}

/// Whether an atomic supports the element type.
bool atomic_takes(AtomicOp op, Type element) {
  if (!element.is_value() || element.scalar == Scalar::kBool || element.shape == Shape::kStruct) return false;
  if (row(op).is_integer_only) return element.is_integer_scalar();
  const bool linear = op == AtomicOp::kAdd || op == AtomicOp::kSub;
  const bool by_component = op == AtomicOp::kMin || op == AtomicOp::kMax || op == AtomicOp::kCompareAndSwap;
  return element.is_scalar() || linear || (by_component && (element.is_vector() || element.is_matrix()));
}

/// Whether an atomic can update a field of an element. In Warp, these are the operators +=, -=, &=, |= and ^=.
bool updates_fields(AtomicOp op) { return op == AtomicOp::kAdd || op == AtomicOp::kSub || row(op).is_integer_only; }

class StatementVerifier {
 public:
  StatementVerifier(const Module& module, const Function& function, const Callees& callees,
                    const std::vector<bool>& sound, VerifierDiagnostics& diagnostics)
      : module_(module),
        function_(function),
        callees_(callees),
        sound_(sound),
        diagnostics_(diagnostics),
        states_(function.variables.size()),
        visited_(function.expressions.size(), kNone) {}

  void verify() {
    const auto declared = static_cast<std::size_t>(function_.parameter_count + function_.launch_rank);
    for (std::size_t i = 0; i < declared; ++i)
      states_[i] = {State::kInScope, true};
    verify(function_.body);
    if (!function_.results.empty() && !returns(function_, function_.body)) {
      diagnostics_.add(VerifierRule::kMissingReturn, function_.loc,
                       "missing return: a path reaches the end of the function");
    }
  }

 private:
  enum class State : std::uint8_t { kNever, kInScope, kLeft };
  struct VariableState {
    State state = State::kNever;
    bool read_only = false;
  };

  // ---- blocks and variables

  void verify(const Block& block) {
    if (depth_ >= kMaxBlockDepth)
      return diagnose(VerifierRule::kBlockNesting,
                      fmt::format("blocks must not be nested deeper than {}", kMaxBlockDepth));
    ++depth_;
    const std::size_t outer = in_scope_.size();
    for (std::size_t i = 0; i < block.statements.size(); ++i) {
      const Stmt& statement = block.statements[i];
      loc_ = statement.loc;
      std::visit([this](const auto& node) { verify(node); }, statement.node);
      if (leaves(statement) && i + 1 < block.statements.size()) {
        loc_ = block.statements[i + 1].loc;
        diagnose(VerifierRule::kUnreachableStatement, "unreachable statement after break, continue or return");
      }
    }
    leave_scope(outer);
    --depth_;
  }

  void leave_scope(std::size_t outer) {
    for (; in_scope_.size() > outer; in_scope_.pop_back()) {
      states_[static_cast<std::size_t>(in_scope_.back())].state = State::kLeft;
    }
  }

  bool exists(VarId id) {
    if (id >= 0 && static_cast<std::size_t>(id) < function_.variables.size()) return true;
    diagnose(VerifierRule::kUnknownVariable,
             fmt::format("variable {} does not exist: the function has {} variables", id, function_.variables.size()));
    return false;
  }

  /// Declares a variable; false if a rule is broken.
  bool declare(VarId id, bool read_only, bool may_be_local) {
    if (!exists(id)) return false;
    VariableState& variable = states_[static_cast<std::size_t>(id)];
    if (variable.state != State::kNever) {
      diagnose(VerifierRule::kRedeclaredVariable, fmt::format("variable {} is declared more than once", name(id)));
      return false;
    }
    variable = {State::kInScope, read_only};
    in_scope_.push_back(id);
    const Type type = function_.var(id).type;
    if (type.is_value() || (may_be_local && (type.is_local_array() || type.is_tile()))) return true;
    diagnose(VerifierRule::kVariableType,
             fmt::format("variable {} cannot be declared with type {}", name(id), text(type)));
    return false;
  }

  // ---- expressions

  bool in_scope(VarId id) {
    if (states_[static_cast<std::size_t>(id)].state == State::kInScope) return true;
    diagnose(VerifierRule::kUndeclaredVariable, fmt::format("variable {} is not declared in this scope", name(id)));
    return false;
  }

  bool has_effects(const Expr& expr) const {
    return expr.kind == ExprKind::kCall &&
           ir::has_effects(callees_.parameter_uses[static_cast<std::size_t>(expr.index)]);
  }

  /// Checks one expression of a statement; false if its type cannot be relied on. `may_have_effects`: the expression is
  /// the whole value of a variable.
  bool verify_root(ExprId root, bool may_have_effects = false) {
    if (root < 0 || static_cast<std::size_t>(root) >= sound_.size()) {
      diagnose(VerifierRule::kUnknownExpression,
               fmt::format("expression {} does not exist: the function has {} expressions", root, sound_.size()));
      return false;
    }
    if (!sound_[static_cast<std::size_t>(root)]) return false;
    ++stamp_;
    return visit(root, may_have_effects);
  }

  /// Visits each node once, even if it is shared.
  bool visit(ExprId id, bool may_have_effects) {
    if (visited_[static_cast<std::size_t>(id)] == stamp_) return true;
    visited_[static_cast<std::size_t>(id)] = stamp_;
    const Expr& expr = function_.expr(id);
    if (expr.kind == ExprKind::kVariable) return in_scope(expr.variable);
    if (has_effects(expr) && !may_have_effects) {
      const Function& callee = callees_.functions[static_cast<std::size_t>(expr.index)];
      diagnose(VerifierRule::kCallWithEffects,
               fmt::format("function {} changes arrays and cannot be called inside an expression", callee.name));
      return false;
    }
    bool good = true;
    for (const ExprId arg : expr.args)
      good = visit(arg, false) && good;
    return good;
  }

  bool verify_roots(const std::vector<ExprId>& roots) {
    bool good = true;
    for (const ExprId root : roots)
      good = verify_root(root) && good;
    return good;
  }

  void expect_type(ExprId value, Type expected, const std::string& of) {
    const Type type = function_.expr(value).type;
    if (type == expected) return;
    diagnose(VerifierRule::kValueType,
             fmt::format("cannot assign a value of type {} to {} of type {}", text(type), of, text(expected)));
  }

  // ---- statements

  void verify(const Let& let) {
    const bool has_value = let.value != kNone;
    const bool good_value = has_value && verify_root(let.value, true);
    if (!declare(let.variable, false, true) || !has_value) return;
    const Type type = function_.var(let.variable).type;
    if (type.is_local_array()) {
      diagnose(VerifierRule::kLocalArrayAssignment,
               fmt::format("local array {} cannot be initialized with a value", name(let.variable)));
    } else if (good_value) {
      expect_type(let.value, type, name(let.variable));
    }
  }

  void verify(const Assign& assign) {
    const bool good_value = verify_root(assign.value, true);
    if (!exists(assign.variable) || !in_scope(assign.variable)) return;
    const Type type = function_.var(assign.variable).type;
    if (states_[static_cast<std::size_t>(assign.variable)].read_only) {
      diagnose(VerifierRule::kReadOnlyVariable,
               fmt::format("variable {} is read-only and cannot be assigned", name(assign.variable)));
    } else if (type.is_local_array()) {
      diagnose(VerifierRule::kLocalArrayAssignment,
               fmt::format("local array {} cannot be assigned as a whole", name(assign.variable)));
    } else if (good_value) {
      expect_type(assign.value, type, name(assign.variable));
    }
  }

  /// The element's type, or void if a rule is broken.
  Type element(ExprId array, const std::vector<ExprId>& indices) {
    const bool good = verify_root(array) && verify_roots(indices);
    if (!good || !verify_element_access(function_, array, indices, loc_, diagnostics_)) return kVoid;
    return function_.expr(array).type.element();
  }

  void verify(const Store& store) {
    const Type type = element(store.array, store.indices);
    if (!verify_root(store.value) || type.is_void() || is_tile_access(store.array, store.indices, store.value)) return;
    expect_type(store.value, type, "an element");
    expect_scalar_indices(store.indices);
  }

  void expect_scalar_indices(const std::vector<ExprId>& indices) {
    if (has_tile(function_, indices))
      diagnose(VerifierRule::kIndexType, "only a tile that fits can be stored at the indices in a tile");
  }

  /// Whether the value is a tile and the array holds its elements.
  bool is_tile_access(ExprId array, const std::vector<ExprId>& indices, ExprId value) const {
    return detail::tile_fits(function_, array, indices, function_.expr(value).type);
  }

  void verify(const Atomic& atomic) {
    const Type type = updated_type(atomic);
    if (verify_root(atomic.value) && !type.is_void()) verify_atomic(atomic, type);
    const bool compares = atomic.op == AtomicOp::kCompareAndSwap;
    if (compares != (atomic.compare_operand != kNone)) {
      diagnose(VerifierRule::kAtomicCompareOperand,
               compares ? "compare-and-swap requires a compare value" : "only compare-and-swap takes a compare value");
    } else if (compares && verify_root(atomic.compare_operand) && !type.is_void() &&
               function_.expr(atomic.compare_operand).type != type) {
      diagnose(VerifierRule::kAtomicCompareOperand,
               fmt::format("compare value has type {}, expected the element type {}",
                           text(function_.expr(atomic.compare_operand).type), text(type)));
    }
    if (atomic.result == kNone || !declare(atomic.result, false, false) || type.is_void()) return;
    if (function_.var(atomic.result).type != type) {
      diagnose(VerifierRule::kValueType,
               fmt::format("variable {} cannot receive an element of type {}", name(atomic.result), text(type)));
    }
  }

  /// The type of the updated element or field, or void if a rule is broken.
  Type updated_type(const Atomic& atomic) {
    Type type = element(atomic.array, atomic.indices);
    for (const std::int32_t field : atomic.fields) {
      if (type.is_void()) return type;
      const auto number = static_cast<std::size_t>(field);
      if (!type.is_struct() || field < 0 || number >= module_.structs[type.struct_id].fields.size()) {
        diagnose(VerifierRule::kUnknownField, fmt::format("type {} has no field {} to update", text(type), field));
        return kVoid;
      }
      type = module_.structs[type.struct_id].fields[number].type;
    }
    if (!atomic.fields.empty() && (!updates_fields(atomic.op) || atomic.result != kNone)) {
      diagnose(VerifierRule::kAtomicTarget, "only sums and bitwise operations without a result can update a field");
      return kVoid;
    }
    return type;
  }

  void verify_atomic(const Atomic& atomic, Type type) {
    if (function_.expr(atomic.array).type.is_local_array()) {
      return diagnose(VerifierRule::kAtomicTarget, "atomics on local arrays are not supported");
    }
    if (atomic.op == AtomicOp::kAdd && is_tile_access(atomic.array, atomic.indices, atomic.value)) return;
    expect_scalar_indices(atomic.indices);
    if (!atomic_takes(atomic.op, type)) {
      return diagnose(VerifierRule::kAtomicType,
                      fmt::format("{} does not support elements of type {}", row(atomic.op).mnemonic, text(type)));
    }
    expect_type(atomic.value, type, "an element");
  }

  void verify(const Call& call) {
    const bool good = verify_roots(call.args);
    bool declared = true;
    for (const VarId id : call.results)
      declared = declare(id, false, false) && declared;
    if (call.function < 0 || static_cast<std::size_t>(call.function) >= callees_.functions.size()) {
      return diagnose(VerifierRule::kUnknownFunction,
                      fmt::format("function {} is not declared before its caller", call.function));
    }
    const Function& callee = callees_.functions[static_cast<std::size_t>(call.function)];
    if (good) verify_arguments(module_, function_, callee, call.args, loc_, diagnostics_);
    const auto is_tile = [&](ExprId arg) { return function_.expr(arg).type.is_tile(); };
    if (good && std::ranges::any_of(call.args, is_tile)) {
      diagnose(VerifierRule::kCallArguments,
               fmt::format("function {} cannot be applied to a tile in a call statement", callee.name));
    }
    if (call.results.size() != callee.results.size()) {
      return diagnose(VerifierRule::kCallResults,
                      fmt::format("function {} returns {} values, but {} variables receive them", callee.name,
                                  callee.results.size(), call.results.size()));
    }
    for (std::size_t i = 0; declared && i < call.results.size(); ++i) {
      if (function_.var(call.results[i]).type == callee.results[i]) continue;
      diagnose(VerifierRule::kValueType, fmt::format("variable {} cannot receive a result of type {}",
                                                     name(call.results[i]), text(callee.results[i])));
    }
  }

  void verify_condition(ExprId condition) {
    if (!verify_root(condition) || function_.expr(condition).type.is_bool()) return;
    diagnose(VerifierRule::kConditionType,
             fmt::format("condition must be a bool, got {}", text(function_.expr(condition).type)));
  }

  void verify(const If& branch) {
    verify_condition(branch.condition);
    verify(branch.then_block);
    verify(branch.else_block);
  }

  void verify(const For& loop) {
    const bool start = verify_root(loop.start);
    const bool stop = verify_root(loop.stop);
    const bool step = verify_root(loop.step);
    const std::size_t outer = in_scope_.size();
    if (declare(loop.variable, true, false) && start && stop && step) verify_range(loop);
    verify_loop_body(loop.body);
    leave_scope(outer);
  }

  void verify_range(const For& loop) {
    const Type type = function_.var(loop.variable).type;
    for (const ExprId bound : {loop.start, loop.stop, loop.step}) {
      if (type.is_integer_scalar() && function_.expr(bound).type == type) continue;
      return diagnose(
          VerifierRule::kLoopBoundType,
          fmt::format("loop variable and bounds must be integers of the same type: {} has type {}, a bound has type {}",
                      name(loop.variable), text(type), text(function_.expr(bound).type)));
    }
    const Expr& step = function_.expr(loop.step);
    if (step.kind == ExprKind::kLiteral && step.bits == 0) diagnose(VerifierRule::kZeroStep, "step must not be zero");
  }

  void verify(const While& loop) {
    verify_condition(loop.condition);
    verify_loop_body(loop.body);
  }

  void verify_loop_body(const Block& body) {
    ++loops_;
    verify(body);
    --loops_;
  }

  void verify(const Break&) {
    if (loops_ == 0) diagnose(VerifierRule::kJumpOutsideLoop, "break outside a loop");
  }
  void verify(const Continue&) {
    if (loops_ == 0) diagnose(VerifierRule::kJumpOutsideLoop, "continue outside a loop");
  }

  void verify(const Return& leave) {
    if (!verify_roots(leave.values)) return;
    if (leave.values.size() != function_.results.size()) {
      return diagnose(VerifierRule::kReturnValues,
                      fmt::format("return has {} values, expected {}", leave.values.size(), function_.results.size()));
    }
    for (std::size_t i = 0; i < leave.values.size(); ++i) {
      const Type type = function_.expr(leave.values[i]).type;
      if (type == function_.results[i]) continue;
      diagnose(VerifierRule::kReturnValues, fmt::format("returned value {} has type {}, expected {}", i + 1, text(type),
                                                        text(function_.results[i])));
    }
  }

  // ---- helpers

  std::string name(VarId id) const { return function_.var(id).name; }
  std::string text(Type type) const { return to_text(module_, type); }
  void diagnose(VerifierRule rule, const std::string& message) { diagnostics_.add(rule, loc_, message); }

  const Module& module_;
  const Function& function_;
  const Callees& callees_;
  const std::vector<bool>& sound_;
  VerifierDiagnostics& diagnostics_;
  std::vector<VariableState> states_;
  std::vector<VarId> in_scope_;
  std::vector<std::int32_t> visited_;  ///< by expression: the stamp of the last root that visited it
  std::int32_t stamp_ = 0;
  Loc loc_;
  int depth_ = 0;
  int loops_ = 0;
};

}  // namespace

void verify_statements(const Module& module, const Function& function, const Callees& callees,
                       const std::vector<bool>& sound, VerifierDiagnostics& diagnostics) {
  StatementVerifier(module, function, callees, sound, diagnostics).verify();
}

}  // namespace assay::ir::detail
