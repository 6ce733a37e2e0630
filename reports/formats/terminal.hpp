// What a run says on the terminal, made of the same data as its reports.
#pragma once

#include <string>

#include "reports/model/changes.hpp"
#include "reports/model/summary.hpp"

namespace assay::reports {

// "FAIL  loop/product/f32/cpu/backward: fail(mismatch): grad_x[3] is ...", and the command that reproduces it, each on
// a line; empty for a case that is as expected. Where it was judged several times, "(2 of 3 pass)" follows the outcome.
// Control characters of untrusted text are made visible.
std::string unexpected_lines(const nlohmann::json& record, bool color);

// The table that closes a run: family by device and pass, passed of total; below it the verdict, the denominators with
// the rate, and what is missing where the machine lacks a device.
std::string closing_table(const Run& run, const Summary& summary, bool color);

// What changed, a line each, and the counts: "broken   loop/...: pass -> fail(mismatch): grad_x[3] is ...".
std::string changes_lines(const Changes& changes, bool color);

}  // namespace assay::reports
