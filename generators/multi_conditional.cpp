// Many decisions: elif chains, nested and combined conditions, branches that write different arrays.
#include "generators/families.hpp"
#include "generators/ingredients.hpp"
#include "generators/integers.hpp"

namespace assay::generators {
namespace {

using ir::Op;

const std::vector<Op> kMenu = {Op::kAdd, Op::kSub, Op::kMul, Op::kMul, Op::kMax, Op::kMin, Op::kCos, Op::kConditional};

/// if, elif, ..., else by rising thresholds of one value: `arms` branches, each taken for some inputs.
void chain(ExpressionGenerator& generator, ir::VarId selector, int arms, const std::function<void(int)>& body) {
  KernelSketch& sketch = generator.sketch();
  const Interval range = sketch.domain(selector);
  const double step = (range.high - range.low) / arms;
  const std::function<void(int)> arm = [&](int number) {
    if (number == arms - 1) {
      body(number);
      return;
    }
    const RangedExpression limit =
        generator.literal({range.low + step * (number + 0.6), range.low + step * (number + 1.2)});
    RangedExpression below{
        sketch.b().op(sketch.rng().bernoulli(0.5) ? Op::kLt : Op::kLe, {sketch.read(selector).expr, limit.expr}),
        {0, 1}};
    if (sketch.rng().bernoulli(0.3)) {
      const auto other = generator.further_condition(below, 1);
      const Op op = sketch.rng().bernoulli(0.5) ? Op::kAnd : Op::kOr;
      if (other) below = {sketch.b().op(op, {below.expr, other->expr}), {0, 1}};
    }
    sketch.if_(
        below, [&] { body(number); }, [&] { arm(number + 1); });
  };
  arm(0);
}

/// A condition that is neither always true nor always false, both if `outer` holds and if it does not.
RangedExpression inside(ExpressionGenerator& generator, RangedExpression outer) {
  const auto other = generator.further_condition(outer, 1);
  return other ? *other : integer_condition(generator.sketch(), ir::kI32);
}

void nested(ExpressionGenerator& generator, ir::VarId value) {
  KernelSketch& sketch = generator.sketch();
  const RangedExpression outer = generator.condition(2);
  sketch.if_(
      outer,
      [&] {
        const bool of_thread = sketch.rng().bernoulli(0.3);
        const RangedExpression inner = of_thread ? integer_condition(sketch, ir::kI32) : inside(generator, outer);
        sketch.if_(
            inner, [&] { sketch.assign(value, generator.grow(2)); },
            [&] { sketch.assign(value, generator.apply(Op::kNeg, {sketch.read(value)})); });
      },
      [&] {
        const RangedExpression inner = inside(generator, outer);
        sketch.if_(inner, [&] {
          sketch.assign(value, generator.mul(sketch.read(value), generator.literal({0.3, 0.95})));
        });
      });
}

}  // namespace

void make_multi_conditional(KernelSketch& sketch) {
  Rng& rng = sketch.rng();
  const ir::Type real = choose_float_type(rng);
  const auto inputs = add_inputs(sketch, real, 1, 1, 3);
  const auto scalars = add_scalar_parameters(sketch, real, 0, 1);
  const auto outputs = add_outputs(sketch, real, 1, 3);
  sketch.start();
  offer_arrays(sketch, inputs);
  offer_variables(sketch, scalars);
  sketch.offer({.type = ir::kI32, .range = {0, 1 << 20}, .make = [&sketch] { return sketch.thread_index(); }});
  maybe_guard(sketch, inputs[0]);

  ExpressionGenerator generator(sketch, real, kMenu);
  const ir::VarId selector = sketch.let("h", sketch.leaf(real).value());
  const ir::VarId value = sketch.let("value", generator.grow(1));
  const bool spread = outputs.size() > 1 && rng.bernoulli(0.5);
  if (rng.bernoulli(0.5)) nested(generator, value);
  chain(generator, selector, rng.uniform_int(3, 5), [&](int number) {
    // Every branch writes the first output and one of the others; the rest keep their initial values.
    if (spread) {
      const std::size_t which = 1 + static_cast<std::size_t>(number) % (outputs.size() - 1);
      sketch.store(outputs[which], generator.add(generator.grow_in({-4, 4}, 2), sketch.read(value)));
    } else {
      sketch.assign(value, generator.grow(2));
    }
  });
  if (rng.bernoulli(0.4)) nested(generator, value);
  if (!spread) {
    store_outputs(generator, outputs, 2, value);
    return;
  }
  const RangedExpression last = generator.add(generator.grow_in({-4, 4}, 1), sketch.read(value));
  sketch.store(outputs[0], generator.add_unused_leaves(last));
}

}  // namespace assay::generators
