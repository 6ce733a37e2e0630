// Judges cases several times with the same inputs, to detect flaky ones. Private to run.
#pragma once

#include <span>

#include "harness/suite/run/batch.hpp"

namespace assay::harness {

/// Runs run_batch `options.repetition_count` times. Passes one record for each case to `take`, after its last attempt.
void run_repeatedly(std::span<const KernelSource> sources, backends::Device& device, const Printer& printer,
                    const RunOptions& options, const TakeRecord& take);

/// Adds a later attempt to a case's record. The first attempt that is not as expected decides the case, except that an
/// internal error always decides. Keeps the attempts and times of both.
void add_attempt(CaseRecord& record, CaseRecord later);

}  // namespace assay::harness
