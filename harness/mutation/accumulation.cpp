// Mistakes in how contributions are added up, and in how the adjoints of stores are read and cleared.
#include <fmt/format.h>

#include "harness/mutation/finders.hpp"
#include "harness/mutation/thread_private.hpp"
#include "ir/visit.hpp"

namespace assay::mutation {

using namespace ir;

namespace {

/// A statement that adds a term to a gradient in memory or to an adjoint variable.
struct Accumulation {
  const Atomic* atomic = nullptr;  ///< or else
  const Assign* assign = nullptr;  ///< v = v + term
  ExprId term = kNone;
  VarId into = kNone;
};

Accumulation accumulation_of(const Setting& setting, const Stmt& statement) {
  if (const auto* atomic = std::get_if<Atomic>(&statement.node)) {
    const VarId array = setting.function.expr(atomic->array).variable;
    if (atomic->op == AtomicOp::kAdd && setting.is_gradient(array)) return {atomic, nullptr, atomic->value, array};
  }
  if (const auto* assign = std::get_if<Assign>(&statement.node)) {
    const Expr& sum = setting.function.expr(assign->value);
    const bool adds = sum.kind == ExprKind::kOperation && sum.op == Op::kAdd &&
                      setting.carries[static_cast<std::size_t>(assign->variable)];
    if (adds && setting.function.expr(sum.args[0]).variable == assign->variable && setting.carries_any(sum.args[1]))
      return {nullptr, assign, sum.args[1], assign->variable};
  }
  return {};
}

bool indexed_by_all_threads(const Setting& setting, const std::vector<ExprId>& indices) {
  int plain = 0;
  for (const ExprId index : indices) {
    const Expr& expr = setting.function.expr(index);
    plain += expr.kind == ExprKind::kVariable && setting.function.is_thread_index(expr.variable);
  }
  return plain >= setting.function.launch_rank;
}

/// Whether the thread has cleared this cell, which is its own, before: there += and = are the same.
bool is_cleared_before(const Setting& setting, std::size_t s, const Atomic& atomic) {
  if (!indexed_by_all_threads(setting, atomic.indices)) return false;
  for (std::size_t before = 0; before < s; ++before) {
    const auto* store = std::get_if<Store>(&setting.statements[before].statement->node);
    if (store == nullptr || !same_tree(setting.function, store->array, atomic.array)) continue;
    bool same = true;
    for (std::size_t k = 0; k < atomic.indices.size(); ++k)
      same = same && same_tree(setting.function, store->indices[k], atomic.indices[k]);
    if (same) return true;
  }
  return false;
}

/// The innermost loop around the statement; npos for none.
std::size_t loop_around(const Setting& setting, std::size_t s) {
  for (std::size_t at = setting.statements[s].parent; at != std::string::npos; at = setting.statements[at].parent) {
    const auto& node = setting.statements[at].statement->node;
    if (std::holds_alternative<For>(node) || std::holds_alternative<While>(node)) return at;
  }
  return std::string::npos;
}

bool stands_in(const Block& block, const Stmt* statement) {
  bool found = false;
  for_each_statement(block, [&](const Stmt& inner) { found = found || &inner == statement; });
  return found;
}

/// Whether no run comes to both statements in one iteration: they stand in different arms of a branch.
bool exclude_each_other(const Setting& setting, std::size_t a, std::size_t b) {
  for (std::size_t at = setting.statements[a].parent; at != std::string::npos; at = setting.statements[at].parent) {
    const auto* branch = std::get_if<If>(&setting.statements[at].statement->node);
    if (branch == nullptr) continue;
    const Stmt *first = setting.statements[a].statement, *second = setting.statements[b].statement;
    if ((stands_in(branch->then_block, first) && stands_in(branch->else_block, second)) ||
        (stands_in(branch->else_block, first) && stands_in(branch->then_block, second)))
      return true;
  }
  return false;
}

/// Whether the assignment is the first one to a variable that starts as zero in each iteration that comes to it: there
/// v + t and t are the same.
bool adds_to_zero(const Setting& setting, std::size_t s, VarId variable) {
  for (std::size_t before = 0; before < s; ++before) {
    const Definition definition = definition_of(*setting.statements[before].statement);
    if (definition.variable != variable) continue;
    if (std::holds_alternative<Let>(setting.statements[before].statement->node)) {
      if (definition.value != kNone || loop_around(setting, before) != loop_around(setting, s)) return false;
    } else if (!exclude_each_other(setting, before, s)) {
      return false;
    }
  }
  return true;
}

/// Whether an index can be evaluated where the kernel starts.
bool known_at_start(const Setting& setting, ExprId index) {
  bool known = true;
  for_each_expression(setting.function, index, [&](ExprId, const Expr& expr) {
    const bool early = expr.kind != ExprKind::kVariable || setting.function.is_parameter(expr.variable) ||
                       setting.function.is_thread_index(expr.variable);
    known = known && early && expr.kind != ExprKind::kLoad;
  });
  return known;
}

Mutation change_of(Operator op, const Setting& setting, std::size_t s, const Accumulation& sum) {
  const Loc loc = setting.statements[s].statement->loc;
  const std::string into = name_of(setting, sum.into);
  const std::string what = fmt::format("{}: '{}'", row(op).change, into);
  const Stmt statement = *setting.statements[s].statement;
  switch (op) {
    case Operator::kDropContribution: return {op, s, loc, what, [s](Editor& edit) { edit.erase(s); }};
    case Operator::kCountTwice:
      return {op, s, loc, what, [s, statement](Editor& edit) { edit.insert_after(s, statement); }};
    default: break;
  }
  if (sum.assign != nullptr) {
    const Assign assign = *sum.assign;
    const ExprId term = sum.term;
    return {op, s, loc, what, [=](Editor& edit) {
              auto& changed = std::get<Assign>(edit.at(s).node);
              changed.value = op == Operator::kOverwriteGradient
                                  ? term
                                  : edit.make().op(Op::kSub, {edit.make().var(assign.variable), term});
            }};
  }
  const Atomic atomic = *sum.atomic;
  return {op, s, loc, what, [=](Editor& edit) {
            if (op == Operator::kFlipAccumulation) {
              std::get<Atomic>(edit.at(s).node).op = AtomicOp::kSub;
              return;
            }
            ExprId value = atomic.value;
            if (op == Operator::kPlainAddition)
              value = edit.make().op(Op::kAdd, {edit.make().load(sum.into, atomic.indices), value});
            edit.at(s).node = Store{.array = atomic.array, .indices = atomic.indices, .value = value};
          }};
}

void find_stale(const Setting& setting, std::vector<Mutation>& found) {
  for (std::size_t s = 0; s < setting.statements.size(); ++s) {
    const auto* let = std::get_if<Let>(&setting.statements[s].statement->node);
    if (let == nullptr || !setting.in_loop(s) || !setting.carries[static_cast<std::size_t>(let->variable)]) continue;
    const Type type = setting.function.var(let->variable).type;
    if (!type.is_float_scalar() && !type.is_aggregate()) continue;
    const Let declared = *let;
    found.push_back(
        {Operator::kStaleAdjoint, s, setting.statements[s].statement->loc,
         fmt::format("'{}' keeps what the iteration before left", name_of(setting, let->variable)), [=](Editor& edit) {
           // Without a value of its own the declaration moves; with one it is added to what was there.
           if (declared.value != kNone) {
             const ExprId sum = edit.make().op(Op::kAdd, {edit.make().var(declared.variable), declared.value});
             edit.insert_after(s, Stmt{Assign{declared.variable, sum}});
             std::get<Let>(edit.at(s).node).value = kNone;
           }
           edit.hoist_out_of_loop(s);
         }});
  }
}

void find_clearing(const Setting& setting, std::vector<Mutation>& found) {
  std::vector<bool> done(setting.function.variables.size(), false);
  for (const Listed& listed : setting.statements) {
    const auto* atomic = std::get_if<Atomic>(&listed.statement->node);
    if (atomic == nullptr) continue;
    const VarId array = setting.function.expr(atomic->array).variable;
    if (!setting.is_gradient(array) || done[static_cast<std::size_t>(array)]) continue;
    bool known = true;
    for (const ExprId index : atomic->indices)
      known = known && known_at_start(setting, index);
    if (!known) continue;
    done[static_cast<std::size_t>(array)] = true;
    const Atomic at = *atomic;
    found.push_back({Operator::kClearGradient, 0, listed.statement->loc,
                     fmt::format("'{}' is cleared at the kernel's start", name_of(setting, array)), [=](Editor& edit) {
                       const ExprId zero = edit.make().zero(edit.make().type_of(at.value));
                       edit.insert_before(0, Stmt{Store{.array = at.array, .indices = at.indices, .value = zero}});
                     }});
  }
}

void find_negations(const Setting& setting, std::vector<Mutation>& found) {
  for (std::size_t s = 0; s < setting.statements.size(); ++s) {
    const auto* let = std::get_if<Let>(&setting.statements[s].statement->node);
    if (let == nullptr || !is_contribution(setting, s)) continue;
    const ExprId value = let->value;
    found.push_back({Operator::kNegateContribution, s, setting.statements[s].statement->loc,
                     fmt::format("'{}' is negated", name_of(setting, let->variable)),
                     [=](Editor& edit) { std::get<Let>(edit.at(s).node).value = edit.make().op(Op::kNeg, {value}); }});
  }
}

}  // namespace

void find_accumulation(Operator op, const Setting& setting, std::vector<Mutation>& found) {
  if (op == Operator::kStaleAdjoint) return find_stale(setting, found);
  if (op == Operator::kClearGradient) return find_clearing(setting, found);
  if (op == Operator::kNegateContribution) return find_negations(setting, found);
  for (std::size_t s = 0; s < setting.statements.size(); ++s) {
    const Accumulation sum = accumulation_of(setting, *setting.statements[s].statement);
    if (sum.term == kNone) continue;
    // However zero is added, nothing changes.
    if (op != Operator::kOverwriteGradient && is_zero(setting, sum.term)) continue;
    if (op == Operator::kOverwriteGradient && sum.assign != nullptr && adds_to_zero(setting, s, sum.into)) continue;
    if (op == Operator::kOverwriteGradient && sum.atomic != nullptr && is_cleared_before(setting, s, *sum.atomic))
      continue;
    // A cell of its own for each thread takes no harm from a plain addition.
    if (op == Operator::kPlainAddition && (sum.atomic == nullptr || adds_to_own_cell(setting, *sum.atomic))) continue;
    found.push_back(change_of(op, setting, s, sum));
  }
}

void find_stores(Operator op, const Setting& setting, std::vector<Mutation>& found) {
  if (op == Operator::kKeepSeed) {
    for (std::size_t s = 0; s < setting.statements.size(); ++s) {
      const auto* store = std::get_if<Store>(&setting.statements[s].statement->node);
      if (store == nullptr) continue;
      const VarId array = setting.function.expr(store->array).variable;
      if (!setting.is_gradient(array)) continue;
      found.push_back({op, s, setting.statements[s].statement->loc,
                       fmt::format("'{}' is not cleared", name_of(setting, array)),
                       [s](Editor& edit) { edit.erase(s); }});
    }
    return;
  }
  for (const SeedLoad& seed : seed_loads(setting)) {
    const std::size_t s = seed.statement;
    const Loc loc = setting.statements[s].statement->loc;
    const std::string name = name_of(setting, seed.gradient);
    const bool cleared = stores_to(setting, s + 1, seed.gradient);
    if (op == Operator::kClearBeforeRead && cleared) {
      found.push_back({op, s, loc, fmt::format("'{}' is cleared before it is read", name), [s](Editor& edit) {
                         const Stmt clearing = edit.at(s + 1);
                         edit.erase(s + 1);
                         edit.insert_before(s, clearing);
                       }});
    }
    if (op == Operator::kClearOnAtomic && !cleared) {
      const Expr load = *seed.load;
      found.push_back(
          {op, s, loc, fmt::format("'{}' is cleared", name), [=](Editor& edit) {
             const std::vector<ExprId> indices(load.args.begin() + 1, load.args.end());
             edit.insert_after(
                 s, Stmt{Store{.array = load.args[0], .indices = indices, .value = edit.make().zero(load.type)}});
           }});
    }
    if (op != Operator::kWrongSeed) continue;
    for (VarId other = 0; other < setting.function.parameter_count; ++other) {
      const bool fits = setting.function.var(other).type == setting.function.var(seed.gradient).type;
      if (other == seed.gradient || !setting.is_gradient(other) || !fits) continue;
      const Expr load = *seed.load;
      const Place place = seed.place;
      found.push_back(
          {op, s, loc, fmt::format("'{}' is read for '{}'", name_of(setting, other), name), [=](Editor& edit) {
             const std::vector<ExprId> indices(load.args.begin() + 1, load.args.end());
             edit.replace(place, edit.make().load(other, indices));
           }});
    }
  }
}

}  // namespace assay::mutation
