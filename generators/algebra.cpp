#include "generators/algebra.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace assay::generators {
namespace {

using ir::ExprId;
using ir::Op;
using ir::Type;

const std::vector<Op> kScalarMenu = {Op::kAdd, Op::kMul, Op::kMul, Op::kSub, Op::kSin};

double greatest(Interval range) { return std::max(std::abs(range.low), std::abs(range.high)); }

}  // namespace

Production by_operation(Op op, Type result, std::vector<Wanted> operands, double bound) {
  return {result, std::move(operands), bound,
          [op](Sketch& sketch, const std::vector<ExprId>& args) { return sketch.b().op(op, args); }};
}

Production by_making(Type result, std::vector<Wanted> operands) {
  double bound = 0;
  for (const Wanted& operand : operands)
    bound = std::max(bound, operand.bound);
  return {result, std::move(operands), bound,
          [result](Sketch& sketch, const std::vector<ExprId>& args) { return sketch.b().make(result, args); }};
}

Production by_library(std::string_view name, Type result, std::vector<Wanted> operands, double bound) {
  return {result, std::move(operands), bound,
          [name](Sketch& sketch, const std::vector<ExprId>& args) { return sketch.warp(name, args); }};
}

std::vector<Production> usual_productions(Type type) {
  const Type scalar = type.component();
  std::vector<Production> all{
      by_operation(Op::kAdd, type, {{type, 4}, {type, 4}}, 8),
      by_operation(Op::kSub, type, {{type, 4}, {type, 4}}, 8),
      by_operation(Op::kMul, type, {{type, 4}, {scalar, 2}}, 8),
      by_operation(Op::kMul, type, {{scalar, 2}, {type, 4}}, 8),
      by_making(type, std::vector<Wanted>(static_cast<std::size_t>(type.components()), Wanted{scalar, 4})),
  };
  if (!type.is_transform()) {
    all.push_back(by_operation(Op::kDiv, type, {{type, 4}, {scalar, 4, true}}, 8));
    all.push_back(by_operation(Op::kNeg, type, {{type, 8}}, 8));
  }
  const Type part = type.part();
  all.push_back({part, {{type, 8}}, 8, [parts = type.parts()](Sketch& sketch, const std::vector<ExprId>& args) {
                   const ExprId index = sketch.b().i32(sketch.rng().uniform_int(0, parts - 1));
                   return sketch.b().op(Op::kExtract, {args[0], index});
                 }});
  return all;
}

AlgebraGrower::AlgebraGrower(Sketch& sketch, Type real, std::vector<Production> productions)
    : sketch_(sketch),
      b_(sketch.b()),
      real_(real),
      scalars_(sketch, real, kScalarMenu),
      productions_(std::move(productions)) {}

Term AlgebraGrower::constant(Type type, Interval interval) {
  if (type.is_scalar()) return scalars_.literal(interval);
  std::vector<ExprId> components;
  for (int k = 0; k < type.components(); ++k)
    components.push_back(scalars_.literal(interval).expr);
  return {b_.make(type, components), interval};
}

Term AlgebraGrower::leaf(Type type) {
  const auto term = sketch_.leaf(type);
  return term ? *term : constant(type);
}

Term AlgebraGrower::within(Term term, double bound) {
  const double most = greatest(term.range);
  if (most <= bound) return term;
  const double factor = two_digits(bound / most);
  return {b_.op(Op::kMul, {term.expr, b_.literal(real_, factor)}), {term.range.low * factor, term.range.high * factor}};
}

Term AlgebraGrower::positive(Wanted wanted) {
  const Interval interval{0.5, wanted.bound};
  if (wanted.type.is_scalar()) return scalars_.fit(scalars_.leaf(), interval);
  return constant(wanted.type, interval);
}

