#include "reports/model/measurements.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "reports/model/text_table.hpp"
#include "reports/model/wording.hpp"

namespace assay::reports {
namespace {

using nlohmann::json;

// A measure as text; empty if it was not measured.
std::string figure(const json& measures, const char* name, double unit, int digits) {
  const auto found = measures.find(name);
  return found == measures.end() ? "" : fmt::format("{:.{}f}", found->get<double>() / unit, digits);
}

struct Wait {
  const char* name;
  const char* word;
};
constexpr std::array kWaits{Wait{"stalled_memory", "memory"}, Wait{"stalled_shared", "shared"},
                            Wait{"stalled_queue", "queue"}, Wait{"stalled_math", "math"},
                            Wait{"stalled_barrier", "barrier"}};

// The most frequent stall reason of warps, with stalled warps per issued instruction.
std::string longest_wait(const json& measures) {
  const Wait* longest = nullptr;
  for (const Wait& wait : kWaits) {
    if (!measures.contains(wait.name)) return "";
    if (longest == nullptr || measures.at(wait.name) > measures.at(longest->name)) longest = &wait;
  }
  return fmt::format("{} {:.1f}", longest->word, measures.at(longest->name).get<double>());
}

// Ratio of transferred to required bytes of memory.
std::string traffic(const json& measures) {
  const double needed = measures.value("bytes", 0.0);
  if (!measures.contains("dram_read_bytes") || needed <= 0) return "";
  const double moved = measures.at("dram_read_bytes").get<double>() + measures.at("dram_written_bytes").get<double>();
  return fmt::format("{:.2f}", moved / needed);
}

struct Column {
  const char* label;
  const char* about;
  std::string (*text)(const json& measures);
  bool counted;  // by hardware counters; omitted if there are none
};

constexpr std::array<Column, 14> kColumns{{
    {"us", "median time of a launch in microseconds", [](const json& m) { return figure(m, "time_ns", 1e3, 1); },
     false},
    {"quartiles", "lower and upper quartile of the launch times in microseconds",
     [](const json& m) { return figure(m, "time_lower_ns", 1e3, 1) + ".." + figure(m, "time_upper_ns", 1e3, 1); },
     false},
    {"MB", "minimum traffic of a launch in megabytes: each array it reads, plus each array it writes",
     [](const json& m) { return figure(m, "bytes", 1e6, 1); }, false},
    {"GB/s", "minimum traffic (column MB) per second",
     [](const json& m) { return figure(m, "bytes_per_second", 1e9, 1); }, false},
    {"of copy %", "GB/s as a percentage of the speed of copies within the device",
     [](const json& m) { return figure(m, "of_copy", 0.01, 1); }, false},
    {"Gop/s", "billions of float operations per second; a fused multiply-add counts as two",
     [](const json& m) { return figure(m, "operations_per_second", 1e9, 1); }, false},
    {"of fma %", "Gop/s as a percentage of the speed of a loop of fused multiply-adds",
     [](const json& m) { return figure(m, "of_fma", 0.01, 1); }, false},
    {"regs", "registers per thread", [](const json& m) { return figure(m, "registers", 1, 0); }, false},
    {"local", "bytes of local memory per thread, for arrays and spilled registers",
     [](const json& m) { return figure(m, "local_bytes", 1, 0); }, false},
    {"occup %", "percentage of a multiprocessor's threads that blocks of the kernel can occupy",
     [](const json& m) { return figure(m, "occupancy", 0.01, 0); }, false},
    {"back/fwd", "time of the backward pass divided by the time of the forward pass",
     [](const json& m) { return figure(m, "backward_over_forward", 1, 2); }, false},
    {"dram %", "memory throughput as a percentage of the peak, from hardware counters",
     [](const json& m) { return figure(m, "dram_throughput", 1, 0); }, true},
    {"traffic", "bytes moved to and from memory, divided by the minimum traffic", traffic, true},
    {"waits for", "most frequent reason why warps stall, and stalled warps per issued instruction", longest_wait, true},
}};

struct Measured {
  std::string name;  // of the case
  json measurement;
};

std::vector<Measured> measured_in(const Run& run) {
  std::vector<Measured> all;
  for (const json& record : run.cases) {
    for (const json& measurement : record.value("measurements", json::array()))
      all.push_back({record.at("case"), measurement});
  }
  return all;
}

// Each remark once, with its case or the number of its cases.
std::vector<std::string> remarks_of(const std::vector<Measured>& all) {
  std::vector<std::pair<std::string, std::vector<std::string>>> remarks;
  for (const Measured& each : all) {
    const std::string remark = each.measurement.value("remark", "");
    if (remark.empty()) continue;
    auto known = std::ranges::find(remarks, remark, [](const auto& pair) { return pair.first; });
    if (known == remarks.end()) known = remarks.insert(known, {remark, {}});
    known->second.push_back(each.name);
  }
  std::vector<std::string> lines;
  for (const auto& [remark, cases] : remarks)
    lines.push_back(
        fmt::format("{}: {}", cases.size() == 1 ? cases.front() : fmt::format("{} cases", cases.size()), remark));
  return lines;
}

// All measurements of a run as text.
struct Table {
  struct Row {
    std::string name;  // of the case
    std::string target;
    std::string threads;
    std::vector<std::string> cells;  // by column
  };
  std::vector<Column> columns;
  std::vector<Row> rows;
  std::string ceilings;  // empty without rows
  std::vector<std::string> remarks;
};

Table table_of(const Run& run) {
  const std::vector<Measured> all = measured_in(run);
  Table table;
  table.remarks = remarks_of(all);
  const bool counted = std::ranges::any_of(
      all, [](const Measured& m) { return m.measurement.at("measures").contains("dram_throughput"); });
  std::ranges::copy_if(kColumns, std::back_inserter(table.columns),
                       [&](const Column& c) { return counted || !c.counted; });
  for (const Measured& each : all) {
    const json& measures = each.measurement.at("measures");
    if (measures.empty()) continue;
    table.ceilings = fmt::format("limits measured in the same run: {} GB/s copied, {} Gop/s of fused multiply-adds",
                                 figure(measures, "ceiling_bytes_per_second", 1e9, 1),
                                 figure(measures, "ceiling_operations_per_second", 1e9, 1));
    Table::Row row{each.name,
                   each.measurement.at("target"),
                   fmt::format("{}", each.measurement.at("threads").get<std::int64_t>()),
                   {}};
    for (const Column& column : table.columns)
      row.cells.push_back(column.text(measures));
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

std::string measurement_table(const Run& run, bool color) {
  const Table table = table_of(run);
  std::string text;
  if (!table.rows.empty()) {
    TextTable shown;
    std::vector<std::string> head{"case", "on", "threads"};
    for (const Column& column : table.columns)
      head.emplace_back(column.label);
    shown.add_header(head);
    for (const Table::Row& row : table.rows) {
      std::vector<std::string> texts{row.name, row.target, row.threads};
      texts.insert(texts.end(), row.cells.begin(), row.cells.end());
      shown.add(std::move(texts));
    }
    text = shown.text(color) + "\n";
    for (const Column& column : table.columns)
      text += fmt::format("{:<13} {}\n", column.label, column.about);
    text += "\n" + table.ceilings + "\n";
  }
  for (const std::string& remark : table.remarks)
    text += remark + "\n";
  return text;
}

json measurements_view(const Run& run) {
  const Table table = table_of(run);
  if (table.rows.empty() && table.remarks.empty()) return nullptr;
  json columns = json::array();
  for (const Column& column : table.columns)
    columns.push_back({{"label", column.label}, {"about", column.about}});
  json rows = json::array();
  for (const Table::Row& row : std::span(table.rows).first(std::min(table.rows.size(), kMaxRowsPerPage)))
    rows.push_back({{"name", row.name},
                    {"href", case_link(row.name)},
                    {"target", row.target},
                    {"threads", row.threads},
                    {"cells", row.cells}});
  const auto more = static_cast<std::int64_t>(table.rows.size() - rows.size());
  return {{"columns", columns},
          {"rows", rows},
          {"measured", !table.rows.empty()},
          {"ceilings", table.ceilings},
          {"remarks", table.remarks},
          {"more", more > 0 ? fmt::format("{} more measurements are in records.jsonl.", count_text(more)) : ""}};
}

}  // namespace assay::reports
