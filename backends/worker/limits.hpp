// What a worker process gives up before it loads generated code.
#pragma once

#include <cstdint>

#include "backends/worker/protocol.hpp"

namespace assay::worker {

/// Closes all descriptors from `first_unused_fd` up, forbids core files, new privileges and files above 1 MiB (what is
/// printed beyond that is lost, not fatal), and bounds the address space to the allowance beyond what is mapped now.
/// Where system calls are to be filtered, it also forbids new processes and threads, which the system does not hold
/// the administrator to, and more than a few open files. Signals get their default action: a sanitizer's handlers would
/// hide the crash.
void give_up_what_kernels_do_not_need(unsigned first_unused_fd, const Allowance& allowance);

/// Lets this process use that many more seconds of processor time; then SIGXCPU ends it.
void allow_processor_seconds(std::uint32_t seconds);

}  // namespace assay::worker
