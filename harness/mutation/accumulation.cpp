// Mutations of how contributions are accumulated, and of how the adjoints of stores are read and cleared.
#include <fmt/format.h>

#include "harness/mutation/analyses.hpp"
#include "harness/mutation/finders.hpp"
#include "ir/visit.hpp"

namespace assay::mutation {

using namespace ir;

namespace {

/// A statement that adds a term to a gradient in memory or to an adjoint variable.
struct Accumulation {
  const Atomic* atomic = nullptr;  ///< set unless `assign` is
  const Assign* assign = nullptr;  ///< v = v + term
  ExprId term = kNone;
  VarId into = kNone;
};

Accumulation accumulation_of(const MutationContext& context, const Stmt& statement) {
  if (const auto* atomic = std::get_if<Atomic>(&statement.node)) {
    const VarId array = context.function.expr(atomic->array).variable;
    if (atomic->op == AtomicOp::kAdd && context.is_gradient(array)) return {atomic, nullptr, atomic->value, array};
  }
  if (const auto* assign = std::get_if<Assign>(&statement.node)) {
    const Expr& sum = context.function.expr(assign->value);
    const bool adds = sum.kind == ExprKind::kOperation && sum.op == Op::kAdd &&
                      context.carries_gradient[static_cast<std::size_t>(assign->variable)];
    if (adds && context.function.expr(sum.args[0]).variable == assign->variable && context.carries_any(sum.args[1]))
      return {nullptr, assign, sum.args[1], assign->variable};
  }
  return {};
}

bool indexed_by_all_threads(const MutationContext& context, const std::vector<ExprId>& indices) {
  int plain = 0;
  for (const ExprId index : indices) {
    const Expr& expr = context.function.expr(index);
    plain += expr.kind == ExprKind::kVariable && context.function.is_thread_index(expr.variable);
  }
  return plain >= context.function.launch_rank;
}

/// Whether the thread has cleared this thread-private element before, so that += and = are equivalent.
bool is_cleared_before(const MutationContext& context, std::size_t s, const Atomic& atomic) {
  if (!indexed_by_all_threads(context, atomic.indices)) return false;
  for (std::size_t before = 0; before < s; ++before) {
    const auto* store = std::get_if<Store>(&context.statements[before].statement->node);
    if (store == nullptr || !same_tree(context.function, store->array, atomic.array)) continue;
    bool same = true;
    for (std::size_t k = 0; k < atomic.indices.size(); ++k)
      same = same && same_tree(context.function, store->indices[k], atomic.indices[k]);
    if (same) return true;
  }
  return false;
}

/// The innermost loop that contains the statement; npos if there is none.
std::size_t loop_around(const MutationContext& context, std::size_t s) {
  for (std::size_t at = context.statements[s].parent; at != std::string::npos; at = context.statements[at].parent) {
    const auto& node = context.statements[at].statement->node;
    if (std::holds_alternative<For>(node) || std::holds_alternative<While>(node)) return at;
  }
  return std::string::npos;
}

bool stands_in(const Block& block, const Stmt* statement) {
  bool found = false;
  for_each_statement(block, [&](const Stmt& inner) { found = found || &inner == statement; });
  return found;
}

/// Whether no iteration executes both statements: they are in different branches of an if.
bool exclude_each_other(const MutationContext& context, std::size_t a, std::size_t b) {
  for (std::size_t at = context.statements[a].parent; at != std::string::npos; at = context.statements[at].parent) {
    const auto* branch = std::get_if<If>(&context.statements[at].statement->node);
    if (branch == nullptr) continue;
    const Stmt *first = context.statements[a].statement, *second = context.statements[b].statement;
    if ((stands_in(branch->then_block, first) && stands_in(branch->else_block, second)) ||
        (stands_in(branch->else_block, first) && stands_in(branch->then_block, second)))
      return true;
  }
  return false;
}

/// Whether the assignment is the first one, in each iteration, to a variable that starts as zero, so that v + t and t
/// are equivalent.
bool adds_to_zero(const MutationContext& context, std::size_t s, VarId variable) {
  for (std::size_t before = 0; before < s; ++before) {
    const AssignedValue definition = assigned_value_of(*context.statements[before].statement);
    if (definition.variable != variable) continue;
    if (std::holds_alternative<Let>(context.statements[before].statement->node)) {
      if (definition.value != kNone || loop_around(context, before) != loop_around(context, s)) return false;
    } else if (!exclude_each_other(context, before, s)) {
      return false;
    }
  }
  return true;
}

/// Whether an index can be evaluated at the start of the kernel.
bool known_at_start(const MutationContext& context, ExprId index) {
  bool known = true;
  for_each_expression(context.function, index, [&](ExprId, const Expr& expr) {
    const bool early = expr.kind != ExprKind::kVariable || context.function.is_parameter(expr.variable) ||
                       context.function.is_thread_index(expr.variable);
    known = known && early && expr.kind != ExprKind::kLoad;
  });
  return known;
}

Mutation change_of(MutationOperator op, const MutationContext& context, std::size_t s, const Accumulation& sum) {
  const Loc loc = context.statements[s].statement->loc;
  const std::string into = name_of(context, sum.into);
  const std::string what = fmt::format("{}: '{}'", row(op).change, into);
  const Stmt statement = *context.statements[s].statement;
  switch (op) {
    case MutationOperator::kDropContribution: return {op, s, loc, what, [s](FunctionEditor& edit) { edit.erase(s); }};
    case MutationOperator::kCountContributionTwice:
      return {op, s, loc, what, [s, statement](FunctionEditor& edit) { edit.insert_after(s, statement); }};
    default: break;
  }
  if (sum.assign != nullptr) {
    const Assign assign = *sum.assign;
    const ExprId term = sum.term;
    return {op, s, loc, what, [=](FunctionEditor& edit) {
              auto& changed = std::get<Assign>(edit.at(s).node);
              changed.value = op == MutationOperator::kOverwriteGradient
                                  ? term
                                  : edit.make().op(Op::kSub, {edit.make().var(assign.variable), term});
            }};
  }
  const Atomic atomic = *sum.atomic;
  return {op, s, loc, what, [=](FunctionEditor& edit) {
            if (op == MutationOperator::kFlipAccumulation) {
              std::get<Atomic>(edit.at(s).node).op = AtomicOp::kSub;
              return;
            }
            ExprId value = atomic.value;
            if (op == MutationOperator::kNonAtomicAddition)
              value = edit.make().op(Op::kAdd, {edit.make().load(sum.into, atomic.indices), value});
            edit.at(s).node = Store{.array = atomic.array, .indices = atomic.indices, .value = value};
          }};
}

/// Whether the innermost loop around the statement has at most one iteration.
bool repeats_at_most_once(const MutationContext& context, std::size_t statement) {
  for (std::size_t at = context.statements[statement].parent; at != std::string::npos;
       at = context.statements[at].parent) {
    const auto& node = context.statements[at].statement->node;
    if (std::holds_alternative<While>(node)) return false;
    const auto* loop = std::get_if<For>(&node);
    if (loop == nullptr) continue;
    const std::optional<IntegerRange> values = context.known_ranges.of_variable(loop->variable);
    return values && values->low >= values->high;
  }
  return true;
}

void find_stale(const MutationContext& context, std::vector<Mutation>& found) {
  for (std::size_t s = 0; s < context.statements.size(); ++s) {
    const auto* let = std::get_if<Let>(&context.statements[s].statement->node);
    if (let == nullptr || repeats_at_most_once(context, s) ||
        !context.carries_gradient[static_cast<std::size_t>(let->variable)])
      continue;
    const Type type = context.function.var(let->variable).type;
    if (!type.is_float_scalar() && !type.is_aggregate()) continue;
    // A value that is replaced before it is read may be stale.
    if (let->value == kNone && !may_use_initial_value(context.function, *context.statements[s].statement)) continue;
    const Let declared = *let;
    found.push_back(
        {MutationOperator::kStaleAdjoint, s, context.statements[s].statement->loc,
         fmt::format("'{}' keeps its value from the previous iteration", name_of(context, let->variable)),
         [=](FunctionEditor& edit) {
           // A declaration without a value is moved; a value is added to the previous one.
           if (declared.value != kNone) {
             const ExprId sum = edit.make().op(Op::kAdd, {edit.make().var(declared.variable), declared.value});
             edit.insert_after(s, Stmt{Assign{declared.variable, sum}});
             std::get<Let>(edit.at(s).node).value = kNone;
           }
           edit.hoist_out_of_loop(s);
         }});
  }
}

void find_clearing(const MutationContext& context, std::vector<Mutation>& found) {
  std::vector<bool> done(context.function.variables.size(), false);
  for (const ListedStatement& listed : context.statements) {
    const auto* atomic = std::get_if<Atomic>(&listed.statement->node);
    if (atomic == nullptr) continue;
    const VarId array = context.function.expr(atomic->array).variable;
    if (!context.is_gradient(array) || done[static_cast<std::size_t>(array)]) continue;
    bool known = true;
    for (const ExprId index : atomic->indices)
      known = known && known_at_start(context, index);
    if (!known) continue;
    done[static_cast<std::size_t>(array)] = true;
    const Atomic at = *atomic;
    found.push_back({MutationOperator::kClearGradientAtStart, 0, listed.statement->loc,
                     fmt::format("'{}' is cleared at the start of the kernel", name_of(context, array)),
                     [=](FunctionEditor& edit) {
                       const ExprId zero = edit.make().zero(edit.make().type_of(at.value));
                       edit.insert_before(0, Stmt{Store{.array = at.array, .indices = at.indices, .value = zero}});
                     }});
  }
}

void find_negations(const MutationContext& context, std::vector<Mutation>& found) {
  for (std::size_t s = 0; s < context.statements.size(); ++s) {
    const auto* let = std::get_if<Let>(&context.statements[s].statement->node);
    if (let == nullptr || !is_contribution(context, s)) continue;
    const ExprId value = let->value;
    found.push_back({MutationOperator::kNegateContribution, s, context.statements[s].statement->loc,
                     fmt::format("'{}' is negated", name_of(context, let->variable)), [=](FunctionEditor& edit) {
                       std::get<Let>(edit.at(s).node).value = edit.make().op(Op::kNeg, {value});
                     }});
  }
}

}  // namespace

void find_accumulation(MutationOperator op, const MutationContext& context, std::vector<Mutation>& found) {
  if (op == MutationOperator::kStaleAdjoint) return find_stale(context, found);
  if (op == MutationOperator::kClearGradientAtStart) return find_clearing(context, found);
  if (op == MutationOperator::kNegateContribution) return find_negations(context, found);
  for (std::size_t s = 0; s < context.statements.size(); ++s) {
    const Accumulation sum = accumulation_of(context, *context.statements[s].statement);
    if (sum.term == kNone) continue;
    // Adding zero changes nothing.
    if (op != MutationOperator::kOverwriteGradient && is_zero(context, sum.term)) continue;
    if (op == MutationOperator::kOverwriteGradient && sum.assign != nullptr && adds_to_zero(context, s, sum.into))
      continue;
    if (op == MutationOperator::kOverwriteGradient && sum.atomic != nullptr &&
        is_cleared_before(context, s, *sum.atomic))
      continue;
    // A plain addition to a thread-private element is correct.
    if (op == MutationOperator::kNonAtomicAddition && (sum.atomic == nullptr || adds_to_private_element(context, s)))
      continue;
    found.push_back(change_of(op, context, s, sum));
  }
}

void find_stores(MutationOperator op, const MutationContext& context, std::vector<Mutation>& found) {
  if (op == MutationOperator::kUnclearedOutputAdjoint) {
    for (std::size_t s = 0; s < context.statements.size(); ++s) {
      const auto* store = std::get_if<Store>(&context.statements[s].statement->node);
      if (store == nullptr) continue;
      const VarId array = context.function.expr(store->array).variable;
      if (!context.is_gradient(array)) continue;
      found.push_back({op, s, context.statements[s].statement->loc,
                       fmt::format("'{}' is not cleared", name_of(context, array)),
                       [s](FunctionEditor& edit) { edit.erase(s); }});
    }
    return;
  }
  for (const CotangentLoad& seed : cotangent_loads(context)) {
    const std::size_t s = seed.statement;
    const Loc loc = context.statements[s].statement->loc;
    const std::string name = name_of(context, seed.gradient);
    const bool cleared = stores_to(context, s + 1, seed.gradient);
    if (op == MutationOperator::kClearAdjointBeforeRead && cleared) {
      found.push_back({op, s, loc, fmt::format("'{}' is cleared before it is read", name), [s](FunctionEditor& edit) {
                         const Stmt clearing = edit.at(s + 1);
                         edit.erase(s + 1);
                         edit.insert_before(s, clearing);
                       }});
    }
    if (op == MutationOperator::kAtomicClearsAdjoint && !cleared) {
      const Expr load = *seed.load;
      found.push_back(
          {op, s, loc, fmt::format("'{}' is cleared", name), [=](FunctionEditor& edit) {
             const std::vector<ExprId> indices(load.args.begin() + 1, load.args.end());
             edit.insert_after(
                 s, Stmt{Store{.array = load.args[0], .indices = indices, .value = edit.make().zero(load.type)}});
           }});
    }
    if (op != MutationOperator::kCotangentOfOtherArray) continue;
    for (VarId other = 0; other < context.function.parameter_count; ++other) {
      const bool fits = context.function.var(other).type == context.function.var(seed.gradient).type;
      if (other == seed.gradient || !context.is_gradient(other) || !fits) continue;
      const Expr load = *seed.load;
      const ExpressionPosition place = seed.position;
      found.push_back({op, s, loc, fmt::format("'{}' is read instead of '{}'", name_of(context, other), name),
                       [=](FunctionEditor& edit) {
                         const std::vector<ExprId> indices(load.args.begin() + 1, load.args.end());
                         edit.replace(place, edit.make().load(other, indices));
                       }});
    }
  }
}

}  // namespace assay::mutation
