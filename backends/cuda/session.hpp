// Sessions of the CUDA device.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>

#include "backends/cuda/driver/driver.hpp"
#include "backends/device/backend.hpp"

namespace assay::cuda {

/// A session on the GPU whose workers are processes of the program. `device_bytes` bounds what its buffers take of the
/// GPU's memory; 0: no bound but the session's own. Fails when there is no worker, or no context, to be had.
Result<std::unique_ptr<backends::Session>> open_session(const backends::SessionLimits& limits, const Gpu& gpu,
                                                        std::size_t device_bytes,
                                                        const std::filesystem::path& worker_program);

}  // namespace assay::cuda
