#include "backends/device/artifact_files.hpp"

#include <fstream>
#include <system_error>
#include <utility>

namespace assay::backends {

namespace fs = std::filesystem;

Result<ScratchDirectory> make_artifact_directory(const fs::path& cache_directory) {
  if (Result<ScratchDirectory> scratch = ScratchDirectory::create(cache_directory / "runs")) {
    return scratch;
  }
  std::error_code error;
  return ScratchDirectory::create(fs::temp_directory_path(error));
}

bool write_file(const fs::path& path, std::string_view content) {
  std::ofstream file(path, std::ios::binary);
  file << content;
  file.close();
  return static_cast<bool>(file);
}

std::shared_ptr<const Artifact> with_file(Artifact artifact) {
  const auto remove = [](const Artifact* owned) {
    std::error_code ignored;
    fs::remove(owned->path, ignored);
    delete owned;
  };
  return {new Artifact(std::move(artifact)), remove};
}

}  // namespace assay::backends
