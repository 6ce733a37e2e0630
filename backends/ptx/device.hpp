// The PTX device: CUDA C++ is compiled by NVRTC, and its PTX is executed on the CPU with all checks. Needs no GPU.
//
// With BuildFlags::compiles_batches, NVRTC compiles many kernels in both precisions as one program for one
// architecture; otherwise it compiles each kernel, precision and architecture as a program of its own.
//
// The machine of machine.hpp restricts a kernel to the session's buffers, so it runs in the calling process. A finding
// of a check is a MemoryFault whose message starts with the kind of the finding. A kernel that exceeds its instruction
// budget has timed out, so a verdict does not depend on the speed of the host.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/cuda/nvrtc/nvrtc.hpp"
#include "backends/device/backend.hpp"
#include "backends/device/build_cache.hpp"
#include "backends/device/isolating_build.hpp"
#include "backends/device/registry.hpp"
#include "backends/ptx/execute/machine.hpp"
#include "backends/ptx/execute/tables.hpp"
#include "support/result.hpp"

namespace assay::ptx {

/// User options of the device `ptx`.
struct PtxOptions {
  std::string nvrtc_version_or_path = {};  ///< path or installed version of NVRTC; empty: the default of Nvrtc::load
  bool disables_optimizations = false;     ///< whether NVRTC's optimizations are off in every mode
  /// The architectures to compile for in both precisions; launches may request any of them. The default has one for
  /// each code generator of NVRTC.
  std::vector<std::string> architectures{"compute_75", "compute_100"};
  EnabledChecks checks;  ///< enabled run-time checks
  /// Whether launches compute unrounded values, to measure their cost. Candidates compute them on request of the judge.
  bool computes_unrounded_values = false;
  /// Measured results of a GPU's approximate instructions, which replace the correctly rounded results; null: none.
  std::shared_ptr<const ApproximationTables> tables = nullptr;
  /// The instruction limit of a launch, summed over threads, for each millisecond of its time limit.
  std::uint64_t instruction_limit_per_millisecond = 1'000'000;
  std::filesystem::path cache_directory;  ///< directory of the build cache; empty: default_cache_directory()
  std::uint64_t max_cache_bytes = std::uint64_t{1} << 30U;  ///< size limit of the build cache
  bool uses_build_cache = true;                             ///< whether build() uses the build cache
  unsigned jobs = 1;  ///< maximum number of compilations that run at the same time
  /// With BuildFlags::compiles_batches: maximum number of kernels that are compiled as one program.
  std::size_t batch_size = 24;
};

/// The architectures of a nonempty list that are chosen.
std::span<const std::string> chosen_architectures(std::span<const std::string> all,
                                                  backends::ArchitectureChoice choice);

/// The device `ptx`.
class PtxDevice final : public backends::Device {
 public:
  /// Never fails; can_build() and can_run() report what is missing.
  explicit PtxDevice(PtxOptions options);

  [[nodiscard]] std::string_view name() const override { return "ptx"; }
  [[nodiscard]] backends::SourceTarget target() const override { return backends::SourceTarget::kCuda; }
  [[nodiscard]] bool can_run_threads_in_order() const override { return true; }
  [[nodiscard]] backends::Capability can_build() const override;
  [[nodiscard]] backends::Capability can_run() const override;
  /// An nvcc command for the first architecture.
  [[nodiscard]] std::string build_command(const backends::BuildFlags& flags) const override;

  /// Builds the kernels; a kernel counts as built only if NVRTC accepts it in both precisions for every architecture
  /// that NVRTC supports.
  std::vector<backends::BuildOutcome> build(std::span<const backends::EmittedKernel> kernels,
                                            const backends::BuildFlags& flags) override;
  Result<std::unique_ptr<backends::DeviceSession>> open(const backends::SessionLimits& limits) override;
  /// Returns a sentence about the confinement of kernels, for the user.
  [[nodiscard]] std::string confinement() override {
    return "kernels are interpreted as PTX and never run as native code";
  }
  /// Returns the file of the NVRTC library, if there is one.
  [[nodiscard]] std::vector<std::filesystem::path> compiler_files() const override {
    if (!nvrtc_.ok()) return {};
    return {nvrtc_->library_file()};
  }

 private:
  backends::BuildOutcome build_kernel(const backends::EmittedKernel& kernel, const backends::BuildFlags& flags);
  /// Compiles many kernels as one program, for BuildFlags::compiles_batches.
  std::vector<backends::BuildOutcome> build_in_batches(std::span<const backends::EmittedKernel> kernels,
                                                       const backends::BuildFlags& flags);
  /// Compiles the kernels as one program and splits its PTX.
  backends::BatchOutcome build_batch(std::span<const backends::EmittedKernel* const> kernels,
                                     const backends::BuildFlags& flags);
  /// Returns the built kernel if all its PTX is in the build cache.
  std::optional<backends::BuiltKernel> find_cached_kernel(const backends::EmittedKernel& kernel,
                                                          const backends::BuildFlags& flags);
  /// Returns the options of one compilation.
  [[nodiscard]] cuda::NvrtcOptions nvrtc_options_for(const std::string& architecture, const backends::BuildFlags& flags,
                                                     backends::Precision precision) const;
  [[nodiscard]] std::string cache_key(const backends::EmittedKernel& kernel, const cuda::NvrtcOptions& options,
                                      bool is_from_batch) const;
  /// Returns the PTX of the kernel, from the build cache or compiled; sets `failed` if it cannot be compiled.
  Result<std::string> compile(const backends::EmittedKernel& kernel, const cuda::NvrtcOptions& options,
                              bool& is_from_cache, backends::BuildFailed& failed);

  PtxOptions options_;                                ///< options given by the user
  Result<cuda::Nvrtc> nvrtc_;                         ///< the loaded NVRTC, or why there is none
  std::vector<std::string> supported_architectures_;  ///< those of the requested architectures that NVRTC supports
  std::unique_ptr<backends::BuildCache> cache_;       ///< the build cache; null if it cannot be opened or is not used
};

/// The instructions to whose results the interpreter can add their documented errors.
std::span<const backends::ApproximateInstruction> approximate_instructions();

/// All checks except those named.
EnabledChecks checks_without(const std::vector<std::string>& names);

/// Fails if DeviceOptions::approximation_tables_file names a file that cannot be read.
Result<std::unique_ptr<backends::Device>> make_device(const backends::DeviceOptions& options);

/// Compares the interpreter of each instruction in the kernel's PTX with its definition in models/.
backends::SelfCheckResult self_check(const backends::BuiltKernel& kernel, bool compares);

/// One build for each combination of NVRTC and architecture, named "nvrtc-13.0.88-compute_100"; one build for all
/// architectures if the choices do not list several of either.
Result<std::vector<backends::NamedBuild>> named_builds(const backends::DeviceOptions& options,
                                                       const backends::BuildChoices& choices);

/// The chosen NVRTC for each chosen architecture, optimized and unoptimized; and the other versions that
/// ci/setup-compilers installed.
std::vector<backends::BuildVariant> variants(const backends::DeviceOptions& chosen);

inline constexpr backends::DeviceDescriptor kDeviceEntry{
    .name = "ptx",
    .summary = "PTX compiled from the CUDA C++, interpreted on the CPU",
    .target = backends::SourceTarget::kCuda,
    .toolkit = backends::Toolkit::kNvrtc,
    .default_mode = "sampled",
    .supports_fast_compile = true,
    .reports_profiles = true,
    .check_names = kCheckNames,
    .make = make_device,
    .builds = named_builds,
    .variants = variants,
    .self_check = self_check};

}  // namespace assay::ptx
