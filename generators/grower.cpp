#include "generators/grower.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

namespace assay::generators {
namespace {

using ir::Op;

/// Whether the result is an exact constant or jumps, or its derivative by the third operand is exactly zero, where the
/// first two operands are equal.
bool needs_different_operands(Op op) {
  switch (op) {
    case Op::kLerp:
    case Op::kSub:
    case Op::kDiv:
    case Op::kMod:
    case Op::kFloorDiv:
    case Op::kMin:
    case Op::kMax:
    case Op::kLt:
    case Op::kLe:
    case Op::kGt:
    case Op::kGe: return true;
    default: return false;
  }
}

/// Whether the result jumps somewhere inside the domain.
bool jumps(Op op) {
  switch (row(op).kink) {
    case ir::Kink::kAtIntegers:
    case ir::Kink::kAtHalfIntegers:
    case ir::Kink::kAtIntegerQuotients: return true;
    default: return op == Op::kSign || op == Op::kStep || op == Op::kNonzero;
  }
}

/// Whether values are on both sides of zero. Values that only reach zero may be there for many inputs, up to rounding,
/// as log(cosh(x)) is for small x; the remainder beyond zero of an interval that is rounded outwards is ignored.
bool has_both_signs(Interval range) {
  constexpr double kSliver = 0.05;
  return range.low < -kSliver * std::abs(range.high) && range.high > kSliver * std::abs(range.low);
}

/// Whether the result is one of the operands.
bool selects(Op op) { return op == Op::kMin || op == Op::kMax || op == Op::kClamp; }

}  // namespace

RangedExpression ExpressionGenerator::literal(Interval interval) {
  Rng& rng = sketch_.rng();
  for (int attempt = 0; attempt < 8; ++attempt) {
    const double value = std::round(rng.uniform_real(interval.low, interval.high) * 100) / 100;
    if (value != 0 && contains(interval, value)) return {sketch_.b().literal(float_type_, value), {value, value}};
  }
  const double value = interval.low == 0 ? interval.high : interval.low;
  return {sketch_.b().literal(float_type_, value), {value, value}};
}

RangedExpression ExpressionGenerator::leaf() {
  if (!sketch_.rng().bernoulli(0.12)) {
    if (const auto term = sketch_.leaf(float_type_)) return *term;
  }
  return literal({-2, 2});
}

RangedExpression ExpressionGenerator::grow(int depth) {
  Rng& rng = sketch_.rng();
  if (depth <= 0 || rng.bernoulli(0.08)) return leaf();
  const Op op = rng.choose(allowed_operations_);
  if (op == Op::kIsNan || op == Op::kIsInf || op == Op::kIsFinite) {
    const RangedExpression test{sketch_.b().op(op, {leaf().expr}), {0, 1}};
    return apply(Op::kWhere, {test, grow(depth - 1), leaf()});
  }
  if (op == Op::kWhere || op == Op::kConditional) {
    const RangedExpression test = condition(depth - 2);
    const RangedExpression chosen = grow(depth - 1);
    return apply(op, {test, chosen, grow(depth - 2)});
  }
  if (op == Op::kPow && rng.bernoulli(0.6)) return limit_range(constant_power(grow(depth - 1)));
  return limit_range(apply(op, operands_of(op, depth)));
}

std::vector<RangedExpression> ExpressionGenerator::operands_of(Op op, int depth) {
  Rng& rng = sketch_.rng();
  // A jump occurs on a set of inputs with nonzero measure if the operand itself is a jump: floor(sign(x)).
  const bool continuous_first = jumps(op) || (selects(op) && rng.bernoulli(0.5));
  std::vector<RangedExpression> operands{continuous_first ? continuous() : grow(depth - 1)};
  while (static_cast<int>(operands.size()) < row(op).arity) {
    if (!selects(op)) {
      operands.push_back(rng.bernoulli(0.5) ? leaf() : grow(depth - 2));
      continue;
    }
    // Two derived values may tie by construction, as max(x, y) and x do.
    const bool high = operands.size() == 2;
    const bool low = op == Op::kClamp && !high;
    RangedExpression bound = literal({high ? 0.25 : -1.5, low ? -0.25 : 1.5});
    if (continuous_first && rng.bernoulli(0.5))
      bound = sketch_.leaf(float_type_, KernelSketch::From::kInputs).value_or(bound);
    operands.push_back(bound);
  }
  return operands;
}

RangedExpression ExpressionGenerator::continuous() {
  const auto input = sketch_.leaf(float_type_, KernelSketch::From::kInputs);
  if (!input) return leaf();
  switch (sketch_.rng().uniform_int(0, 3)) {
    case 0: return *input;
    case 1: return add(*input, literal({-1.5, 1.5}));
    case 2: return mul(*input, literal({-2, 2}));
    default: return mul(*input, sketch_.leaf(float_type_, KernelSketch::From::kInputs).value());
  }
}

RangedExpression ExpressionGenerator::constant_power(RangedExpression base) {
  const double exponent = sketch_.rng().choose({-1.0, 0.5, 1.5, 2.0, 2.5, 3.0});
  const RangedExpression power{sketch_.b().literal(float_type_, exponent), {exponent, exponent}};
  if (exponent != 3.0) return apply(Op::kPow, {base, power});
  // The only exponent for which a negative base is useful.
  return {sketch_.b().op(Op::kPow, {fit(base, {-2, 2}).expr, power.expr}), {-8, 8}};
}

RangedExpression ExpressionGenerator::apply(Op op, std::vector<RangedExpression> operands) {
  if (needs_different_operands(op) && same_tree(operands[0].expr, operands[1].expr)) {
    operands[1] = literal({0.5, 1.5});
  } else if (needs_different_operands(op) && may_equal(operands[0].expr, operands[1].expr)) {
    operands[1] = mul(operands[1], literal({0.3, 0.7}));
  }
  const bool constant =
      std::ranges::none_of(operands, [&](RangedExpression term) { return depends_on_leaves(term.expr); });
  if (constant) return literal({0.25, 1.75});
  const ir::Expr& last = sketch_.b().function().expr(operands.back().expr);
  if (op == Op::kNeg && last.kind == ir::ExprKind::kOperation && last.op == Op::kNeg) return operands[0];
  if (op == Op::kAbs && !has_both_signs(operands[0].range)) return operands[0];
  const bool sum = op == Op::kAdd || op == Op::kSub;
  if (sum && last.kind == ir::ExprKind::kLiteral && operands[1].range.high < 0)
    return shifted(fit(operands[0], kModerateRange), op == Op::kAdd ? operands[1].range.low : -operands[1].range.low);
  std::vector<ir::ExprId> args;
  std::vector<Interval> ranges;
  args.reserve(operands.size());
  ranges.reserve(operands.size());
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const bool is_bool = sketch_.type_of(operands[k]).is_bool();
    const RangedExpression operand =
        is_bool ? operands[k] : fit(operands[k], well_conditioned_range(op, static_cast<int>(k)));
    args.push_back(operand.expr);
    ranges.push_back(operand.range);
  }
  return {sketch_.b().op(op, args), range_of(op, ranges)};
}

