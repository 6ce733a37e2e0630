// A text table for the terminal: the first column is left-aligned, the others right-aligned.
#pragma once

#include <string>
#include <vector>

#include <fmt/color.h>

namespace assay::reports {

class TextTable {
 public:
  // Adds a row; `styles` has one element per text, or is empty for plain text.
  void add(std::vector<std::string> texts, std::vector<fmt::text_style> styles = {});
  void add_head(std::vector<std::string> texts);

  [[nodiscard]] std::string text(bool color) const;

 private:
  struct Row {
    std::vector<std::string> texts;
    std::vector<fmt::text_style> styles;
  };
  std::vector<Row> rows_;
  std::vector<std::size_t> widths_;
};

}  // namespace assay::reports
