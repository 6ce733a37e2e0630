// The device `candidate` for Python files with Triton kernels. Triton compiles them to PTX, which is interpreted.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "backends/candidate/contract.hpp"
#include "backends/candidate/device.hpp"
#include "backends/candidate/specification.hpp"
#include "backends/candidate/triton/compiler.hpp"
#include "backends/device/backend.hpp"
#include "backends/ptx/device.hpp"
#include "support/result.hpp"

namespace assay::candidate {

/// Judges a Triton kernel: compiles it to PTX with Triton and interprets the PTX.
class TritonCandidateDevice final : public backends::Device {
 public:
  /// `architectures` are those that the user states; without any, the code is compiled for compute_80. `python` is the
  /// interpreter that the user names, or empty.
  TritonCandidateDevice(std::filesystem::path file, CandidateContract contract, ptx::PtxOptions options,
                        std::vector<std::string> architectures, const std::string& python);

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
  /// Compiles the candidate once for each of `kernels`, which are the specifications, because the types of its
  /// arguments depend on the specification.
  std::vector<backends::BuildOutcome> build(std::span<const backends::EmittedKernel> kernels,
                                            const backends::BuildFlags& flags) override;
  Result<std::unique_ptr<backends::DeviceSession>> open(const backends::SessionLimits& limits) override;
  /// Returns a sentence about the confinement of the candidate, for the user.
  [[nodiscard]] std::string confinement() override {
    return "the Python file is imported in a confined process; kernels are interpreted as PTX";
  }

 private:
  backends::BuildOutcome build_for(const backends::EmittedKernel& specification) const;
  /// Adds the kernel of a pass to `built`, and returns how it must be launched.
  std::variant<CompiledLaunch, backends::BuildFailed> add_kernel(backends::BuiltKernel& built, backends::Pass pass,
                                                                 const backends::EmittedKernel& specification) const;

  std::filesystem::path candidate_path_;    ///< file to judge
  CandidateContract contract_;              ///< how to launch the candidate for a launch of the specification
  ptx::PtxOptions options_;                 ///< options of the interpreter
  std::vector<std::string> architectures_;  ///< architectures to compile for: "compute_80"
  Result<TritonInterpreter> interpreter_;   ///< Python with Triton, or why there is none
};

/// Whether a contract states what a Triton kernel needs, and nothing that has no effect on one. The error names the
/// file `contract_file`.
Result<void> check_triton_contract(const CandidateContract& contract, const std::filesystem::path& contract_file);

}  // namespace assay::candidate