RangedExpression ExpressionGenerator::limit_range(RangedExpression term) { return fit(term, kModerateRange); }

RangedExpression ExpressionGenerator::fit(RangedExpression term, Interval target) {
  if (contains(target, term.range)) return term;
  if (!depends_on_leaves(term.expr)) return literal(target);
  const bool away_from_zero = target.low > 0 && has_both_signs(term.range);
  if (!away_from_zero) return scale_and_shift(term, target);
  // y * y + c and abs(y) + c are common ways to keep a value positive.
  const double width = target.high - target.low;
  const RangedExpression small = fit(term, {-std::min(2.0, std::sqrt(width)), std::min(2.0, std::sqrt(width))});
  const bool has_abs = std::ranges::find(allowed_operations_, Op::kAbs) != allowed_operations_.end();
  const ir::Expr& whole = sketch_.b().function().expr(small.expr);
  RangedExpression positive;
  if (whole.kind == ir::ExprKind::kVariable) {
    positive = {sketch_.b().op(Op::kMul, {small.expr, sketch_.b().var(whole.variable)}), {0, std::min(4.0, width)}};
  } else if (has_abs) {
    positive = {sketch_.b().op(Op::kAbs, {small.expr}), {0, std::min(2.0, width)}};
  } else {
    return scale_and_shift(small, target);
  }
  return fit(add(positive, literal({target.low, target.low + 0.25 * width})), target);
}

