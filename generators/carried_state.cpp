#include "generators/carried_state.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string_view>

namespace assay::generators {
namespace {

using ir::Op;

constexpr LoopStateUpdate kStateUpdates[] = {
    LoopStateUpdate::kSum,      LoopStateUpdate::kProduct,   LoopStateUpdate::kProduct,
    LoopStateUpdate::kDecay,    LoopStateUpdate::kDecay,     LoopStateUpdate::kHorner,
    LoopStateUpdate::kSaturate, LoopStateUpdate::kOscillate, LoopStateUpdate::kRunningMaximum,
    LoopStateUpdate::kGated,    LoopStateUpdate::kRational};
constexpr std::string_view kNames[] = {"s", "acc", "p", "state", "v"};
constexpr Interval kBody{-2, 2};

/// Factors of a product that stays below about 20 for this many iterations.
Interval product_factor(int trips) {
  if (trips <= 8) return {0.6, 1.4};
  if (trips <= 16) return {0.7, 1.18};
  if (trips <= 40) return {0.85, 1.07};
  return {0.95, 1.02};
}

/// Bounds that hold before and after every iteration if the start is in [-1.5, 1.5].
Interval invariant_of(LoopStateUpdate update, int trips) {
  switch (update) {
    case LoopStateUpdate::kSum:
    case LoopStateUpdate::kGated: return {-1.5 - 2.0 * trips, 1.5 + 2.0 * trips};
    case LoopStateUpdate::kProduct: return {-24, 24};
    case LoopStateUpdate::kDecay: return {-20, 20};
    case LoopStateUpdate::kHorner: return {-10, 10};
    case LoopStateUpdate::kSaturate:
    case LoopStateUpdate::kOscillate: return {-1.5, 1.5};
    case LoopStateUpdate::kRunningMaximum: return {-2, 2};
    case LoopStateUpdate::kRational: return {-1.5, 1.5};
  }
  return kModerateRange;
}

}  // namespace

LoopCarriedVariable start_state(ExpressionGenerator& generator, int trips, ir::VarId decay) {
  KernelSketch& sketch = generator.sketch();
  Rng& rng = sketch.rng();
  const LoopStateUpdate update =
      decay != ir::kNone && rng.bernoulli(0.5) ? LoopStateUpdate::kDecay : rng.choose(kStateUpdates);
  LoopCarriedVariable state{.update = update,
                            .invariant = invariant_of(update, trips),
                            .decay_parameter = decay,
                            .factor_range = product_factor(trips)};
  const std::string_view name = rng.choose(kNames);
  RangedExpression start = update == LoopStateUpdate::kSum && rng.bernoulli(0.5)
                               ? RangedExpression{sketch.b().literal(generator.real(), 0.0), {0, 0}}
                               : generator.literal({0.25, 1.5});
  if (rng.bernoulli(0.3)) start = generator.fit(generator.leaf(), {-1.5, 1.5});
  state.variable = sketch.let(name, start);
  sketch.set_range(state.variable, state.invariant);
  return state;
}

void update_state(ExpressionGenerator& generator, const LoopCarriedVariable& state, bool use_all) {
  KernelSketch& sketch = generator.sketch();
  ir::Builder& b = sketch.b();
  const ir::Type real = generator.real();
  const auto s = [&] { return b.var(state.variable); };
  const auto number = [&](double value) { return b.literal(real, value); };
  const auto body = [&](Interval target) {
    const RangedExpression grown = generator.grow(2);
    return generator.fit(use_all ? generator.add_unused_leaves(grown) : grown, target).expr;
  };
  const auto set = [&](ir::ExprId value) { sketch.assign(state.variable, {value, state.invariant}); };
  switch (state.update) {
    case LoopStateUpdate::kSum: set(b.op(Op::kAdd, {s(), body(kBody)})); break;
    case LoopStateUpdate::kProduct: set(b.op(Op::kMul, {s(), body(state.factor_range)})); break;
    case LoopStateUpdate::kDecay: {
      const ir::ExprId e = body(kBody);
      const ir::ExprId a =
          state.decay_parameter == ir::kNone ? generator.literal({0.3, 0.9}).expr : b.var(state.decay_parameter);
      set(b.op(Op::kAdd, {b.op(Op::kMul, {a, s()}), e}));
      break;
    }
    case LoopStateUpdate::kHorner: {
      const ir::ExprId c = body(kBody);
      const ir::ExprId x = generator.fit(generator.leaf(), {-0.8, 0.8}).expr;
      set(b.op(Op::kAdd, {b.op(Op::kMul, {s(), x}), c}));
      break;
    }
    case LoopStateUpdate::kSaturate:
      set(b.op(Op::kTanh, {b.op(Op::kAdd, {b.op(Op::kMul, {number(0.8), s()}), body({-1, 1})})}));
      break;
    case LoopStateUpdate::kOscillate: set(b.op(Op::kSin, {b.op(Op::kAdd, {s(), body(kBody)})})); break;
    case LoopStateUpdate::kRunningMaximum:
      set(b.op(Op::kMax, {b.op(Op::kMul, {number(0.9), s()}), body(kBody)}));
      break;
    case LoopStateUpdate::kGated: {
      const ir::VarId e = sketch.let("e", {body(kBody), kBody});
      const ir::ExprId limit = generator.literal({-0.9, 0.9}).expr;
      sketch.if_(
          {b.op(Op::kGt, {b.var(e), limit}), {0, 1}},
          [&] {
            set(b.op(Op::kAdd, {s(), b.var(e)}));
          },
          [&] {
            set(b.op(Op::kMul, {s(), number(0.9)}));
          });
      break;
    }
    case LoopStateUpdate::kRational: {
      const ir::ExprId e = body({-3, 3});
      const ir::ExprId bounded = b.op(Op::kDiv, {s(), b.op(Op::kAdd, {number(1), b.op(Op::kMul, {s(), s()})})});
      set(b.op(Op::kAdd, {bounded, b.op(Op::kMul, {number(0.25), e})}));
      break;
    }
  }
  sketch.set_range(state.variable, state.invariant);
}

LoopRange constant_range(KernelSketch& sketch) {
  Rng& rng = sketch.rng();
  const auto range = [&](int start, int stop, int step) {
    const int distance = step > 0 ? stop - start : start - stop;
    const int size = step > 0 ? step : -step;
    const int trips = distance > 0 ? (distance + size - 1) / size : 0;
    const int last = trips > 0 ? start + (trips - 1) * step : start;
    ir::Builder& b = sketch.b();
    return LoopRange{
        .start = b.i32(start),
        .stop = b.i32(stop),
        .step = b.i32(step),
        .index_range = {static_cast<double>(std::min(start, last)), static_cast<double>(std::max(start, last))},
        .max_iterations = trips};
  };
  switch (rng.uniform_int(0, 9)) {
    case 0: return range(rng.uniform_int(4, 9) - 1, -1, -1);
    case 1: return range(rng.uniform_int(6, 12), 0, -2);
    case 2: return range(rng.uniform_int(1, 3), rng.uniform_int(7, 12), 3);
    case 3: return range(0, rng.uniform_int(5, 12), 2);
    case 4: return range(rng.uniform_int(1, 3), rng.uniform_int(5, 9), 1);
    case 5: return range(0, rng.uniform_int(17, 24), 1);
    case 6: return rng.bernoulli(0.3) ? range(5, 2, 1) : range(0, 1, 1);
    default: return range(0, rng.uniform_int(2, 8), 1);
  }
}

LoopRange dynamic_range(KernelSketch& sketch, const std::function<ir::ExprId()>& n, int most) {
  ir::Builder& b = sketch.b();
  const auto range = [&](ir::ExprId start, ir::ExprId stop, int step, double low, double high, int trips) {
    return LoopRange{
        .start = start, .stop = stop, .step = b.i32(step), .index_range = {low, high}, .max_iterations = trips};
  };
  switch (sketch.rng().uniform_int(0, 8)) {
    case 0: return range(b.op(Op::kSub, {n(), b.i32(1)}), b.i32(-1), -1, 0, most - 1, most);
    case 1: return range(n(), b.i32(0), -1, 1, most, most);
    case 2: return range(b.i32(1), n(), 1, 1, most - 1, most - 1);
    case 3: return range(b.i32(0), n(), 2, 0, most - 1, (most + 1) / 2);
    case 4: {
      const ir::ExprId start = n();
      return range(start, b.op(Op::kAdd, {n(), b.i32(4)}), 1, 0, most + 3, 4);
    }
    default: return range(b.i32(0), n(), 1, 0, most - 1, most);
  }
}

void offer_index(ExpressionGenerator& generator, ir::VarId index) {
  KernelSketch& sketch = generator.sketch();
  const Interval range = sketch.domain(index);
  const double greatest = std::max({1.0, std::abs(range.low), std::abs(range.high)});
  const double factor = truncate_to_two_digits(1.5 / greatest);
  const ir::Type real = generator.real();
  const auto make = [&sketch, index, factor, real] {
    ir::Builder& b = sketch.b();
    // Via f32: Warp retypes the constant index of an unrolled loop that is cast to f64 directly.
    const ir::ExprId small = b.cast(ir::kF32, b.var(index));
    const ir::ExprId converted = real == ir::kF32 ? small : b.cast(real, small);
    return b.op(Op::kMul, {converted, b.literal(real, factor)});
  };
  sketch.offer({.type = real, .range = {range.low * factor, range.high * factor}, .make = make, .is_discrete = true});
}

}  // namespace assay::generators
