#include "support/terminal.hpp"

#include <cstdlib>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

namespace assay {
namespace {

constexpr std::size_t kDefaultWidth = 160;

}  // namespace

bool can_redraw(bool is_terminal, const char* term) {
  return is_terminal && (term == nullptr || std::string_view(term) != "dumb");
}

bool use_color(ColorChoice choice, bool is_terminal, const char* no_color, const char* term) {
  if (choice != ColorChoice::automatic) return choice == ColorChoice::always;
  if (no_color != nullptr && *no_color != '\0') return false;
  return can_redraw(is_terminal, term);
}

bool use_color_on_stdout(ColorChoice choice) {
  return use_color(choice, ::isatty(STDOUT_FILENO) == 1, std::getenv("NO_COLOR"), std::getenv("TERM"));
}

std::string styled(const std::string& text, fmt::text_style style, bool color) {
  return color && !text.empty() ? fmt::format(style, "{}", text) : text;
}

std::size_t terminal_width() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char* const columns = std::getenv("COLUMNS");
  const long requested = columns == nullptr ? 0 : std::strtol(columns, nullptr, 10);
  return requested > 0 ? static_cast<std::size_t>(requested) : kDefaultWidth;
}

}  // namespace assay
