#include "harness/suite/select/suggest.hpp"

#include <algorithm>
#include <utility>

namespace assay::harness {
namespace {

constexpr std::size_t kMostSuggestions = 3;

/// Insertions, deletions, replacements and swaps of neighbors that turn `a` into `b` (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> table(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      std::size_t& cell = table[i][j];
      cell = i + j;  // what the first row and column hold
      if (i == 0 || j == 0) continue;
      const std::size_t replaced = table[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      cell = std::min({replaced, table[i - 1][j] + 1, table[i][j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) cell = std::min(cell, table[i - 2][j - 2] + 1);
    }
  }
  return table[a.size()][b.size()];
}

bool begin_alike(std::string_view a, std::string_view b) {
  return std::min(a.size(), b.size()) >= 3 && (a.starts_with(b) || b.starts_with(a));
}

}  // namespace

std::string did_you_mean(std::string_view found, const std::vector<std::string>& known) {
  std::vector<std::pair<std::size_t, std::string_view>> close;
  for (const std::string& name : known) {
    const std::size_t distance = edit_distance(found, name);
    if (distance <= std::max<std::size_t>(1, found.size() / 3) || begin_alike(found, name)) {
      close.emplace_back(distance, name);
    }
  }
  if (close.empty()) return "";
  std::ranges::sort(close);
  close.resize(std::min(close.size(), kMostSuggestions));
  std::string text = "; did you mean ";
  for (std::size_t i = 0; i < close.size(); ++i) {
    if (i > 0) text += i + 1 == close.size() ? " or " : ", ";
    text += '\'';
    text += close[i].second;
    text += '\'';
  }
  return text + "?";
}

}  // namespace assay::harness
