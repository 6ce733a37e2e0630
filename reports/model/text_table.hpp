// A table of text for the terminal: the first column to the left, the others to the right, each as wide as it must be.
#pragma once

#include <string>
#include <vector>

#include <fmt/color.h>

namespace assay::reports {

class TextTable {
 public:
  // A row; `styles` has one for each text, or none for plain text.
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
