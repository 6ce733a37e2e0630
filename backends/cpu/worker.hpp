// The process that loads and executes generated code.
#pragma once

#include <optional>

namespace assay::cpu {

/// The first argument of a program that is to become a worker.
inline constexpr const char* kWorkerArgument = "assay-worker";

/// Serves a parent over the protocol of worker_protocol.hpp until it closes the socket; the exit status. Before
/// anything else the process gives up what generated code has no need of: other descriptors, core files, large files,
/// new privileges, address space beyond its share.
int worker_main(int control_fd, int memory_fd);

/// To be called first in main() of every program that opens a CPU session with itself as the worker: when it was
/// started as a worker it serves, and the result is the exit status to return.
[[nodiscard]] std::optional<int> run_if_worker(int argc, const char* const* argv);

}  // namespace assay::cpu