RangedExpression ExpressionGenerator::scaled(RangedExpression term, double factor) {
  ir::Builder& b = sketch_.b();
  const Interval range{term.range.low * factor, term.range.high * factor};
  const ir::Expr product = b.function().expr(term.expr);
  if (product.op != Op::kMul || product.kind != ir::ExprKind::kOperation || !is_literal(product.args[1]))
    return {b.op(Op::kMul, {term.expr, b.literal(float_type_, factor)}), range};
  // Merge two consecutive factors.
  const double old = std::bit_cast<double>(b.function().expr(product.args[1]).bits);
  const double both = truncate_to_two_digits(old * factor);
  const Interval exact{term.range.low * (both / old), term.range.high * (both / old)};
  return {b.op(Op::kMul, {product.args[0], b.literal(float_type_, both)}), exact};
}

RangedExpression ExpressionGenerator::shifted(RangedExpression term, double shift) {
  const Op op = shift < 0 ? Op::kSub : Op::kAdd;
  return {sketch_.b().op(op, {term.expr, sketch_.b().literal(float_type_, std::abs(shift))}),
          {term.range.low + shift, term.range.high + shift}};
}

RangedExpression ExpressionGenerator::scale_and_shift(RangedExpression term, Interval target) {
  const double room = target.high - target.low;
  const double width = term.range.high - term.range.low;
  // Slightly smaller than possible, so that a shift of two decimals fits.
  const RangedExpression narrow = width > room ? scaled(term, truncate_to_two_digits(0.97 * room / width)) : term;
  const Interval shifts{target.low - narrow.range.low, target.high - narrow.range.high};
  if (contains(shifts, 0.0)) return narrow;
  const double middle = (shifts.low + shifts.high) / 2;
  const double rounded = std::round(100 * middle) / 100;
  return shifted(narrow, contains(shifts, rounded) ? rounded : middle);
}

RangedExpression ExpressionGenerator::condition(int depth) {
  Rng& rng = sketch_.rng();
  if (depth <= 0 || rng.bernoulli(0.5)) return comparison(depth);
  if (rng.bernoulli(0.2)) return {sketch_.b().op(Op::kNot, {condition(depth - 1).expr}), {0, 1}};
  const Op op = rng.bernoulli(0.5) ? Op::kAnd : Op::kOr;
  const RangedExpression left = comparison(depth - 1);
  const auto right = further_condition(left, depth - 1);
  return right ? RangedExpression{sketch_.b().op(op, {left.expr, right->expr}), {0, 1}} : left;
}

std::optional<RangedExpression> ExpressionGenerator::further_condition(RangedExpression other, int depth) {
  std::vector<int> uses;
  for (const AvailableOperand& leaf : sketch_.leaves())
    uses.push_back(leaf.use_count);
  const RangedExpression made = condition(depth);
  if (!compares_subtree_of(made.expr, other.expr) && !compares_subtree_of(other.expr, made.expr)) return made;
  for (std::size_t k = 0; k < uses.size(); ++k)
    sketch_.leaves()[k].use_count = uses[k];
  return std::nullopt;
}

bool ExpressionGenerator::compares_subtree_of(ir::ExprId condition, ir::ExprId other) const {
  const ir::Expr expr = sketch_.b().function().expr(condition);
  const bool is_comparison = expr.kind == ir::ExprKind::kOperation && expr.op >= Op::kEq && expr.op <= Op::kGe;
  return std::ranges::any_of(expr.args, [&](ir::ExprId arg) {
    if (!is_comparison) return compares_subtree_of(arg, other);
    return !is_literal(arg) && (mentions(other, arg) || mentions(other, value_of(arg)));
  });
}

ir::ExprId ExpressionGenerator::value_of(ir::ExprId id) const {
  const ir::Expr& expr = sketch_.b().function().expr(id);
  const ir::ExprId value = expr.kind == ir::ExprKind::kVariable ? sketch_.initial_value(expr.variable) : ir::kNone;
  return value == ir::kNone ? id : value;
}

bool ExpressionGenerator::mentions(ir::ExprId id, ir::ExprId part) const {
  if (same_tree(id, part)) return true;
  const std::vector<ir::ExprId> args = sketch_.b().function().expr(id).args;
  return std::ranges::any_of(args, [&](ir::ExprId arg) { return mentions(arg, part); });
}

