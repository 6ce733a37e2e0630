// The schedule of a run in the Trace Event Format (chrome://tracing, ui.perfetto.dev), with a row for each job.
#pragma once

#include <string>

#include "reports/model/run.hpp"

namespace assay::reports {

// Each row shows batches: the stages that prepare and build the whole batch, then each case with its stages. Only the
// start of a batch and the end of a case are recorded times; between them, stages are placed in order with their
// durations, which are divided among the passes of a kernel and the kernels of a batch. Cases that were not judged, and
// records before version 1.6.0, are left out.
std::string chrome_trace(const Run& run);

}  // namespace assay::reports
