// Files of built code, for the processes that load it.
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "backends/device/backend.hpp"
#include "backends/device/scratch_directory.hpp"

namespace assay::backends {

/// Creates a directory for files of built code. It lies next to the cache if possible, so that cache files can be
/// linked instead of copied, otherwise in the directory for temporary files.
Result<ScratchDirectory> make_artifact_directory(const std::filesystem::path& cache_directory);

/// Returns false if the file could not be written completely.
[[nodiscard]] bool write_file(const std::filesystem::path& path, std::string_view content);

/// Shares the artifact; its file is removed with the last kernel that refers to it.
std::shared_ptr<const Artifact> with_file(Artifact artifact);

}  // namespace assay::backends
