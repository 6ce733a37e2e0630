// A run on one page of Markdown, for the summary of a CI step.
#pragma once

#include <cstddef>
#include <string>

#include "reports/model/changes.hpp"
#include "reports/model/summary.hpp"

namespace assay::reports {

/// Maximum size of the summary, because code hosts truncate or reject summaries longer than 1 MiB.
inline constexpr std::size_t kMaxMarkdownBytes = 900 * 1024;

/// The verdict, the cases that are not as expected with their commands, the grid and the denominators. At most
/// kMaxMarkdownBytes bytes; states how many cases were omitted.
std::string summary_markdown(const Run& run, const RunSummary& summary, const RunChanges* changes);

}  // namespace assay::reports
