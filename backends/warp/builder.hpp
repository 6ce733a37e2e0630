// Builds kernels in a Python process that hosts Warp. Private to the devices.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "backends/device/backend.hpp"
#include "backends/warp/interpreter.hpp"
#include "support/result.hpp"

namespace assay::warp {

/// The result of building one kernel in one precision with Warp.
struct KernelBuildResult {
  /// How a build ended.
  enum class Status : std::uint8_t {
    kBuilt,            ///< Warp built the kernel
    kUnsupported,      ///< Warp rejected the Python source
    kRejected,         ///< the native compiler rejected the code that Warp generated
    kCrashed,          ///< the process crashed
    kTimedOut,         ///< the process exceeded its time limit
    kUnavailable,      ///< Warp could not be started, for example because its native library is missing
    kResourceFailure,  ///< the process could not be started
  };
  Status status = Status::kResourceFailure;  ///< outcome of the build
  std::string message;                       ///< reason for a status other than kBuilt
  /// A JSON text: for PTX the files, the entry points and the parameters; for the CPU a hash of the object file, which
  /// is equal for kernels with the same machine code.
  std::string code_json;
  /// Name of the files that were built: that of the kernel, or of the user's own text.
  std::string file_name = {};
  std::string own_text_obstacle = {};  ///< why the user's own text was not built; empty if it was or if there is none
  bool has_backward = true;            ///< whether the text lets Warp generate a backward pass
};

/// The device and the settings for which host.py builds kernels.
struct PythonHostSettings {
  std::string device_name;                ///< name of the device: Warp's, or Assay's such as "warp-cpu"
  std::string warp_device = "cpu";        ///< Warp's name of the device that runs launches: "cpu" or "cuda:0"
  std::filesystem::path cache_directory;  ///< directory of Warp's kernel cache
  std::vector<int> architectures;         ///< architectures to generate PTX for; empty for the CPU
};

/// Writes host.py and the settings to a folder of a run.
Result<void> write_host(const std::filesystem::path& folder, const PythonHostSettings& settings);

/// Writes one Python file and its binding. Returns the name of the kernel for build(), which is derived from the text.
/// Without `has_backward`, Warp generates no backward pass, and accepts functions that have none. With `own_text`, the
/// user's own text is built if it can be used. If `code` is not empty, it is built instead of the file that Warp
/// generates.
Result<std::string> write_kernel(const std::filesystem::path& folder, const backends::PythonBinding& binding,
                                 const backends::PythonSource& source, bool has_backward,
                                 const backends::PythonOwnText* own_text = nullptr, const std::string& code = {});

/// What host.py does with each kernel.
enum class PythonHostCommand : std::uint8_t {
  kBuild,               ///< builds the kernel
  kWriteGeneratedCode,  ///< writes the code that Warp generates to KERNEL.text.json
};

/// Builds the kernels with these names, whose files are in the folder. If the process crashes or exceeds its time
/// limit, only the kernel that it was building has failed; another process builds the remaining kernels.
std::map<std::string, KernelBuildResult> build(const WarpInterpreter& interpreter, const std::filesystem::path& folder,
                                               std::span<const std::string> names,
                                               PythonHostCommand command = PythonHostCommand::kBuild);

}  // namespace assay::warp
