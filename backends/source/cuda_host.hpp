// The main program that --with-host adds to CUDA source.
#pragma once

#include <string>
#include <vector>

#include "backends/device/emitted_kernel.hpp"
#include "backends/source/unit.hpp"
#include "ir/module.hpp"

namespace assay::source {

/// Host code behind the kernels: allocates sample arguments, launches each entry point, checks every call and prints
/// the beginning of each array that was changed. `structs` are those that the kernel's source defines, in order.
std::string cuda_host(const Unit& unit, const std::vector<int>& structs, const ir::Function& forward,
                      const ir::Function* backward, const std::vector<backends::EntryPoint>& entries);

}  // namespace assay::source
