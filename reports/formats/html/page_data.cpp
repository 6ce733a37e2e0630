#include "reports/formats/html/page_data.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <unordered_map>

#include <fmt/format.h>

namespace assay::reports {
namespace {

using nlohmann::json;

struct TierLabel {
  const char* member;
  const char* label;
  const char* bound;  // how it comes about
};

constexpr std::array<TierLabel, 6> kTiers{{
    {"t0", "T0 oracle self-test",
     "The oracle against itself: its reverse sweep against its dual numbers, and these against finite differences."},
    {"t1", "T1 double lift",
     "The generated code computed in double. What each operation rounds off (u = 2⁻⁵³, library functions by their "
     "documented error) is added to what it passes on of its operands' bounds."},
    {"t2", "T2 self-consistency",
     "The generated gradient against differences of the generated forward. Allowed is 10⁻⁸ of the sizes that are "
     "summed, and the error that the extrapolation says it has."},
    {"t3", "T3 native precision",
     "The generated code in its own types: as in T1, each value with the roundoff of its type (f32 2⁻²⁴, f64 2⁻⁵³, f16 "
     "2⁻¹¹, bf16 2⁻⁸), sums of no known order for every order."},
    {"t5", "T5 determinism",
     "Other orders of threads, other seeds, the same again: within the bounds of T1 and T3, or the same bit for bit."},
    {"devices", "Agreement of devices",
     "The same launch on another device, which the case's failure names: the two results may differ by the sum of both "
     "bounds."},
}};
constexpr std::array<const char*, 6> kDoubts{"path", "kink", "conditioning", "overflow", "race", "domain"};

// Sources of passing cases are of use and not needed: as many as fit. They shrink to a tenth when packed.
constexpr std::size_t kPassingSourceBytes = 4 * 1024 * 1024;

// Each distinct text once; rows carry its position.
class TextPool {
 public:
  std::size_t position(const std::string& text) {
    const auto [found, added] = positions_.emplace(text, texts_.size());
    if (added) texts_.push_back(text);
    return found->second;
  }
  [[nodiscard]] json take() { return std::move(texts_); }

 private:
  json texts_ = json::array();
  std::unordered_map<std::string, std::size_t> positions_;
};

// The outcomes that occur, each with how a reader takes it, in the order of their first occurrence.
class Outcomes {
 public:
  std::size_t position(const std::string& outcome, Tone tone) {
    const json entry = {{"name", outcome}, {"tone", to_text(tone)}};
    const auto found = std::find(names_.begin(), names_.end(), entry);
    if (found != names_.end()) return static_cast<std::size_t>(found - names_.begin());
    names_.push_back(entry);
    return names_.size() - 1;
  }
  [[nodiscard]] json take() { return std::move(names_); }

 private:
  json names_ = json::array();
};

std::string without_name(std::string command, const std::string& name) {
  for (std::size_t at = command.find(name); at != std::string::npos; at = command.find(name, at + 6)) {
    command.replace(at, name.size(), "{case}");
  }
  return command;
}

json tier_rows(const json& tiers) {
  json rows = json::array();
  for (std::size_t i = 0; i < kTiers.size(); ++i) {
    if (!tiers.contains(kTiers.at(i).member)) continue;
    const json& tier = tiers.at(kTiers.at(i).member);
    rows.push_back({i, tier.at("checks"), tier.at("failed"), tier.at("rho_max")});
  }
  return rows;
}

// The counts without the zeros at their end.
json histogram_row(const json& record) {
  json counts = record.value("rho_histogram", json::array());
  while (!counts.empty() && counts.back() == 0)
    counts.erase(counts.size() - 1);
  return counts;
}

// Three digits are enough to draw.
double rounded(double value) { return std::strtod(fmt::format("{:.2e}", value).c_str(), nullptr); }

// [input set, gradient, allowed, longest step, how far each estimate is from the gradient]; null where T2 did not run.
json plateau_row(const json& record) {
  if (!record.contains("plateau") || record.at("plateau").at("estimates").empty()) return nullptr;
  const json& plateau = record.at("plateau");
  json distances = json::array();
  for (const json& estimate : plateau.at("estimates")) {
    const double distance = std::abs(estimate.at("value").get<double>() - plateau.at("gradient").get<double>());
    distances.push_back({estimate.at("step"), rounded(distance)});
  }
  return {plateau.at("input_set"), rounded(plateau.at("gradient")), rounded(plateau.at("allowed")), distances};
}

class RowMaker {
 public:
  explicit RowMaker(const Summary& summary) : summary_(summary) {}

