// Indented lines of source text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "support/concat.hpp"

namespace assay::source {

class Lines {
 public:
  /// Room is made for a text of `size` bytes; it may grow beyond.
  explicit Lines(int depth = 0, std::size_t size = 0) : depth_(depth) { text_.reserve(size); }

  /// A line of these pieces.
  template <class... Pieces>
  void add(const Pieces&... pieces) {
    text_.append(static_cast<std::size_t>(2 * depth_), ' ');
    assay::append(text_, pieces...);
    text_ += '\n';
  }
  void blank() { text_ += '\n'; }
  /// Finished lines, as they are.
  void append(std::string_view text) { text_ += text; }
  /// A line that opens a block: "if (c) {".
  template <class... Pieces>
  void open(const Pieces&... pieces) {
    add(pieces...), ++depth_;
  }
  void close(std::string_view line = "}") { --depth_, add(line); }
  /// "} else {", between the two.
  void reopen(std::string_view line) { close(line), ++depth_; }

  std::string take() { return std::move(text_); }

 private:
  std::string text_;
  int depth_;
};

}  // namespace assay::source
