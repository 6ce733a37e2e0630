// Sessions of the CUDA device.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>

#include "backends/cuda/driver/driver.hpp"
#include "backends/device/backend.hpp"

namespace assay::cuda {

/// Opens a session on the GPU with the given worker program. `device_bytes` limits the GPU memory of its buffers; 0:
/// only the session's own limit applies. Fails if no worker or no context can be created.
Result<std::unique_ptr<backends::Session>> open_session(const backends::SessionLimits& limits, const GpuProperties& gpu,
                                                        std::size_t device_bytes,
                                                        const std::filesystem::path& worker_program);

}  // namespace assay::cuda
