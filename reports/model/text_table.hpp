// A text table for the terminal: the first column is left-aligned, the others right-aligned.
#pragma once

#include <string>
#include <vector>

#include <fmt/color.h>

namespace assay::reports {

/// A table as text, with columns as wide as their longest text.
class TextTable {
 public:
  /// Adds a row; `cell_styles` has one element per text, or is empty for plain text.
  void add(std::vector<std::string> cell_texts, std::vector<fmt::text_style> cell_styles = {});
  void add_header(std::vector<std::string> cell_texts);

  [[nodiscard]] std::string text(bool color) const;

 private:
  /// A row with its styles.
  struct Row {
    std::vector<std::string> cell_texts;       ///< text of each column
    std::vector<fmt::text_style> cell_styles;  ///< style of each text; empty: plain
  };
  std::vector<Row> rows_;                   ///< the rows so far
  std::vector<std::size_t> column_widths_;  ///< length of the longest text of each column, in bytes
};

}  // namespace assay::reports
