// A session that interprets the PTX of a candidate. Private to the device.
#pragma once

#include <utility>

#include "backends/candidate/contract.hpp"
#include "backends/device/backend.hpp"
#include "backends/ptx/session.hpp"

namespace assay::candidate {

/// Runs a launch of the specification as a launch of the candidate's PTX.
class CandidateSession final : public ptx::PtxSession {
 public:
  CandidateSession(const backends::SessionLimits& limits, const ptx::PtxOptions& options, LaunchContract contract)
      : PtxSession(limits, options), contract_(std::move(contract)) {}

 protected:
  /// Launches the candidate as its contract states. Arrays are passed as pointers to dense elements; an array of
  /// another layout is copied before and after the launch. A launch without threads does nothing.
  backends::RunOutcome run_one(const backends::LaunchRequest& launch) override;

 private:
  LaunchContract contract_;  ///< how to launch the candidate for a launch of the specification
};

}  // namespace assay::candidate
