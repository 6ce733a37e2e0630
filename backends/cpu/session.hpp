// Sessions of the CPU device.
#pragma once

#include <filesystem>
#include <memory>

#include "backends/device/backend.hpp"
#include "backends/worker/session.hpp"

namespace assay::cpu {

/// The program and the confinement of the worker processes of a session.
struct WorkerOptions {
  std::filesystem::path program;         ///< program of the workers; its main() calls run_if_worker()
  std::filesystem::path library_folder;  ///< folder that contains all libraries that the workers load
  bool filter_system_calls = true;       ///< whether a filter restricts the worker's system calls
  bool restrict_file_access = true;      ///< whether Landlock restricts the worker's file access
};

/// Opens a session that runs code in workers with these options. Fails if no worker can be started.
Result<std::unique_ptr<worker::WorkerSession>> open_session(const backends::SessionLimits& limits,
                                                            const WorkerOptions& workers);

}  // namespace assay::cpu
