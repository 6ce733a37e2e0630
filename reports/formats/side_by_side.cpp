#include "reports/formats/side_by_side.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/color.h>
#include <fmt/format.h>

namespace assay::reports {
namespace {

constexpr double kEqual = 2.0;
constexpr double kAlike = 0.5;  // minimum share of common words for two lines to share a row
constexpr std::size_t kNarrowest = 40;

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// The words and numbers of a line, sorted.
std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  const auto in_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (auto begin = std::ranges::find_if(line, in_word); begin != line.end();) {
    const auto end = std::find_if_not(begin, line.end(), in_word);
    words.emplace_back(begin, end);
    begin = std::find_if(end, line.end(), in_word);
  }
  std::ranges::sort(words);
  return words;
}

/// A line with the data needed for alignment.
struct Line {
  std::string_view text;
  std::vector<std::string_view> words;
};

std::vector<Line> prepared(const std::vector<std::string>& texts) {
  std::vector<Line> lines;
  for (const std::string& text : texts)
    lines.push_back({text, words_of(text)});
  return lines;
}

/// The score of placing two lines in one row: highest if they are equal, else the share of common words (Dice's
/// coefficient); negative if they are not similar.
double worth(const Line& a, const Line& b) {
  if (a.text == b.text) return kEqual;
  if (a.words.empty() || b.words.empty()) return -1.0;
  std::size_t common = 0;
  for (auto left = a.words.begin(), right = b.words.begin(); left != a.words.end() && right != b.words.end();) {
    if (*left == *right) ++common, ++left, ++right;
    else if (*left < *right) ++left;
    else ++right;
  }
  const double share = 2.0 * static_cast<double>(common) / static_cast<double>(a.words.size() + b.words.size());
  return share > kAlike ? share : -1.0;
}

/// Splits the line into parts of at most `width` characters (UTF-8); at least one part.
std::vector<std::string> wrap(const std::string& line, std::size_t width) {
  std::vector<std::string> parts{""};
  std::size_t characters = 0;
  for (const char c : line) {
    const bool continues = (static_cast<unsigned char>(c) & 0xc0U) == 0x80U;
    if (!continues && characters++ == width) {
      parts.emplace_back();
      characters = 1;
    }
    parts.back() += c == '\t' ? ' ' : c;
  }
  return parts;
}

std::size_t character_count(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

struct Look {
  char mark;
  fmt::text_style style;
};

Look look_of(const AlignedRow& row, bool equal) {
  if (!row.right_line_index) return {'<', fmt::fg(fmt::terminal_color::cyan)};
  if (!row.left_line_index) return {'>', fmt::fg(fmt::terminal_color::green)};
  return equal ? Look{' ', {}} : Look{'|', fmt::fg(fmt::terminal_color::yellow)};
}

}  // namespace

std::vector<AlignedRow> align(const std::vector<std::string>& left, const std::vector<std::string>& right) {
  const std::size_t columns = right.size() + 1;
  std::vector<double> best((left.size() + 1) * columns, 0.0);  // best score of the rows after line i and line j
  const auto at = [&](std::size_t i, std::size_t j) -> double& { return best[i * columns + j]; };
  std::vector<bool> together(best.size());
  const std::vector<Line> left_lines = prepared(left);
  const std::vector<Line> right_lines = prepared(right);
  for (std::size_t i = left.size(); i-- > 0;) {
    for (std::size_t j = right.size(); j-- > 0;) {
      const double value = worth(left_lines[i], right_lines[j]);
      const double apart = std::max(at(i + 1, j), at(i, j + 1));
      together[i * columns + j] = value > 0 && value + at(i + 1, j + 1) >= apart;
      at(i, j) = together[i * columns + j] ? value + at(i + 1, j + 1) : apart;
    }
  }
  std::vector<AlignedRow> rows;
  for (std::size_t i = 0, j = 0; i < left.size() || j < right.size();) {
    const bool both = i < left.size() && j < right.size();
    if (both && together[i * columns + j]) rows.push_back({i++, j++});
    else if (j == right.size() || (both && at(i + 1, j) >= at(i, j + 1))) rows.push_back({i++, std::nullopt});
    else rows.push_back({std::nullopt, j++});
  }
  return rows;
}

std::string side_by_side(std::string_view left, std::string_view right, std::size_t width, bool color) {
  const std::vector<std::string> left_lines = lines_of(left);
  const std::vector<std::string> right_lines = lines_of(right);
  const std::size_t half = (std::max(width, kNarrowest) - 3) / 2;
  std::string text;
  for (const AlignedRow& row : align(left_lines, right_lines)) {
    const std::string left_line = row.left_line_index ? left_lines[*row.left_line_index] : "";
    const std::string right_line = row.right_line_index ? right_lines[*row.right_line_index] : "";
    const auto [mark, style] = look_of(row, left_line == right_line);
    const std::vector<std::string> left_parts = wrap(left_line, half);
    const std::vector<std::string> original_parts = wrap(right_line, half);
    for (std::size_t part = 0; part < std::max(left_parts.size(), original_parts.size()); ++part) {
      const std::string before = part < left_parts.size() ? left_parts[part] : "";
      const std::string after = part < original_parts.size() ? original_parts[part] : "";
      const std::string padding(half - character_count(before), ' ');
      std::string line = fmt::format("{}{} {} {}", before, padding, mark, after);
      line.erase(line.find_last_not_of(' ') + 1);
      text += color && mark != ' ' ? fmt::format(style, "{}", line) : line;
      text += '\n';
    }
  }
  return text;
}

}  // namespace assay::reports
