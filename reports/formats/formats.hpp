// The machine-readable formats of a run: each function writes one.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "reports/model/changes.hpp"
#include "reports/model/run.hpp"
#include "reports/model/summary.hpp"

namespace assay::reports {

/// The Common Test Report Format (https://ctrf.io), version 0.0.0 of its JSON Schema. Inconclusive cases, and planned
/// cases that were not run, have the status failed, because they fail the run; unsupported cases are skipped, and
/// expected failures are other.
nlohmann::json ctrf_json(const Run& run, const RunSummary& summary);

/// The cases that failed, expected or not, as a table (RFC 4180): case, outcome, kind, message. It can be used as a
/// baseline, and as an expectations file in which every failure is expected.
std::string failures_csv(const Run& run);

/// JUnit XML in the dialect of Jenkins, with a suite for each family, device and pass. Cases that exceed a bound or
/// have no verdict are failures; cases that crashed, timed out, or could not be built or run are errors; unsupported
/// cases are skipped.
std::string junit_xml(const Run& run);

/// DIR/report.json: the run as one document. Follows schemas/report.schema.json; `changes` is null without a baseline.
nlohmann::json report_json(const Run& run, const RunSummary& summary, const RunChanges* changes);

/// The findings by source line, in SARIF 2.1.0, for code hosts that show them next to the code. Cases that are not as
/// expected are errors, cases without a verdict are warnings, and uncovered code is a note. Random kernels, which have
/// no file, are left out.
nlohmann::json sarif_json(const Run& run, const RunSummary& summary);

/// The schedule in the Trace Event Format (chrome://tracing, ui.perfetto.dev), with a row for each job.
///
/// Each row shows batches: the stages that prepare and build the whole batch, then each case with its stages. Only the
/// start of a batch and the end of a case are recorded times; between them, stages are placed in order with their
/// durations, which are divided among the passes of a kernel and the kernels of a batch. Cases that were not judged,
/// and records before version 1.6.0, are left out.
std::string chrome_trace(const Run& run);

}  // namespace assay::reports
