// A session that interprets the PTX of a candidate. Private to the device.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/candidate/contract.hpp"
#include "backends/candidate/specification.hpp"
#include "backends/device/backend.hpp"
#include "backends/ptx/session.hpp"
#include "support/result.hpp"

namespace assay::candidate {

struct CandidateKernel;
class CandidateLaunch;

/// The architecture of an artifact with the code of the backward pass, if that is not in the artifact of the forward
/// pass.
inline std::string backward_code_name(const std::string& architecture) { return architecture + " backward"; }

/// Runs a launch of the specification as a launch of the candidate's PTX.
class CandidateSession final : public ptx::PtxSession {
 public:
  CandidateSession(const backends::SessionLimits& limits, const ptx::PtxOptions& options, CandidateContract contract)
      : PtxSession(limits, options), contract_(std::move(contract)) {}

  void reset() override;

 protected:
  /// Launches the candidate as its contract states. Arrays are passed as pointers to dense elements; an array of
  /// another layout is copied before and after the launch. A launch without threads does nothing.
  ///
  /// A backward launch runs the kernel of the backward pass. If this gets an output of the specification or a saved
  /// array, the kernel of the forward pass runs first. Gradients that the kernel overwrites are added to the initial
  /// gradients afterwards.
  backends::RunOutcome run_one(const backends::LaunchRequest& launch) override;

 private:
  /// The candidate's kernel for this pass. `description`: the artifact that describe() returned.
  Result<CandidateKernel> kernel_for(const backends::LaunchRequest& launch, backends::Pass pass,
                                     const backends::Artifact& description);
  /// Frees the memory of the last launch, except the variables of modules: they keep their contents, as on a GPU.
  void reset_machine();
  backends::RunOutcome run_kernel(const backends::LaunchRequest& launch, const CandidateKernel& kernel,
                                  const CandidateLaunch& placed, ptx::UnroundedLosses& losses);
  backends::RunOutcome run_backward(const backends::LaunchRequest& launch, const backends::Artifact& description,
                                    const Specification& specification, CandidateLaunch& placed,
                                    ptx::UnroundedLosses& losses);

  CandidateContract contract_;  ///< how to launch the candidate for a launch of the specification
  std::vector<std::shared_ptr<const ptx::Module>> modules_;  ///< modules of the kernels that have run since reset()
  std::vector<std::optional<backends::BufferId>> saved_buffers_;  ///< memory of the contract's saved arrays
};

}  // namespace assay::candidate
