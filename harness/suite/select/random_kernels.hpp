// Generated kernels as sources.
#pragma once

#include <cstdint>
#include <string_view>

#include "generators/generator.hpp"
#include "harness/suite/run/run.hpp"
#include "support/result.hpp"

namespace assay::harness {

/// The random kernel "loop/r1_42". It is written as Warp Python and read back, so that its emitted sources carry lines
/// of Python as a user's do. Fails for a name that the generators do not know, and, which is a defect of Assay, when
/// what was read is another program than what was generated.
Result<KernelSource> random_kernel(std::string_view name);

/// The same kernel with the module that reading its Python is known to give, unread where the writer can tell it
/// (source::warp::write_module): the same texts follow from it, but nothing has checked that the Python says what it
/// says.
Result<KernelSource> unread_random_kernel(std::string_view name);

/// The same for the family's kernel of a seed.
Result<KernelSource> random_kernel(generators::Family family, std::uint64_t seed);

/// Whether a kernel's part of a name is one of a random kernel, of whatever version: "r1_42".
bool is_random_name(std::string_view kernel);

}  // namespace assay::harness