bool ExpressionGenerator::may_equal(ir::ExprId a, ir::ExprId b) const {
  if (same_tree(a, b)) return true;
  const ir::Expr& x = sketch_.b().function().expr(a);
  const ir::Expr& y = sketch_.b().function().expr(b);
  const auto arms_may = [&](const ir::Expr& expr, ir::ExprId other) {
    const bool chooses =
        expr.kind == ir::ExprKind::kOperation && (expr.op == Op::kWhere || expr.op == Op::kConditional);
    const bool selected = expr.kind == ir::ExprKind::kOperation && selects(expr.op);
    if (!chooses && !selected) return false;
    return std::any_of(expr.args.begin() + (chooses ? 1 : 0), expr.args.end(),
                       [&](ir::ExprId arm) { return may_equal(arm, other); });
  };
  if (arms_may(x, b) || arms_may(y, a)) return true;
  return (value_of(a) != a && may_equal(value_of(a), b)) || (value_of(b) != b && may_equal(a, value_of(b)));
}

RangedExpression ExpressionGenerator::comparison(int depth) {
  Rng& rng = sketch_.rng();
  const Op op = rng.choose({Op::kLt, Op::kLe, Op::kGt, Op::kGe});
  // Compare two inputs, or a value with a constant: derived values may be equal by construction, as min(x, y) and x.
  const auto input = rng.bernoulli(0.3) ? sketch_.leaf(float_type_, KernelSketch::From::kInputs) : std::nullopt;
  if (input) {
    const RangedExpression other = *sketch_.leaf(float_type_, KernelSketch::From::kInputs);
    if (!same_tree(input->expr, other.expr)) return {sketch_.b().op(op, {input->expr, other.expr}), {0, 1}};
  }
  const auto left_side = [&] { return depth <= 0 || rng.bernoulli(0.6) ? leaf() : joined_leaves(); };
  RangedExpression left = input ? *input : left_side();
  if (!depends_on_leaves(left.expr)) left = sketch_.leaf(float_type_).value_or(left);
  const double middle = (left.range.low + left.range.high) / 2;
  const double quarter = (left.range.high - left.range.low) / 4;
  const RangedExpression right = literal({middle - quarter, middle + quarter});
  return {sketch_.b().op(op, {left.expr, right.expr}), {0, 1}};
}

RangedExpression ExpressionGenerator::joined_leaves() {
  const Op op = sketch_.rng().choose({Op::kAdd, Op::kSub, Op::kMul});
  const RangedExpression first = leaf();
  return apply(op, {first, leaf()});
}

RangedExpression ExpressionGenerator::add_unused_leaves(RangedExpression term) {
  std::vector<AvailableOperand>& leaves = sketch_.leaves();
  const std::size_t known = leaves.size();
  for (std::size_t k = 0; k < known; ++k) {
    if (leaves[k].type != float_type_ || leaves[k].use_count > 0) continue;
    if (size(term.expr) > 12) {
      term = sketch_.read(sketch_.let("t", term));
      leaves.back().use_count = 1;
    }
    ++leaves[k].use_count;
    const Interval range = leaves[k].variable == ir::kNone ? leaves[k].range : sketch_.domain(leaves[k].variable);
    const ir::ExprId unused = leaves[k].make();
    term = limit_range(add(term, mul(literal({0.25, 1.5}), {unused, range})));
  }
  return term;
}

int ExpressionGenerator::size(ir::ExprId id) const {
  int nodes = 1;
  for (const ir::ExprId arg : sketch_.b().function().expr(id).args)
    nodes += size(arg);
  return nodes;
}

bool ExpressionGenerator::is_literal(ir::ExprId id) const {
  return sketch_.b().function().expr(id).kind == ir::ExprKind::kLiteral;
}

bool ExpressionGenerator::same_tree(ir::ExprId a, ir::ExprId b) const {
  const ir::Expr& x = sketch_.b().function().expr(a);
  const ir::Expr& y = sketch_.b().function().expr(b);
  return x.kind == y.kind && x.op == y.op && x.bits == y.bits && x.variable == y.variable && x.index == y.index &&
         std::equal(x.args.begin(), x.args.end(), y.args.begin(), y.args.end(),
                    [&](ir::ExprId s, ir::ExprId t) { return same_tree(s, t); });
}

bool ExpressionGenerator::depends_on_leaves(ir::ExprId id) const {
  const ir::Expr& expr = sketch_.b().function().expr(id);
  if (expr.kind == ir::ExprKind::kVariable || expr.kind == ir::ExprKind::kLoad) return true;
  return std::ranges::any_of(expr.args, [&](ir::ExprId arg) { return depends_on_leaves(arg); });
}

}  // namespace assay::generators
