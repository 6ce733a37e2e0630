#include "reports/measurements.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "reports/text_table.hpp"

namespace assay::reports {
namespace {

using nlohmann::json;

// A figure as text; empty where it was not measured.
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

// What warps wait for most, and how many of them for each instruction that is issued.
std::string longest_wait(const json& measures) {
  const Wait* longest = nullptr;
  for (const Wait& wait : kWaits) {
    if (!measures.contains(wait.name)) return "";
    if (longest == nullptr || measures.at(wait.name) > measures.at(longest->name)) longest = &wait;
  }
  return fmt::format("{} {:.1f}", longest->word, measures.at(longest->name).get<double>());
}

// Bytes that went to and from memory, over those that had to.
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
  bool counted;  // by hardware, which is left out where nothing was
};

constexpr std::array<Column, 14> kColumns{{
    {"us", "microseconds of a launch: the median", [](const json& m) { return figure(m, "time_ns", 1e3, 1); }, false},
    {"quartiles", "of these, below and above which a quarter lies",
     [](const json& m) { return figure(m, "time_lower_ns", 1e3, 1) + ".." + figure(m, "time_upper_ns", 1e3, 1); },
     false},
    {"MB", "that a launch must move: each array that it reads, and each that it writes, once",
     [](const json& m) { return figure(m, "bytes", 1e6, 1); }, false},
    {"GB/s", "these over the time", [](const json& m) { return figure(m, "bytes_per_second", 1e9, 1); }, false},
    {"of copy %", "share of what copies within the device reached",
     [](const json& m) { return figure(m, "of_copy", 0.01, 1); }, false},
    {"Gop/s", "operations on floats over the time; a fused multiply-add is two",
     [](const json& m) { return figure(m, "operations_per_second", 1e9, 1); }, false},
    {"of fma %", "share of what a loop of fused multiply-adds reached",
     [](const json& m) { return figure(m, "of_fma", 0.01, 1); }, false},
    {"regs", "registers of a thread", [](const json& m) { return figure(m, "registers", 1, 0); }, false},
    {"local", "bytes of memory of a thread: arrays, and what registers spilled",
     [](const json& m) { return figure(m, "local_bytes", 1, 0); }, false},
    {"occup %", "of a multiprocessor's threads that blocks of the kernel can fill",
     [](const json& m) { return figure(m, "occupancy", 0.01, 0); }, false},
    {"back/fwd", "time of the backward pass over the forward one's",
     [](const json& m) { return figure(m, "backward_over_forward", 1, 2); }, false},
    {"dram %", "of the memory's peak that the hardware counted",
     [](const json& m) { return figure(m, "dram_throughput", 1, 0); }, true},
    {"traffic", "bytes that went to and from memory, over those that must", traffic, true},
    {"waits for", "what stalls most warps, and how many for each instruction issued", longest_wait, true},
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

// Each remark once, with the number of cases that it is about, or the one.
std::string remarks_of(const std::vector<Measured>& all) {
  std::vector<std::pair<std::string, std::vector<std::string>>> remarks;
  for (const Measured& each : all) {
    const std::string remark = each.measurement.value("remark", "");
    if (remark.empty()) continue;
    auto known = std::ranges::find(remarks, remark, [](const auto& pair) { return pair.first; });
    if (known == remarks.end()) known = remarks.insert(known, {remark, {}});
    known->second.push_back(each.name);
  }
  std::string text;
  for (const auto& [remark, cases] : remarks)
    text += fmt::format("{}: {}\n", cases.size() == 1 ? cases.front() : fmt::format("{} cases", cases.size()), remark);
  return text;
}

}  // namespace

std::string measurement_table(const Run& run, bool color) {
  const std::vector<Measured> all = measured_in(run);
  if (all.empty()) return "";
  const bool counted = std::ranges::any_of(
      all, [](const Measured& m) { return m.measurement.at("measures").contains("dram_throughput"); });
  std::vector<Column> columns;
  std::ranges::copy_if(kColumns, std::back_inserter(columns), [&](const Column& c) { return counted || !c.counted; });
  TextTable table;
  std::vector<std::string> head{"case", "on", "threads"};
  for (const Column& column : columns)
    head.emplace_back(column.label);
  table.add_head(head);
  std::optional<json> ceilings;
  for (const Measured& each : all) {
    const json& measures = each.measurement.at("measures");
    if (measures.empty()) continue;
    ceilings = measures;
    std::vector<std::string> texts{each.name, each.measurement.at("target"),
                                   fmt::format("{}", each.measurement.at("threads").get<std::int64_t>())};
    for (const Column& column : columns)
      texts.push_back(column.text(measures));
    table.add(std::move(texts));
  }
  std::string text;
  if (ceilings) {
    text = table.text(color) + "\n";
    for (const Column& column : columns)
      text += fmt::format("{:<13} {}\n", column.label, column.about);
    text += fmt::format("\nceilings in the same run: {} GB/s copied, {} Gop/s of fused multiply-adds\n",
                        figure(*ceilings, "ceiling_bytes_per_second", 1e9, 1),
                        figure(*ceilings, "ceiling_operations_per_second", 1e9, 1));
  }
  return text + remarks_of(all);
}

}  // namespace assay::reports
