// Two texts next to each other, lines that correspond in one row.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::reports {

/// A row: a line of each text, or of one of them. Lines that differ share a row if they are alike.
struct AlignedRow {
  std::optional<std::size_t> left;  ///< number of the line, from 0
  std::optional<std::size_t> right;
};

/// Every line of both, in order; of all such rows those with the most lines alike (Needleman and Wunsch, 1970).
std::vector<AlignedRow> align(const std::vector<std::string>& left, const std::vector<std::string>& right);

/// The rows as text, `width` columns wide, longer lines wrapped. Between the halves stands `|` where they differ, `<`
/// or `>` where only one side has a line.
std::string side_by_side(std::string_view left, std::string_view right, std::size_t width, bool color);

}  // namespace assay::reports
