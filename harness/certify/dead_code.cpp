#include "harness/certify/dead_code.hpp"

#include <algorithm>
#include <cmath>

#include "harness/inputs/hints.hpp"
#include "ir/analysis.hpp"
#include "ir/visit.hpp"

namespace assay::certify {

using namespace ir;

namespace {

/// Within these no sum or product of two intervals overflows.
constexpr std::int64_t kLargest = std::int64_t{1} << 31;

std::optional<Interval> kept(std::int64_t low, std::int64_t high) {
  if (low < -kLargest || high > kLargest) return std::nullopt;
  return Interval{low, high};
}

/// The value of a term of numbers alone.
std::optional<double> number(const harness::HintTerm& term) {
  using Kind = harness::HintTerm::Kind;
  if (term.kind == Kind::kNumber) return term.number;
  if (term.kind == Kind::kParameter || term.kind == Kind::kExtent) return std::nullopt;
  const std::optional<double> left = number(*term.left), right = number(*term.right);
  if (!left || !right) return std::nullopt;
  switch (term.kind) {
    case Kind::kAdd: return *left + *right;
    case Kind::kSubtract: return *left - *right;
    default: return *left * *right;
  }
}

/// The integers of a range that a hint names with numbers alone.
std::optional<Interval> of_hint(const harness::Range& range) {
  const auto low = range.low ? number(*range.low) : std::nullopt;
  const auto high = range.high ? number(*range.high) : std::nullopt;
  if (!low || !high || std::abs(*low) > kLargest || std::abs(*high) > kLargest) return std::nullopt;
  return Interval{static_cast<std::int64_t>(std::ceil(*low)), static_cast<std::int64_t>(std::floor(*high))};
}

}  // namespace

KnownRanges::KnownRanges(const Module& module, const Function& kernel, const Function& function)
    : function_(function), by_variable_(function.variables.size()) {
  const Result<harness::Hints> hints = harness::parse_hints(module, kernel);
  const ParameterUses uses = parameter_use(module, kernel);
  for (std::size_t p = 0; hints.ok() && p < uses.size(); ++p) {
    const bool integer = is_integer(kernel.variables[p].type.scalar) && kernel.variables[p].type.components() == 1;
    if (integer && !uses[p].changed() && hints->ranges[p]) by_variable_[p] = of_hint(*hints->ranges[p]);
  }
  const std::vector<VarId> assigned = assigned_variables(function.body);
  for_each_statement(function.body, [&](const Stmt& statement) {
    if (const auto* let = std::get_if<Let>(&statement.node)) {
      const bool once = let->value != kNone && !std::ranges::binary_search(assigned, let->variable);
      if (once) by_variable_[static_cast<std::size_t>(let->variable)] = of(let->value);
    }
    const auto* loop = std::get_if<For>(&statement.node);
    if (loop == nullptr) return;
    const auto start = of(loop->start), stop = of(loop->stop), step = of(loop->step);
    if (!start || !stop || !step || step->low != step->high) return;
    by_variable_[static_cast<std::size_t>(loop->variable)] =
        step->low > 0 ? Interval{start->low, stop->high - 1} : Interval{stop->low + 1, start->high};
  });
}

std::optional<Interval> KnownRanges::of(ExprId expression) const {
  const Expr& expr = function_.expr(expression);
  switch (expr.kind) {
    case ExprKind::kLiteral: {
      const auto value = static_cast<std::int64_t>(expr.bits);
      return expr.type.is_integer_scalar() ? kept(value, value) : std::nullopt;
    }
    case ExprKind::kVariable:
      return expr.type.is_integer_scalar() ? by_variable_[static_cast<std::size_t>(expr.variable)] : std::nullopt;
    case ExprKind::kLoad: {
      const Expr& array = function_.expr(expr.args[0]);
      const bool parameter = array.kind == ExprKind::kVariable && function_.is_parameter(array.variable);
      return parameter ? by_variable_[static_cast<std::size_t>(array.variable)] : std::nullopt;
    }
    case ExprKind::kOperation: return of_operation(expr);
    default: return std::nullopt;
  }
}

std::optional<Interval> KnownRanges::of_operation(const Expr& expr) const {
  if (!expr.type.is_integer_scalar() || expr.args.empty() || expr.args.size() > 2) return std::nullopt;
  const std::optional<Interval> a = of(expr.args[0]);
  if (!a) return std::nullopt;
  if (expr.op == Op::kCast) return a;
  if (expr.op == Op::kNeg) return kept(-a->high, -a->low);
  const std::optional<Interval> b = expr.args.size() == 2 ? of(expr.args[1]) : std::nullopt;
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
  const std::optional<Interval> a = of(expr.args[0]), b = of(expr.args[1]);
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

std::vector<bool> dead_statements(const KnownRanges& ranges, const std::vector<Listed>& statements) {
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

}  // namespace assay::certify
