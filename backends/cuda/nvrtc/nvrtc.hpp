// NVIDIA's run-time compiler: CUDA C++ to PTX and cubin, without a GPU and without the toolkit's headers.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "backends/cuda/nvrtc/symbols.hpp"
#include "backends/device/backend.hpp"
#include "support/result.hpp"

namespace assay::cuda {

struct NvrtcOptions {
  std::string architecture = "compute_75";  ///< compute_XX: PTX; sm_XX: PTX and cubin
  backends::BuildFlags flags = backends::BuildFlags::strict();
  backends::Precision precision = backends::Precision::kNative;
  bool line_info = false;  ///< source lines in the PTX
  /// Little optimisation, for who asks only whether a source is taken: a fifth of the time. NVRTC 13 and newer know it.
  bool hasty = false;
};

/// The command line of the options, spelt out in full: nothing is left to a default that a toolkit could change.
[[nodiscard]] std::vector<std::string> nvrtc_arguments(const NvrtcOptions& options);

/// The same compilation of kernel.cu to PTX by nvcc, as one line for a shell.
[[nodiscard]] std::string nvcc_command(const NvrtcOptions& options);

struct Compiled {
  std::string ptx;
  std::string cubin;  ///< empty for compute_XX
  std::string log;    ///< warnings
};
using CompileOutcome = std::variant<Compiled, backends::BuildFailed>;

/// A loaded NVRTC; cheap to copy. Its functions may be called from several threads at once.
class Nvrtc {
 public:
  /// Looks for the library named by $ASSAY_NVRTC, else for versions 13 and 12 where the loader looks, in $CUDA_HOME,
  /// $CUDA_PATH and /usr/local/cuda. The error's message is fit for a verdict, "no NVRTC"; its place is what the loader
  /// said.
  static Result<Nvrtc> load();

  [[nodiscard]] std::string version() const;  ///< "13.0"
  [[nodiscard]] int major_version() const { return major_; }
  [[nodiscard]] const std::string& library() const { return library_; }
  /// The same without links, which identifies it; empty if it is gone.
  [[nodiscard]] std::filesystem::path library_file() const;
  /// Whether this version knows "compute_100" or "sm_75".
  [[nodiscard]] bool supports(std::string_view architecture) const;

  /// Compiles one source text; `name` stands for its file in the log. A source that is refused, and an NVRTC that
  /// fails, are values.
  [[nodiscard]] CompileOutcome compile(const std::string& source, const std::string& name,
                                       const NvrtcOptions& options) const;

 private:
  Nvrtc() = default;

#define ASSAY_DECLARE(name, result, parameters) result(*name##_) parameters = nullptr;
  ASSAY_NVRTC_SYMBOLS(ASSAY_DECLARE)
#undef ASSAY_DECLARE
  std::string library_;
  int major_ = 0;
  int minor_ = 0;
  std::vector<int> architectures_;
};

}  // namespace assay::cuda
