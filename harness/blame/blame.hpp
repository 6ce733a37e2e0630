// Finds where a failure comes from: judges other builds of the failing kernel, whose results decide.hpp weighs.
#pragma once

#include "backends/device/registry.hpp"
#include "harness/records/record.hpp"
#include "harness/suite/run/run.hpp"

namespace assay::blame {

/// Whether the case failed in a way that can come from a compiler, the emitter or the oracle, on a device that runs the
/// code that Assay emits. A kernel that exceeds its time limit is not examined, because other builds would exceed it
/// too; nor is one that was not built.
bool can_examine(const harness::CaseRecord& record);

/// Judges the pass of the failing case in every build variant of every device that runs emitted code without a GPU.
/// Also judges the code of another generator if these results do not show whether the emitter or the oracle is
/// incorrect. `options` are those of the case. Takes a few seconds.
harness::FailureOrigin find_culprit(const harness::CaseRecord& failing, const harness::KernelSource& source,
                                    const harness::Printer& printer, const harness::RunOptions& options,
                                    const backends::DeviceOptions& device_options);

}  // namespace assay::blame
