// Scalar functions: each function of the operation table that Warp supports, alone and composed.
#include "generators/families.hpp"
#include "generators/ingredients.hpp"

namespace assay::generators {
namespace {

using ir::Op;

/// The scalar functions of the operation table that Warp has a name for.
std::vector<Op> functions() {
  std::vector<Op> result;
  for (int index = static_cast<int>(Op::kAbs); index <= static_cast<int>(Op::kRadians); ++index) {
    const auto op = static_cast<Op>(index);
    if (!row(op).warp_pattern.empty()) result.push_back(op);
  }
  return result;
}

}  // namespace

void make_math(KernelSketch& sketch) {
  Rng& rng = sketch.rng();
  const ir::Type real = choose_float_type(rng);
  if (rng.bernoulli(0.1)) sketch.set_launch_rank(2);
  const auto inputs = add_inputs(sketch, real, sketch.launch_rank(), 1, 3);
  const auto scalars = add_scalar_parameters(sketch, real, 0, 1);
  const auto outputs = add_outputs(sketch, real, 1, 3);
  sketch.start();
  offer_arrays(sketch, inputs);
  offer_variables(sketch, scalars);
  maybe_guard(sketch, inputs[0]);

  // A few functions per kernel, combined by arithmetic, so that a failure has few possible causes.
  static const std::vector<Op> kFunctions = functions();
  std::vector<Op> menu{Op::kAdd, Op::kMul, Op::kSub};
  for (int left = rng.uniform_int(3, 6); left > 0; --left) {
    const Op op = rng.choose(kFunctions);
    menu.insert(menu.end(), 2, op);
  }
  ExpressionGenerator generator(sketch, real, menu);
  add_temporaries(generator, rng.uniform_int(1, 3), 2);
  // Functions of an input in variables of their own: trees of the menu leave some functions out.
  for (int left = 2; left > 0; --left) {
    ExpressionGenerator single(sketch, real, {rng.choose(kFunctions)});
    add_temporaries(single, 1, 1);
  }
  store_outputs(generator, outputs, 2);
}

}  // namespace assay::generators
