// Checks of a file before it is parsed, and its lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/module.hpp"
#include "support/result.hpp"

namespace assay::frontend {

inline constexpr std::size_t kMaxSourceBytes = 2'000'000;  ///< the maximum size of a file in bytes

/// The text without a byte order mark, if it is UTF-8 that a Python file can hold. The error's `where` is
/// "line:column" if there is a location.
Result<std::string_view> check_source(std::string_view bytes);

/// The maximum number of pending tokens. An expression of at most SyntaxTree::kMaxDepth levels needs fewer.
inline constexpr std::size_t kMaxPendingTokens = 50'000;

/// The maximum number of consecutive lines that contain only a backslash.
inline constexpr std::size_t kMaxEmptyContinuations = 100;

/// Rejects a text with more than kMaxPendingTokens tokens and comments without a comma or the end of a statement, as in
/// "((((((" or "- - - - -": the parser keeps them on its stack, which fails beyond 65,535 entries (tree-sitter 0.20.7).
/// Also rejects more than kMaxEmptyContinuations, because the grammar rescans the rest of such a sequence for each of
/// its lines. The error's `where` is "line:column".
Result<void> check_statement_length(std::string_view text);

/// The text with line breaks and comments inside brackets replaced by spaces, keeping all byte offsets: the same
/// program, but without continuation lines that are indented less than their block, which the grammar does not support.
std::string join_bracketed_lines(std::string_view text);

/// The error with the name of its file before the line and column in `where`, if it has them.
Error in_file(const Error& error, const std::string& file);

/// The text of a file, in which the line of a byte can be looked up.
class SourceText {
 public:
  /// Line numbers start after `lines_before`.
  explicit SourceText(std::string text, std::int32_t lines_before = 0);

  std::string_view text() const { return text_; }
  /// The line, after `lines_before`, and the column, from 1, of the byte at an offset.
  ir::Loc loc(std::size_t offset) const;

 private:
  std::string text_;                         ///< text of the file
  std::int32_t preceding_line_count_;        ///< number to add to line numbers, for imported files
  std::vector<std::size_t> line_starts_{0};  ///< offset of the first byte of each line
};

}  // namespace assay::frontend
