// The devices that run Warp's own code: kernels are printed as Warp Python, and Warp generates, compiles and launches
// the code. Start reading here.
//
// `warp-cpu` runs Warp's build for the CPU. build() compiles in a Python process that hosts Warp (builder, host.py);
// launches run in a confined worker that is the same program in its role as a server (worker, host.py), by the protocol
// of backends/worker. The backward pass of a launch is that of a tape: Warp runs the kernel and then its adjoint; the
// arrays that the kernel wrote are restored afterwards.
//
// `warp-ptx` compiles the same kernels to PTX ahead of time and executes it with the interpreter of backends/ptx.
//
// `warp-cuda` works like `warp-cpu`, but Warp compiles and launches the kernels for a GPU.
//
// A kernel that Warp rejects is unsupported, with Warp's message. A kernel whose process crashes or hangs is a finding
// about that kernel only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/device/backend.hpp"
#include "backends/device/registry.hpp"
#include "backends/device/scratch_directory.hpp"
#include "backends/ptx/device.hpp"
#include "backends/warp/builder.hpp"
#include "backends/warp/interpreter.hpp"
#include "support/result.hpp"

namespace assay::warp {

/// User options of the devices that run Warp's code.
struct WarpOptions {
  std::filesystem::path
      worker_executable;  ///< program of the workers, whose main() calls run_if_worker(); empty: this program
  /// Directory that contains Warp's kernel cache; empty: default_cache_directory().
  std::filesystem::path cache_directory;
  bool confine_worker = true;  ///< whether the worker is confined as far as the operating system supports it
  int gpu_ordinal = 0;         ///< `warp-cuda`: the GPU to use, by the driver's number
};

/// The common part of the devices: all print, write and build the same Python files.
class WarpDevice : public backends::Device {
 public:
  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] backends::SourceTarget target() const override { return backends::SourceTarget::kWarpPython; }
  [[nodiscard]] backends::Capability can_build() const override;
  [[nodiscard]] backends::Capability can_run() const override { return can_build(); }
  [[nodiscard]] std::string build_command(const backends::BuildFlags&) const override { return ""; }
  [[nodiscard]] std::vector<std::filesystem::path> compiler_files() const override;

  /// Builds the kernels with Warp. The flags are ignored: Warp compiles with its own defaults.
  std::vector<backends::BuildOutcome> build(std::span<const backends::EmittedKernel> kernels,
                                            const backends::BuildFlags& flags) override;

 protected:
  /// `warp_device` is Warp's name of the device that runs launches.
  WarpDevice(std::string_view name, std::vector<int> architectures, WarpOptions options,
             std::string warp_device = "cpu");

  /// Adds to a kernel that Warp has built in one precision what a launch needs.
  virtual Result<void> add_code(const std::string& name, const KernelBuildResult& built, backends::Precision precision,
                                const backends::EmittedKernel& kernel, backends::BuiltKernel& result) = 0;

  const WarpOptions& options() const { return options_; }
  const Result<WarpInterpreter>& interpreter() const { return interpreter_; }
  const std::filesystem::path& folder() const { return scratch_directory_->path(); }

 private:
  /// Combines the builds of a kernel in both precisions. `native` and `promoted` are its names in `builds`.
  backends::BuildOutcome make_build_outcome(const backends::EmittedKernel& kernel, const std::string& native,
                                            const std::string& promoted,
                                            const std::map<std::string, KernelBuildResult>& builds);

  std::string_view name_;                ///< name of the device
  std::vector<int> architectures_;       ///< architectures to generate PTX for; empty for the CPU
  WarpOptions options_;                  ///< options given by the user
  Result<WarpInterpreter> interpreter_;  ///< Python with Warp, or why there is none
  /// Folder for the files of this run, or why it could not be created.
  Result<backends::ScratchDirectory> scratch_directory_;
  Result<void> preparation_result_;  ///< an error if the files that host.py needs could not be written
};

/// The common part of `warp-cpu` and `warp-cuda`: Warp launches the kernels in a worker.
class WarpLaunchDevice : public WarpDevice {
 protected:
  using WarpDevice::WarpDevice;

