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

Production operation_production(Op op, Type result, std::vector<ComponentBounds> operands, double bound) {
  return {result, std::move(operands), bound,
          [op](KernelSketch& sketch, const std::vector<ExprId>& args) { return sketch.b().op(op, args); }};
}

Production constructor_production(Type result, std::vector<ComponentBounds> operands) {
  double bound = 0;
  for (const ComponentBounds& operand : operands)
    bound = std::max(bound, operand.max_magnitude);
  return {result, std::move(operands), bound,
          [result](KernelSketch& sketch, const std::vector<ExprId>& args) { return sketch.b().make(result, args); }};
}

Production library_production(std::string_view name, Type result, std::vector<ComponentBounds> operands, double bound) {
  return {result, std::move(operands), bound,
          [name](KernelSketch& sketch, const std::vector<ExprId>& args) { return sketch.warp(name, args); }};
}

std::vector<Production> common_productions(Type type) {
  const Type scalar = type.component();
  std::vector<Production> all{
      operation_production(Op::kAdd, type, {{type, 4}, {type, 4}}, 8),
      operation_production(Op::kSub, type, {{type, 4}, {type, 4}}, 8),
      operation_production(Op::kMul, type, {{type, 4}, {scalar, 2}}, 8),
      operation_production(Op::kMul, type, {{scalar, 2}, {type, 4}}, 8),
      constructor_production(
          type, std::vector<ComponentBounds>(static_cast<std::size_t>(type.components()), ComponentBounds{scalar, 4})),
  };
  if (!type.is_transform()) {
    all.push_back(operation_production(Op::kDiv, type, {{type, 4}, {scalar, 4, true}}, 8));
    all.push_back(operation_production(Op::kNeg, type, {{type, 8}}, 8));
  }
  const Type part = type.indexed_part_type();
  all.push_back({part, {{type, 8}}, 8, [parts = type.parts()](KernelSketch& sketch, const std::vector<ExprId>& args) {
                   const ExprId index = sketch.b().i32(sketch.rng().uniform_int(0, parts - 1));
                   return sketch.b().op(Op::kExtract, {args[0], index});
                 }});
  return all;
}

AlgebraGenerator::AlgebraGenerator(KernelSketch& sketch, Type real, std::vector<Production> productions)
    : sketch_(sketch),
      builder_(sketch.b()),
      float_type_(real),
      scalar_generator_(sketch, real, kScalarMenu),
      productions_(std::move(productions)) {}

RangedExpression AlgebraGenerator::constant(Type type, Interval interval) {
  if (type.is_scalar()) return scalar_generator_.literal(interval);
  std::vector<ExprId> components;
  for (int k = 0; k < type.components(); ++k)
    components.push_back(scalar_generator_.literal(interval).expr);
  return {builder_.make(type, components), interval};
}

RangedExpression AlgebraGenerator::leaf(Type type) {
  const auto term = sketch_.leaf(type);
  return term ? *term : constant(type);
}

RangedExpression AlgebraGenerator::within(RangedExpression term, double bound) {
  const double most = greatest(term.range);
  if (most <= bound) return term;
  const double factor = truncate_to_two_digits(bound / most);
  return {builder_.op(Op::kMul, {term.expr, builder_.literal(float_type_, factor)}),
          {term.range.low * factor, term.range.high * factor}};
}

RangedExpression AlgebraGenerator::positive(ComponentBounds wanted) {
  const Interval interval{0.5, wanted.max_magnitude};
  if (wanted.type.is_scalar()) return scalar_generator_.fit(scalar_generator_.leaf(), interval);
  return constant(wanted.type, interval);
}

