// The process that loads and executes generated C++.
#pragma once

#include <optional>

namespace assay::cpu {

/// The argument of a program that is to become a worker of this device.
inline constexpr const char* kWorkerRole = "assay-worker";

/// To be called first in main() of every program that opens a CPU session with itself as the worker: when it was
/// started as a worker it serves, and the result is the exit status to return.
[[nodiscard]] std::optional<int> run_if_worker(int argc, const char* const* argv);

}  // namespace assay::cpu
