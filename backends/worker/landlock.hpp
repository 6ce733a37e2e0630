// Landlock: a Linux kernel facility by which a process restricts its own access to files and more.
#pragma once

#include <cstdint>

namespace assay::worker {

/// The first versions in which Landlock restricts more than files.
inline constexpr std::int32_t kLandlockNetwork = 4;  ///< TCP
inline constexpr std::int32_t kLandlockSignals = 6;  ///< and abstract Unix sockets

/// Permanently restricts the calling process to reading files below `folder` and the files needed to load libraries. It
/// cannot write, create, remove or execute files, and if Landlock supports it, neither use TCP nor signal other
/// processes. Open descriptors stay usable. The process must already have no_new_privs set. Returns 0 and sets the
/// version, or returns the error number: ENOSYS or EOPNOTSUPP if the kernel does not support Landlock.
[[nodiscard]] std::int32_t restrict_file_access(const char* folder, std::int32_t& version);

}  // namespace assay::worker
