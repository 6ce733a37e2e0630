// Consecutive loops, each with loop-carried state: constant and dynamic bounds, steps, reversed
// ranges, zero trips, values from before a loop used after it.
#include "generators/carried_state.hpp"
#include "generators/families.hpp"
#include "generators/ingredients.hpp"

namespace assay::generators {
namespace {

using ir::Op;

const std::vector<Op> kMenu = {Op::kAdd, Op::kSub, Op::kMul, Op::kMul, Op::kMul, Op::kSin, Op::kTanh, Op::kDiv};
constexpr int kMostTrips = 12;

/// The arrays that a loop body reads, and the sources of trip counts.
struct LoopInputs {
  ir::VarId rows = ir::kNone;     ///< x[i, j]
  ir::VarId shared = ir::kNone;   ///< w[j], which every thread reads
  ir::VarId trips = ir::kNone;    ///< n
  ir::VarId lengths = ir::kNone;  ///< lengths[i]: each thread its own
  ir::VarId decay = ir::kNone;
};

LoopInputs add_loop_inputs(KernelSketch& sketch, ir::Type real) {
  Rng& rng = sketch.rng();
  LoopInputs inputs;
  const bool has_rows = rng.bernoulli(0.6);
  if (has_rows) inputs.rows = sketch.array("x", real, 2);
  if (!has_rows || rng.bernoulli(0.4)) inputs.shared = sketch.array("w", real, 1);
  if (rng.bernoulli(0.7)) inputs.trips = sketch.scalar("n", ir::kI32, {0, kMostTrips});
  if (rng.bernoulli(0.25)) inputs.lengths = sketch.array("lengths", ir::kI32, 1, {0, 8});
  if (rng.bernoulli(0.4)) inputs.decay = sketch.scalar("decay", real, {0.2, 0.9});
  return inputs;
}

LoopRange choose_range(KernelSketch& sketch, const LoopInputs& inputs) {
  ir::Builder& b = sketch.b();
  if (inputs.lengths != ir::kNone && sketch.rng().bernoulli(0.5))
    return dynamic_range(
        sketch, [&] { return b.load(inputs.lengths, {sketch.thread_index()}); }, 8);
  if (inputs.trips != ir::kNone && sketch.rng().bernoulli(0.75))
    return dynamic_range(
        sketch, [&] { return b.var(inputs.trips); }, kMostTrips);
  return constant_range(sketch);
}

void offer_at(KernelSketch& sketch, const LoopInputs& inputs, ir::VarId index) {
  if (inputs.rows != ir::kNone) {
    sketch.offer_element(inputs.rows, [&sketch, index] {
      return std::vector<ir::ExprId>{sketch.thread_index(), sketch.b().var(index)};
    });
  }
  if (inputs.shared != ir::kNone)
    sketch.offer_element(inputs.shared, [&sketch, index] { return std::vector<ir::ExprId>{sketch.b().var(index)}; });
}

void add_loop(ExpressionGenerator& generator, const LoopInputs& inputs, std::vector<LoopCarriedVariable>& states) {
  KernelSketch& sketch = generator.sketch();
  const LoopRange range = choose_range(sketch, inputs);
  const std::size_t first = states.size();
  for (int left = sketch.rng().uniform_int(1, 2); left > 0; --left)
    states.push_back(start_state(generator, range.max_iterations, inputs.decay));
  sketch.add_for_loop("j", range.start, range.stop, range.step, range.index_range, [&](ir::VarId index) {
    offer_at(sketch, inputs, index);
    if (sketch.rng().bernoulli(0.4)) offer_index(generator, index);
    if (sketch.rng().bernoulli(0.4)) sketch.let("t", generator.grow(2));
    for (std::size_t k = first; k < states.size(); ++k)
      update_state(generator, states[k], k == first);
  });
}

}  // namespace

void make_loop(KernelSketch& sketch) {
  Rng& rng = sketch.rng();
  const ir::Type real = choose_float_type(rng);
  const LoopInputs inputs = add_loop_inputs(sketch, real);
  const ir::VarId own = sketch.array("a", real, 1);
  const auto scalars = add_scalar_parameters(sketch, real, 0, 1);
  const auto outputs = add_outputs(sketch, real, 1, 2);
  sketch.start();
  sketch.offer_elements({own});
  offer_variables(sketch, scalars);
  maybe_guard(sketch, own);

  ExpressionGenerator generator(sketch, real, kMenu);
  const ir::VarId before = sketch.let("before", generator.grow(1));
  std::vector<LoopCarriedVariable> states;
  for (int left = rng.uniform_int(1, 2); left > 0; --left)
    add_loop(generator, inputs, states);
  RangedExpression result = sketch.read(states[0].variable);
  for (std::size_t k = 1; k < states.size(); ++k)
    result = generator.apply(rng.bernoulli(0.5) ? Op::kAdd : Op::kMul, {result, sketch.read(states[k].variable)});
  if (rng.bernoulli(0.6)) result = generator.mul(sketch.read(before), result);
  if (inputs.decay != ir::kNone) result = generator.mul(sketch.read(inputs.decay), result);
  sketch.store(outputs[0], generator.add_unused_leaves(result));
  if (outputs.size() > 1) sketch.store(outputs[1], generator.grow(2));
}

}  // namespace assay::generators