  /// Opens a session. `memory_limit_bytes` limits the address space of the worker; 0: no limit.
  Result<std::unique_ptr<backends::DeviceSession>> open_worker(const backends::SessionLimits& limits,
                                                               std::size_t memory_limit_bytes, bool confine_worker);

 private:
  Result<void> add_code(const std::string& name, const KernelBuildResult& built, backends::Precision precision,
                        const backends::EmittedKernel& kernel, backends::BuiltKernel& result) override;
};

/// The device `warp-cpu`, which runs Warp's own build for the CPU.
class WarpCpuDevice final : public WarpLaunchDevice {
 public:
  explicit WarpCpuDevice(WarpOptions options) : WarpLaunchDevice("warp-cpu", {}, std::move(options)) {}

  [[nodiscard]] bool can_run_threads_in_order() const override { return true; }
  Result<std::unique_ptr<backends::DeviceSession>> open(const backends::SessionLimits& limits) override;
  [[nodiscard]] std::string confinement() override;
};

/// The device `warp-cuda`, which runs Warp's own build for a GPU.
class WarpCudaDevice final : public WarpLaunchDevice {
 public:
  explicit WarpCudaDevice(WarpOptions options);

  [[nodiscard]] bool is_repeatable() const override { return false; }
  [[nodiscard]] bool uses_cuda_math() const override { return true; }
  /// Warp can compile for a GPU only if the GPU exists.
  [[nodiscard]] backends::Capability can_build() const override;
  Result<std::unique_ptr<backends::DeviceSession>> open(const backends::SessionLimits& limits) override;
  [[nodiscard]] std::string confinement() override;

 private:
  Result<std::string> gpu_;  ///< description of the GPU, or why it cannot be used
};

/// The device `warp-ptx`, which interprets the PTX that Warp generates.
class WarpPtxDevice final : public WarpDevice {
 public:
  WarpPtxDevice(WarpOptions options, ptx::PtxOptions interpreter);

  [[nodiscard]] bool uses_cuda_math() const override { return true; }
  Result<std::unique_ptr<backends::DeviceSession>> open(const backends::SessionLimits& limits) override;
  /// Returns a sentence about the confinement of the code, for the user.
  [[nodiscard]] std::string confinement() override {
    return "kernels are interpreted as PTX and never run as native code";
  }

 private:
  Result<void> add_code(const std::string& name, const KernelBuildResult& built, backends::Precision precision,
                        const backends::EmittedKernel& kernel, backends::BuiltKernel& result) override;

  ptx::PtxOptions interpreter_;  ///< options of the interpreter of PTX
};

Result<std::unique_ptr<backends::Device>> make_cpu_device(const backends::DeviceOptions& options);
Result<std::unique_ptr<backends::Device>> make_ptx_device(const backends::DeviceOptions& options);
/// Fails if DeviceOptions::gpu_number_or_all is neither a number nor "all", which means the first GPU here.
Result<std::unique_ptr<backends::Device>> make_cuda_device(const backends::DeviceOptions& options);

inline constexpr backends::DeviceDescriptor kCpuDeviceEntry{
    .name = "warp-cpu",
    .summary = "the C++ code that Warp generates, run on this CPU",
    .target = backends::SourceTarget::kWarpPython,
    .toolkit = backends::Toolkit::kWarp,
    .make = make_cpu_device};
inline constexpr backends::DeviceDescriptor kPtxDeviceEntry{
    .name = "warp-ptx",
    .summary = "PTX compiled from the CUDA code that Warp generates",
    .target = backends::SourceTarget::kWarpPython,
    .toolkit = backends::Toolkit::kWarp,
    .reports_profiles = true,
    .make = make_ptx_device};
inline constexpr backends::DeviceDescriptor kCudaDeviceEntry{
    .name = "warp-cuda",
    .summary = "the CUDA code that Warp generates, run on a GPU",
    .target = backends::SourceTarget::kWarpPython,
    .toolkit = backends::Toolkit::kWarp,
    .make = make_cuda_device};

}  // namespace assay::warp
