// Landlock, the Linux kernel's means for a process to give up its own rights to files and more.
#pragma once

#include <cstdint>

namespace assay::worker {

/// The versions from which on Landlock limits more than files.
inline constexpr std::int32_t kLandlockNetwork = 4;  ///< TCP
inline constexpr std::int32_t kLandlockSignals = 6;  ///< and abstract Unix sockets

/// Leaves the calling process, for good, only files to read: those below `folder` and what loading libraries takes. It
/// can write, make, remove or execute none, and where Landlock knows how neither use TCP nor signal other processes.
/// Descriptors that are open already stay usable. New privileges must have been given up. 0 with the version applied,
/// or the error number of what failed: ENOSYS or EOPNOTSUPP where the kernel has no Landlock.
[[nodiscard]] std::int32_t limit_files(const char* folder, std::int32_t& version);

}  // namespace assay::worker
