// Restrictions that a process places on itself: a system call filter, and Landlock, a Linux kernel facility by which a
// process restricts its own access to files and more.
#pragma once

#include <cstdint>

namespace assay::worker {

/// Kills the calling process with SIGSYS at any later system call that is not needed for loading code, memory, clocks,
/// printing and serving. It can start no processes or threads, write no files, use no socket except the parent's, and
/// signal only itself, but not stop itself. A sanitizer's run-time library may do a little more. Returns 0 or an error
/// number: ENOSYS or EINVAL if the kernel does not support such filters, ENOPKG if built without libseccomp.
[[nodiscard]] std::int32_t filter_system_calls();

/// Makes system calls fail in the calling process and its descendants: those that create sockets, leave the process
/// group, inspect other processes, change the owner, permissions, times or attributes of files, or change the system.
/// Everything else is allowed. If `deny_signals`, a process can signal only the calling process. Returns 0 or an error
/// number, as filter_system_calls does.
[[nodiscard]] std::int32_t deny_system_changes(bool deny_signals);

inline constexpr std::int32_t kMinLandlockVersionForNetwork = 4;  ///< first version of Landlock that restricts TCP
/// First version of Landlock that restricts signals and abstract Unix sockets.
inline constexpr std::int32_t kMinLandlockVersionForSignals = 6;

/// Permanently restricts the calling process to reading files below `folder` and the files needed to load libraries. It
/// cannot write, create, remove or execute files, and if Landlock supports it, neither use TCP nor signal other
/// processes. Open descriptors stay usable. The process must already have no_new_privs set. Returns 0 and sets the
/// version, or returns the error number: ENOSYS or EOPNOTSUPP if the kernel does not support Landlock.
[[nodiscard]] std::int32_t restrict_file_access(const char* folder, std::int32_t& version);

/// Permanently restricts the calling process to changing files below `folder`; it can read and execute all files and
/// write to /dev/null. Network and signals as for restrict_file_access, which describes the result.
[[nodiscard]] std::int32_t restrict_writing(const char* folder, std::int32_t& version);
/// As restrict_writing, but without a folder that the process may change.
[[nodiscard]] std::int32_t forbid_writing(std::int32_t& version);

}  // namespace assay::worker
