// Straight-line arithmetic: every operator, augmented assignment, integers of all widths, mixed types and casts.
#include "generators/families.hpp"
#include "generators/ingredients.hpp"
#include "generators/integers.hpp"

namespace assay::generators {
namespace {

using ir::Op;

const std::vector<Op> kMenu = {Op::kAdd, Op::kAdd, Op::kSub, Op::kSub,      Op::kMul, Op::kMul, Op::kMul,
                               Op::kDiv, Op::kDiv, Op::kMod, Op::kFloorDiv, Op::kNeg, Op::kPow};

/// Offers float(k) for an integer leaf, float64(x) for a float one.
void offer_converted(KernelSketch& sketch, ir::VarId array, ir::Type real) {
  const bool discrete = ir::is_integer(sketch.b().function().var(array).type.scalar);
  const auto make = [&sketch, array, real] {
    return sketch.b().cast(real, sketch.element(array, sketch.thread_indices()).expr);
  };
  sketch.offer({.type = real, .range = sketch.domain(array), .make = make, .is_discrete = discrete});
}

/// t += e and similar statements. Factors stay near 1 and divisors away from 0.
void augment(ExpressionGenerator& generator, ir::VarId variable) {
  KernelSketch& sketch = generator.sketch();
  const Op op = sketch.rng().choose({Op::kAdd, Op::kSub, Op::kMul, Op::kDiv});
  RangedExpression change = generator.grow(1);
  if (op == Op::kMul) change = generator.fit(change, {-1.5, 1.5});
  const RangedExpression changed = generator.apply(op, {sketch.read(variable), change});
  sketch.assign(variable, changed);
  if (!contains(kModerateRange, changed.range)) sketch.assign(variable, generator.limit_range(sketch.read(variable)));
}

void integer_part(KernelSketch& sketch, ir::Type integer, ir::VarId output) {
  const RangedExpression first = grow_integer(sketch, integer, 2);
  sketch.let("m", first);
  sketch.store(output, grow_integer(sketch, integer, sketch.rng().uniform_int(1, 3)));
}

}  // namespace

void make_arithmetic(KernelSketch& sketch) {
  Rng& rng = sketch.rng();
  const ir::Type real = choose_float_type(rng, 0.25);
  const ir::Type other = real == ir::kF32 ? ir::kF64 : ir::kF32;
  const bool integers = rng.bernoulli(0.5);
  const bool mixed = rng.bernoulli(0.25);
  const ir::Type integer = choose_integer_type(rng);
  if (rng.bernoulli(0.15)) sketch.set_launch_rank(2);

  const auto inputs = add_inputs(sketch, real, sketch.launch_rank(), 1, 3);
  const auto scalars = add_scalar_parameters(sketch, real, 0, 2);
  std::vector<ir::VarId> converted;
  if (mixed) converted.push_back(sketch.array("fine", other, sketch.launch_rank()));
  if (integers) converted.push_back(sketch.array("k", integer, sketch.launch_rank(), small_domain(integer)));
  const auto outputs = add_outputs(sketch, real, 1, 2);
  const ir::VarId counts = integers ? sketch.output("counts", integer) : ir::kNone;
  sketch.start();

  offer_arrays(sketch, inputs);
  offer_variables(sketch, scalars);
  for (const ir::VarId array : converted)
    offer_converted(sketch, array, real);
  if (integers) sketch.offer_elements({converted.back()});
  maybe_guard(sketch, inputs[0]);

  ExpressionGenerator generator(sketch, real, kMenu);
  const ir::VarId total = sketch.let("total", generator.grow(2));
  add_temporaries(generator, rng.uniform_int(0, 3), 3);
  for (int left = rng.uniform_int(0, 2); left > 0; --left)
    augment(generator, total);
  if (integers) integer_part(sketch, integer, counts);
  store_outputs(generator, outputs, 2, total);
}

}  // namespace assay::generators
