// Generated kernels as sources.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "generators/generator.hpp"
#include "harness/suite/run/run.hpp"
#include "support/result.hpp"

namespace assay::harness {

/// Gives the only kernel of a module, its functions and variables other names. Must not change the program.
using RenameModule = std::function<void(ir::Module&)>;

/// The random kernel "loop/r2_42". It is written as Warp Python and parsed, so that its emitted sources refer to lines
/// of Python as a user's do. `rename`, if not null, is applied first; comments of the code then refer to a file with
/// the name of the kernel. Fails on a name that the generators do not know, and with an internal error if the parsed
/// program differs from the generated one.
Result<KernelSource> random_kernel(std::string_view name, const RenameModule& rename = nullptr);

/// The same kernel without parsing its Python, if the writer can construct the module that parsing would produce
/// (source::warp::write_module). The emitted sources are the same, but the round trip through Python is not checked.
Result<KernelSource> unparsed_random_kernel(std::string_view name, const RenameModule& rename = nullptr);

/// The random kernel of a family for a seed.
Result<KernelSource> random_kernel(generators::Family family, std::uint64_t seed);

/// Whether a kernel name is that of a random kernel, of any generator version: "r2_42".
bool is_random_name(std::string_view kernel);

}  // namespace assay::harness
