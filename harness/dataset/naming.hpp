// Names for random kernels: what a person would call the kernel and its variables.
//
// The generators number their kernels (r2_42), and give variables a short name and a number. The names here come from
// the program: the functions that it calls, what it computes from what, and its loops, branches and atomics. They are
// computed from the program alone, so every machine gives a kernel the same names; only the choice between the names
// of a kernel depends on the other rows of the dataset (finish.hpp).
#pragma once

#include <string>
#include <vector>

#include "ir/module.hpp"

namespace assay::dataset {

/// Names for the only kernel of a module, from the shortest to the most detailed, such as "sin_and_accumulate",
/// "energy_of_force_and_mass". Each is a valid identifier that no variable, function or struct of the module has. They
/// depend on the names of the parameters, but not on that of the kernel.
std::vector<std::string> kernel_names(const ir::Module& module);

/// Gives the variables and functions that the generators number a name for their role: `t2 = wp.sin(x[i])` becomes
/// `sin_x`. Does not change the program.
void name_variables(ir::Module& module);

}  // namespace assay::dataset
