// The CUDA device: compiles emitted CUDA C++ with NVRTC to PTX and cubin, and runs it on GPUs through the driver API.
// Start reading here.
//
// build() compiles each kernel once per precision and GPU architecture, unless the build cache already has it. Without
// a GPU, it compiles for representative architectures. open() returns a session (session) whose launches run in
// processes (worker, executor) by the protocol of backends/worker. Sessions are assigned to the GPUs in turn.
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

/// User options of the device `cuda`.
struct CudaOptions {
  /// The architectures to compile for in native precision if there is no GPU: compute_XX gives PTX, sm_XX a cubin.
  /// Architectures that the installed NVRTC does not support are skipped.
  std::vector<std::string> native_precision_architectures{"compute_75", "compute_100", "sm_75"};
  std::vector<std::string> f64_promotion_architectures{"compute_75"};  ///< the same for kernels with f64 promotion
  std::optional<std::vector<int>> gpu_ordinals{{0}};  ///< GPUs to use, by the driver's numbers; nullopt: all GPUs
  std::size_t device_memory_limit_bytes =
      0;  ///< limit of the GPU memory of one session, in bytes; 0: the size of its buffers
  std::filesystem::path
      worker_executable;       ///< program of the workers, whose main() calls run_if_worker(); empty: this program
  bool emit_line_info = true;  ///< whether the PTX contains line numbers of the source
  std::filesystem::path cache_directory;  ///< directory of the build cache; empty: default_cache_directory()
  std::uint64_t max_cache_bytes = std::uint64_t{1} << 30;  ///< size limit of the build cache
  bool uses_build_cache = true;                            ///< whether build() uses the build cache
  unsigned jobs = 1;                                       ///< maximum number of kernels compiled at the same time
};

/// The device `cuda`.
class CudaDevice final : public backends::Device {
 public:
  /// Never fails; can_build() and can_run() report what is missing.
  explicit CudaDevice(CudaOptions options);

  [[nodiscard]] std::string_view name() const override { return "cuda"; }
  [[nodiscard]] backends::SourceTarget target() const override { return backends::SourceTarget::kCuda; }
  [[nodiscard]] bool is_repeatable() const override { return false; }
  [[nodiscard]] backends::Capability can_build() const override;
  /// The reasons "no NVRTC", "no CUDA driver" and "no CUDA device" take precedence.
  [[nodiscard]] backends::Capability can_run() const override;
  /// An nvcc command for the first architecture.
  [[nodiscard]] std::string build_command(const backends::BuildFlags& flags) const override;

  /// Builds the kernels; a kernel counts as built only if its code for every precision and architecture compiles.
  std::vector<backends::BuildOutcome> build(std::span<const backends::EmittedKernel> kernels,
                                            const backends::BuildFlags& flags) override;
  /// Fails with the reason of can_run(), or if no context can be created on a GPU.
  Result<std::unique_ptr<backends::DeviceSession>> open(const backends::SessionLimits& limits) override;

  /// GPU code makes no system calls, but the driver that launches it needs many, so none are filtered.
  [[nodiscard]] std::string confinement() override;
  [[nodiscard]] std::vector<std::filesystem::path> compiler_files() const override;

  /// The GPUs that sessions are assigned to in turn; empty if the device cannot run.
  [[nodiscard]] const std::vector<GpuProperties>& gpus() const { return gpus_; }

 private:
  backends::BuildOutcome build_kernel(const backends::EmittedKernel& kernel, const backends::BuildFlags& flags);
  CompileOutcome compile(const backends::EmittedKernel& kernel, const NvrtcOptions& options, bool& is_from_cache);

  [[nodiscard]] std::vector<std::string> architectures(backends::Precision precision) const;
  Result<void> add_artifacts(backends::BuiltKernel& built, CompiledCode compiled, const NvrtcOptions& options);
  std::shared_ptr<const backends::Artifact> to_artifact(backends::Artifact artifact, bool& written);
  void find_gpus();  ///< sets gpus_ or no_gpu_reason_

  CudaOptions options_;                          ///< options given by the user
  Result<Nvrtc> nvrtc_;                          ///< the loaded NVRTC, or why there is none
  Result<Driver> driver_;                        ///< the loaded CUDA driver, or why there is none
  std::vector<GpuProperties> gpus_;              ///< usable GPUs, which sessions are assigned to in turn
  std::string no_gpu_reason_;                    ///< why no GPU is usable; empty if one is
  std::unique_ptr<backends::BuildCache> cache_;  ///< the build cache; null if it cannot be opened or is not used
  /// Directory for the files that workers load, or why it could not be created.
  Result<backends::ScratchDirectory> scratch_;
  std::atomic<std::uint64_t> next_file_number_ = 0;    ///< number of the next file in scratch_
  std::atomic<std::size_t> opened_session_count_ = 0;  ///< number of sessions opened so far, which selects the next GPU
};

/// Fails if DeviceOptions::gpu is neither a number nor "all".
Result<std::unique_ptr<backends::Device>> make_device(const backends::DeviceOptions& options);

inline constexpr backends::DeviceDescriptor kDeviceEntry{.name = "cuda",
                                                         .summary = "CUDA C++ compiled by NVRTC for a GPU",
                                                         .target = backends::SourceTarget::kCuda,
                                                         .toolkit = backends::Toolkit::kNvrtc,
                                                         .is_gpu = true,
                                                         .bit_identical_device_name = "ptx",
                                                         .agreeing_device_name = "cpu",
                                                         .make = make_device};

/// Opens a session on the GPU with the given worker program. `device_memory_limit_bytes` limits the GPU memory for the
/// session's buffers; 0: the session's own limit applies. Fails if the worker or the GPU's context cannot be created.
Result<std::unique_ptr<backends::DeviceSession>> open_session(const backends::SessionLimits& limits,
                                                              const GpuProperties& gpu,
                                                              std::size_t device_memory_limit_bytes,
                                                              const std::filesystem::path& worker_program);

}  // namespace assay::cuda
