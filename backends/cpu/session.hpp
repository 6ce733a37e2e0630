// Sessions of the CPU device.
#pragma once

#include <filesystem>
#include <memory>

#include "backends/device/backend.hpp"
#include "backends/worker/session.hpp"

namespace assay::cpu {

/// The processes that a session runs code in.
struct Workers {
  std::filesystem::path program;  ///< whose main() calls run_if_worker()
  std::filesystem::path folder;   ///< of all libraries that are to be loaded
  bool filter_system_calls = true;
  bool limit_files = true;
};

/// A session with such workers. Fails when there is none to be had.
Result<std::unique_ptr<worker::WorkerSession>> open_session(const backends::SessionLimits& limits,
                                                            const Workers& workers);

}  // namespace assay::cpu
