// Parts of print(): the check before the kernel is printed, and the host program after it. Private to the printer.
#pragma once

#include <string>
#include <vector>

#include "backends/device/backend.hpp"
#include "backends/device/emitted_kernel.hpp"
#include "backends/source/unit.hpp"
#include "ir/module.hpp"
#include "support/result.hpp"

namespace assay::source {

/// Fails at the first unsupported variable, expression or atomic of `function` or of a function that it calls.
Result<void> check_supported(const ir::Module& module, const ir::Function& function, backends::SourceTarget target);

/// Prints the host code that follows the kernels. It allocates sample arguments, launches each entry point, checks
/// every call and prints the beginning of each changed array. `structs` are the indices of the structs that the
/// kernel's source defines, in order.
std::string print_cuda_host_program(const SourceUnit& unit, const std::vector<int>& structs,
                                    const ir::Function& forward, const ir::Function* backward,
                                    const std::vector<backends::EntryPoint>& entries);

}  // namespace assay::source
