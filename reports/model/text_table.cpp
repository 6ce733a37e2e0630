#include "reports/model/text_table.hpp"

#include <algorithm>
#include <utility>

#include "support/terminal.hpp"

namespace assay::reports {

void TextTable::add(std::vector<std::string> cell_texts, std::vector<fmt::text_style> cell_styles) {
  column_widths_.resize(std::max(column_widths_.size(), cell_texts.size()));
  for (std::size_t i = 0; i < cell_texts.size(); ++i)
    column_widths_[i] = std::max(column_widths_[i], cell_texts[i].size());
  cell_styles.resize(cell_texts.size());
  rows_.push_back({std::move(cell_texts), std::move(cell_styles)});
}

void TextTable::add_header(std::vector<std::string> cell_texts) {
  std::vector<fmt::text_style> bold(cell_texts.size(), fmt::emphasis::bold);
  add(std::move(cell_texts), std::move(bold));
}

std::string TextTable::text(bool color) const {
  std::string out;
  for (const Row& row : rows_) {
    for (std::size_t i = 0; i < row.cell_texts.size(); ++i) {
      const std::string padding(column_widths_[i] - row.cell_texts[i].size(), ' ');
      const std::string cell = styled(row.cell_texts[i], row.cell_styles[i], color);
      out += i == 0 ? cell + padding : "  " + padding + cell;
    }
    out += '\n';
  }
  return out;
}

}  // namespace assay::reports
