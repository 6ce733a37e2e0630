// The device `candidate`: judges code from elsewhere, a CUDA source with kernels, PTX or a Triton kernel,
// against a specification, which
// is a kernel in Warp Python. The code is interpreted. Only `assay judge` uses it.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "backends/candidate/contract.hpp"
#include "backends/device/backend.hpp"
#include "backends/device/registry.hpp"
#include "backends/ptx/device.hpp"
#include "support/result.hpp"

namespace assay::candidate {

/// The PTX of a candidate for one architecture.
struct CandidatePtx {
  std::string architecture;  ///< architecture of the code: "compute_75"; for a PTX candidate, the target in its text
  std::string ptx;           ///< text of the PTX
};

/// Judges a candidate without host code: compiles it to PTX, unless it is PTX, and interprets the PTX.
class CandidateDevice final : public backends::Device {
 public:
  CandidateDevice(std::filesystem::path file, CandidateContract contract, ptx::PtxOptions options)
      : candidate_path_(std::move(file)), contract_(std::move(contract)), options_(std::move(options)) {}

  [[nodiscard]] std::string_view name() const override { return "candidate"; }
  [[nodiscard]] backends::SourceTarget target() const override { return backends::SourceTarget::kWarpPython; }
  [[nodiscard]] bool uses_cuda_math() const override { return true; }
  [[nodiscard]] double input_error() const override { return contract_.forward.input_error(); }
  [[nodiscard]] bool computes_unrounded_values() const override { return true; }
  [[nodiscard]] std::span<const backends::ApproximateInstruction> approximate_instructions() const override {
    return ptx::approximate_instructions();
  }
  [[nodiscard]] bool derives_work_from_extents() const override { return contract_.derives_work_from_extents(); }
  [[nodiscard]] backends::Capability can_build() const override;
  [[nodiscard]] backends::Capability can_run() const override { return can_build(); }
  [[nodiscard]] std::string build_command(const backends::BuildFlags&) const override { return {}; }
  /// Builds the candidate once for each of `kernels`, which are the specifications. Every outcome holds the candidate's
  /// code, with the parameters of the specification.
  std::vector<backends::BuildOutcome> build(std::span<const backends::EmittedKernel> kernels,
                                            const backends::BuildFlags& flags) override;
  Result<std::unique_ptr<backends::DeviceSession>> open(const backends::SessionLimits& limits) override;
  /// Returns a sentence about the confinement of the candidate, for the user.
  [[nodiscard]] std::string confinement() override {
    return "kernels are interpreted as PTX and never run as native code";
  }

 private:
  std::variant<std::vector<CandidatePtx>, backends::BuildFailed> compile(const backends::BuildFlags& flags) const;
  /// Compiles for one architecture with nvcc what NVRTC rejects. Fails also if nvcc is not installed.
  std::variant<std::string, backends::BuildFailed> compile_with_nvcc(const std::string& architecture,
                                                                     const backends::BuildFlags& flags) const;

  std::filesystem::path candidate_path_;  ///< file to judge
  CandidateContract contract_;            ///< how to launch the candidate for a launch of the specification
  ptx::PtxOptions options_;               ///< options of the compiler and the interpreter
};

/// Fails if no candidate is given, if it cannot be read, or if its contract is invalid.
Result<std::unique_ptr<backends::Device>> make_device(const backends::DeviceOptions& options);

inline constexpr backends::DeviceDescriptor kDeviceEntry{
    .name = "candidate",
    .summary = "existing CUDA, PTX or Triton code, judged against a specification",
    .target = backends::SourceTarget::kWarpPython,
    .toolkit = backends::Toolkit::kNvrtc,
    .flags = backends::BuildFlags::standard(),
    .is_selectable = false,
    .reports_profiles = true,
    .make = make_device,
    .builds = ptx::named_builds};

}  // namespace assay::candidate
