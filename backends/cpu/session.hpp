// Sessions of the CPU device.
#pragma once

#include <filesystem>
#include <memory>

#include "backends/backend.hpp"
#include "backends/worker/session.hpp"

namespace assay::cpu {

/// A session whose workers are processes of the program. Fails when there is no worker to be had.
Result<std::unique_ptr<worker::WorkerSession>> open_session(const backends::SessionLimits& limits,
                                                            const std::filesystem::path& worker_program);

}  // namespace assay::cpu
