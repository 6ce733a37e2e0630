// A run on one page of Markdown: for the summary of a step in CI.
#pragma once

#include <cstddef>
#include <string>

#include "reports/model/changes.hpp"
#include "reports/model/summary.hpp"

namespace assay::reports {

// A code host cuts off or refuses what is longer than 1 MiB.
inline constexpr std::size_t kMarkdownLimit = 900 * 1024;

// The verdict, what is not as expected with its reproducing command, then the grid and the denominators; at most
// kMarkdownLimit bytes, and a line that says how much was left out.
std::string summary_markdown(const Run& run, const Summary& summary, const Changes* changes);

}  // namespace assay::reports