Term AlgebraGrower::grow(Wanted wanted, int depth) {
  Rng& rng = sketch_.rng();
  if (wanted.positive) return positive(wanted);
  std::vector<const Production*> fitting;
  for (const Production& production : productions_) {
    if (production.result == wanted.type) fitting.push_back(&production);
  }
  if (depth <= 0 || fitting.empty() || rng.bernoulli(0.1)) return within(leaf(wanted.type), wanted.bound);
  const Production& production = *rng.choose(fitting);
  std::vector<ExprId> args;
  for (const Wanted& operand : production.operands) {
    const ExprId arg = grow(operand, depth - (args.empty() ? 1 : 2)).expr;
    // No operand twice: x - x is exactly zero, where a norm has no derivative, and so is the determinant of equal rows.
    const bool again = std::ranges::any_of(args, [&](ExprId other) { return scalars_.same_tree(arg, other); });
    args.push_back(again ? constant(operand.type).expr : arg);
  }
  return within({production.make(sketch_, args), {-production.bound, production.bound}}, wanted.bound);
}

Term AlgebraGrower::reduced(Term value) {
  const Type type = sketch_.type_of(value);
  if (type.is_scalar()) return scalars_.tame(value);
  const Term small = within(value, 2);
  const Interval range{-2.0 * type.components(), 2.0 * type.components()};
  if (type.is_transform()) {
    const Type point = ir::vector_type(type.scalar, 3);
    const ExprId moved = sketch_.warp("transform_point", {small.expr, constant(point, {0.25, 1}).expr});
    return scalars_.tame({b_.op(Op::kDot, {moved, constant(point, {0.25, 1}).expr}), {-200, 200}});
  }
  const Op op = type.is_matrix() ? Op::kDoubleDot : Op::kDot;
  return scalars_.tame({b_.op(op, {small.expr, constant(type, {0.25, 1}).expr}), range});
}

Term AlgebraGrower::with_unused(Term total) {
  for (std::size_t k = 0; k < sketch_.leaves().size(); ++k) {
    Leaf& leaf = sketch_.leaves()[k];
    if (leaf.uses > 0 || leaf.type.component() != real_ || leaf.type == real_) continue;
    ++leaf.uses;
    const Interval range = leaf.variable == ir::kNone ? leaf.range : sketch_.domain(leaf.variable);
    const Term value{leaf.make(), range};
    total = scalars_.tame(scalars_.add(total, reduced(value)));
  }
  return scalars_.with_unused(total);
}

void AlgebraGrower::write_parts(ir::VarId variable) {
  Rng& rng = sketch_.rng();
  const Type type = b_.function().var(variable).type;
  const Type part = type.part();
  const auto set = [&](const std::function<ExprId()>& index, ExprId value) {
    sketch_.assign(variable, {b_.op(Op::kInsert, {b_.var(variable), index(), value}), kTame});
  };
  const int first = rng.uniform_int(0, type.parts() - 1);
  if (type.is_matrix() && rng.bernoulli(0.5)) {
    const int second = rng.uniform_int(0, type.cols - 1);
    const Term value = scalars_.grow(2);
    const ExprId row = b_.op(Op::kExtract, {b_.var(variable), b_.i32(first)});
    set([&] { return b_.i32(first); }, b_.op(Op::kInsert, {row, b_.i32(second), value.expr}));
  } else if (rng.bernoulli(0.5)) {
    const Term value = grow({part, 8}, 2);
    set([&] { return b_.i32(first); }, value.expr);
  } else {
    sketch_.set_range(variable, kTame);
    sketch_.loop("c", b_.i32(0), b_.i32(type.parts()), b_.i32(1), {0, type.parts() - 1.0}, [&](ir::VarId c) {
      const ExprId old = b_.op(Op::kExtract, {b_.var(variable), b_.var(c)});
      const ExprId half = b_.op(Op::kMul, {old, scalars_.literal({0.3, 0.5}).expr});
      const Term added = grow({part, 4}, 1);
      set([&] { return b_.var(c); }, b_.op(Op::kAdd, {half, added.expr}));
    });
  }
}

}  // namespace assay::generators
