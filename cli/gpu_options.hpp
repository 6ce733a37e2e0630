// Which GPUs a command takes, and how much of them.
#pragma once

#include <cstddef>
#include <string>

#include <CLI/CLI.hpp>

namespace assay::cli {

/// Adds `--gpu` and `--device-memory`; what they set is as in DeviceOptions.
void add_gpu_options(CLI::App& command, std::string& gpu, std::size_t& device_bytes);

}  // namespace assay::cli
