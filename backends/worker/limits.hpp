// Limits that a worker process sets for itself before it loads generated code.
#pragma once

#include <cstdint>

#include "backends/worker/protocol.hpp"

namespace assay::worker {

/// Closes all descriptors from `first_unused_fd` up; forbids core files, new privileges and files above 1 MiB (further
/// output is lost, but not fatal); and limits the address space to the current size plus the allowance. If system calls
/// are to be filtered, it also forbids new processes and threads (the system does not enforce this for root) and more
/// than a few open files. Signals get their default action, because a sanitizer's handlers would hide the crash.
void drop_unneeded_privileges(unsigned first_unused_fd, const WorkerLimits& worker_limits);

/// Lets this process use that many more seconds of CPU time; then SIGXCPU ends it.
void allow_processor_seconds(std::uint32_t seconds);

}  // namespace assay::worker
