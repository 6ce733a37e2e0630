#include <limits>
#include <utility>

#include <fmt/format.h>

#include "reports/page_data.hpp"
#include "reports/page_view.hpp"
#include "reports/wording.hpp"

namespace assay::reports {
namespace {

using nlohmann::json;

// A run in which everything fails must still open: so many cases of a group are shown in full, and sources and logs as
// long as they fit. records.jsonl has the rest.
constexpr std::size_t kShownOfGroup = 8;
constexpr std::size_t kLinkedOfGroup = 200;
constexpr std::size_t kTextBytes = 1536 * 1024;

double rho_rank(const json& rho) {
  if (rho.is_number()) return rho.get<double>();
  return rho == "nan" ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::max();
}

// The table of mismatches, the worst one marked; null where there are none.
json mismatches_view(const json& record) {
  if (!record.contains("failures") || record.at("failures").empty()) return nullptr;
  const json& failures = record.at("failures");
  std::size_t worst = 0;
  for (std::size_t i = 1; i < failures.size(); ++i) {
    if (rho_rank(failures[i].at("rho")) > rho_rank(failures[worst].at("rho"))) worst = i;
  }
  json rows = json::array();
  for (std::size_t i = 0; i < failures.size(); ++i) {
    const json& mismatch = failures[i];
    rows.push_back({{"place", place_text(mismatch)},
                    {"mark", i == worst ? "worst" : ""},
                    {"label", i == worst && failures.size() > 1 ? "worst" : ""},
                    {"tier", mismatch.at("tier")},
                    {"input_set", mismatch.at("input_set")},
                    {"expected", mismatch.at("expected")},
                    {"got", mismatch.at("got")},
                    {"bound", mismatch.at("bound")},
                    {"rho", rho_text(mismatch.at("rho"))}});
  }
  return {{"rows", rows}};
}

json facts_view(const json& record) {
  json rows = json::array();
  const auto add = [&](const char* label, const std::string& text) {
    if (!text.empty()) rows.push_back({{"label", label}, {"text", text}});
  };
  const json& source = record.at("source");
  const std::string file = source.at("file");
  const auto line = source.at("line").get<std::int64_t>();
  add("Kernel", line > 0 ? fmt::format("{}:{}", file, line) : file);
  add("rho max", rho_text(record.at("rho_max")));
  if (record.at("values_compared") != 0) add("Values compared", count_text(record.at("values_compared")));
  if (record.contains("finding")) {
    add("Finding", fmt::format("line {}: {}", record.at("finding").at("line").get<std::int64_t>(),
                               record.at("finding").at("access").get<std::string>()));
  }
  std::string attempts;
  for (const json& attempt : record.at("attempts")) {
    attempts += (attempts.empty() ? "" : ", then ") + attempt.get<std::string>();
  }
  if (record.at("attempts").size() > 1) add("Attempts", attempts);
  return rows.empty() ? json() : json{{"rows", rows}};
}

class GroupViewer {
 public:
  explicit GroupViewer(const Run& run) : run_(run) {}

  json group(const FailureGroup& group) {
    json cases = json::array();
    json links = json::array();
    for (std::size_t i = 0; i < group.cases.size(); ++i) {
      if (i < kShownOfGroup) {
        cases.push_back(one_case(group.cases[i]));
      } else if (links.size() < kLinkedOfGroup) {
        const std::string name = run_.cases[group.cases[i]].at("case");
        links.push_back({{"name", name}, {"href", case_link(name)}});
      }
    }
    const std::size_t more = group.cases.size() - cases.size();
    return {
        {"tone", to_text(tone_of(group.outcome))},
        {"outcome", group.kind.empty() ? group.outcome : fmt::format("{}({})", group.outcome, group.kind)},
        {"family", group.family},
        {"count", cases_text(static_cast<std::int64_t>(group.cases.size()))},
        {"cases", cases},
        {"more", more == 0 ? json() : json{{"count", count_text(static_cast<std::int64_t>(more))}, {"links", links}}}};
  }

 private:
  json one_case(std::size_t position) {
    const json& record = run_.cases[position];
    const std::size_t size = artifact_size(record);
    const bool fits = bytes_ + size <= kTextBytes;
    if (fits) bytes_ += size;
    const json texts = fits ? source_texts(record) : json::array();
    return {{"id", position},
            {"open", std::exchange(first_, false)},
            {"name", record.at("case")},
            {"message", record.at("message")},
            {"reproduce", record.at("reproduce")},
            {"facts", facts_view(record)},
            {"mismatches", mismatches_view(record)},
            {"log", fits ? record.value("log", "") : ""},
            {"sources", texts.empty() ? json() : json{{"texts", texts}}},
            {"compile_command",
             fits && record.contains("artifact") ? record.at("artifact").at("compile_command") : json("")},
            {"omitted", fits ? "" : "Sources and log are left out for the size of this page; records.jsonl has them."}};
  }

  const Run& run_;
  std::size_t bytes_ = 0;
  bool first_ = true;
};

}  // namespace

json groups_view(const Run& run, const Summary& summary) {
  GroupViewer viewer(run);
  json groups = json::array();
  for (const FailureGroup& group : summary.groups)
    groups.push_back(viewer.group(group));
  return groups;
}

}  // namespace assay::reports
