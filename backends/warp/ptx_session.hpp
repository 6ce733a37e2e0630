// A session that interprets the PTX that Warp generates. Private to the device.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "backends/device/backend.hpp"
#include "backends/ptx/session.hpp"
#include "support/result.hpp"

namespace assay::warp {

struct PtxCode;

/// Describes a kernel's entries and the layout of its arguments in an artifact of the kind kPython: `binding` is the
/// text of the kernel's binding file, and `code` the description that host.py printed.
std::string describe_code(const std::string& binding, const std::string& code);

/// Interprets launches of the PTX that Warp generates.
class WarpPtxSession final : public ptx::PtxSession {
 public:
  using PtxSession::PtxSession;

 protected:
  /// Runs the forward entry; for a backward launch, then the backward entry, as Warp's tape does. A backward launch
  /// restores the arrays of the kernel.
  backends::RunOutcome run_one(const backends::LaunchRequest& launch) override;

 private:
  Result<std::shared_ptr<const PtxCode>> description_of(const backends::LaunchRequest& launch);

  /// Description of the code in each artifact.
  std::map<std::shared_ptr<const backends::Artifact>, std::shared_ptr<const PtxCode>> code_by_artifact_;
};

}  // namespace assay::warp
