// Confines generated code in its worker, in addition to limits of time, memory and file size. Start reading here.
//
// A system call filter (system_calls.cpp) kills the process at the first call that kernels do not need. Landlock
// (landlock.cpp) allows it to read only its code and the system libraries, and forbids writing files, connecting and
// signaling. Either may be unavailable; the worker then runs without it and reports that.
#pragma once

#include <string>

#include "backends/worker/protocol.hpp"

namespace assay::worker {

/// Permanently confines the calling process as the parent requests and as far as the system supports it. The process
/// must already have no_new_privs set. `code_folder` is absolute; the process can open only files in it and libraries.
[[nodiscard]] Confinement confine(const WorkerLimits& worker_limits, const char* code_folder);

/// Permanently confines the calling process and the program that it then executes, such as a Python that imports a
/// user's module. It can read every file, but change files only in `writable_folder`, an absolute path. It cannot
/// create sockets, leave its process group, signal processes that it has not started, or change the system. Attempts
/// fail with an error number and do not kill it. The processes that it starts are confined in the same way. The calling
/// process must already have no_new_privs set.
[[nodiscard]] Confinement confine_program(const char* writable_folder);

/// "system calls are filtered; files, network and signals are limited by Landlock 7", or which part is missing and why.
[[nodiscard]] std::string describe(const Confinement& confinement);

}  // namespace assay::worker
