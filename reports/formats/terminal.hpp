// What a run says on the terminal, made of the same data as its reports.
#pragma once

#include <cstdint>
#include <string>

#include "reports/model/changes.hpp"
#include "reports/model/summary.hpp"

namespace assay::reports {

// --color of the command line.
enum class ColorChoice : std::uint8_t { automatic, always, never };

// Whether to colour: as chosen; automatic colours a terminal unless NO_COLOR is set and not empty (no-color.org), or
// TERM is "dumb".
bool use_color(ColorChoice choice, bool is_terminal, const char* no_color, const char* term);

// The same for standard output and this process's environment.
bool use_color_on_stdout(ColorChoice choice);

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
