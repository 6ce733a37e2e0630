// The system call filter of a worker.
#pragma once

#include <cstdint>

namespace assay::worker {

/// Kills the calling process with SIGSYS at any later system call that is not needed for loading code, memory, clocks,
/// printing and serving. It can start no processes or threads, write no files, use no socket except the parent's, and
/// signal only itself, but not stop itself. A sanitizer's run-time library may do a little more. Returns 0 or an error
/// number: ENOSYS or EINVAL if the kernel does not support such filters, ENOPKG if built without libseccomp.
[[nodiscard]] std::int32_t filter_system_calls();

}  // namespace assay::worker
