// Trip counts that depend on data: while, break, continue, early return, return inside loops.
#include <algorithm>
#include <array>

#include "generators/carried_state.hpp"
#include "generators/families.hpp"
#include "generators/ingredients.hpp"

namespace assay::generators {
namespace {

using ir::Op;

const std::vector<Op> kMenu = {Op::kAdd, Op::kSub, Op::kMul, Op::kMul, Op::kMul, Op::kSin, Op::kTanh};
constexpr int kMostTrips = 12;

struct FlowInputs {
  ir::VarId rows;    ///< x[i, k]
  ir::VarId own;     ///< a[i]
  ir::VarId counts;  ///< steps[i]: the number of iterations of each thread
  ir::VarId n;
  ir::VarId output;
  bool reads_rows = false;
};

/// One piece of control flow; returns the variable that holds its result.
using Piece = ir::VarId (*)(ExpressionGenerator&, FlowInputs&);

void offer_row(KernelSketch& sketch, const FlowInputs& inputs, ir::VarId index) {
  sketch.offer_element(inputs.rows, [&sketch, index] {
    return std::vector<ir::ExprId>{sketch.thread_index(), sketch.b().var(index)};
  });
}

/// The bound of a loop: n, a count per thread, or a constant.
ir::ExprId choose_stop(KernelSketch& sketch, FlowInputs& inputs) {
  ir::Builder& b = sketch.b();
  switch (sketch.rng().uniform_int(0, 3)) {
    case 0: return b.load(inputs.counts, {sketch.thread_index()});
    case 1: return b.i32(sketch.rng().uniform_int(3, kMostTrips));
    default: return b.var(inputs.n);
  }
}

void increment(KernelSketch& sketch, ir::VarId counter) {
  ir::Builder& b = sketch.b();
  b.assign(counter, b.op(Op::kAdd, {b.var(counter), b.i32(1)}));
}

ir::VarId start_counter(KernelSketch& sketch) { return sketch.let("k", {sketch.b().i32(0), {0, kMostTrips}}); }

RangedExpression both(KernelSketch& sketch, ir::ExprId a, ir::ExprId b) {
  return {sketch.b().op(Op::kAnd, {a, b}), {0, 1}};
}

/// A condition that becomes true for some threads within a few iterations.
RangedExpression leaving(ExpressionGenerator& generator, const LoopCarriedVariable& state) {
  KernelSketch& sketch = generator.sketch();
  if (sketch.rng().bernoulli(0.4)) return generator.condition(1);
  const double most = std::min(state.invariant.high, 3.0);
  const ir::ExprId limit = generator.literal({0.3 * most, 0.7 * most}).expr;
  return {sketch.b().op(Op::kGt, {sketch.b().var(state.variable), limit}), {0, 1}};
}

/// while k < n: s changes; k += 1
ir::VarId counted_while(ExpressionGenerator& generator, FlowInputs& inputs) {
  KernelSketch& sketch = generator.sketch();
  const LoopCarriedVariable state = start_state(generator, kMostTrips);
  const ir::VarId k = start_counter(sketch);
  const ir::ExprId counter = sketch.b().var(k);
  const ir::ExprId stop = choose_stop(sketch, inputs);
  ir::ExprId condition = sketch.b().op(Op::kLt, {counter, stop});
  if (sketch.rng().bernoulli(0.4)) {
    const ir::ExprId leave = leaving(generator, state).expr;
    condition = both(sketch, condition, sketch.b().op(Op::kNot, {leave})).expr;
  }
  sketch.while_({condition, {0, 1}}, [&] {
    offer_row(sketch, inputs, k);
    update_state(generator, state, true);
    increment(sketch, k);
  });
  return state.variable;
}

/// while v > tolerance and k < 20: v shrinks by a factor of the data
ir::VarId shrinking_while(ExpressionGenerator& generator, FlowInputs& inputs) {
  KernelSketch& sketch = generator.sketch();
  ir::Builder& b = sketch.b();
  const RangedExpression start = generator.fit(sketch.element(inputs.own, sketch.thread_indices()), {0.6, 4});
  const ir::VarId v = sketch.let("v", start);
  const RangedExpression factor = generator.grow_in({0.3, 0.75}, 1);
  const ir::VarId f = sketch.let("f", factor);
  const ir::VarId k = start_counter(sketch);
  const ir::ExprId above = b.op(Op::kGt, {b.var(v), generator.literal({0.1, 0.4}).expr});
  sketch.while_(both(sketch, above, b.op(Op::kLt, {b.var(k), b.i32(20)})), [&] {
    b.assign(v, b.op(Op::kMul, {b.var(v), b.var(f)}));
    increment(sketch, k);
  });
  sketch.set_range(v, {0, 4});
  return v;
}

/// Newton's iteration for a square root, until it has converged for this thread.
ir::VarId newton_while(ExpressionGenerator& generator, FlowInputs& inputs) {
  KernelSketch& sketch = generator.sketch();
  ir::Builder& b = sketch.b();
  const ir::Type real = generator.real();
  const RangedExpression target = generator.fit(sketch.element(inputs.own, sketch.thread_indices()), {0.5, 4});
  const ir::VarId goal = sketch.let("goal", target);
  const ir::VarId root = sketch.let("root", {b.literal(real, 1.5), {0.5, 4}});
  const ir::VarId k = start_counter(sketch);
  const ir::ExprId square = b.op(Op::kMul, {b.var(root), b.var(root)});
  const ir::ExprId distance = b.op(Op::kAbs, {b.op(Op::kSub, {square, b.var(goal)})});
  const ir::ExprId far = b.op(Op::kGt, {distance, b.literal(real, 0.01)});
  sketch.while_(both(sketch, far, b.op(Op::kLt, {b.var(k), b.i32(12)})), [&] {
    const ir::ExprId quotient = b.op(Op::kDiv, {b.var(goal), b.var(root)});
    const ir::ExprId sum = b.op(Op::kAdd, {b.var(root), quotient});
    b.assign(root, b.op(Op::kMul, {b.literal(real, 0.5), sum}));
    increment(sketch, k);
  });
  return root;
}

/// m = count; while m > 0: s changes; m = m // 2
ir::VarId halving_while(ExpressionGenerator& generator, FlowInputs& inputs) {
  KernelSketch& sketch = generator.sketch();
  ir::Builder& b = sketch.b();
  const LoopCarriedVariable state = start_state(generator, 5);
  const ir::VarId m = sketch.let("m", sketch.element(inputs.counts, sketch.thread_indices()));
  sketch.while_({b.op(Op::kGt, {b.var(m), b.i32(0)}), {0, 1}}, [&] {
    offer_row(sketch, inputs, m);
    update_state(generator, state, true);
    b.assign(m, b.op(Op::kFloorDiv, {b.var(m), b.i32(2)}));
  });
  return state.variable;
}

/// for k in range(n), left by break or shortened by continue.
ir::VarId interrupted_for(ExpressionGenerator& generator, FlowInputs& inputs) {
  KernelSketch& sketch = generator.sketch();
  ir::Builder& b = sketch.b();
  const LoopCarriedVariable state = start_state(generator, kMostTrips);
  const ir::ExprId stop = choose_stop(sketch, inputs);
  sketch.add_for_loop("j", b.i32(0), stop, b.i32(1), {0, kMostTrips - 1}, [&](ir::VarId j) {
    offer_row(sketch, inputs, j);
    const int kind = sketch.rng().uniform_int(0, 3);
    if (kind == 0 || kind == 3) {
      const RangedExpression skip = generator.condition(1);
      sketch.if_(skip, [&] { b.continue_(); });
    }
    if (kind == 1) sketch.if_(leaving(generator, state), [&] { b.break_(); });
    update_state(generator, state, true);
    if (kind >= 2) sketch.if_(leaving(generator, state), [&] { b.break_(); });
  });
  return state.variable;
}

/// A return from the middle of a loop, after storing the intermediate result.
ir::VarId returning_for(ExpressionGenerator& generator, FlowInputs& inputs) {
  KernelSketch& sketch = generator.sketch();
  ir::Builder& b = sketch.b();
  const LoopCarriedVariable state = start_state(generator, kMostTrips);
  const ir::ExprId stop = choose_stop(sketch, inputs);
  sketch.add_for_loop("j", b.i32(0), stop, b.i32(1), {0, kMostTrips - 1}, [&](ir::VarId j) {
    offer_row(sketch, inputs, j);
    update_state(generator, state, true);
    sketch.if_(leaving(generator, state), [&] {
      const RangedExpression found = generator.mul(generator.literal({0.25, 0.9}), sketch.read(state.variable));
      sketch.store(inputs.output, found);
      b.return_();
    });
  });
  return state.variable;
}

/// break exits only the inner of two loops.
ir::VarId inner_break(ExpressionGenerator& generator, FlowInputs& inputs) {
  KernelSketch& sketch = generator.sketch();
  ir::Builder& b = sketch.b();
  const LoopCarriedVariable outer = start_state(generator, 4);
  sketch.add_for_loop("j", b.i32(0), b.i32(sketch.rng().uniform_int(2, 4)), b.i32(1), {0, 3}, [&](ir::VarId) {
    const LoopCarriedVariable inner = start_state(generator, kMostTrips);
    const ir::ExprId stop = choose_stop(sketch, inputs);
    sketch.add_for_loop("k", b.i32(0), stop, b.i32(1), {0, kMostTrips - 1}, [&](ir::VarId k) {
      offer_row(sketch, inputs, k);
      sketch.if_(leaving(generator, inner), [&] { b.break_(); });
      update_state(generator, inner, true);
    });
    update_state(generator, outer, true);
  });
  return outer.variable;
}

/// Most early returns store first; one that follows others must, so that some thread writes an output.
void early_return(ExpressionGenerator& generator, FlowInputs& inputs, double stores) {
  KernelSketch& sketch = generator.sketch();
  const RangedExpression condition = generator.condition(2);
  sketch.if_(condition, [&] {
    if (sketch.rng().bernoulli(stores)) sketch.store(inputs.output, generator.grow(2));
    sketch.b().return_();
  });
}

constexpr std::array<Piece, 8> kPieces = {counted_while, counted_while,   shrinking_while, newton_while,
                                          halving_while, interrupted_for, returning_for,   inner_break};

}  // namespace

void make_control_flow(KernelSketch& sketch) {
  Rng& rng = sketch.rng();
  const ir::Type real = choose_float_type(rng);
  FlowInputs inputs{};
  inputs.rows = sketch.array("x", real, 2);
  inputs.own = sketch.array("a", real, 1);
  inputs.counts = sketch.array("steps", ir::kI32, 1, {0, kMostTrips});
  const auto scalars = add_scalar_parameters(sketch, real, 0, 1);
  inputs.n = sketch.scalar("n", ir::kI32, {0, kMostTrips});
  inputs.output = sketch.output("out", real);
  sketch.start();
  sketch.offer_elements({inputs.own});
  offer_variables(sketch, scalars);
  maybe_guard(sketch, inputs.own);

  ExpressionGenerator generator(sketch, real, kMenu);
  if (rng.bernoulli(0.3)) early_return(generator, inputs, 0.8);
  RangedExpression result = generator.grow(1);
  for (int left = rng.uniform_int(1, 2); left > 0; --left) {
    const ir::VarId piece = rng.choose(kPieces)(generator, inputs);
    result = generator.apply(rng.bernoulli(0.5) ? Op::kAdd : Op::kMul, {result, sketch.read(piece)});
    if (left == 2 && rng.bernoulli(0.3)) early_return(generator, inputs, 1);
  }
  // Not every piece reads the rows, but every output must depend on them.
  if (!inputs.reads_rows || rng.bernoulli(0.1)) {
    const ir::ExprId first = sketch.b().load(inputs.rows, {sketch.thread_index(), sketch.b().i32(0)});
    result = generator.add(result, {first, kDefaultInputDomain});
  }
  sketch.store(inputs.output, generator.add_unused_leaves(result));
}

}  // namespace assay::generators
