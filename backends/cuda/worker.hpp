// The worker process that holds a GPU's context and executes generated CUDA C++.
#pragma once

#include <optional>

namespace assay::cuda {

/// The command-line argument that turns a program into a worker of this device.
inline constexpr const char* kWorkerRoleArgument = "assay-cuda-worker";

/// Must be called first in main() of every program that opens a CUDA session with itself as the worker. If the program
/// was started as a worker, this serves the session and returns the exit status for main() to return.
[[nodiscard]] std::optional<int> run_if_worker(int argc, const char* const* argv);

}  // namespace assay::cuda
