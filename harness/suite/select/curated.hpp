// The curated cases of the conformance suite as sources.
#pragma once

#include "conformance/cases.hpp"
#include "harness/suite/run/run.hpp"
#include "support/result.hpp"

namespace assay::harness {

/// The kernel of a curated case. Fails, which is a defect of Assay, if the file is no readable Python or holds other
/// than one kernel; a kernel that cannot be read says so itself.
Result<KernelSource> curated_kernel(const conformance::CaseFile& curated);

}  // namespace assay::harness
