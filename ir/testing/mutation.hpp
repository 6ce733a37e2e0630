// Small random changes of a text, for tests of parsers with mistyped or corrupted input.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "support/rng.hpp"

namespace assay::ir::testing {

inline std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    lines.emplace_back(text.substr(begin, end - begin));
    begin = end;
  }
  return lines;
}

/// Position of a word, number or punctuation mark in the text.
struct Piece {
  std::size_t begin, length;
};
inline std::vector<Piece> pieces_of(std::string_view text) {
  constexpr std::string_view kMarks = " \n(){}[]<>,;:=";
  std::vector<Piece> pieces;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = std::min(text.find_first_of(kMarks, begin), text.size());
    if (end == begin) ++end;
    pieces.push_back({begin, end - begin});
    begin = end;
  }
  return pieces;
}

/// The text with one small change: of a byte, a piece or a line.
inline std::string mutated(std::string text, Rng& rng) {
  if (text.empty()) return text;
  const std::size_t at = rng.uniform_int<std::size_t>(0, text.size() - 1);
  switch (rng.uniform_int(0, 5)) {
    case 0: text[at] = static_cast<char>(rng.uniform_int(0, 255)); return text;
    case 1: return text.erase(at, rng.uniform_int<std::size_t>(1, 8));
    case 2: return text.substr(0, at);
    case 3:
    case 4: {
      const std::vector<Piece> pieces = pieces_of(text);
      const Piece from = rng.choose(pieces);
      const Piece to = rng.choose(pieces);
      return text.replace(to.begin, to.length, std::string(text.substr(from.begin, from.length)));
    }
    default: {
      std::vector<std::string> lines = lines_of(text);
      lines.insert(lines.begin() + rng.uniform_int<std::ptrdiff_t>(0, std::ssize(lines) - 1), rng.choose(lines));
      std::string joined;
      for (const std::string& line : lines)
        joined += line;
      return joined;
    }
  }
}

}  // namespace assay::ir::testing
