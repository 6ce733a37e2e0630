// Files that are made to break a reader, and cases with small changes: taken or refused, quickly, with a place.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "frontend/source_text.hpp"
#include "frontend/testing_exercise.hpp"
#include "frontend/testing_read.hpp"
#include "ir/support/rng.hpp"
#include "ir/testing_mutation.hpp"

namespace assay::frontend::testing {
namespace {

constexpr std::string_view kHead = "import warp as wp\n@wp.kernel\ndef k(x: wp.array(dtype=float)):\n";

/// Of each file. The largest that are taken need minutes in all; these are enough for every stack to overflow.
std::size_t size_of_files() {
  const char* asked = std::getenv("ASSAY_HOSTILE_BYTES");
  return asked == nullptr ? kLargestSource / 10 : std::stoul(asked);
}

/// As many repetitions of the text behind the head as fit.
std::string filled(std::string_view text, std::string_view head = kHead) {
  std::string source(head);
  while (source.size() + text.size() <= size_of_files())
    source += text;
  return source;
}

struct Hostile {
  const char* name;
  std::string source;
};

std::vector<Hostile> hostile_files() {
  return {{"Parentheses", filled("(", "x = ")},
          {"Brackets", filled("[")},
          {"Calls", filled("f(", "x = ")},
          {"Minuses", filled("-", "x = ")},
          {"Sum", filled("+1", "x = 1")},
          {"Attributes", filled(".a", "x = a")},
          {"Quotes", filled("\"")},
          {"OneName", filled("a", "")},
          {"OneLineOfStatements", filled("a=1;", "")},
          {"Statements", filled("    x[0] = 1.0\n")},
          {"Assignments", filled("a=", "x = ")},
          {"Definitions", filled("def f():\n    pass\n", "")},
          {"Kernels", filled("@wp.kernel\ndef k():\n    pass\n", "import warp as wp\n")},
          {"Decorators", filled("@a\n", "")},
          {"Comments", filled("#\n", "")},
          {"Backslashes", filled("\\\n", "x = ")},
          {"Indentation", filled(" ", "if a:\n")},
          {"NotUtf8AtTheEnd", filled("a\n", "") + "\xFF"}};
}

TEST(Hostile, FilesAreTakenOrRefusedInTime) {
  // Twice as long on loaded machines.
  const double longest = 10 * static_cast<double>(size_of_files()) / kLargestSource;
  for (const Hostile& file : hostile_files()) {
    const auto start = std::chrono::steady_clock::now();
    const auto read = read_python(file.source, "test.py");
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    std::printf("%-22s %5.2f s: %s\n", file.name, took.count(),
                read.ok() ? "taken" : read.error().text().substr(0, 100).c_str());
    EXPECT_LT(took.count(), 2 * longest) << file.name;
    if (!read.ok()) {
      EXPECT_TRUE(read.error().text().starts_with("test.py")) << read.error().text();
    }
  }
}

TEST(Hostile, CasesWithSmallChangesAreReadOrRefused) {
  std::vector<std::string> cases;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(ASSAY_SOURCE_DIR "/conformance/cases")) {
    if (entry.path().extension() == ".py") cases.push_back(entry.path().string());
  }
  std::sort(cases.begin(), cases.end());
  ASSERT_GT(cases.size(), 100U);
  constexpr int kTexts = 1500;
  Rng rng(fnv1a("hostile 1"));
  int read = 0;
  for (int i = 0; i < kTexts; ++i) {
    std::string text = file_text(rng.choose(cases));
    for (int changes = rng.uniform_int(1, 3); changes > 0; --changes)
      text = ir::testing::mutated(std::move(text), rng);
    read += exercise_reader(text) > 0;
  }
  // Neither side of the property may go untried.
  EXPECT_GT(read, kTexts / 10);
  EXPECT_LT(read, kTexts * 9 / 10);
}

}  // namespace
}  // namespace assay::frontend::testing
