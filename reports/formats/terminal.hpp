// The terminal output of a run, from the same data as its reports.
#pragma once

#include <string>

#include "reports/model/changes.hpp"
#include "reports/model/summary.hpp"

namespace assay::reports {

/// "fail(mismatch)  loop/product/f32/cpu/backward: grad_x[3] is ...", and the command that reproduces it, on two lines;
/// empty for a case that is as expected. If it was judged several times, "(2 of 3 pass)" follows the outcome. Control
/// characters in untrusted text are made visible.
std::string unexpected_lines(const nlohmann::json& record, bool color);

/// The final table of a run: passed of total cases by family, device and pass. Below it the verdict, the denominators
/// with the rate, and the devices that are missing.
std::string closing_table(const Run& run, const RunSummary& summary, bool color);

/// A line for each change, and the counts: "broken   loop/...: pass -> fail(mismatch): grad_x[3] is ...".
std::string changes_lines(const RunChanges& changes, bool color);

}  // namespace assay::reports
