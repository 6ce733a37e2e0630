// The worker of `warp-cpu`: limits itself, then becomes a Python process that runs launches in Warp.
#pragma once

#include <optional>

namespace assay::warp {

/// The command-line argument that turns a program into a worker of this device.
inline constexpr const char* kWorkerRoleArgument = "assay-warp-worker";
/// The name of the file in the code folder that contains the path of the Python interpreter.
inline constexpr const char* kInterpreterPathFileName = "python.txt";

/// Must be called first in main() of every program that opens a session of `warp-cpu` with itself as the worker. In a
/// worker, it drops other descriptors, core files, large files, new privileges and address space beyond the allowance,
/// forbids writing files and using TCP if the system supports it, and executes host.py. Returns only if that fails.
[[nodiscard]] std::optional<int> run_if_worker(int argc, const char* const* argv);

}  // namespace assay::warp
