// The process that holds a GPU's context and executes generated CUDA C++.
#pragma once

#include <optional>

namespace assay::cuda {

/// The argument of a program that is to become a worker of this device.
inline constexpr const char* kWorkerRole = "assay-cuda-worker";

/// To be called first in main() of every program that opens a CUDA session with itself as the worker: when it was
/// started as a worker it serves, and the result is the exit status to return.
[[nodiscard]] std::optional<int> run_if_worker(int argc, const char* const* argv);

}  // namespace assay::cuda
