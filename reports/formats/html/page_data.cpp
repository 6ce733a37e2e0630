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
  const char* bound;  // how the bound is computed
};

constexpr std::array<TierLabel, 6> kTiers{{
    {"t0", "oracle_self_check",
     "Checks the oracle: compares its reverse sweep with its dual numbers, and the dual numbers with finite "
     "differences."},
    {"t1", "f64_promotion",
     "Checks the generated code, computed in double precision; of code from elsewhere, what it would compute without "
     "rounding. Each operation adds its rounding error (u = 2⁻⁵³; the "
     "documented error of library functions) to the propagated bounds of its operands."},
    {"t2", "finite_differences",
     "Checks the generated gradient against finite differences of the generated forward kernel. The tolerance is 10⁻⁸ "
     "times the sum of |gradient component × direction component|, plus the error estimate of the extrapolation."},
    {"t3", "native_precision",
     "Checks the generated code in its own types. Bounds use the unit roundoff of each type (f32 2⁻²⁴, "
     "f64 2⁻⁵³, f16 2⁻¹¹, bf16 2⁻⁸); sums in unspecified order are bounded for every order."},
    {"t5", "determinism",
     "Repeats the launch with other thread orders. The results must be within the bounds of f64_promotion and "
     "native_precision, or bitwise equal."},
    {"devices", "cross-check device",
     "Compares the results with those of the same launch on another device. Two values may differ by at most the sum "
     "of their bounds."},
}};
constexpr std::array<const char*, 6> kDoubts{"path", "kink", "conditioning", "overflow", "race", "domain"};

// Limit on sources of passing cases, which are optional. They shrink to a tenth when compressed.
constexpr std::size_t kPassingSourceBytes = 4 * 1024 * 1024;

// Stores each distinct text once; rows refer to it by position.
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

// The outcomes with their tones, in order of first occurrence.
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

// The counts without trailing zeros.
json histogram_row(const json& record) {
  json counts = record.value("rho_histogram", json::array());
  while (!counts.empty() && counts.back() == 0)
    counts.erase(counts.size() - 1);
  return counts;
}

// Rounds to three digits, which is enough for a chart.
double rounded(double value) { return std::strtod(fmt::format("{:.2e}", value).c_str(), nullptr); }

// [input set, gradient, tolerance, distances from the gradient by step]; null if finite_differences did not run.
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
  explicit RowMaker(const RunSummary& summary) : summary_(summary) {}

  json row(const json& record) {
    json times = json::array();
    for (const auto& stage : summary_.stage_times_ms)
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
  // [array, control, rho] of the incorrect result closest to being accepted; null if there was none.
  json closest_row(const json& record) {
    if (!record.contains("closest_control")) return nullptr;
    const json& closest = record.at("closest_control");
    const json& rho = closest.at("rho");
    return {texts_.position(closest.at("array")), texts_.position(closest.at("control")),
            rho.is_number() ? json(rounded(rho)) : rho};
  }

  const RunSummary& summary_;
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

std::string check_name(const std::string& tier) {
  const auto* const found =
      std::ranges::find(kTiers, tier, [](const TierLabel& row) { return std::string(row.member); });
  return found == kTiers.end() ? tier : found->label;
}

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

json page_data(const Run& run, const RunSummary& summary, const std::string& title) {
  RowMaker maker(summary);
  json rows = json::array();
  for (const json& record : run.cases)
    rows.push_back(maker.row(record));
  json stages = json::array();
  for (const auto& stage : summary.stage_times_ms)
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
