// Common parts of kernels of several families: types, inputs, outputs and guards, with conventional names.
#pragma once

#include <vector>

#include "generators/grower.hpp"
#include "generators/sketch.hpp"

namespace assay::generators {

/// f32, or f64 with the given probability.
ir::Type choose_float_type(Rng& rng, double f64_probability = 0.15);

/// Arrays of the type with conventional names; between `fewest` and `most` of them.
std::vector<ir::VarId> add_inputs(KernelSketch& sketch, ir::Type element, int rank, int fewest, int most);
/// Adds by-value parameters of the type, between `fewest` and `most` of them.
std::vector<ir::VarId> add_scalar_parameters(KernelSketch& sketch, ir::Type type, int fewest, int most,
                                             Interval domain = kDefaultInputDomain);
std::vector<ir::VarId> add_outputs(KernelSketch& sketch, ir::Type element, int fewest, int most);

void offer_variables(KernelSketch& sketch, const std::vector<ir::VarId>& variables);
void offer_arrays(KernelSketch& sketch, const std::vector<ir::VarId>& arrays);

/// With some probability, adds `if i >= x.shape[0]: return`, as in kernels whose launch is rounded up.
void maybe_guard(KernelSketch& sketch, ir::VarId array);

/// Declares a random number generator and draws a few numbers or points, which expressions of float32 may use.
void draw_random_numbers(KernelSketch& sketch, Rng& rng);

/// Declares up to `count` temporaries with trees of the given depth.
void add_temporaries(ExpressionGenerator& generator, int count, int depth);

/// Stores a random expression into every output. The first one also contains `result`, if given, and every unused
/// input.
void store_outputs(ExpressionGenerator& generator, const std::vector<ir::VarId>& outputs, int depth,
                   ir::VarId result = ir::kNone);

}  // namespace assay::generators
