// Text in commands and scripts for a POSIX shell.
#pragma once

#include <string>
#include <string_view>

namespace assay {

/// The text in single quotes, as one word of a command on one line. Text with control characters becomes $'...', which
/// bash, zsh and POSIX.1-2024 shells support.
std::string quote_for_shell(std::string_view text);

/// The text for a comment of a script: each control character becomes a space, so that the comment has one line.
std::string text_for_shell_comment(std::string_view text);

}  // namespace assay
