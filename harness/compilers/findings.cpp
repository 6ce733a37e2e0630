#include "harness/compilers/findings.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "harness/compilers/hunt.hpp"
#include "harness/compilers/statement_tree.hpp"

namespace assay::compilers {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct Finding {
  json description;
  std::string source;  ///< content of reduced.cu
};

std::string content_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

std::vector<std::string> texts_of(const json& list) { return list.get<std::vector<std::string>>(); }

std::string list_text(const json& list) {
  const std::vector<std::string> texts = texts_of(list);
  return texts.empty() ? "none" : fmt::format("{}", fmt::join(texts, ", "));
}

/// Findings with the same pass and the same missing instructions probably have the same cause.
std::string cause_of(const json& description) {
  const std::string name = description.at("case");
  const bool backward = name.find("/backward") != std::string::npos;
  const std::vector<std::string> missing = texts_of(description.at("missing"));
  return fmt::format("{} pass, the PTX lacks {}", backward ? "backward" : "forward",
                     missing.empty() ? "no kind of instruction" : fmt::format("{}", fmt::join(missing, ", ")));
}

std::string finding_text(const Finding& finding) {
  const json& about = finding.description;
  return fmt::format(
      "Found with `{}`. Incorrect builds: {}. Correct builds: {}. {} to {} lines{}.\n\n```cpp\n{}```\n\n",
      about.at("case").get<std::string>(), list_text(about.at("incorrect")), list_text(about.at("correct")),
      about.at("lines_before").get<std::size_t>(), about.at("lines").get<std::size_t>(),
      about.at("minimal").get<bool>() ? "" : " (the time limit ended the reduction)", finding.source);
}

}  // namespace

Result<std::string> findings_page(const std::vector<fs::path>& folders) {
  std::map<std::string, std::vector<Finding>> groups;
  std::vector<std::size_t> lines;
  HuntCounts counts;
  for (const fs::path& folder : folders) {
    std::error_code error;
    for (fs::recursive_directory_iterator entry(folder, error), end; entry != end; entry.increment(error)) {
      if (error || entry->path().filename() != "finding.json") continue;
      json description = json::parse(content_of(entry->path()), nullptr, false);
      if (!description.is_object()) return Error{"the file does not describe a finding", entry->path()};
      lines.push_back(description.at("lines"));
      const std::string cause = cause_of(description);
      groups[cause].push_back({std::move(description), content_of(entry->path().parent_path() / "reduced.cu")});
    }
    const Result<HuntCounts> hunted = read_hunt(folder);
    if (!hunted.ok()) return hunted.error();
    counts.rounds += hunted->rounds;
    counts.kernels += hunted->kernels;
    counts.cases += hunted->cases;
    counts.failing += hunted->failing;
    counts.seconds += hunted->seconds;
  }
  std::string page =
      "# Compiler findings\n\n"
      "Kernels that a compiler translates incorrectly, found by `assay compilers`. In each finding, the optimized "
      "build\n"
      "computes other values than the unoptimized build of the same text, and an optimized build of another version "
      "or\n"
      "target agrees with the unoptimized one. All builds ran in Assay's interpreter of PTX, not on a GPU. The "
      "program\n"
      "writes this page.\n\n";
  page += fmt::format(
      "| | |\n|---|--:|\n| kernels judged by hunts | {} |\n| cases (kernel, pass, build) | {} |\n"
      "| failed cases | {} |\n| findings | {} |\n| groups | {} |\n| hours | {:.2f} |\n",
      counts.kernels, counts.cases, counts.failing, lines.size(), groups.size(), counts.seconds / 3600);
  if (!lines.empty()) {
    std::ranges::sort(lines);
    page += fmt::format("| lines of a reduced source, median | {} |\n", lines[lines.size() / 2]);
  }
  for (auto& [cause, findings] : groups) {
    std::ranges::sort(findings, {}, [](const Finding& finding) {
      return std::pair(finding.description.at("lines").get<std::size_t>(),
                       finding.description.at("case").get<std::string>());
    });
    page += fmt::format("\n## {}: {} finding{}\n\n", cause, findings.size(), findings.size() == 1 ? "" : "s");
    page += finding_text(findings.front());
    for (std::size_t i = 1; i < findings.size(); ++i) {
      const json& about = findings[i].description;
      page += fmt::format("- `{}`: incorrect in {}; {} lines\n", about.at("case").get<std::string>(),
                          list_text(about.at("incorrect")), about.at("lines").get<std::size_t>());
    }
  }
  return page;
}

}  // namespace assay::compilers
