// Sessions of the CPU device.
#pragma once

#include <filesystem>
#include <memory>

#include "backends/device/backend.hpp"
#include "backends/worker/session.hpp"

namespace assay::cpu {

/// The worker processes that a session runs code in.
struct WorkerOptions {
  std::filesystem::path program;  ///< whose main() calls run_if_worker()
  std::filesystem::path folder;   ///< contains all libraries to load
  bool filter_system_calls = true;
  bool restrict_file_access = true;
};

/// Opens a session with such workers. Fails if no worker can be started.
Result<std::unique_ptr<worker::WorkerSession>> open_session(const backends::SessionLimits& limits,
                                                            const WorkerOptions& workers);

}  // namespace assay::cpu
