#include "ir/transforms/structure.hpp"

#include <span>
#include <string>
#include <utility>

#include "ir/builder.hpp"

namespace assay::transforms {
namespace {

using namespace ir;

/// The kinds of jumps that may leave a block.
struct Exits {
  bool to_loop = false;  ///< break or continue of the enclosing loop
  bool breaks = false;
  bool returns = false;
  bool any() const { return to_loop || returns; }
};

Exits exits_of(const Block& block);

Exits exits_of(const Stmt& statement) {
  Exits exits;
  const auto join = [&](Exits other) {
    exits.to_loop |= other.to_loop;
    exits.breaks |= other.breaks;
    exits.returns |= other.returns;
  };
  if (std::holds_alternative<Break>(statement.node)) exits.to_loop = exits.breaks = true;
  if (std::holds_alternative<Continue>(statement.node)) exits.to_loop = true;
  if (std::holds_alternative<Return>(statement.node)) exits.returns = true;
  if (const auto* branch = std::get_if<If>(&statement.node)) {
    join(exits_of(branch->then_block));
    join(exits_of(branch->else_block));
  }
  if (const auto* loop = std::get_if<For>(&statement.node)) exits.returns = exits_of(loop->body).returns;
  if (const auto* loop = std::get_if<While>(&statement.node)) exits.returns = exits_of(loop->body).returns;
  return exits;
}

Exits exits_of(const Block& block) {
  Exits exits;
  for (const Stmt& statement : block.statements) {
    const Exits other = exits_of(statement);
    exits.to_loop |= other.to_loop;
    exits.breaks |= other.breaks;
    exits.returns |= other.returns;
  }
  return exits;
}

bool falls_through(const Block& block) {
  for (const Stmt& statement : block.statements) {
    if (std::holds_alternative<Break>(statement.node) || std::holds_alternative<Continue>(statement.node) ||
        std::holds_alternative<Return>(statement.node)) {
      return false;
    }
    if (const auto* branch = std::get_if<If>(&statement.node)) {
      if (!falls_through(branch->then_block) && !falls_through(branch->else_block)) return false;
    }
  }
  return true;
}

class Structurer {
 public:
  Structurer(const Module& module, const Function& function) : source_(function), builder_(module, result_.function) {
    result_.function = {.name = function.name,
                        .is_kernel = function.is_kernel,
                        .parameter_count = function.parameter_count,
                        .launch_rank = function.launch_rank,
                        .results = function.results,
                        .variables = function.variables,
                        .expressions = {},
                        .body = {},
                        .gradient_function_index = function.gradient_function_index,
                        .replay_function_index = function.replay_function_index,
                        .annotations = function.annotations,
                        .loc = function.loc};
    // Reserves space for the flags of jumps.
    result_.function.expressions.reserve(function.expressions.size() + function.expressions.size() / 4 + 16);
    result_.function.expressions.assign(function.expressions.begin(), function.expressions.end());
  }

  JumpFreeFunction run() {
    for (const Type type : source_.results)
      result_.results.push_back(builder_.let_zero("result", type));
    if (exits_of(source_.body).returns) returned_ = builder_.let("returned", builder_.boolean(false));
    statements(source_.body.statements);
    return std::move(result_);
  }

 private:
  struct LoopFlags {
    VarId live;    ///< false after a jump in this iteration
    VarId broken;  ///< true when the loop must end; kNone if the loop has no early exit
  };
  using Statements = std::span<const Stmt>;

  void set(VarId flag, bool value) { builder_.assign(flag, builder_.boolean(value)); }

  void leave_loop(const LoopFlags& loop, bool for_good) {
    set(loop.live, false);
    if (for_good) set(loop.broken, true);
  }

  /// True if the rest of its block is unreachable.
  bool jump(const Stmt& statement) {
    if (std::holds_alternative<Break>(statement.node)) return leave_loop(loops_.back(), true), true;
    if (std::holds_alternative<Continue>(statement.node)) return leave_loop(loops_.back(), false), true;
    const auto* leave = std::get_if<Return>(&statement.node);
    if (leave == nullptr) return false;
    for (std::size_t i = 0; i < leave->values.size(); ++i)
      builder_.assign(result_.results[i], leave->values[i]);
    set(returned_, true);
    for (const LoopFlags& loop : loops_)
      leave_loop(loop, true);
    return true;
  }

  void statements(Statements list) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Stmt& statement = list[i];
      const Statements rest = list.subspan(i + 1);
      builder_.at(statement.loc);
      if (jump(statement)) return;
      if (const auto* branch = std::get_if<If>(&statement.node)) {
        if (!exits_of(statement).any()) {
          plain_branch(*branch);
          continue;
        }
        jumping_branch(*branch, rest);
        return;
      }
      const bool returns = exits_of(statement).returns;
      if (const auto* loop = std::get_if<For>(&statement.node)) {
        for_loop(*loop);
      } else if (const auto* repeat = std::get_if<While>(&statement.node)) {
        while_loop(*repeat);
      } else {
        builder_.append(statement);
      }
      if (returns) {
        guarded(rest);
        return;
      }
    }
  }

  void plain_branch(const If& branch) {
    builder_.if_(
        branch.condition, [&] { statements(branch.then_block.statements); },
        [&] { statements(branch.else_block.statements); });
  }

