#include "support/shell.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace assay {
namespace {

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

}  // namespace

std::string quote_for_shell(std::string_view text) {
  const bool has_control = std::ranges::any_of(text, is_control);
  std::string quoted = has_control ? "$'" : "'";
  for (const char c : text) {
    if (has_control && is_control(c)) quoted += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    else if (has_control && (c == '\'' || c == '\\')) (quoted += '\\') += c;
    else if (c == '\'') quoted += "'\\''";
    else quoted += c;
  }
  return quoted + "'";
}

std::string text_for_shell_comment(std::string_view text) {
  std::string comment(text);
  std::ranges::replace_if(comment, is_control, ' ');
  return comment;
}

}  // namespace assay