  json row(const json& record) {
    json times = json::array();
    for (const auto& stage : summary_.time_ms)
      times.push_back(record.at("time_ms").at(stage.first));
    json doubts = json::array();
    for (const char* doubt : kDoubts)
      doubts.push_back(record.at("inconclusive").at(doubt));
    json attempts = json::array();
    for (const json& attempt : record.at("attempts"))
      attempts.push_back(outcomes_.position(attempt, tone_of_outcome(attempt.get<std::string>())));
    const std::string name = record.at("case");
    return {name,
            outcomes_.position(record.at("outcome"), tone_of(record)),
            texts_.position(record.at("kind")),
            texts_.position(message_text(record)),
            record.at("rho_max"),
            record.at("values_compared"),
            record.at("input_sets"),
            record.at("controls_rejected"),
            doubts,
            tier_rows(record.at("tiers")),
            histogram_row(record),
            closest_row(record),
            plateau_row(record),
            attempts,
            times,
            texts_.position(record.at("source").at("file")),
            record.at("source").at("line"),
            texts_.position(without_name(record.at("reproduce"), name))};
  }

  [[nodiscard]] json columns() const {
    return {"name",  "outcome",   "kind",    "message", "rho",      "values", "input_sets", "controls", "inconclusive",
            "tiers", "histogram", "closest", "plateau", "attempts", "times",  "file",       "line",     "reproduce"};
  }
  json take_texts() { return texts_.take(); }
  json take_outcomes() { return outcomes_.take(); }

 private:
  // [array, control, rho] of the wrong result that was nearest to being accepted; null where there was none.
  json closest_row(const json& record) {
    if (!record.contains("closest_control")) return nullptr;
    const json& closest = record.at("closest_control");
    const json& rho = closest.at("rho");
    return {texts_.position(closest.at("array")), texts_.position(closest.at("control")),
            rho.is_number() ? json(rounded(rho)) : rho};
  }

  const Summary& summary_;
  TextPool texts_;
  Outcomes outcomes_;
};

json passing_sources(const Run& run) {
  json sources = json::object();
  std::size_t bytes = 0;
  for (const json& record : run.cases) {
    if (tone_of(record) != Tone::passed || !record.contains("artifact")) continue;
    bytes += artifact_size(record);
    if (bytes > kPassingSourceBytes) break;
    sources[record.at("case").get<std::string>()] = {{"texts", source_texts(record)},
                                                     {"compile_command", record.at("artifact").at("compile_command")}};
  }
  return sources;
}

}  // namespace

json source_texts(const json& record) {
  json texts = json::array();
  if (!record.contains("artifact")) return texts;
  constexpr std::array<std::pair<const char*, const char*>, 4> kLabels{
      {{"python", "Python"}, {"cpp", "C++"}, {"cuda", "CUDA C++"}, {"ir", "IR"}}};
  const json& artifact = record.at("artifact");
  for (const auto& [member, label] : kLabels) {
    if (!artifact.at(member).get_ref<const std::string&>().empty())
      texts.push_back({{"label", label}, {"text", artifact.at(member)}});
  }
  return texts;
}

std::size_t artifact_size(const json& record) {
  std::size_t bytes = 0;
  if (record.contains("log")) bytes += record.at("log").get_ref<const std::string&>().size();
  if (!record.contains("artifact")) return bytes;
  for (const auto& [member, text] : record.at("artifact").items())
    bytes += text.get_ref<const std::string&>().size();
  return bytes;
}

json page_data(const Run& run, const Summary& summary, const std::string& title) {
  RowMaker maker(summary);
  json rows = json::array();
  for (const json& record : run.cases)
    rows.push_back(maker.row(record));
  json stages = json::array();
  for (const auto& stage : summary.time_ms)
    stages.push_back(stage.first);
  json tiers = json::array();
  for (const TierLabel& tier : kTiers)
    tiers.push_back({{"label", tier.label}, {"bound", tier.bound}});
  return {{"title", title},
          {"columns", maker.columns()},
          {"rows", std::move(rows)},
          {"texts", maker.take_texts()},
          {"outcomes", maker.take_outcomes()},
          {"stages", stages},
          {"tiers", tiers},
          {"doubts", kDoubts},
          {"sources", passing_sources(run)}};
}

}  // namespace assay::reports
