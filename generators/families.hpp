// The generators themselves, one file each: every function fills an empty sketch with a kernel.
#pragma once

#include "generators/sketch.hpp"

namespace assay::generators {

void make_arithmetic(Sketch& sketch);
void make_math(Sketch& sketch);
void make_conditional(Sketch& sketch);
void make_multi_conditional(Sketch& sketch);
void make_loop(Sketch& sketch);
void make_nested_loop(Sketch& sketch);
void make_control_flow(Sketch& sketch);
void make_scalar_param(Sketch& sketch);
void make_vector(Sketch& sketch);
void make_matrix(Sketch& sketch);
void make_quaternion(Sketch& sketch);
void make_transform(Sketch& sketch);
void make_random_math(Sketch& sketch);
void make_in_place(Sketch& sketch);
void make_atomic(Sketch& sketch);
void make_reduction(Sketch& sketch);
void make_array_access(Sketch& sketch);
void make_integer(Sketch& sketch);
void make_function(Sketch& sketch);
void make_combined(Sketch& sketch);
void make_struct_param(Sketch& sketch);
void make_precision(Sketch& sketch);
void make_tile(Sketch& sketch);

}  // namespace assay::generators
