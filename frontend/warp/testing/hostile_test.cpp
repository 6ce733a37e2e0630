// Adversarial files, and mutated test cases: parsed or rejected with a location, in time roughly proportional to the
// size of the file.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "frontend/warp/syntax/source_text.hpp"
#include "frontend/warp/testing/exercise.hpp"
#include "frontend/warp/testing/parse.hpp"
#include "ir/testing/mutation.hpp"
#include "support/rng.hpp"

namespace assay::frontend::testing {
namespace {

constexpr std::string_view kHead = "import warp as wp\n@wp.kernel\ndef k(x: wp.array(dtype=float)):\n";

/// The size of each file. The largest accepted size would take minutes; this is enough to overflow any stack.
std::size_t largest_size() {
  const char* asked = std::getenv("ASSAY_HOSTILE_BYTES");
  return asked == nullptr ? kMaxSourceBytes / 10 : std::stoul(asked);
}

/// A file of any size: the head, as many repetitions of the text as fit, and the end.
struct Hostile {
  const char* name;
  std::string_view text;
  std::string_view head = kHead;
  std::string_view end = "";

  std::string source(std::size_t size) const {
    std::string source(head);
    while (source.size() + text.size() <= size)
      source += text;
    return source.append(end);
  }
};

constexpr Hostile kHostileFiles[] = {
    {"Parentheses", "(", "x = "},
    {"Brackets", "["},
    {"Calls", "f(", "x = "},
    {"UnaryMinuses", "-", "x = "},
    {"Sum", "+1", "x = 1"},
    {"Attributes", ".a", "x = a"},
    {"Quotes", "\""},
    {"OneLongName", "a", ""},
    {"ManyStatementsOnOneLine", "a=1;", ""},
    {"Statements", "    x[0] = 1.0\n"},
    {"Assignments", "a=", "x = "},
    {"Definitions", "def f():\n    pass\n", ""},
    {"Kernels", "@wp.kernel\ndef k():\n    pass\n", "import warp as wp\n"},
    {"GenericParameters", "a: Any,", "import warp as wp\n@wp.kernel\ndef k(", "):\n    pass\n"},
    {"ManyBoolParametersOfFactory", "a: bool,", "import warp as wp\ndef f(", "):\n    if a:\n        b()\n"},
    {"ManyKernelsInOneFactory", "    @wp.kernel\n    def k():\n        b = a\n",
     "import warp as wp\ndef f(a: bool):\n"},
    {"Decorators", "@a\n", ""},
    {"Comments", "#\n", ""},
    {"Backslashes", "\\\n", "x = "},
    {"Indentation", " ", "if a:\n"},
    {"InvalidUtf8AtTheEnd", "a\n", "", "\xFF"}};

/// Processor time of this thread, in seconds; hardly affected by other programs.
double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// The seconds to parse the source, and the outcome.
std::pair<double, std::string> read_in_time(const std::string& source) {
  const double start = processor_seconds();
  const auto read = parse_python(source, "test.py");
  const double took = processor_seconds() - start;
  return {took, read.ok() ? "parsed" : read.error().text()};
}

// A parser with quadratic cost exceeds linear growth by a further factor kTimes. Two steps, because some files are
// rejected as soon as they are large.
constexpr std::size_t kTimes = 16;
constexpr double kMost = 4 * kTimes;

/// The ratio of the time at the given size to the time at size / kTimes.
double growth(const Hostile& file, std::size_t size) {
  const std::string small = file.source(size / kTimes);
  const std::string large = file.source(size);
  // Disturbances only increase a time, so the minimum of several is used.
  constexpr int kTries = 5;
  double least_small = 1e9;
  double least_large = 1e9;
  std::string outcome;
  for (int i = 0; i < kTries && (i == 0 || least_large > kMost * least_small); ++i) {
    for (std::size_t j = 0; j < kTimes; ++j)
      least_small = std::min(least_small, read_in_time(small).first);
    const auto [took, read] = read_in_time(large);
    least_large = std::min(least_large, took);
    outcome = read;
  }
  std::printf("%-20s %7zu bytes %9.3f ms, %5.1f times a %zuth's: %s\n", file.name, large.size(), 1e3 * least_large,
              least_large / least_small, kTimes, outcome.substr(0, 100).c_str());
  EXPECT_TRUE(outcome == "parsed" || outcome.starts_with("test.py")) << outcome;
  return least_large / least_small;
}

TEST(HostileFiles, ParsingTimeIsNotQuadratic) {
  for (const Hostile& file : kHostileFiles) {
    for (const std::size_t size : {largest_size() / kTimes, largest_size()})
      EXPECT_LT(growth(file, size), kMost) << file.name << ", " << size << " bytes";
  }
}

TEST(HostileFiles, MutatedCuratedCasesDoNotCrashParser) {
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
    read += check_parser_invariants(text) > 0;
  }
  // Both outcomes must occur.
  EXPECT_GT(read, kTexts / 10);
  EXPECT_LT(read, kTexts * 9 / 10);
}

}  // namespace
}  // namespace assay::frontend::testing
