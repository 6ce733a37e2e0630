// --color.
#pragma once

#include <CLI/CLI.hpp>

#include "reports/formats/terminal.hpp"

namespace assay::cli {

/// Adds `--color {auto,always,never}`; automatic honours NO_COLOR and colours a terminal only.
void add_color_option(CLI::App& command, reports::ColorChoice& choice);

}  // namespace assay::cli
