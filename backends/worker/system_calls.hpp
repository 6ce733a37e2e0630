// The system calls that a worker is left.
#pragma once

#include <cstdint>

namespace assay::worker {

/// From here on any system call of the calling process that loading code, memory, clocks, printing and serving do not
/// need ends it with SIGSYS. There are no other processes and threads, no files to write, no sockets but the one to the
/// parent, no signals but to itself, and none that stops it. A sanitizer's run time is left a little more. 0, or the
/// error number of what failed: ENOSYS or EINVAL where the kernel has no such filters, ENOPKG where the program was
/// built without libseccomp.
[[nodiscard]] std::int32_t filter_system_calls();

}  // namespace assay::worker
