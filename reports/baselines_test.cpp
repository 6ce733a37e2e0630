// Golden files: each report of the runs in testdata/reports/baseline, byte for byte. After an intended change, run with
// ASSAY_APPROVE=1 to rewrite the files, and review the difference.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <regex>
#include <sstream>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "reports/formats/formats.hpp"
#include "reports/formats/html/page_data.hpp"
#include "reports/formats/html/report_html.hpp"
#include "reports/formats/markdown.hpp"
#include "reports/formats/terminal.hpp"
#include "reports/model/mutation_score.hpp"

namespace assay::reports {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const fs::path kFolder = ASSAY_SOURCE_DIR "/testdata/reports/baseline";

std::string text_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// A run with one case of each kind, an earlier run, and a mutation score.
struct Inputs {
  Run run = read_run(kFolder / "after").take();
  RunSummary summary = summarize(run);
  RunChanges changes = changes_since(baseline_of(read_run(kFolder / "before").take(), "before"), run);
  json mutation_score = json::parse(text_of(ASSAY_SOURCE_DIR "/testdata/schemas/certification.json"));
};

std::string pretty(const json& document) { return document.dump(1) + "\n"; }

// The page without the parts that have their own files (style, script and their hashes) and without the data, whose
// compressed form depends on zlib.
std::string page(const Inputs& inputs) {
  std::string text = report_html(inputs.run, inputs.summary, &inputs.changes, &inputs.mutation_score);
  const auto cut = [&](const std::string& from, const std::string& to) {
    const std::size_t begin = text.find(from) + from.size();
    text.replace(begin, text.find(to, begin) - begin, "...");
  };
  cut("<style>", "</style>");
  cut("id=\"data\">", "</script>");
  cut("<script>", "</script>");
  return std::regex_replace(text, std::regex("sha256-[A-Za-z0-9+/=]+"), "sha256-...");
}

struct Format {
  const char* file;
  std::function<std::string(const Inputs&)> text;
};

const Format kFormats[] = {
    {"report.json", [](const Inputs& in) { return pretty(report_json(in.run, in.summary, &in.changes)); }},
    {"report.html", page},
    {"page_data.json", [](const Inputs& in) { return pretty(page_data(in.run, in.summary, "title")); }},
    {"junit.xml", [](const Inputs& in) { return junit_xml(in.run); }},
    {"ctrf.json", [](const Inputs& in) { return pretty(ctrf_json(in.run, in.summary)); }},
    {"findings.sarif", [](const Inputs& in) { return pretty(sarif_json(in.run, in.summary)); }},
    {"summary.md", [](const Inputs& in) { return summary_markdown(in.run, in.summary, &in.changes); }},
    {"failures.csv", [](const Inputs& in) { return failures_csv(in.run); }},
    {"trace.json", [](const Inputs& in) { return chrome_trace(in.run); }},
    {"terminal.txt",
     [](const Inputs& in) {
       std::string lines;
       for (const json& record : in.run.cases)
         lines += unexpected_lines(record, false);
       return lines + closing_table(in.run, in.summary, false);
     }},
    {"terminal_in_colour.txt", [](const Inputs& in) { return closing_table(in.run, in.summary, true); }},
    {"compare.txt", [](const Inputs& in) { return changes_lines(in.changes, false); }},
    {"certification.txt", [](const Inputs& in) { return mutation_table(in.mutation_score, false); }},
    {"certification.md", [](const Inputs& in) { return mutation_document(in.mutation_score); }},
};

// "line 12: found ..., approved ..." for the first line that differs; empty if none does.
std::string difference(const std::string& found, const std::string& approved) {
  std::istringstream ours(found);
  std::istringstream theirs(approved);
  std::string left;
  std::string right;
  for (int line = 1;; ++line) {
    const bool has_left = static_cast<bool>(std::getline(ours, left));
    const bool has_right = static_cast<bool>(std::getline(theirs, right));
    if (!has_left && !has_right) return found == approved ? "" : "the end of the last line";
    if (left != right || has_left != has_right)
      return fmt::format("line {}\n   found: {}\napproved: {}", line, left.substr(0, 300), right.substr(0, 300));
  }
}

class ApprovedReport : public ::testing::TestWithParam<Format> {};

TEST_P(ApprovedReport, MatchesGoldenFile) {
  static const Inputs inputs;
  const fs::path file = kFolder / GetParam().file;
  const std::string found = GetParam().text(inputs);
  if (std::getenv("ASSAY_APPROVE") != nullptr) std::ofstream(file, std::ios::binary) << found;
  EXPECT_EQ(difference(found, text_of(file)), "")
      << file << "\nIf the change is intended, run: ASSAY_APPROVE=1 reports_test";
}

INSTANTIATE_TEST_SUITE_P(Formats, ApprovedReport, ::testing::ValuesIn(kFormats), [](const auto& format) {
  return std::regex_replace(std::string(format.param.file), std::regex("[^A-Za-z0-9]"), "_");
});

}  // namespace
}  // namespace assay::reports
