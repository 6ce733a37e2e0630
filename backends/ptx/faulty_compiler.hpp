// Faults of the compiler, for tests of the search for culprits (harness/blame/injected_faults_test.cpp).
#pragma once

#include <string>

#include "backends/cuda/nvrtc/nvrtc.hpp"

namespace assay::ptx {

/// The PTX that a compiler with the active fault would generate; the given PTX if no fault is active or NVRTC did not
/// optimize.
std::string compiled_faultily(std::string ptx, const cuda::NvrtcOptions& options);

}  // namespace assay::ptx
