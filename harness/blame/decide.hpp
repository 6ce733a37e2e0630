// Decides where a failure comes from, by the results of other builds.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "backends/device/registry.hpp"
#include "harness/records/record.hpp"

namespace assay::blame {

/// The result of one build of the failing kernel, for the pass of the failing case.
struct BuildVariantResult {
  std::string device;  ///< name of the device that judged the build
  /// How the build differs from that of the case.
  backends::BuildVariant::Role role = backends::BuildVariant::Role::kSameFlags;
  std::string compiler;                                  ///< name and version: "NVRTC 13.0.88"
  std::string target = {};                               ///< architecture: "compute_100"; empty: the host
  bool is_from_other_generator = false;                  ///< whether a generator other than Assay made the code
  harness::Outcome outcome = harness::Outcome::not_run;  ///< outcome of the case
  std::string outcome_detail = {};                       ///< kind of the outcome: "mismatch"
};

/// What the self-check of the failing device reports about the instructions of the failing builds.
struct ExecutionEvidence {
  /// One line for each instruction that the device executes incorrectly.
  std::vector<std::string> incorrect_instructions = {};
  /// Instructions that only failing builds have and whose execution cannot be checked.
  std::vector<std::string> unchecked_instructions = {};
};

/// Decides by the results `votes` where the failure comes from, and gives the reason. The rules, in this order:
///
/// 1. kernel: a build of the C++ that stops at undefined behavior crashes, and the usual build does not.
/// 2. interpreter: the device executes an instruction of a failing build incorrectly.
/// 3. compiler: a build fails, and the same text for the same target passes without optimizations. Not if an
///    instruction whose execution cannot be checked occurs only in failing builds.
/// 4. emitter: every unoptimized build of both devices fails, and either the gradient contradicts finite differences of
///    the emitted forward pass, or the code of another generator agrees with the oracle.
/// 5. oracle: every unoptimized build of both devices fails, but the gradient agrees with finite differences, or the
///    code of another generator fails too.
///
/// undetermined if no rule applies, and always if the failure does not occur again. A vote that neither passes nor
/// fails is ignored.
harness::FailureOrigin decide_blame(const harness::CaseRecord& failing, std::span<const BuildVariantResult> votes,
                                    const ExecutionEvidence& execution = {});

}  // namespace assay::blame
