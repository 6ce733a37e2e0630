// The schedule of a run in the Trace Event Format, which chrome://tracing and ui.perfetto.dev show: a row for each job.
#pragma once

#include <string>

#include "reports/model/run.hpp"

namespace assay::reports {

// On each row batch after batch: what prepares and builds the batch as a whole, then case after case with its stages.
// Only the beginning of a batch and the end of a case are moments that were recorded; between them the stages lie in
// their order and with their times, which are shared out among the passes of a kernel, and its kernels of a batch.
// Cases that were not judged, and records before version 1.6.0, have no place in it.
std::string chrome_trace(const Run& run);

}  // namespace assay::reports
