#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "reports/formats/formats.hpp"
#include "reports/model/summary.hpp"

namespace assay::reports {
namespace {

using nlohmann::json;

constexpr std::array<const char*, 3> kOfTheBatch{"adjoint", "emit", "build"};
constexpr std::array<const char*, 3> kOfTheCase{"reference", "run", "compare"};

double time_of(const json& record, const char* stage) { return record.at("time_ms").at(stage).get<double>(); }

double judging_ms(const json& record) {
  double sum = 0;
  for (const char* stage : kOfTheCase)
    sum += time_of(record, stage);
  return sum;
}

// A case with its interval, in milliseconds since the start of the run.
struct Placed {
  const json* record;
  double begin;
  double end;
};

class Trace {
 public:
  void name_row(int lane) {
    const auto name = [&](const char* what, json args) {
      events_.push_back({{"ph", "M"}, {"name", what}, {"pid", 1}, {"tid", lane}, {"args", std::move(args)}});
    };
    if (events_.empty()) name("process_name", {{"name", "assay run"}});
    name("thread_name", {{"name", fmt::format("job {}", lane + 1)}});
    name("thread_sort_index", {{"sort_index", lane}});
  }

  void add_batch(int lane, double batch_ms, const std::vector<const json*>& records) {
    const std::vector<Placed> cases = placed(batch_ms, records);
    slice(lane, cases.size() == 1 ? "batch of 1 case" : fmt::format("batch of {} cases", cases.size()), "batch",
          batch_ms, cases.back().end);
    add_stages(lane, kOfTheBatch, records, batch_ms, cases.front().begin);
    for (const Placed& one : cases)
      add_case(lane, one);
  }

  [[nodiscard]] std::string text(std::size_t left_out) const {
    std::vector<std::string> lines;
    lines.reserve(events_.size());
    for (const json& event : events_)
      lines.push_back(event.dump(-1, ' ', false, json::error_handler_t::replace));
    return fmt::format(
        "{{\"displayTimeUnit\":\"ms\",\"otherData\":{{\"cases_left_out\":{}}},\"traceEvents\":[\n{}\n]}}\n", left_out,
        fmt::join(lines, ",\n"));
  }

 private:
  // Recorded end times are kept. Of cases recorded at the same time, such as the passes of a kernel, the last keeps it
  // and the others end before it.
  static std::vector<Placed> placed(double batch_ms, const std::vector<const json*>& records) {
    std::vector<Placed> cases;
    double next = HUGE_VAL;
    for (auto record = records.rbegin(); record != records.rend(); ++record) {
      const double end =
          std::clamp((*record)->at("schedule").at("done_ms").get<double>(), batch_ms, std::max(batch_ms, next));
      const double begin = std::max(batch_ms, end - judging_ms(**record));
      cases.push_back({.record = *record, .begin = begin, .end = end});
      next = begin;
    }
    std::reverse(cases.begin(), cases.end());
    return cases;
  }

  void add_case(int lane, const Placed& one) {
    const json& record = *one.record;
    json& event = slice(lane, record.at("case").get<std::string>(), "case", one.begin, one.end);
    event["args"] = {{"outcome", outcome_text(record)}};
    if (fails_run(tone_of(record))) event["cname"] = "terrible";
    add_stages(lane, kOfTheCase, {one.record}, one.begin, one.end);
  }

  // The stages in order, each with its total time over the records, ending at `end`.
  void add_stages(int lane, const std::array<const char*, 3>& stages, const std::vector<const json*>& records,
                  double begin, double end) {
    for (const char* stage : stages) {
      double time = 0;
      for (const json* record : records)
        time += time_of(*record, stage);
      const double stop = std::min(begin + time, end);
      if (stop > begin) slice(lane, stage, "stage", begin, stop);
      begin = std::max(begin, stop);
    }
  }

  json& slice(int lane, const std::string& name, const char* category, double begin_ms, double end_ms) {
    const auto microseconds = [](double milliseconds) { return std::llround(milliseconds * 1e3); };
    const auto begin = microseconds(begin_ms);
    return events_.emplace_back(json{{"ph", "X"},
                                     {"name", name},
                                     {"cat", category},
                                     {"pid", 1},
                                     {"tid", lane},
                                     {"ts", begin},
                                     {"dur", microseconds(end_ms) - begin}});
  }

  std::vector<json> events_;
};

}  // namespace

std::string chrome_trace(const Run& run) {
  std::map<std::pair<int, double>, std::vector<const json*>> batches;  // by row and beginning
  std::set<int> lanes;
  std::size_t left_out = 0;
  for (const json& record : run.cases) {
    if (!record.contains("schedule") || total_ms(record) == 0) {
      ++left_out;
      continue;
    }
    const json& schedule = record.at("schedule");
    const int lane = schedule.at("lane");
    lanes.insert(lane);
    batches[{lane, schedule.at("batch_ms").get<double>()}].push_back(&record);
  }
  Trace trace;
  for (const int lane : lanes)
    trace.name_row(lane);
  for (const auto& [place, records] : batches)
    trace.add_batch(place.first, place.second, records);
  return trace.text(left_out);
}

}  // namespace assay::reports
