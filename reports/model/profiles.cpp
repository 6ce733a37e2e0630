#include "reports/model/profiles.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "reports/model/text_table.hpp"
#include "reports/model/wording.hpp"

namespace assay::reports {
namespace {

using nlohmann::json;

double measure(const json& profile, const char* name) { return profile.at("measures").value(name, 0.0); }

double per_thread(const json& profile, const char* name) {
  const double threads = profile.at("threads");
  return threads > 0 ? measure(profile, name) / threads : 0;
}

std::string share(double value) { return fmt::format("{:.0f}", 100 * value); }

// Sources of inexact results, the weakest last.
std::string exactness(const json& profile) {
  const json& counts = profile.at("fidelity");
  std::string text;
  const auto add = [&](bool holds, const char* word) {
    if (holds) text += (text.empty() ? "" : "+") + std::string(word);
  };
  add(counts.at("approximation_reaches_result"), "approximate");
  add(counts.at("contractible") > 0, "contractible");
  add(counts.at("order_dependent") > 0, "unordered");
  return text.empty() ? "exact" : text;
}

struct CounterColumn {
  ProfileColumn shown;
  std::string (*text)(const json& profile);
};

constexpr std::array<CounterColumn, 11> kCounterColumns{{
    {{"threads", "threads of the launch"},
     [](const json& p) { return fmt::format("{}", p.at("threads").get<std::int64_t>()); }},
    {{"instr/thread", "PTX instructions per thread"},
     [](const json& p) { return fmt::format("{:.1f}", per_thread(p, "thread_instructions")); }},
    {{"float %", "percentage of instructions that compute with floats"},
     [](const json& p) { return share(measure(p, "mix_float") + measure(p, "mix_special")); }},
    {{"memory %", "percentage of instructions that load, store or update memory"},
     [](const json& p) { return share(measure(p, "mix_load") + measure(p, "mix_store") + measure(p, "mix_atomic")); }},
    {{"lanes %", "percentage of the lanes of a warp that are active"},
     [](const json& p) { return share(measure(p, "lane_efficiency")); }},
    {{"sectors", "32-byte sectors per global access of a warp"},
     [](const json& p) { return fmt::format("{:.2f}", measure(p, "sectors_per_access")); }},
    {{"bytes/thread", "bytes of global memory loaded and stored per thread"},
     [](const json& p) { return fmt::format("{:.0f}", per_thread(p, "global_bytes")); }},
    {{"flop/byte", "arithmetic intensity"},
     [](const json& p) { return fmt::format("{:.2f}", measure(p, "arithmetic_intensity")); }},
    {{"contention", "threads that update the same address in one atomic instruction of a warp, on average"},
     [](const json& p) {
       return measure(p, "atomics") > 0 ? fmt::format("{:.1f}", measure(p, "atomic_contention")) : std::string();
     }},
    {{"diverging", "branches at which threads of a warp diverge"},
     [](const json& p) { return fmt::format("{:.0f}", measure(p, "divergent_branches")); }},
    {{"results",
      "exactness of the results: exact, approximate (an approximation affects a result), contractible (products "
      "and sums that hardware may fuse), unordered (float atomics)"},
     exactness},
}};

}  // namespace

std::vector<ProfileColumn> profile_columns() {
  std::vector<ProfileColumn> columns;
  for (const CounterColumn& column : kCounterColumns)
    columns.push_back(column.shown);
  return columns;
}

std::vector<ProfileRow> profile_rows(const Run& run) {
  std::vector<ProfileRow> rows;
  for (const json& record : run.cases) {
    if (!record.contains("profiles")) continue;
    for (const json& profile : record.at("profiles")) {
      ProfileRow& row = rows.emplace_back(ProfileRow{record.at("case"), profile.at("target"), {}});
      for (const CounterColumn& column : kCounterColumns)
        row.cells.push_back(column.text(profile));
    }
  }
  return rows;
}

std::string profile_table(const Run& run, bool color) {
  const std::vector<ProfileRow> rows = profile_rows(run);
  if (rows.empty()) return "no profile: none of these devices counts executed instructions; use --device ptx\n";
  TextTable table;
  std::vector<std::string> head{"case", "target"};
  for (const CounterColumn& column : kCounterColumns)
    head.emplace_back(column.shown.label);
  table.add_header(head);
  std::string_view last;
  for (const ProfileRow& row : rows) {
    std::vector<std::string> texts{row.name == last ? "" : row.name, row.build_target};
    texts.insert(texts.end(), row.cells.begin(), row.cells.end());
    table.add(std::move(texts));
    last = row.name;
  }
  std::string text = table.text(color) + "\n";
  for (const CounterColumn& column : kCounterColumns)
    text += fmt::format("{:<13} {}\n", column.shown.label, column.shown.meaning);
  return text;
}

json profiles_view(const Run& run) {
  const std::vector<ProfileRow> rows = profile_rows(run);
  if (rows.empty()) return nullptr;
  json columns = json::array();
  for (const CounterColumn& column : kCounterColumns)
    columns.push_back({{"label", column.shown.label}, {"about", column.shown.meaning}});
  json shown = json::array();
  for (std::size_t i = 0; i < std::min(rows.size(), kMaxRowsPerPage); ++i)
    shown.push_back({{"name", rows[i].name},
                     {"href", case_link(rows[i].name)},
                     {"target", rows[i].build_target},
                     {"cells", rows[i].cells}});
  return {{"columns", columns},
          {"rows", shown},
          {"more", rows.size() > kMaxRowsPerPage
                       ? fmt::format("{} more profiles are in records.jsonl.",
                                     count_text(static_cast<std::int64_t>(rows.size() - kMaxRowsPerPage)))
                       : ""}};
}

}  // namespace assay::reports
