// Expression trees of operations and functions, 2 to 8 operations deep.
#include <algorithm>

#include "generators/families.hpp"
#include "generators/ingredients.hpp"

namespace assay::generators {
namespace {

using ir::Op;

/// Operators and functions with moderate derivatives over their well-conditioned operands, so that trees of any depth
/// stay well conditioned.
const std::vector<Op> kMenu = {Op::kAdd, Op::kAdd,  Op::kSub,  Op::kSub,  Op::kMul,         Op::kMul,    Op::kMul,
                               Op::kDiv, Op::kNeg,  Op::kSin,  Op::kCos,  Op::kTanh,        Op::kAtan,   Op::kExp,
                               Op::kLog, Op::kSqrt, Op::kCbrt, Op::kErf,  Op::kAtan2,       Op::kPow,    Op::kAbs,
                               Op::kMin, Op::kMax,  Op::kLerp, Op::kSinh, Op::kConditional, Op::kWhere,  Op::kClamp,
                               Op::kMod, Op::kAcos, Op::kAsin, Op::kCosh, Op::kLog2,        Op::kRadians};

}  // namespace

void make_random_math(KernelSketch& sketch) {
  Rng& rng = sketch.rng();
  const ir::Type real = choose_float_type(rng);
  if (rng.bernoulli(0.15)) sketch.set_launch_rank(2);
  const auto inputs = add_inputs(sketch, real, sketch.launch_rank(), 1, 4);
  const auto scalars = add_scalar_parameters(sketch, real, 0, 2);
  const auto outputs = add_outputs(sketch, real, 1, 2);
  sketch.start();
  offer_arrays(sketch, inputs);
  offer_variables(sketch, scalars);
  Rng numbers = rng.split("numbers");
  if (real == ir::kF32 && numbers.bernoulli(0.4)) draw_random_numbers(sketch, numbers);

  ExpressionGenerator generator(sketch, real, kMenu);
  const int depth = rng.uniform_int(2, 8);
  // A deep tree is wide too, so parts of it get names, as in code written by people.
  add_temporaries(generator, depth > 5 ? rng.uniform_int(1, 2) : rng.uniform_int(0, 1), std::max(2, depth / 2));
  store_outputs(generator, outputs, depth);
}

}  // namespace assay::generators
