// What holds generated code in its worker, beside limits of time, memory and file size. Start reading here.
//
// A filter of system calls (system_calls) ends the process at the first call that kernels have no need of; Landlock
// (landlock) leaves it the code that it loads and the system's libraries to read, and nothing to write, connect to or
// signal. Either may be missing: then the worker goes on without, and says so.
#pragma once

#include <string>

#include "backends/worker/protocol.hpp"

namespace assay::worker {

/// Puts the calling process under what the parent asks for, as far as this system has it; for good. New privileges must
/// have been given up. `code_folder` is absolute; the process can open no other files than those in it and libraries.
[[nodiscard]] Confinement confine(const Allowance& allowance, const char* code_folder);

/// "system calls are filtered; files, network and signals are limited by Landlock 7", or what is missing and why.
[[nodiscard]] std::string describe(const Confinement& confinement);

}  // namespace assay::worker
