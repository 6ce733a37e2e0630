// Judging cases several times with the same inputs, to find those that do not always end the same. Private to run.
#pragma once

#include <span>

#include "harness/suite/run/batch.hpp"

namespace assay::harness {

/// As run_batch, `options.repeat` times; one record for each case, once its last attempt is over.
void run_repeatedly(std::span<const KernelSource> sources, backends::Device& device, const Printer& printer,
                    const RunOptions& options, const TakeRecord& take);

/// Adds a later attempt to a case's record. The first attempt that is not as expected decides the case, an internal
/// error above all: a retry never erases. Attempts and times of both are kept.
void add_attempt(CaseRecord& record, CaseRecord later);

}  // namespace assay::harness
