// The main program that --with-host adds to CUDA source.
#pragma once

#include <string>
#include <vector>

#include "backends/device/emitted_kernel.hpp"
#include "backends/source/unit.hpp"
#include "ir/module.hpp"

namespace assay::source {

/// Host code that follows the kernels: allocates sample arguments, launches each entry point, checks every call and
/// prints the beginning of each changed array. `structs` are the structs defined by the kernel's source, in order.
std::string cuda_host(const SourceUnit& unit, const std::vector<int>& structs, const ir::Function& forward,
                      const ir::Function* backward, const std::vector<backends::EntryPoint>& entries);

}  // namespace assay::source
