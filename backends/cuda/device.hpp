// The CUDA device: emitted CUDA C++ compiled by NVRTC to PTX and cubin, run on GPUs through the driver API. Start
// reading here.
//
// build(): one compilation for each lane and architecture of the GPUs at hand, looked up in the build cache first;
// where there is no GPU, for the architectures that stand for all others. open(): a session (session) whose launches
// run in processes (worker, executor) by the protocol of backends/worker. Sessions take turns on the GPUs.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/cuda/driver/driver.hpp"
#include "backends/cuda/nvrtc/nvrtc.hpp"
#include "backends/device/backend.hpp"
#include "backends/device/build_cache.hpp"
#include "backends/device/registry.hpp"
#include "backends/device/scratch_directory.hpp"
#include "support/result.hpp"

namespace assay::cuda {

struct CudaOptions {
  /// What each lane is compiled for where no GPU says it: compute_XX gives PTX, sm_XX a cubin. Those that the NVRTC at
  /// hand does not know are left out.
  std::vector<std::string> native_architectures{"compute_75", "compute_100", "sm_75"};
  std::vector<std::string> promoted_architectures{"compute_75"};
  std::optional<std::vector<int>> gpus{{0}};  ///< whose numbers are the driver's; nothing: all that there are
  std::size_t device_bytes = 0;               ///< of a GPU's memory, for one session; 0: as much as the session's
  std::filesystem::path worker;               ///< program whose main() calls run_if_worker(); empty: this program
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
  /// By nvcc, for the first architecture.
  [[nodiscard]] std::string build_command(const backends::BuildFlags& flags) const override;

  /// A kernel is built when every artifact is. A source that one lane or architecture refuses has failed.
  std::vector<backends::BuildOutcome> build(std::span<const backends::EmittedKernel> kernels,
                                            const backends::BuildFlags& flags) override;
  /// Fails with the reason of can_run(), or when a GPU gives no context.
  Result<std::unique_ptr<backends::Session>> open(const backends::SessionLimits& limits) override;

  /// A GPU's code makes no system calls; the driver that starts it needs many, so nothing is filtered.
  [[nodiscard]] std::string confinement() override;
  [[nodiscard]] std::filesystem::path compiler_file() const override;

  /// Those that sessions take turns on; none where can_run() says no.
  [[nodiscard]] const std::vector<Gpu>& gpus() const { return gpus_; }

 private:
  backends::BuildOutcome build_kernel(const backends::EmittedKernel& kernel, const backends::BuildFlags& flags);
  CompileOutcome compile(const backends::EmittedKernel& kernel, const NvrtcOptions& options, bool& from_cache);

  [[nodiscard]] std::vector<std::string> architectures(backends::Precision precision) const;
  Result<void> add_artifacts(backends::BuiltKernel& built, Compiled compiled, const NvrtcOptions& options);
  std::shared_ptr<const backends::Artifact> to_artifact(backends::Artifact artifact, bool& written);
  void find_gpus();

  CudaOptions options_;
  Result<Nvrtc> nvrtc_;
  Result<Driver> driver_;
  std::vector<Gpu> gpus_;
  std::string why_no_gpu_;
  std::unique_ptr<backends::BuildCache> cache_;  ///< null when there is none to be had
  Result<backends::ScratchDirectory> scratch_;   ///< for the files that workers load
  std::atomic<std::uint64_t> next_file_ = 0;
  std::atomic<std::size_t> next_session_ = 0;
};

/// Fails if DeviceOptions::gpu is neither a number nor "all".
Result<std::unique_ptr<backends::Device>> make_device(const backends::DeviceOptions& options);

inline constexpr backends::DeviceRow kDeviceRow{.name = "cuda",
                                                .summary = "the CUDA C++ on a GPU, compiled by NVRTC",
                                                .target = backends::SourceTarget::kCuda,
                                                .toolkit = backends::Toolkit::kNvrtc,
                                                .is_gpu = true,
                                                .is_repeatable = false,
                                                .same_bits = "ptx",
                                                .agrees = "cpu",
                                                .make = make_device};

}  // namespace assay::cuda