RangedExpression AlgebraGenerator::grow(ComponentBounds wanted, int depth) {
  Rng& rng = sketch_.rng();
  if (wanted.is_positive) return positive(wanted);
  std::vector<const Production*> fitting;
  for (const Production& production : productions_) {
    if (production.result_type == wanted.type) fitting.push_back(&production);
  }
  if (depth <= 0 || fitting.empty() || rng.bernoulli(0.1)) return within(leaf(wanted.type), wanted.max_magnitude);
  const Production& production = *rng.choose(fitting);
  std::vector<ExprId> args;
  for (const ComponentBounds& operand : production.operands) {
    const ExprId arg = grow(operand, depth - (args.empty() ? 1 : 2)).expr;
    // No operand is used twice: x - x is exactly zero, where a norm has no derivative; the determinant of equal rows is
    // too.
    const bool again = std::ranges::any_of(args, [&](ExprId other) { return scalar_generator_.same_tree(arg, other); });
    args.push_back(again ? constant(operand.type).expr : arg);
  }
  return within({production.make(sketch_, args), {-production.max_magnitude, production.max_magnitude}},
                wanted.max_magnitude);
}

RangedExpression AlgebraGenerator::reduced(RangedExpression value) {
  const Type type = sketch_.type_of(value);
  if (type.is_scalar()) return scalar_generator_.limit_range(value);
  const RangedExpression small = within(value, 2);
  const Interval range{-2.0 * type.components(), 2.0 * type.components()};
  if (type.is_transform()) {
    const Type point = ir::vector_type(type.scalar, 3);
    const ExprId moved = sketch_.warp("transform_point", {small.expr, constant(point, {0.25, 1}).expr});
    return scalar_generator_.limit_range(
        {builder_.op(Op::kDot, {moved, constant(point, {0.25, 1}).expr}), {-200, 200}});
  }
  const Op op = type.is_matrix() ? Op::kDoubleDot : Op::kDot;
  return scalar_generator_.limit_range({builder_.op(op, {small.expr, constant(type, {0.25, 1}).expr}), range});
}

RangedExpression AlgebraGenerator::add_unused_leaves(RangedExpression total) {
  for (std::size_t k = 0; k < sketch_.leaves().size(); ++k) {
    AvailableOperand& leaf = sketch_.leaves()[k];
    if (leaf.use_count > 0 || leaf.type.component() != float_type_ || leaf.type == float_type_) continue;
    ++leaf.use_count;
    const Interval range = leaf.variable == ir::kNone ? leaf.range : sketch_.domain(leaf.variable);
    const RangedExpression value{leaf.make(), range};
    total = scalar_generator_.limit_range(scalar_generator_.add(total, reduced(value)));
  }
  return scalar_generator_.add_unused_leaves(total);
}

void AlgebraGenerator::write_parts(ir::VarId variable) {
  Rng& rng = sketch_.rng();
  const Type type = builder_.function().var(variable).type;
  const Type part = type.indexed_part_type();
  const auto set = [&](const std::function<ExprId()>& index, ExprId value) {
    sketch_.assign(variable, {builder_.op(Op::kInsert, {builder_.var(variable), index(), value}), kModerateRange});
  };
  const int first = rng.uniform_int(0, type.parts() - 1);
  if (type.is_matrix() && rng.bernoulli(0.5)) {
    const int second = rng.uniform_int(0, type.cols - 1);
    const RangedExpression value = scalar_generator_.grow(2);
    const ExprId row = builder_.op(Op::kExtract, {builder_.var(variable), builder_.i32(first)});
    set([&] { return builder_.i32(first); }, builder_.op(Op::kInsert, {row, builder_.i32(second), value.expr}));
  } else if (rng.bernoulli(0.5)) {
    const RangedExpression value = grow({part, 8}, 2);
    set([&] { return builder_.i32(first); }, value.expr);
  } else {
    sketch_.set_range(variable, kModerateRange);
    sketch_.add_for_loop("c", builder_.i32(0), builder_.i32(type.parts()), builder_.i32(1), {0, type.parts() - 1.0},
                         [&](ir::VarId c) {
                           const ExprId old = builder_.op(Op::kExtract, {builder_.var(variable), builder_.var(c)});
                           const ExprId half = builder_.op(Op::kMul, {old, scalar_generator_.literal({0.3, 0.5}).expr});
                           const RangedExpression added = grow({part, 4}, 1);
                           set([&] { return builder_.var(c); }, builder_.op(Op::kAdd, {half, added.expr}));
                         });
  }
}

}  // namespace assay::generators
