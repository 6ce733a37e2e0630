// Built code in files, for the processes that load it.
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "backends/device/backend.hpp"
#include "backends/device/scratch_directory.hpp"

namespace assay::backends {

/// A folder for files of built code: next to the cache, so that its files can be linked instead of copied; else among
/// the temporary files.
Result<ScratchDirectory> make_artifact_directory(const std::filesystem::path& cache_directory);

/// False when the file could not be written whole.
[[nodiscard]] bool write_file(const std::filesystem::path& path, std::string_view content);

/// The artifact, whose file goes with the last kernel that refers to it.
std::shared_ptr<const Artifact> with_file(Artifact artifact);

}  // namespace assay::backends
