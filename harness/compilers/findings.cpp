#include "harness/compilers/findings.hpp"

#include <algorithm>
#include <cstdlib>
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

/// Findings with the same pass and the same missing instructions probably have the same cause.
std::string cause_of(const json& description) {
  const std::string name = description.at("case");
  const bool backward = name.find("/backward") != std::string::npos;
  const std::vector<std::string> missing = texts_of(description.at("missing"));
  return fmt::format("{} pass, the PTX lacks {}", backward ? "backward" : "forward",
                     missing.empty() ? "no kind of instruction" : fmt::format("{}", fmt::join(missing, ", ")));
}

/// A build in words, "NVRTC 13.0.88 compute_100", in parts.
struct Build {
  std::vector<int> version;  ///< {13, 0, 88}
  std::string version_text;  ///< "13.0.88"
  std::string target;        ///< "compute_100"
};

Build build_of(const std::string& title) {
  std::istringstream words(title);
  std::string name;
  Build build;
  words >> name >> build.version_text >> build.target;
  std::istringstream numbers(build.version_text);
  for (std::string number; std::getline(numbers, number, '.');)
    build.version.push_back(std::atoi(number.c_str()));
  return build;
}

/// "13.0.88 and 13.2.86 for compute_100; 13.0.88 for compute_120".
std::string builds_text(const json& list) {
  std::map<std::string, std::vector<std::string>> versions;
  for (const std::string& title : texts_of(list)) {
    Build build = build_of(title);
    versions[build.target].push_back(std::move(build.version_text));
  }
  std::string text;
  for (const auto& [target, of_target] : versions)
    text += fmt::format("{}{} for {}", text.empty() ? "" : "; ", fmt::join(of_target, ", "), target);
  return text.empty() ? "none" : text;
}

/// For each incorrect target, the oldest compared version that is correct and newer than the incorrect ones.
std::string corrections_text(const json& description) {
  std::map<std::string, Build> newest_incorrect;
  for (const std::string& title : texts_of(description.at("incorrect"))) {
    Build build = build_of(title);
    Build& newest = newest_incorrect[build.target];
    if (newest.version < build.version) newest = std::move(build);
  }
  std::vector<Build> correct;
  for (const std::string& title : texts_of(description.at("correct")))
    correct.push_back(build_of(title));
  std::ranges::sort(correct, {}, &Build::version);
  std::string text;
  for (const auto& [target, newest] : newest_incorrect) {
    const auto fixed = std::ranges::find_if(
        correct, [&](const Build& build) { return build.target == target && newest.version < build.version; });
    text += fixed == correct.end()
                ? fmt::format(" No compared NVRTC version newer than {} compiles this kernel correctly for {}.",
                              newest.version_text, target)
                : fmt::format(" The first compared NVRTC version that compiles this kernel correctly for {} is {}.",
                              target, fixed->version_text);
  }
  return text;
}

std::string finding_text(const Finding& finding) {
  const json& about = finding.description;
  return fmt::format(
      "Found with `{}`.\n\n- Incorrect: NVRTC {}.\n- Correct: NVRTC {}.\n-{}\n- Reduced from {} lines to {}{}.\n\n"
      "```cpp\n{}```\n",
      about.at("case").get<std::string>(), builds_text(about.at("incorrect")), builds_text(about.at("correct")),
      corrections_text(about), about.at("lines_before").get<std::size_t>(), about.at("lines").get<std::size_t>(),
      about.at("minimal").get<bool>() ? "" : " (the time limit ended the reduction)", finding.source);
}

}  // namespace

Result<std::string> findings_page(const std::vector<fs::path>& folders) {
  std::map<std::string, std::vector<Finding>> groups;
  std::vector<std::size_t> lines;
  MiscompilationHuntCounts counts;
  for (const fs::path& folder : folders) {
    std::error_code error;
    for (fs::recursive_directory_iterator entry(folder, error), end; entry != end; entry.increment(error)) {
      if (error || entry->path().filename() != "finding.json") continue;
      json description = json::parse(content_of(entry->path()), nullptr, false);
      if (!description.is_object())
        return Error{"the file must contain a JSON object that describes a finding", entry->path()};
      lines.push_back(description.at("lines"));
      const std::string cause = cause_of(description);
      groups[cause].push_back({std::move(description), content_of(entry->path().parent_path() / "reduced.cu")});
    }
    const Result<MiscompilationHuntCounts> hunted = read_hunt(folder);
    if (!hunted.ok()) return hunted.error();
    counts.round_count += hunted->round_count;
    counts.kernels += hunted->kernels;
    counts.cases += hunted->cases;
    counts.failing_case_count += hunted->failing_case_count;
    counts.judging_seconds += hunted->judging_seconds;
  }
  std::string page =
      "# Compiler findings\n\n"
      "This page, which `assay compilers --hunt` writes, lists kernels that a compiler translates incorrectly. In\n"
      "each finding, an optimized build computes different values than the unoptimized build of the same source. An\n"
      "optimized build by another compiler version, or for another architecture, agrees with the unoptimized build.\n"
      "All builds ran in Assay's interpreter of PTX, not on a GPU. Findings form a group if their incorrect PTX lacks\n"
      "the same instructions; several groups may have one cause.\n\n";
  page += fmt::format(
      "| | |\n|---|--:|\n| judged kernels | {} |\n| cases (kernel, pass, build) | {} |\n"
      "| failed cases | {} |\n| findings | {} |\n| groups | {} |\n| hours of judging | {:.2f} |\n",
      counts.kernels, counts.cases, counts.failing_case_count, lines.size(), groups.size(),
      counts.judging_seconds / 3600);
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
    if (findings.size() > 1) page += '\n';
    for (std::size_t i = 1; i < findings.size(); ++i) {
      const json& about = findings[i].description;
      page += fmt::format("- `{}`: incorrect in NVRTC {}; reduced to {} lines\n", about.at("case").get<std::string>(),
                          builds_text(about.at("incorrect")), about.at("lines").get<std::size_t>());
    }
  }
  return page;
}

}  // namespace assay::compilers
