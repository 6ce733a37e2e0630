// The CPU device: compiles emitted C++ with the host compiler and runs it in worker processes. Start reading here.
//
// build() groups kernels into batches (batch_source) and compiles each batch to one shared library (compiler), unless
// the build cache already has it. A library counts as built only after a worker has loaded it. A batch that fails is
// split (isolating_build).
// open() returns a session (session) whose launches run in processes (worker) by the protocol of backends/worker.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/cpu/compiler.hpp"
#include "backends/cpu/session.hpp"
#include "backends/device/backend.hpp"
#include "backends/device/build_cache.hpp"
#include "backends/device/isolating_build.hpp"
#include "backends/device/registry.hpp"
#include "backends/device/scratch_directory.hpp"
#include "support/result.hpp"

namespace assay::cpu {

/// User options of the device `cpu`.
struct CpuOptions {
  std::string compiler;                ///< command of the compiler, which may have several words; empty: $CXX, then c++
  bool uses_fastest_compiler = false;  ///< whether to look for the compiler of BuildFlags::uses_fastest_compiler
  std::filesystem::path worker_executable;  ///< program whose main() calls run_if_worker(); empty: this program
  std::filesystem::path cache_directory;    ///< directory of the build cache; empty: default_cache_directory()
  std::uint64_t max_cache_bytes = std::uint64_t{1} << 30;  ///< size limit of the build cache
  bool uses_build_cache = true;                            ///< whether build() uses the build cache
  bool confine_worker =
      true;  ///< confine generated code as far as the system can; otherwise only limit time and memory
  std::size_t batch_size = 96;  ///< maximum number of kernels in one translation unit
  unsigned jobs = 1;            ///< maximum number of compilers that run at the same time
  /// Time limit for compiling one translation unit, without its kernels.
  std::chrono::milliseconds compile_time_limit{30'000};
  std::chrono::milliseconds compile_time_limit_per_kernel{5'000};  ///< additional time for each kernel of the unit
  /// Additional time for each MiB of source text. Kernels with deeply nested calls have several MiB, because calls are
  /// inlined; g++ -O0 takes 2 to 3 s for each.
  std::chrono::milliseconds compile_time_limit_per_mebibyte{10'000};
};

/// The device `cpu`.
class CpuDevice final : public backends::Device {
 public:
  /// Never fails; can_build() and can_run() report what is missing.
  explicit CpuDevice(CpuOptions options);

  [[nodiscard]] std::string_view name() const override { return "cpu"; }
  [[nodiscard]] backends::SourceTarget target() const override { return backends::SourceTarget::kCpp; }
  [[nodiscard]] bool can_run_threads_in_order() const override { return true; }
  [[nodiscard]] backends::Capability can_build() const override;
  [[nodiscard]] backends::Capability can_run() const override;

  /// Starts a worker to find out how it confines generated code. Fails if no worker can be started.
  Result<worker::Confinement> probe_confinement();
  [[nodiscard]] std::string confinement() override;
  [[nodiscard]] std::vector<std::filesystem::path> compiler_files() const override;

  [[nodiscard]] std::string build_command(const backends::BuildFlags& flags) const override;
  /// Builds the kernels in batches; returns one outcome for each kernel.
  std::vector<backends::BuildOutcome> build(std::span<const backends::EmittedKernel> kernels,
                                            const backends::BuildFlags& flags) override;
  Result<std::unique_ptr<backends::DeviceSession>> open(const backends::SessionLimits& limits) override;

 private:
  /// Builds the kernels as one library, or takes it from the build cache.
  backends::BatchOutcome build_batch(std::span<const backends::EmittedKernel* const> kernels,
                                     const backends::BuildFlags& flags);
  /// Compiles a batch; returns the compiler's log.
  std::variant<std::string, backends::FailedBatch> compile_batch(
      const std::string& text, std::span<const backends::EmittedKernel* const> kernels,
      const backends::BuildFlags& flags, const std::filesystem::path& library);
  /// The compiler for builds with these flags; a compiler must have been found.
  [[nodiscard]] const Compiler& compiler_for(const backends::BuildFlags& flags) const;
  [[nodiscard]] std::string cache_key(const std::string& text, const backends::BuildFlags& flags) const;
  WorkerOptions workers() const;                       ///< options of the worker processes
  Result<worker::WorkerSession*> test_load_session();  ///< opened on first use; test_load_mutex_ must be held
  std::optional<backends::BuildFailed> try_loading(const std::filesystem::path& library);

  CpuOptions options_;                           ///< options given by the user
  Result<Compiler> compiler_;                    ///< the compiler, or why none was found
  std::optional<Compiler> fastest_compiler_;     ///< for BuildFlags::uses_fastest_compiler; empty: `compiler_`
  std::unique_ptr<backends::BuildCache> cache_;  ///< the build cache; null if it cannot be opened or is not used
  /// Directory for sources and libraries of this device, or why it could not be created.
  Result<backends::ScratchDirectory> scratch_;
  std::atomic<std::uint64_t> next_translation_unit_number_ =
      0;                        ///< number of the next translation unit, which names its files
  std::mutex test_load_mutex_;  ///< guards test_load_session_
  std::unique_ptr<worker::WorkerSession>
      test_load_session_;  ///< worker session that loads each new library to test it; guarded by test_load_mutex_
};

Result<std::unique_ptr<backends::Device>> make_device(const backends::DeviceOptions& options);

/// Returns one build for each compiler, named by its command without folders: "g++-12". If the choices do not list
/// several compilers, returns one build without a name.
Result<std::vector<backends::NamedBuild>> named_builds(const backends::DeviceOptions& options,
                                                       const backends::BuildChoices& choices);

/// The chosen compiler, optimized as the case, unoptimized and trapping; and every GCC and Clang on the path, whose
/// names may end with a version number.
std::vector<backends::BuildVariant> variants(const backends::DeviceOptions& chosen);

inline constexpr backends::DeviceDescriptor kDeviceEntry{.name = "cpu",
                                                         .summary = "C++ compiled for this CPU",
                                                         .target = backends::SourceTarget::kCpp,
                                                         .toolkit = backends::Toolkit::kHostCompiler,
                                                         .has_optimization_levels = true,
                                                         .make = make_device,
                                                         .builds = named_builds,
                                                         .variants = variants};

}  // namespace assay::cpu
