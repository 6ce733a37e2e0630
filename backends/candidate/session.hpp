// A session that interprets the PTX of a candidate. Private to the device.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/candidate/contract.hpp"
#include "backends/device/backend.hpp"
#include "backends/device/emitted_kernel.hpp"
#include "backends/ptx/session.hpp"
#include "support/result.hpp"

namespace assay::candidate {

/// The artifact that describes the specification's parameters.
std::shared_ptr<const backends::Artifact> describe(const backends::PythonBinding& binding);

class CandidateSession final : public ptx::PtxSession {
 public:
  CandidateSession(const backends::SessionLimits& limits, const ptx::PtxOptions& options, Contract contract)
      : PtxSession(limits, options), contract_(std::move(contract)) {}

 protected:
  /// Launches the candidate as its contract states. Arrays are passed as pointers to dense elements; an array of
  /// another layout is copied before and after the launch. A launch without threads does nothing.
  backends::RunOutcome run_one(const backends::LaunchRequest& launch) override;

 private:
  Contract contract_;
};

}  // namespace assay::candidate
