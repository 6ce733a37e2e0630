#include <limits>
#include <utility>

#include <fmt/format.h>

#include "reports/formats/html/page_data.hpp"
#include "reports/formats/html/page_view.hpp"
#include "reports/model/wording.hpp"

namespace assay::reports {
namespace {

using nlohmann::json;

// Limits on the cases of a group shown in full and on the size of sources and logs, so that a page on which everything
// fails still opens. records.jsonl contains the rest.
constexpr std::size_t kShownOfGroup = 8;
constexpr std::size_t kLinkedOfGroup = 200;
constexpr std::size_t kTextBytes = 1536 * 1024;

double rho_rank(const json& rho) {
  if (rho.is_number()) return rho.get<double>();
  return rho == "nan" ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::max();
}

// The table of mismatches, with the worst marked; null if there are none.
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
    rows.push_back({{"place", location_text(mismatch)},
                    {"mark", i == worst ? "worst" : ""},
                    {"label", i == worst && failures.size() > 1 ? "worst" : ""},
                    {"tier", check_name(mismatch.at("tier"))},
                    {"input_set", mismatch.at("input_set")},
                    {"expected", mismatch.at("expected")},
                    {"got", mismatch.at("got")},
                    {"bound", mismatch.at("bound")},
                    {"rho", rho_text(mismatch.at("rho"))}});
  }
  return {{"rows", rows}};
}

// "PTX line 57, source line 31, thread (4, 0, 0) of block (0, 0, 0)".
std::string site_text(const json& site) {
  const auto place = [](const json& xyz) {
    return fmt::format("({}, {}, {})", xyz[0].get<int>(), xyz[1].get<int>(), xyz[2].get<int>());
  };
  const auto source = site.at("source_line").get<std::int64_t>();
  return fmt::format("PTX line {}, {}thread {} of block {}", site.at("code_line").get<std::int64_t>(),
                     source > 0 ? fmt::format("source line {}, ", source) : "", place(site.at("thread")),
                     place(site.at("block")));
}

// "grad_x, byte 128 of 132"; the bare address if it belongs to no array.
std::string memory_text(const json& fault) {
  if (!fault.contains("space")) return "";
  const std::string allocation = fault.at("allocation");
  if (allocation.empty()) return fmt::format("address {} outside all arrays", fault.at("address").get<std::string>());
  return fmt::format("{}: access to {} bytes at byte {} of {} ({} address {})", allocation,
                     fault.at("access_bytes").get<std::int64_t>(), fault.at("offset").get<std::int64_t>(),
                     fault.at("allocation_bytes").get<std::int64_t>(), fault.at("space").get<std::string>(),
                     fault.at("address").get<std::string>());
}

// The table of the device's findings; null if there are none.
json faults_view(const json& record) {
  if (!record.contains("faults")) return nullptr;
  json rows = json::array();
  for (const json& fault : record.at("faults")) {
    const json& site = fault.at("site");
    rows.push_back({{"kind", fault.at("kind")},
                    {"where", fmt::format("{} [{}]", fault.at("kernel").get<std::string>(),
                                          fault.at("target").get<std::string>())},
                    {"instruction", site.at("instruction")},
                    {"site", site_text(site)},
                    {"memory", memory_text(fault)},
                    {"other_instruction", fault.contains("other") ? fault.at("other").at("instruction") : json("")},
                    {"other", fault.contains("other") ? site_text(fault.at("other")) : ""},
                    {"count", count_text(fault.at("count"))}});
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
    const json& finding = record.at("finding");
    const std::string place = line_text(record, file_of(record, finding), finding.at("line").get<std::int64_t>());
    const auto& access = finding.at("access").get_ref<const std::string&>();
    add("Finding", access.starts_with(place + ":") ? access : fmt::format("{}: {}", place, access));
  }
  if (record.contains("blame")) {
    const json& blame = record.at("blame");
    add("Blamed on",
        fmt::format("{}: {}", blame.at("culprit").get<std::string>(), blame.at("reason").get<std::string>()));
    for (const json& witness : blame.at("witnesses"))
      add("Other build", fmt::format("{}: {}: {}", witness.at("device").get<std::string>(),
                                     witness.at("build").get<std::string>(), witness.at("result").get<std::string>()));
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
        {"tone", to_text(group.tone)},
        {"outcome", outcome_text(run_.cases[group.cases.front()])},
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
            {"message", message_text(record)},
            {"reproduce", record.at("reproduce")},
            {"facts", facts_view(record)},
            {"mismatches", mismatches_view(record)},
            {"faults", faults_view(record)},
            {"log", fits ? record.value("log", "") : ""},
            {"sources", texts.empty() ? json() : json{{"texts", texts}}},
            {"compile_command",
             fits && record.contains("artifact") ? record.at("artifact").at("compile_command") : json("")},
            {"omitted", fits ? "" : "Sources and log are omitted to limit the size of this page; see records.jsonl."}};
  }

  const Run& run_;
  std::size_t bytes_ = 0;
  bool first_ = true;
};

}  // namespace

json groups_view(const Run& run, const RunSummary& summary) {
  GroupViewer viewer(run);
  json groups = json::array();
  for (const FailureGroup& group : summary.failure_groups)
    groups.push_back(viewer.group(group));
  return groups;
}

}  // namespace assay::reports
