// f16, bf16, f32 and f64, alone and mixed by casts: arithmetic and functions in each, storage in a narrow type and
// computation in a wide one.
#include "generators/families.hpp"
#include "generators/ingredients.hpp"

namespace assay::generators {
namespace {

using ir::Op;

const ir::Type kF16 = scalar_type(ir::Scalar::kF16);
const ir::Type kBF16 = scalar_type(ir::Scalar::kBF16);

/// Short sequences of operations without cancellation or small divisors: 16-bit floats have only 2 or 3 digits.
const std::vector<Op> kNarrowMenu = {Op::kAdd, Op::kMul, Op::kMul, Op::kSin, Op::kTanh, Op::kMax, Op::kConditional};
const std::vector<Op> kWideMenu = {Op::kAdd, Op::kSub, Op::kMul,  Op::kMul,  Op::kDiv,        Op::kSin,
                                   Op::kExp, Op::kMin, Op::kSqrt, Op::kTanh, Op::kConditional};

bool is_narrow(ir::Type type) { return row(type.scalar).bytes == 2; }

/// Offers the elements of an array as values of another type.
void offer_cast(KernelSketch& sketch, ir::VarId array, ir::Type as) {
  const auto make = [&sketch, array, as] {
    return sketch.b().cast(as, sketch.b().load(array, sketch.thread_indices()));
  };
  sketch.offer({.type = as, .range = kDefaultInputDomain, .make = make});
}

}  // namespace

void make_precision(KernelSketch& sketch) {
  Rng& rng = sketch.rng();
  const ir::Type compute = rng.choose({kF16, kF16, kBF16, ir::kF32, ir::kF32, ir::kF64, ir::kF64});
  const auto own = add_inputs(sketch, compute, 1, 1, 2);
  std::vector<ir::VarId> others;
  for (int left = rng.uniform_int(0, 2); left > 0; --left) {
    const ir::Type other = rng.choose({kF16, kBF16, ir::kF32, ir::kF64});
    others.push_back(sketch.array(rng.choose({is_narrow(other) ? "half" : "wide", "fine", "coarse"}), other, 1));
  }
  const ir::VarId gain = rng.bernoulli(0.3) ? sketch.scalar("gain", compute) : ir::kNone;
  const ir::VarId out = sketch.output("out", compute);
  const ir::Type stored = rng.choose({kF16, kBF16, ir::kF32, ir::kF64});
  const ir::VarId copy = rng.bernoulli(0.6) ? sketch.output("copy", stored) : ir::kNone;
  sketch.start();
  offer_arrays(sketch, own);
  for (const ir::VarId other : others)
    offer_cast(sketch, other, compute);
  if (gain != ir::kNone) sketch.offer_variable(gain);

  ExpressionGenerator generator(sketch, compute, is_narrow(compute) ? kNarrowMenu : kWideMenu);
  const int depth = is_narrow(compute) ? 1 : 3;
  const ir::VarId value = sketch.let("value", generator.add_unused_leaves(generator.grow(depth)));
  if (copy != ir::kNone) {
    ir::Builder& b = sketch.b();
    const ir::ExprId kept = b.op(Op::kMul, {b.cast(stored, b.var(value)), b.literal(stored, 0.5)});
    b.store(copy, sketch.thread_indices(), kept);
  }
  const RangedExpression last = generator.grow(is_narrow(compute) ? 0 : 2);
  sketch.store(out, generator.fit(generator.add(sketch.read(value), last), kModerateRange));
}

}  // namespace assay::generators
