// What is checked of a file before it is parsed, and its lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/module.hpp"
#include "support/result.hpp"

namespace assay::frontend {

/// Files larger than this are not taken.
inline constexpr std::size_t kLargestSource = 2'000'000;

/// The text without a byte order mark, if it is UTF-8 that a Python file can hold. The error's `where` is
/// "line:column" where there is such a place.
Result<std::string_view> check_source(std::string_view bytes);

/// More than any expression that is not deeper than SyntaxTree::kDeepest has, however long its tokens or its lists.
inline constexpr std::size_t kMostPendingTokens = 50'000;

/// More lines than that, one after another, may not hold a backslash alone.
inline constexpr std::size_t kMostEmptyContinuations = 100;

/// Refuses a text in which more tokens and comments than that follow one another without a comma or the end of a
/// statement, as in "((((((" or "- - - - -": the parser keeps them all on its stack, which breaks beyond 65,535 entries
/// (tree-sitter 0.20.7). Refuses also more than kMostEmptyContinuations: the grammar reads the rest of such a run again
/// for each of its lines. The error's `where` is "line:column".
Result<void> check_length_of_statements(std::string_view text);

/// The text with line breaks and comments inside brackets made spaces, byte for byte in the same place: the same
/// program for Python, but without lines that go on further left than their block, at which the grammar stumbles.
std::string join_bracketed_lines(std::string_view text);

/// A text that finds the line of a byte.
class SourceText {
 public:
  /// Lines count on from `lines_before`.
  explicit SourceText(std::string text, std::int32_t lines_before = 0);

  std::string_view text() const { return text_; }
  /// Line, counted on from those before, and column, from 1, of the byte at an offset.
  ir::Loc loc(std::size_t offset) const;

 private:
  std::string text_;
  std::int32_t lines_before_;
  std::vector<std::size_t> line_starts_{0};
};

}  // namespace assay::frontend
