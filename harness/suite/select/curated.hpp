// The curated cases of the conformance suite as sources.
#pragma once

#include "conformance/cases.hpp"
#include "harness/suite/run/run.hpp"
#include "support/result.hpp"

namespace assay::harness {

/// The kernel of a curated case. Fails with an internal error if the file is not valid Python or does not contain
/// exactly one kernel. An unsupported kernel is returned with its reason.
Result<KernelSource> curated_kernel(const conformance::CaseFile& curated);

}  // namespace assay::harness
