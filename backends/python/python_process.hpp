// How a confined process runs Python: its temporary folder, its environment variables and the interpreter's program.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "support/result.hpp"

namespace assay::python {

/// A temporary folder that is removed with this object.
class ScratchFolder {
 public:
  ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();
  /// Empty if it could not be created.
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;  ///< path of the folder; empty if it could not be created
};

/// This process's environment with all caches in the writable folder `cache` and without a GPU. Python searches
/// `packages` for modules first.
std::vector<std::string> python_environment(const std::filesystem::path& packages, const std::filesystem::path& cache);

/// The interpreter: `named` if it is not empty, else $ASSAY_PYTHON, else python3 next to this program (both are then
/// installed in one virtual environment), else python3 in PATH. Fails if it is not a program.
Result<std::filesystem::path> find_python(const std::string& named);

/// The interpreter itself if `program` is a script that starts it, such as those of pyenv: a confined process cannot
/// start another one. Only the interpreter runs here, without any module of the user. Fails if it is not a Python.
Result<std::filesystem::path> python_executable(const std::filesystem::path& program);

/// The last line of an output that is not blank; empty if there is none.
std::string last_printed_line(std::string_view text);

}  // namespace assay::python
