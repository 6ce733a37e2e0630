// Nested loops: constant in dynamic and vice versa, triangular bounds, inner accumulators that change
// outer state.
#include <algorithm>

#include "generators/carried_state.hpp"
#include "generators/families.hpp"
#include "generators/ingredients.hpp"

namespace assay::generators {
namespace {

using ir::Op;

const std::vector<Op> kMenu = {Op::kAdd, Op::kSub, Op::kMul, Op::kMul, Op::kMul, Op::kCos, Op::kTanh};
constexpr int kMostTrips = 6;

struct NestInputs {
  ir::VarId table;            ///< w[j, k], which every thread reads
  ir::VarId row = ir::kNone;  ///< c[j]
  ir::VarId n, m;
};

/// Bounds of an inner loop, some of which depend on the outer index.
LoopRange inner_range(KernelSketch& sketch, const NestInputs& inputs, ir::VarId outer) {
  ir::Builder& b = sketch.b();
  const int most = static_cast<int>(sketch.domain(outer).high);
  const auto rising = [&](ir::ExprId start, ir::ExprId stop, int trips) {
    return LoopRange{.start = start,
                     .stop = stop,
                     .step = b.i32(1),
                     .index_range = {0, std::max(0.0, trips - 1.0)},
                     .max_iterations = trips};
  };
  switch (sketch.rng().uniform_int(0, 6)) {
    case 0: return rising(b.i32(0), b.var(outer), most);
    case 1: return rising(b.i32(0), b.op(Op::kAdd, {b.var(outer), b.i32(1)}), most + 1);
    case 2: {
      const ir::ExprId start = b.var(outer);
      return rising(start, b.var(inputs.n), kMostTrips);
    }
    case 3: return rising(b.i32(0), b.i32(sketch.rng().uniform_int(2, 5)), 5);
    case 4: {
      const ir::ExprId start = b.op(Op::kSub, {b.var(inputs.m), b.i32(1)});
      return {.start = start,
              .stop = b.i32(-1),
              .step = b.i32(-1),
              .index_range = {0, kMostTrips - 1},
              .max_iterations = kMostTrips};
    }
    default: return rising(b.i32(0), b.var(inputs.m), kMostTrips);
  }
}

/// The body of the innermost loop, or another loop around it.
void add_inner(ExpressionGenerator& generator, const NestInputs& inputs, ir::VarId outer, int levels,
               const LoopCarriedVariable& whole) {
  KernelSketch& sketch = generator.sketch();
  const LoopRange range = inner_range(sketch, inputs, outer);
  const bool own_state = sketch.rng().bernoulli(0.7);
  const LoopCarriedVariable state =
      own_state ? start_state(generator, range.max_iterations * (levels > 1 ? 8 : 1)) : whole;
  sketch.add_for_loop("k", range.start, range.stop, range.step, range.index_range, [&](ir::VarId inner) {
    sketch.offer_element(inputs.table, [&sketch, outer, inner] {
      return std::vector<ir::ExprId>{sketch.b().var(outer), sketch.b().var(inner)};
    });
    if (sketch.rng().bernoulli(0.3)) offer_index(generator, inner);
    if (levels > 1) add_inner(generator, inputs, inner, levels - 1, state);
    update_state(generator, state, true);
  });
  if (!own_state || sketch.rng().bernoulli(0.3)) {
    update_state(generator, whole, true);
    return;
  }
  // Multiply the outer state by the inner result or add it, within the bounds of that state.
  const RangedExpression inner_result = sketch.read(state.variable);
  const bool multiplies = sketch.rng().bernoulli(0.5);
  const Interval bound = multiplies ? Interval{-0.98, 0.98} : Interval{-0.5, 0.5};
  const RangedExpression change = generator.fit(inner_result, bound);
  const RangedExpression kept = multiplies ? sketch.read(whole.variable)
                                           : generator.mul(generator.literal({0.3, 0.6}), sketch.read(whole.variable));
  const RangedExpression joined = multiplies ? generator.mul(kept, change) : generator.add(kept, change);
  sketch.assign(whole.variable, generator.fit(joined, whole.invariant));
  sketch.set_range(whole.variable, whole.invariant);
}

}  // namespace

void make_nested_loop(KernelSketch& sketch) {
  Rng& rng = sketch.rng();
  const ir::Type real = choose_float_type(rng);
  NestInputs inputs{};
  inputs.table = sketch.array("w", real, 2);
  if (rng.bernoulli(0.5)) inputs.row = sketch.array("c", real, 1);
  const auto own = add_inputs(sketch, real, 1, 1, 2);
  inputs.n = sketch.scalar("n", ir::kI32, {0, kMostTrips});
  inputs.m = sketch.scalar("m", ir::kI32, {0, kMostTrips});
  const auto outputs = add_outputs(sketch, real, 1, 2);
  sketch.start();
  offer_arrays(sketch, own);
  maybe_guard(sketch, own[0]);

  ExpressionGenerator generator(sketch, real, kMenu);
  const ir::VarId before = sketch.let("before", generator.grow(1));
  const int levels = rng.bernoulli(0.2) ? 2 : 1;
  const LoopCarriedVariable whole = start_state(generator, levels > 1 ? 220 : 40);
  ir::Builder& b = sketch.b();
  const bool constant_outer = rng.bernoulli(0.3);
  const ir::ExprId stop = constant_outer ? b.i32(rng.uniform_int(2, 5)) : b.var(inputs.n);
  const ir::ExprId start = b.i32(0);
  sketch.add_for_loop("j", start, stop, b.i32(1), {0, kMostTrips - 1}, [&](ir::VarId outer) {
    if (inputs.row != ir::kNone)
      sketch.offer_element(inputs.row, [&] { return std::vector<ir::ExprId>{b.var(outer)}; });
    if (rng.bernoulli(0.3)) sketch.let("t", generator.grow(1));
    add_inner(generator, inputs, outer, levels, whole);
  });
  const RangedExpression result =
      generator.mul(generator.fit(sketch.read(before), {-4, 4}), sketch.read(whole.variable));
  sketch.store(outputs[0], generator.add_unused_leaves(result));
  if (outputs.size() > 1)
    sketch.store(outputs[1], generator.add(generator.grow_in({-4, 4}, 1), sketch.read(whole.variable)));
}

}  // namespace assay::generators
