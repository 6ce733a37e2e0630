// Two texts side by side, with corresponding lines in one row.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::reports {

/// A row of two aligned texts: a line of each text, or of one text only. Different lines share a row if they are
/// similar.
struct AlignedRow {
  std::optional<std::size_t> left_line_index;   ///< index of the left text's line, from 0; empty if the row has none
  std::optional<std::size_t> right_line_index;  ///< index of the right text's line, from 0; empty if the row has none
};

/// Aligns the lines of both texts in order with the highest total similarity (Needleman and Wunsch, 1970).
std::vector<AlignedRow> align(const std::vector<std::string>& left, const std::vector<std::string>& right);

/// The rows as text, `width` columns wide, with long lines wrapped. A mark between the halves is `|` if they differ,
/// and
/// `<` or `>` if only one side has a line.
std::string side_by_side(std::string_view left, std::string_view right, std::size_t width, bool color);

}  // namespace assay::reports
