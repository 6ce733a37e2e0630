// Terminal output: whether to use color, and the width.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <fmt/color.h>

namespace assay {

/// --color of the command line.
enum class ColorChoice : std::uint8_t { automatic, always, never };

/// Whether to color: as chosen; automatic colors a terminal unless NO_COLOR is set and not empty (no-color.org), or
/// TERM is "dumb".
bool use_color(ColorChoice choice, bool is_terminal, const char* no_color, const char* term);

/// Whether a line on the terminal can be redrawn, which a terminal with TERM=dumb does not support.
bool can_redraw(bool is_terminal, const char* term);

/// The same as use_color, for standard output and this process's environment.
bool use_color_on_stdout(ColorChoice choice);

/// The text in the style if `color` is set, else unchanged.
std::string styled(const std::string& text, fmt::text_style style, bool color);

/// Columns of the terminal on standard output; $COLUMNS, else 160, if standard output is not a terminal.
std::size_t terminal_width();

}  // namespace assay
