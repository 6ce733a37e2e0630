#include "harness/select/suggest.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace assay::harness {
namespace {

constexpr std::size_t kMostSuggestions = 3;

/// Wagner and Fischer's algorithm, one row at a time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

bool begin_alike(std::string_view a, std::string_view b) {
  return std::min(a.size(), b.size()) >= 3 && (a.starts_with(b) || b.starts_with(a));
}

}  // namespace

std::string did_you_mean(std::string_view found, const std::vector<std::string>& known) {
  std::vector<std::pair<std::size_t, std::string_view>> close;
  for (const std::string& name : known) {
    const std::size_t distance = edit_distance(found, name);
    if (distance <= std::max<std::size_t>(1, (found.size() + 1) / 3) || begin_alike(found, name)) {
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
