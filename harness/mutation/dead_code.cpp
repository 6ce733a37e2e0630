#include "harness/mutation/dead_code.hpp"

#include <algorithm>
#include <cmath>

#include "harness/judge/inputs/preconditions.hpp"
#include "ir/analysis.hpp"
#include "ir/visit.hpp"

namespace assay::mutation {

using namespace ir;

namespace {

/// Bound on interval ends, so that sums and products of two intervals do not overflow.
constexpr std::int64_t kLargest = std::int64_t{1} << 31;

std::optional<IntegerRange> kept(std::int64_t low, std::int64_t high) {
  if (low < -kLargest || high > kLargest) return std::nullopt;
  return IntegerRange{low, high};
}

/// The value of a constant term.
std::optional<double> number(const harness::PreconditionTerm& term) {
  using Kind = harness::PreconditionTerm::Kind;
  if (term.kind == Kind::kNumber) return term.number;
  if (term.left == nullptr) return std::nullopt;
  const std::optional<double> left = number(*term.left), right = number(*term.right);
  if (!left || !right) return std::nullopt;
  switch (term.kind) {
    case Kind::kAdd: return *left + *right;
    case Kind::kSubtract: return *left - *right;
    default: return *left * *right;
  }
}

/// The integers in a range whose ends are constants.
std::optional<IntegerRange> of_precondition(const harness::PreconditionRange& range) {
  constexpr double kUnknown = HUGE_VAL;
  const double low = range.low ? number(*range.low).value_or(kUnknown) : kUnknown;
  const double high = range.high ? number(*range.high).value_or(kUnknown) : kUnknown;
  if (std::abs(low) > kLargest || std::abs(high) > kLargest) return std::nullopt;
  return IntegerRange{static_cast<std::int64_t>(std::ceil(low)), static_cast<std::int64_t>(std::floor(high))};
}

/// The range of the remainder of a division by a positive number, for any rounding of the quotient.
std::optional<IntegerRange> of_remainder(const std::optional<IntegerRange>& a, const std::optional<IntegerRange>& b) {
  if (!b || b->low < 1) return std::nullopt;
  if (a && a->low >= 0) return IntegerRange{0, std::min(a->high, b->high - 1)};
  return IntegerRange{1 - b->high, b->high - 1};
}

}  // namespace

KnownRanges::KnownRanges(const Module& module, const Function& kernel, const Function& function)
    : function_(function), variable_facts_(function.variables.size()) {
  std::vector<bool> fixed(function.variables.size(), false);
  for (VarId v = 0; v < function.parameter_count + function.launch_rank; ++v)
    fixed[static_cast<std::size_t>(v)] = at(v).receives_value = true;
  const Result<harness::Preconditions> preconditions = harness::parse_preconditions(module, kernel);
  const ParameterUses uses = parameter_use(module, kernel);
  for (std::size_t p = 0; preconditions.ok() && p < uses.size(); ++p) {
    const bool integer = is_integer(kernel.variables[p].type.scalar) && kernel.variables[p].type.components() == 1;
    if (integer && !uses[p].changed() && preconditions->range_by_parameter[p])
      variable_facts_[p].range = of_precondition(*preconditions->range_by_parameter[p]);
  }
  for (std::size_t d = 0; preconditions.ok() && d < preconditions->launch_extents.size(); ++d) {
    const std::optional<double> extent = number(preconditions->launch_extents[d]);
    const VarId index = function.parameter_count + static_cast<VarId>(d);
    if (extent && *extent >= 1) at(index).range = kept(0, static_cast<std::int64_t>(*extent) - 1);
  }
  const std::vector<bool> parameters = fixed;
  settle(parameters);
  const std::function<void(const Block&)> count = [&](const Block& block) {
    for (std::size_t s = 0; s < block.statements.size(); ++s) {
      count_trips(block, s, fixed);
      for_each_child_block(block.statements[s], count);
    }
  };
  count(function.body);
  if (fixed == parameters) return;
  for (std::size_t v = 0; v < variable_facts_.size(); ++v) {
    if (!fixed[v]) variable_facts_[v] = {};
  }
  settle(fixed);
}

bool KnownRanges::reads_uncovered(ExprId expression) const {
  bool uncovered = false;
  for_each_expression(function_, expression, [&](ExprId, const Expr& expr) {
    uncovered = uncovered || (expr.kind == ExprKind::kVariable && expr.type.is_integer_scalar() &&
                              !at(expr.variable).receives_value);
  });
  return uncovered;
}

bool KnownRanges::join(VarId variable, std::optional<IntegerRange> range) {
  VariableFacts& known = at(variable);
  if (!known.receives_value) {
    known = {.receives_value = true, .range = range};
    return true;
  }
  if (!known.range) return false;
  if (!range) {
    known.range = std::nullopt;
    return true;
  }
  if (known.range->low <= range->low && range->high <= known.range->high) return false;
  known.range = {std::min(known.range->low, range->low), std::max(known.range->high, range->high)};
  return true;
}

bool KnownRanges::join_value(VarId variable, ExprId value) {
  if (!function_.var(variable).type.is_integer_scalar() || reads_uncovered(value)) return false;
  return join(variable, of(value));
}

void KnownRanges::settle(std::vector<bool> fixed) {
  // Ranges that still grow are unbounded.
  constexpr int kRounds = 8;
  for (int round = 0;; ++round) {
    bool news = false;
    const auto tell = [&](VarId variable, const auto& joined) {
      if (fixed[static_cast<std::size_t>(variable)] || !joined()) return;
      news = true;
      if (round >= kRounds) at(variable).range = std::nullopt;
    };
    for_each_statement(function_.body, [&](const Stmt& statement) {
      if (const auto* assign = std::get_if<Assign>(&statement.node))
        return tell(assign->variable, [&] { return join_value(assign->variable, assign->value); });
      if (const auto* let = std::get_if<Let>(&statement.node); let != nullptr && let->value != kNone)
        return tell(let->variable, [&] { return join_value(let->variable, let->value); });
      if (const auto* store = std::get_if<Store>(&statement.node)) {
        const VarId array = function_.expr(store->array).variable;
        return tell(array, [&] {
          return function_.var(array).type.is_local_array() && !reads_uncovered(store->value) &&
                 join(array, of(store->value));
        });
      }
      const auto* loop = std::get_if<For>(&statement.node);
      for_each_declared_variable(statement, [&](VarId variable) {
        tell(variable, [&] {
          if (std::holds_alternative<Let>(statement.node)) return join(variable, IntegerRange{0, 0});
          if (loop == nullptr) return join(variable, std::nullopt);
          if (reads_uncovered(loop->start) || reads_uncovered(loop->stop) || reads_uncovered(loop->step)) return false;
          const auto start = of(loop->start), stop = of(loop->stop), step = of(loop->step);
          if (!start || !stop || !step || step->low != step->high) return join(variable, std::nullopt);
          return join(variable, step->low > 0 ? IntegerRange{start->low, stop->high - 1}
                                              : IntegerRange{stop->low + 1, start->high});
        });
      });
    });
    if (!news) return;
  }
}

namespace {

/// A loop-carried variable that each iteration sets once, from a variable of the block: v = v + 1.
struct Carried {
  VarId variable = kNone;
  ExprId next = kNone;
};

/// The value in the only declaration (Let) of the variable in the block.
std::optional<ExprId> declared_value(const Block& block, VarId variable) {
  for (const Stmt& statement : block.statements) {
    const auto* let = std::get_if<Let>(&statement.node);
    if (let != nullptr && let->variable == variable) return let->value;
  }
  return std::nullopt;
}

bool is_integer_literal(const Function& function, ExprId expression, std::int64_t value) {
  const Expr& expr = function.expr(expression);
  return expr.kind == ExprKind::kLiteral && expr.type.is_integer_scalar() &&
         static_cast<std::int64_t>(expr.bits) == value;
}

bool is_variable(const Function& function, ExprId expression, VarId variable) {
  const Expr& expr = function.expr(expression);
  return expr.kind == ExprKind::kVariable && expr.variable == variable;
}

bool leaves_early(const Stmt& loop) {
  bool leaves = false;
  for_each_child_block(loop, [&](const Block& block) {
    for_each_statement(block, [&](const Stmt& inner) {
      leaves = leaves || std::holds_alternative<Break>(inner.node) || std::holds_alternative<Continue>(inner.node) ||
               std::holds_alternative<Return>(inner.node);
    });
  });
  return leaves;
}

int assignments(const Function& function, VarId variable) {
  int count = 0;
  for_each_statement(function.body, [&](const Stmt& statement) {
    const auto* assign = std::get_if<Assign>(&statement.node);
    count += assign != nullptr && assign->variable == variable;
  });
  return count;
}

}  // namespace

void KnownRanges::count_trips(const Block& around, std::size_t number, std::vector<bool>& fixed) {
  const auto* loop = std::get_if<While>(&around.statements[number].node);
  if (loop == nullptr || leaves_early(around.statements[number])) return;
  const Expr& condition = function_.expr(loop->condition);
  if (condition.kind != ExprKind::kVariable) return;

  // Variables that each trip sets exactly once, at its end: the condition, and counters that start at 0.
  std::optional<Carried> decision;
  std::vector<Carried> counters;
  for (const Stmt& statement : loop->body.statements) {
    const auto* assign = std::get_if<Assign>(&statement.node);
    if (assign == nullptr || assignments(function_, assign->variable) != 1) continue;
    const std::optional<ExprId> start = declared_value(around, assign->variable);
    if (!start) continue;
    if (assign->variable == condition.variable) decision = {assign->variable, assign->value};
    const bool from_zero = *start == kNone || is_integer_literal(function_, *start, 0);
    ExprId next = assign->value;
    if (function_.expr(next).kind == ExprKind::kVariable) {
      const auto value = declared_value(loop->body, function_.expr(next).variable);
      if (!value || *value == kNone) continue;
      next = *value;
    }
    const Expr& sum = function_.expr(next);
    const bool counts = sum.kind == ExprKind::kOperation && sum.op == Op::kAdd &&
                        is_variable(function_, sum.args[0], assign->variable) &&
                        is_integer_literal(function_, sum.args[1], 1);
    if (from_zero && counts && sum.type.is_integer_scalar()) counters.push_back({assign->variable, assign->value});
  }
  const std::optional<ExprId> first = declared_value(around, condition.variable);
  if (!decision || !first || *first == kNone) return;

  // If the condition holds, a counter is below its bound; all counters are equal.
  const std::vector<VarId> outer = declared_variables(around), inner = declared_variables(loop->body);
  for (const Carried& counter : counters) {
    if (function_.expr(counter.next).kind != ExprKind::kVariable) continue;
    const auto before =
        max_value_under_condition(*first, outer, [&](ExprId id) { return is_integer_literal(function_, id, 0); });
    const VarId next = function_.expr(counter.next).variable;
    const auto later =
        max_value_under_condition(decision->next, inner, [&](ExprId id) { return is_variable(function_, id, next); });
    if (!before || !later) continue;
    const std::int64_t trips = std::max<std::int64_t>({*before, *later, -1}) + 1;
    for (const Carried& other : counters) {
      at(other.variable) = {.receives_value = true, .range = IntegerRange{0, trips}};
      fixed[static_cast<std::size_t>(other.variable)] = true;
    }
    return;
  }
}

std::optional<std::int64_t> KnownRanges::max_value_under_condition(ExprId condition, const std::vector<VarId>& local,
                                                                   const std::function<bool(ExprId)>& is_operand,
                                                                   int depth) const {
  constexpr std::int64_t kNever = -1;
  constexpr int kDeepest = 8;
  const Expr& expr = function_.expr(condition);
  if (expr.kind == ExprKind::kLiteral) return expr.bits == 0 ? std::optional(kNever) : std::nullopt;
  if (expr.kind == ExprKind::kOperation && (expr.op == Op::kLt || expr.op == Op::kLe) && is_operand(expr.args[0])) {
    const std::optional<IntegerRange> bound = of(expr.args[1]);
    if (!bound) return std::nullopt;
    return std::max(kNever, expr.op == Op::kLt ? bound->high - 1 : bound->high);
  }
  if (expr.kind == ExprKind::kOperation && expr.op == Op::kAnd) {
    const auto left = max_value_under_condition(expr.args[0], local, is_operand, depth + 1);
    const auto right = max_value_under_condition(expr.args[1], local, is_operand, depth + 1);
    return left && right ? std::min(left, right) : std::max(left, right);
  }
  const bool known = expr.kind == ExprKind::kVariable && std::ranges::binary_search(local, expr.variable);
  if (!known || depth > kDeepest) return std::nullopt;
  // All values of the variable: false, or a condition that bounds the operand.
  std::optional<std::int64_t> greatest = kNever;
  for_each_statement(function_.body, [&](const Stmt& statement) {
    const auto* let = std::get_if<Let>(&statement.node);
    const auto* assign = std::get_if<Assign>(&statement.node);
    const ExprId value = let != nullptr && let->variable == expr.variable         ? let->value
                         : assign != nullptr && assign->variable == expr.variable ? assign->value
                                                                                  : kNone;
    if (value == kNone || !greatest) return;
    const auto here = max_value_under_condition(value, local, is_operand, depth + 1);
    greatest = here ? std::optional(std::max(*greatest, *here)) : std::nullopt;
  });
  return greatest;
}

std::optional<IntegerRange> KnownRanges::of(ExprId expression) const {
  const Expr& expr = function_.expr(expression);
  switch (expr.kind) {
    case ExprKind::kLiteral: {
      const auto value = static_cast<std::int64_t>(expr.bits);
      return expr.type.is_integer_scalar() ? kept(value, value) : std::nullopt;
    }
    case ExprKind::kVariable: return expr.type.is_integer_scalar() ? at(expr.variable).range : std::nullopt;
    case ExprKind::kLoad: {
      const Expr& array = function_.expr(expr.args[0]);
      if (array.kind != ExprKind::kVariable || !expr.type.is_integer_scalar()) return std::nullopt;
      const bool known = function_.is_parameter(array.variable) || function_.var(array.variable).type.is_local_array();
      return known ? at(array.variable).range : std::nullopt;
    }
    case ExprKind::kOperation: return of_operation(expr);
    default: return std::nullopt;
  }
}

std::optional<IntegerRange> KnownRanges::of_operation(const Expr& expr) const {
  if (!expr.type.is_integer_scalar() || expr.args.empty() || expr.args.size() > 2) return std::nullopt;
  const std::optional<IntegerRange> a = of(expr.args[0]);
  if (expr.op == Op::kMod) return of_remainder(a, of(expr.args[1]));
  if (!a) return std::nullopt;
  if (expr.op == Op::kCast) return a;
  if (expr.op == Op::kNeg) return kept(-a->high, -a->low);
  const std::optional<IntegerRange> b = expr.args.size() == 2 ? of(expr.args[1]) : std::nullopt;
  if (!b) return std::nullopt;
  switch (expr.op) {
    case Op::kAdd: return kept(a->low + b->low, a->high + b->high);
    case Op::kSub: return kept(a->low - b->high, a->high - b->low);
    case Op::kMin: return kept(std::min(a->low, b->low), std::min(a->high, b->high));
    case Op::kMax: return kept(std::max(a->low, b->low), std::max(a->high, b->high));
    case Op::kMul: {
      const auto [low, high] = std::minmax({a->low * b->low, a->low * b->high, a->high * b->low, a->high * b->high});
      return kept(low, high);
    }
    default: return std::nullopt;
  }
}

std::optional<bool> KnownRanges::truth(ExprId condition) const {
  const Expr& expr = function_.expr(condition);
  if (expr.kind != ExprKind::kOperation || expr.args.size() != 2) return std::nullopt;
  const std::optional<IntegerRange> a = of(expr.args[0]), b = of(expr.args[1]);
  if (!a || !b) return std::nullopt;
  const auto decided = [](bool always, bool never) -> std::optional<bool> {
    if (always) return true;
    if (never) return false;
    return std::nullopt;
  };
  switch (expr.op) {
    case Op::kLt: return decided(a->high < b->low, a->low >= b->high);
    case Op::kLe: return decided(a->high <= b->low, a->low > b->high);
    case Op::kGt: return decided(a->low > b->high, a->high <= b->low);
    case Op::kGe: return decided(a->low >= b->high, a->high < b->low);
    default: return std::nullopt;
  }
}

std::vector<bool> dead_statements(const KnownRanges& ranges, const std::vector<ListedStatement>& statements) {
  std::vector<bool> dead(statements.size(), false);
  for (std::size_t s = 0; s < statements.size(); ++s) {
    if (statements[s].parent == std::string::npos) continue;
    const Stmt& around = *statements[statements[s].parent].statement;
    dead[s] = dead[statements[s].parent];
    const auto stands_in = [&](const Block& block) {
      return std::ranges::any_of(block.statements,
                                 [&](const Stmt& inner) { return &inner == statements[s].statement; });
    };
    if (const auto* branch = std::get_if<If>(&around.node)) {
      const std::optional<bool> truth = ranges.truth(branch->condition);
      if (truth && stands_in(*truth ? branch->else_block : branch->then_block)) dead[s] = true;
    }
    if (const auto* loop = std::get_if<While>(&around.node)) {
      if (ranges.truth(loop->condition) == false) dead[s] = true;
    }
    if (const auto* loop = std::get_if<For>(&around.node)) {
      const auto start = ranges.of(loop->start), stop = ranges.of(loop->stop), step = ranges.of(loop->step);
      if (!start || !stop || !step) continue;
      const bool never_up = step->low > 0 && stop->high <= start->low;
      const bool never_down = step->high < 0 && start->high <= stop->low;
      if (never_up || never_down) dead[s] = true;
    }
  }
  return dead;
}

}  // namespace assay::mutation
