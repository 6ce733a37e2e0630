// The generators themselves, one file each: every function fills an empty sketch with a kernel, or writes it as Python.
#pragma once

#include <string>
#include <string_view>

#include "generators/sketch.hpp"

namespace assay::generators {

void make_arithmetic(KernelSketch& sketch);
void make_math(KernelSketch& sketch);
void make_conditional(KernelSketch& sketch);
void make_multi_conditional(KernelSketch& sketch);
void make_loop(KernelSketch& sketch);
void make_nested_loop(KernelSketch& sketch);
void make_control_flow(KernelSketch& sketch);
void make_scalar_param(KernelSketch& sketch);
void make_vector(KernelSketch& sketch);
void make_matrix(KernelSketch& sketch);
void make_quaternion(KernelSketch& sketch);
void make_transform(KernelSketch& sketch);
void make_random_math(KernelSketch& sketch);
void make_in_place(KernelSketch& sketch);
void make_atomic(KernelSketch& sketch);
void make_reduction(KernelSketch& sketch);
void make_array_access(KernelSketch& sketch);
void make_integer(KernelSketch& sketch);
void make_function(KernelSketch& sketch);
void make_combined(KernelSketch& sketch);
void make_struct_param(KernelSketch& sketch);
void make_precision(KernelSketch& sketch);
void make_tile(KernelSketch& sketch);

/// The Python text of a file with a random kernel of this name that queries meshes, hash grids, hierarchies of boxes,
/// textures or volumes.
std::string write_spatial(Rng& rng, std::string_view name);

}  // namespace assay::generators
