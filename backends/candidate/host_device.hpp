// The device `candidate` for candidates with host code: a Python file that calls load_inline, or a CUDA source whose
// contract states a host function. nvcc compiles it; a confined worker runs its host code and interprets its kernels.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/candidate/contract.hpp"
#include "backends/candidate/device.hpp"
#include "backends/candidate/host/compiler.hpp"
#include "backends/device/backend.hpp"
#include "backends/device/build_cache.hpp"
#include "backends/device/scratch_directory.hpp"
#include "backends/ptx/device.hpp"
#include "support/result.hpp"

namespace assay::candidate {

/// Judges a candidate with host code: builds a library with nvcc and runs it in a worker.
class HostCandidateDevice final : public backends::Device {
 public:
  /// `architectures` are those that the user states; without any, the code is compiled for kDefaultArchitecture.
  /// `python` is the interpreter that the user names, or empty. `compiler`: one of kHostCompilerNames, or empty.
  HostCandidateDevice(std::filesystem::path file, CandidateContract contract, ptx::PtxOptions options,
                      std::vector<std::string> architectures, std::string python, const std::string& compiler);

  [[nodiscard]] std::string_view name() const override { return "candidate"; }
  [[nodiscard]] backends::SourceTarget target() const override { return backends::SourceTarget::kWarpPython; }
  [[nodiscard]] bool uses_cuda_math() const override { return true; }
  [[nodiscard]] double input_error() const override { return contract_.forward.input_error(); }
  [[nodiscard]] bool computes_unrounded_values() const override { return true; }
  [[nodiscard]] std::span<const backends::ApproximateInstruction> approximate_instructions() const override {
    return ptx::approximate_instructions();
  }
  [[nodiscard]] bool derives_work_from_extents() const override { return true; }
  [[nodiscard]] backends::Capability can_build() const override;
  [[nodiscard]] backends::Capability can_run() const override { return can_build(); }
  [[nodiscard]] std::string build_command(const backends::BuildFlags&) const override { return {}; }
  /// Builds the candidate once for each of `kernels`, which are the specifications. Every outcome holds the candidate's
  /// library, with the parameters of the specification.
  std::vector<backends::BuildOutcome> build(std::span<const backends::EmittedKernel> kernels,
                                            const backends::BuildFlags& flags) override;
  Result<std::unique_ptr<backends::DeviceSession>> open(const backends::SessionLimits& limits) override;
  [[nodiscard]] std::string confinement() override;

 private:
  /// The library for one architecture.
  std::variant<backends::Artifact, backends::BuildFailed> find_or_build_library(const LibraryBuildRequest& request);
  /// Makes `object`, the object file of the CUDA runtime functions; `folder` is for temporary files.
  std::variant<std::string, backends::BuildFailed> find_or_build_runtime(const LibraryBuildRequest& request,
                                                                         const std::filesystem::path& folder,
                                                                         const std::filesystem::path& object);
  std::optional<backends::BuildFailed> try_loading(const std::filesystem::path& library);

  std::filesystem::path candidate_path_;         ///< file to judge
  CandidateContract contract_;                   ///< how to call the candidate's host function
  ptx::PtxOptions options_;                      ///< options of the interpreter
  std::vector<std::string> architectures_;       ///< architectures to compile for: "compute_80"
  std::string python_;                           ///< the interpreter that the user names, or empty
  Result<HostCompiler> compiler_;                ///< the compiler, or why there is none
  Result<backends::ScratchDirectory> scratch_;   ///< directory for the built libraries, or why it could not be created
  std::unique_ptr<backends::BuildCache> cache_;  ///< build cache; null if its directory is not usable
  std::atomic<int> next_library_number_ = 0;     ///< number in the file name of the next library
};

/// The architecture for which candidates with host code are compiled if the user specifies none.
inline constexpr const char* kDefaultArchitecture = "compute_80";

/// Whether a candidate has host code that Assay calls: a Python file, or a CUDA source that includes PyTorch, defines
/// main() or whose contract states a function.
bool has_host_code(const std::filesystem::path& file, const LaunchContract& contract);
/// Whether a candidate is a program: a CUDA source whose main() Assay runs.
bool is_program(const std::filesystem::path& file, const LaunchContract& contract);

}  // namespace assay::candidate
