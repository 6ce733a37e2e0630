// NVIDIA's run-time compiler: CUDA C++ to PTX and cubin, without a GPU and without the toolkit's headers.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "backends/cuda/nvrtc/symbols.hpp"
#include "backends/device/backend.hpp"
#include "backends/device/emitted_kernel.hpp"
#include "support/result.hpp"

namespace assay::cuda {

/// The options of one compilation.
struct NvrtcOptions {
  /// Architecture to compile for: compute_XX gives PTX, sm_XX gives PTX and a cubin.
  std::string architecture = "compute_75";
  backends::BuildFlags flags = backends::BuildFlags::strict();  ///< numeric mode of the build
  /// Native, or every floating-point type promoted to f64.
  backends::Precision precision = backends::Precision::kNative;
  bool emit_line_info = false;          ///< whether the PTX contains line numbers of the source
  bool disables_optimizations = false;  ///< whether to compile for a debugger, which disables all optimizations
  /// Whether declarations that Assay's own code never uses, such as those of textures and of the CUDA runtime, are left
  /// out, which saves 5 ms per program. No effect before NVRTC 12.4.
  bool omits_runtime_declarations = false;
  std::vector<std::filesystem::path> include_folders = {};  ///< folders in which included files are searched
};

/// The full command line of the options; it sets every option whose default could change between toolkits.
/// BuildFlags::fast_compile has no effect before NVRTC 13.
[[nodiscard]] std::vector<std::string> nvrtc_arguments(const NvrtcOptions& options);

/// The shell command that compiles kernel.cu to PTX in the same way with nvcc, in one line.
[[nodiscard]] std::string nvcc_command(const NvrtcOptions& options);

/// The products of a successful compilation.
struct CompiledCode {
  std::string ptx;    ///< text of the PTX
  std::string cubin;  ///< bytes of the cubin; empty for compute_XX
  std::string log;    ///< the compiler's warnings; usually empty
};
using CompileOutcome = std::variant<CompiledCode, backends::BuildFailed>;

/// The loaded NVRTC library; cheap to copy. Its functions may be called by several threads at once.
class Nvrtc {
 public:
  /// Loads the library named by $ASSAY_NVRTC, or else version 13 or 12 from the loader's search path, $CUDA_HOME,
  /// $CUDA_PATH or /usr/local/cuda. The error message is suitable for a verdict: "no NVRTC". Its location is the
  /// loader's message.
  static Result<Nvrtc> load();
  /// Loads the library with this path or, if `which` has no slash, the version that ci/setup-compilers installed under
  /// this name, such as "13.5.37". An empty `which` means load(). Several versions can be loaded at once.
  static Result<Nvrtc> load(const std::string& which);

  [[nodiscard]] std::string version() const;  ///< version of NVRTC: "13.0"
  /// The version with the number of the build, which only generated PTX states: "13.0.88". Compiles an empty program.
  [[nodiscard]] std::string full_version() const;
  [[nodiscard]] int major_version() const { return major_version_; }
  [[nodiscard]] const std::string& library() const { return library_name_or_path_; }
  /// The library with symbolic links resolved, which identifies it; empty if it no longer exists.
  [[nodiscard]] std::filesystem::path library_file() const;
  /// Whether this version supports the architecture, such as "compute_100" or "sm_75".
  [[nodiscard]] bool supports(std::string_view architecture) const;

  /// Compiles one source text. `name` is its file name in the log. Compile errors and NVRTC failures are part of the
  /// result and are not thrown.
  [[nodiscard]] CompileOutcome compile(const std::string& source, const std::string& name,
                                       const NvrtcOptions& options) const;

 private:
  Nvrtc() = default;
  static Result<Nvrtc> load_first(std::span<const std::string> paths);

#define ASSAY_DECLARE(name, result, parameters) result(*name##_) parameters = nullptr;
  ASSAY_NVRTC_SYMBOLS(ASSAY_DECLARE)
#undef ASSAY_DECLARE
  std::string library_name_or_path_;          ///< name or path by which the library was opened
  int major_version_ = 0;                     ///< major number of the version
  int minor_version_ = 0;                     ///< minor number of the version
  std::vector<int> supported_architectures_;  ///< numbers of the supported architectures: 75 for compute_75 and sm_75
};

/// The versions that ci/setup-compilers installed, from the oldest to the newest: "12.9.86", "13.0.88".
[[nodiscard]] std::vector<std::string> installed_nvrtc_versions();

/// Whether NVRTC generates the same PTX for both kernels, in both precisions. Both must be CUDA sources with the same
/// symbols. Fails if NVRTC is missing or rejects a kernel.
Result<bool> same_compiled_code(const backends::EmittedKernel& a, const backends::EmittedKernel& b);

}  // namespace assay::cuda
