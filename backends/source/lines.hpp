// Indented lines of source text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "support/concat.hpp"

namespace assay::source {

/// A text of indented lines.
class IndentedLines {
 public:
  /// Reserves space for `size` bytes of text.
  explicit IndentedLines(int depth = 0, std::size_t size = 0) : indentation_level_(depth) { text_.reserve(size); }

  /// Adds a line that consists of the pieces.
  template <class... Pieces>
  void add(const Pieces&... pieces) {
    text_.append(static_cast<std::size_t>(2 * indentation_level_), ' ');
    assay::append(text_, pieces...);
    text_ += '\n';
  }
  void blank() { text_ += '\n'; }
  /// Appends complete lines unchanged.
  void append(std::string_view text) { text_ += text; }
  /// Adds a line that opens a block: "if (c) {".
  template <class... Pieces>
  void open(const Pieces&... pieces) {
    add(pieces...), ++indentation_level_;
  }
  void close(std::string_view line = "}") { --indentation_level_, add(line); }
  /// Closes a block and opens the next: "} else {".
  void reopen(std::string_view line) { close(line), ++indentation_level_; }

  std::string take() { return std::move(text_); }

 private:
  std::string text_;       ///< complete lines so far
  int indentation_level_;  ///< indentation level; each is two spaces
};

}  // namespace assay::source
