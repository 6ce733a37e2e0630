// What a worker process gives up before it loads generated code.
#pragma once

#include <cstdint>

namespace assay::worker {

/// Closes all descriptors from `first_unused_fd` up, forbids core files, new privileges and files above 1 MiB (what is
/// printed beyond that is lost, not fatal), and bounds the address space to `address_space_bytes` beyond what is mapped
/// now (0: no bound). Signals get their default action: a sanitizer's handlers would hide the crash.
void give_up_what_kernels_do_not_need(unsigned first_unused_fd, std::uint64_t address_space_bytes);

/// Lets this process use that many more seconds of processor time; then SIGXCPU ends it.
void allow_processor_seconds(std::uint32_t seconds);

}  // namespace assay::worker
