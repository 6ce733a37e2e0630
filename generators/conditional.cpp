// One decision at a time: if and else, where, conditional expressions, min, max, clamp, abs, boolean operators.
#include "generators/families.hpp"
#include "generators/ingredients.hpp"
#include "generators/integers.hpp"

namespace assay::generators {
namespace {

using ir::Op;

const std::vector<Op> kMenu = {Op::kAdd,   Op::kSub, Op::kMul, Op::kMul,   Op::kMin,         Op::kMax,
                               Op::kClamp, Op::kAbs, Op::kSin, Op::kWhere, Op::kConditional, Op::kNeg};

RangedExpression any_condition(ExpressionGenerator& generator, const std::vector<ir::VarId>& flags) {
  KernelSketch& sketch = generator.sketch();
  if (!flags.empty() && sketch.rng().bernoulli(0.3)) {
    const RangedExpression flag = sketch.read(sketch.rng().choose(flags));
    const RangedExpression test = generator.condition(1);
    const Op op = sketch.rng().bernoulli(0.5) ? Op::kAnd : Op::kOr;
    return {sketch.b().op(op, {flag.expr, test.expr}), {0, 1}};
  }
  return sketch.rng().bernoulli(0.15) ? integer_condition(sketch, ir::kI32) : generator.condition(2);
}

/// A variable that both branches, or only one, change.
void changing_branch(ExpressionGenerator& generator, ir::VarId variable, RangedExpression condition) {
  KernelSketch& sketch = generator.sketch();
  const bool has_else = sketch.rng().bernoulli(0.65);
  const auto change = [&] {
    if (sketch.rng().bernoulli(0.4)) sketch.let("t", generator.grow(2));
    sketch.assign(variable, generator.limit_range(generator.add(generator.grow_in({-4, 4}, 2), sketch.read(variable))));
  };
  const auto replace = [&] { sketch.assign(variable, generator.grow(2)); };
  if (has_else) {
    sketch.if_(condition, change, replace);
  } else {
    sketch.if_(condition, change);
  }
}

}  // namespace

void make_conditional(KernelSketch& sketch) {
  Rng& rng = sketch.rng();
  const ir::Type real = choose_float_type(rng);
  if (rng.bernoulli(0.15)) sketch.set_launch_rank(2);
  const auto inputs = add_inputs(sketch, real, sketch.launch_rank(), 1, 3);
  const auto scalars = add_scalar_parameters(sketch, real, 0, 2);
  const auto outputs = add_outputs(sketch, real, 1, 2);
  sketch.start();
  offer_arrays(sketch, inputs);
  offer_variables(sketch, scalars);
  sketch.offer({.type = ir::kI32, .range = {0, 1 << 20}, .make = [&sketch] { return sketch.thread_index(); }});
  maybe_guard(sketch, inputs[0]);

  ExpressionGenerator generator(sketch, real, kMenu);
  std::vector<ir::VarId> flags;
  if (rng.bernoulli(0.4)) flags.push_back(sketch.let("flag", generator.condition(2)));
  const ir::VarId value = sketch.let("value", generator.grow(2));
  for (int left = rng.uniform_int(1, 2); left > 0; --left)
    changing_branch(generator, value, any_condition(generator, flags));
  // A branch may also contain a store: some threads then overwrite the second output with another value.
  if (outputs.size() > 1 && rng.bernoulli(0.5)) {
    const RangedExpression condition = any_condition(generator, flags);
    sketch.if_(
        condition, [&] { sketch.store(outputs[1], generator.grow(2)); },
        [&] {
          sketch.store(outputs[1], generator.mul(sketch.read(value), generator.literal({0.25, 0.9})));
        });
    sketch.store(outputs[0],
                 generator.add_unused_leaves(generator.add(generator.grow_in({-4, 4}, 2), sketch.read(value))));
    return;
  }
  store_outputs(generator, outputs, 2, value);
}

}  // namespace assay::generators
