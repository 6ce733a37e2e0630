#include "reports/model/text_table.hpp"

#include <algorithm>
#include <utility>

#include "support/terminal.hpp"

namespace assay::reports {

void TextTable::add(std::vector<std::string> texts, std::vector<fmt::text_style> styles) {
  widths_.resize(std::max(widths_.size(), texts.size()));
  for (std::size_t i = 0; i < texts.size(); ++i)
    widths_[i] = std::max(widths_[i], texts[i].size());
  styles.resize(texts.size());
  rows_.push_back({std::move(texts), std::move(styles)});
}

void TextTable::add_header(std::vector<std::string> texts) {
  std::vector<fmt::text_style> bold(texts.size(), fmt::emphasis::bold);
  add(std::move(texts), std::move(bold));
}

std::string TextTable::text(bool color) const {
  std::string out;
  for (const Row& row : rows_) {
    for (std::size_t i = 0; i < row.texts.size(); ++i) {
      const std::string padding(widths_[i] - row.texts[i].size(), ' ');
      const std::string cell = styled(row.texts[i], row.styles[i], color);
      out += i == 0 ? cell + padding : "  " + padding + cell;
    }
    out += '\n';
  }
  return out;
}

}  // namespace assay::reports
