#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "ir/support/rng.hpp"
#include "ir/testing_exercise.hpp"
#include "ir/testing_programs.hpp"

namespace assay::ir {
namespace {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    lines.emplace_back(text.substr(begin, end - begin));
    begin = end;
  }
  return lines;
}

/// A word, a number or a mark of the text, with its place.
struct Piece {
  std::size_t begin, length;
};
std::vector<Piece> pieces_of(std::string_view text) {
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

/// One small change: of a byte, of a piece, or of a line.
std::string mutated(std::string text, Rng& rng) {
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

TEST(TextMutation, ReadsOrRefusesWhateverComes) {
  constexpr int kTexts = 4000;
  Rng rng(fnv1a("text mutation 1"));
  int valid = 0;
  for (int i = 0; i < kTexts; ++i) {
    std::string text(testing::kEverything);
    for (int changes = rng.uniform_int(1, 3); changes > 0; --changes)
      text = mutated(std::move(text), rng);
    valid += testing::exercise_text(text) ? 1 : 0;
  }
  // Neither side of the property may go untried.
  EXPECT_GT(valid, kTexts / 50);
  EXPECT_LT(valid, kTexts / 2);
}

TEST(TextMutation, TakesBytesThatAreNoText) {
  Rng rng(fnv1a("bytes"));
  for (int i = 0; i < 1000; ++i) {
    std::string bytes(rng.uniform_int<std::size_t>(0, 64), '\0');
    for (char& byte : bytes)
      byte = static_cast<char>(rng.uniform_int(0, 255));
    testing::exercise_text(bytes);
  }
}

}  // namespace
}  // namespace assay::ir