  /// An If with jumps on some paths. If exactly one branch does not jump, the following statements move into it.
  void jumping_branch(const If& branch, Statements rest) {
    const bool then_falls = falls_through(branch.then_block);
    const bool else_falls = falls_through(branch.else_block);
    const bool into_then = then_falls && !else_falls && !exits_of(branch.then_block).any();
    const bool into_else = else_falls && !then_falls && !exits_of(branch.else_block).any();
    builder_.if_(
        branch.condition,
        [&] {
          statements(branch.then_block.statements);
          if (into_then) statements(rest);
        },
        [&] {
          statements(branch.else_block.statements);
          if (into_else) statements(rest);
        });
    if (!into_then && !into_else && (then_falls || else_falls)) guarded(rest);
  }

  void guarded(Statements rest) {
    if (rest.empty()) return;
    const ExprId go =
        loops_.empty() ? builder_.op(Op::kNot, {builder_.var(returned_)}) : builder_.var(loops_.back().live);
    builder_.if_(go, [&] { statements(rest); });
  }

  LoopFlags flags_for(const Block& body) {
    const Exits exits = exits_of(body);
    const bool early = exits.breaks || exits.returns;
    return {.live = kNone, .broken = early ? builder_.let("broken", builder_.boolean(false)) : kNone};
  }

  void iteration(LoopFlags flags, const Block& body) {
    flags.live = builder_.let("live", builder_.boolean(true));
    loops_.push_back(flags);
    statements(body.statements);
    loops_.pop_back();
  }

  /// more = condition, unless the loop has been left.
  void decide(VarId more, const LoopFlags& flags, ExprId condition) {
    if (flags.broken == kNone) {
      builder_.assign(more, condition);
      return;
    }
    builder_.if_(
        builder_.var(flags.broken), [&] { set(more, false); }, [&] { builder_.assign(more, condition); });
  }

  void while_loop(const While& loop) {
    const Loc loc = builder_.at();
    const LoopFlags flags = flags_for(loop.body);
    const VarId more = builder_.let("more", loop.condition);
    builder_.while_(builder_.var(more), [&] {
      iteration(flags, loop.body);
      builder_.at(loc);
      decide(more, flags, loop.condition);
    });
  }

  void for_loop(const For& loop) {
    const Exits exits = exits_of(loop.body);
    if (!exits.breaks && !exits.returns) {
      Block body = builder_.block([&] { iteration({.live = kNone, .broken = kNone}, loop.body); });
      builder_.append(
          {.node = For{loop.variable, loop.start, loop.stop, loop.step, std::move(body)}, .loc = builder_.at()});
      return;
    }
    const Loc loc = builder_.at();
    const LoopFlags flags = flags_for(loop.body);
    const VarId stop = builder_.let("stop", loop.stop);
    const VarId step = builder_.let("step", loop.step);
    const VarId next = builder_.let("next", loop.start);
    const VarId more = builder_.let("more", before(next, stop, step, loop.step));
    builder_.while_(builder_.var(more), [&] {
      builder_.append({.node = Let{loop.variable, builder_.var(next)}, .loc = loc});
      iteration(flags, loop.body);
      builder_.at(loc);
      builder_.assign(next, builder_.op(Op::kAdd, {builder_.var(next), builder_.var(step)}));
      ExprId goes_on = before(next, stop, step, loop.step);
      if (!is_unit(loop.step)) {
        // A sum that wrapped around is on the other side of its first term.
        goes_on = builder_.op(Op::kAnd, {goes_on, before(loop.variable, next, step, loop.step)});
      }
      decide(more, flags, goes_on);
    });
  }

  bool is_unit(ExprId step) const {
    const Expr& literal = result_.function.expr(step);
    const auto value = static_cast<std::int64_t>(literal.bits);
    return literal.kind == ExprKind::kLiteral && (value == 1 || value == -1);
  }

  /// Whether `a` precedes `b` in a range with this step.
  ExprId before(VarId a, VarId b, VarId step, ExprId original_step) {
    const Expr& literal = builder_.function().expr(original_step);
    const auto order = [&](Op op) { return builder_.op(op, {builder_.var(a), builder_.var(b)}); };
    const Type type = literal.type;
    if (literal.kind == ExprKind::kLiteral) {
      const bool ascends = static_cast<std::int64_t>(literal.bits) > 0 || !row(type.scalar).is_signed;
      return order(ascends ? Op::kLt : Op::kGt);
    }
    const ExprId forward = builder_.op(Op::kGt, {builder_.var(step), builder_.literal(type, std::int64_t{0})});
    const ExprId backward = builder_.op(Op::kLt, {builder_.var(step), builder_.literal(type, std::int64_t{0})});
    return builder_.op(
        Op::kOr, {builder_.op(Op::kAnd, {forward, order(Op::kLt)}), builder_.op(Op::kAnd, {backward, order(Op::kGt)})});
  }

  const Function& source_;
  JumpFreeFunction result_;
  Builder builder_;
  std::vector<LoopFlags> loops_;
  VarId returned_ = kNone;
};

}  // namespace

JumpFreeFunction structure(const Module& module, const Function& function) {
  return Structurer(module, function).run();
}

}  // namespace assay::transforms
