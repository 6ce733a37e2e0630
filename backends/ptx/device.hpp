// The PTX device: CUDA C++ compiled by NVRTC, its PTX executed on the CPU with every check. No GPU is needed.
//
// The machine of machine.hpp lets a kernel reach nothing but the session's buffers, so it runs in the calling process.
// What a check finds is a MemoryFault, whose message starts with the kind of the finding; a kernel that exceeds its
// budget of instructions has timed out, so a verdict does not depend on the speed of the machine.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/cuda/nvrtc/nvrtc.hpp"
#include "backends/device/backend.hpp"
#include "backends/device/build_cache.hpp"
#include "backends/device/registry.hpp"
#include "backends/ptx/execute/machine.hpp"
#include "backends/ptx/execute/tables.hpp"
#include "support/result.hpp"

namespace assay::ptx {

struct PtxOptions {
  /// What both lanes are compiled for, and what launches may ask for: the two of NVRTC's code generators.
  std::vector<std::string> architectures{"compute_75", "compute_100"};
  Checks checks;
  /// Of a device, whose answers approximate instructions then give; null for the nearest numbers.
  std::shared_ptr<const Tables> tables = nullptr;
  /// Thread-instructions for each millisecond of a launch's time limit.
  std::uint64_t instructions_per_ms = 1'000'000;
  std::filesystem::path cache_directory;  ///< empty: default_cache_directory()
  std::uint64_t cache_bytes = std::uint64_t{1} << 30U;
  bool use_cache = true;
  unsigned jobs = 1;  ///< kernels that are compiled at a time
};

class PtxDevice final : public backends::Device {
 public:
  /// Never fails: what is missing is told by can_build() and can_run().
  explicit PtxDevice(PtxOptions options);

  [[nodiscard]] std::string_view name() const override { return "ptx"; }
  [[nodiscard]] backends::SourceTarget target() const override { return backends::SourceTarget::kCuda; }
  [[nodiscard]] backends::Capability can_build() const override;
  [[nodiscard]] backends::Capability can_run() const override;
  /// By nvcc, for the first architecture.
  [[nodiscard]] std::string build_command(const backends::BuildFlags& flags) const override;

  /// A kernel is built when NVRTC took it for both lanes and every architecture that it knows.
  std::vector<backends::BuildOutcome> build(std::span<const backends::EmittedKernel> kernels,
                                            const backends::BuildFlags& flags) override;
  Result<std::unique_ptr<backends::Session>> open(const backends::SessionLimits& limits) override;
  [[nodiscard]] std::string confinement() override { return "interpreted, never run as code of this machine"; }
  [[nodiscard]] std::filesystem::path compiler_file() const override {
    return nvrtc_.ok() ? nvrtc_->library_file() : std::filesystem::path();
  }

 private:
  backends::BuildOutcome build_kernel(const backends::EmittedKernel& kernel, const backends::BuildFlags& flags);
  Result<std::string> compile(const backends::EmittedKernel& kernel, const cuda::NvrtcOptions& options,
                              bool& from_cache, backends::BuildFailed& failed);

  PtxOptions options_;
  Result<cuda::Nvrtc> nvrtc_;
  std::vector<std::string> architectures_;       ///< those that NVRTC knows
  std::unique_ptr<backends::BuildCache> cache_;  ///< null when there is none to be had
};

/// All checks but the named ones.
Checks checks_without(const std::vector<std::string>& names);

/// Fails if DeviceOptions::tables names a file that cannot be read.
Result<std::unique_ptr<backends::Device>> make_device(const backends::DeviceOptions& options);

inline constexpr backends::DeviceRow kDeviceRow{.name = "ptx",
                                                .summary = "the PTX of the CUDA C++, interpreted on the CPU",
                                                .target = backends::SourceTarget::kCuda,
                                                .toolkit = backends::Toolkit::kNvrtc,
                                                .default_mode = "both",
                                                .observes = true,
                                                .checks = kCheckNames,
                                                .make = make_device};

}  // namespace assay::ptx
