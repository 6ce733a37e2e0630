// The CUDA device: emitted CUDA C++ compiled by NVRTC to PTX and cubin. Launching needs a driver; this version does not
// launch yet, and says so.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/backend.hpp"
#include "backends/build_cache.hpp"
#include "backends/cuda/driver/driver.hpp"
#include "backends/cuda/nvrtc/nvrtc.hpp"
#include "ir/support/result.hpp"

namespace assay::cuda {

struct CudaOptions {
  /// What each lane is compiled for: compute_XX gives PTX, sm_XX a cubin. Those that the NVRTC at hand does not know
  /// are left out.
  std::vector<std::string> native_architectures{"compute_75", "compute_100", "sm_75"};
  std::vector<std::string> lift_architectures{"compute_75"};
  bool line_info = true;
  std::filesystem::path cache_directory;  ///< empty: default_cache_directory()
  std::uint64_t cache_bytes = std::uint64_t{1} << 30;
  bool use_cache = true;
  unsigned jobs = 1;  ///< kernels that are compiled at a time
};

class CudaDevice final : public backends::Device {
 public:
  /// Never fails: what is missing is told by can_build() and can_run().
  explicit CudaDevice(CudaOptions options);

  [[nodiscard]] std::string_view name() const override { return "cuda"; }
  [[nodiscard]] backends::SourceTarget target() const override { return backends::SourceTarget::kCuda; }
  [[nodiscard]] backends::Capability can_build() const override;
  /// The reason is "no NVRTC", "no CUDA driver" or "no CUDA device" before anything else.
  [[nodiscard]] backends::Capability can_run() const override;

  /// A kernel is built when every artifact is. A source that one lane or architecture refuses has failed.
  std::vector<backends::BuildOutcome> build(std::span<const backends::EmittedKernel> kernels,
                                            const backends::BuildFlags& flags) override;
  /// Always fails, with the reason of can_run().
  Result<std::unique_ptr<backends::Session>> open(const backends::SessionLimits& limits) override;

 private:
  backends::BuildOutcome build_kernel(const backends::EmittedKernel& kernel, const backends::BuildFlags& flags);
  CompileOutcome compile(const backends::EmittedKernel& kernel, const NvrtcOptions& options, bool& from_cache);

  CudaOptions options_;
  Result<Nvrtc> nvrtc_;
  Result<Driver> driver_;
  std::unique_ptr<backends::BuildCache> cache_;  ///< null when there is none to be had
};

}  // namespace assay::cuda
