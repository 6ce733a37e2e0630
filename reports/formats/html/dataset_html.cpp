#include "reports/formats/html/dataset_html.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "reports/formats/html/embedded.hpp"
#include "reports/formats/html/report_html.hpp"
#include "reports/formats/html/template.hpp"
#include "reports/model/wording.hpp"

namespace assay::reports {
namespace {

using nlohmann::json;

std::string counted(std::uint64_t count) { return count_text(static_cast<std::int64_t>(count)); }

std::string percent(std::uint64_t part, std::uint64_t whole) {
  return fmt::format("{:.2f}", whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

json bars_of(const std::vector<std::pair<std::string, std::uint64_t>>& counts) {
  std::uint64_t most = 0;
  for (const auto& [label, count] : counts)
    most = std::max(most, count);
  json bars = json::array();
  for (const auto& [label, count] : counts)
    bars.push_back({{"label", label}, {"count", counted(count)}, {"share", percent(count, most)}});
  return bars;
}

json distributions_view(const dataset::DatasetOverview& overview) {
  json view = json::array();
  for (const dataset::RowCounts& one : overview.distributions) {
    if (!one.rows_by_value.empty())
      view.push_back({{"title", one.title}, {"note", one.note}, {"bars", bars_of(one.rows_by_value)}});
  }
  return view;
}

json evidence_view(const dataset::DatasetOverview& overview) {
  json view = json::array();
  for (const dataset::EvidenceSummary& one : overview.evidence) {
    view.push_back({{"device", one.device},
                    {"pass", one.pass},
                    {"mode", one.mode},
                    {"verified", counted(one.verified_rows)},
                    {"other", one.other_rows == 0 ? "" : counted(one.other_rows)},
                    {"values", counted(one.compared_values)},
                    {"inputs", counted(one.input_sets)},
                    {"controls", counted(one.rejected_controls)},
                    {"rho", one.compared_values == 0 ? "" : fmt::format("{:.1f} %", 100 * one.rho_max)}});
  }
  return view;
}

std::string difficulty_text_of(const dataset::KernelDifficulty& difficulty) {
  std::string text = fmt::format("{} statements, nesting depth {}, loops: {}", difficulty.statement_count,
                                 difficulty.nesting_depth, difficulty.loop_kind);
  if (!difficulty.features.empty()) text += fmt::format("; features: {}", fmt::join(difficulty.features, ", "));
  return text;
}

std::string verdicts_of(const std::vector<dataset::PassEvidence>& evidence) {
  std::string text;
  for (const dataset::PassEvidence& one : evidence)
    text += fmt::format("{}{} {}{}: {}", text.empty() ? "" : "; ", one.device, one.pass,
                        one.mode.empty() ? "" : " " + one.mode, one.verdict);
  return text;
}

json samples_view(const dataset::DatasetOverview& overview) {
  json view = json::array();
  for (const auto& [split, row] : overview.samples) {
    view.push_back({{"name", row.kernel_name},
                    {"family", row.family},
                    {"split", split},
                    {"id", row.id.substr(0, 16)},
                    {"docstring", row.description.docstring},
                    {"instruction", row.description.instruction},
                    {"difficulty", difficulty_text_of(row.difficulty)},
                    {"verdicts", verdicts_of(row.evidence)},
                    {"python", row.python_source},
                    {"cpu_forward", row.cpu_forward},
                    {"cpu_backward", row.cpu_backward},
                    {"cuda_forward", row.cuda_forward},
                    {"cuda_backward", row.cuda_backward},
                    {"open", view.empty()}});
  }
  return view;
}

json rejections_view(const dataset::DatasetOverview& overview) {
  json view = json::array();
  for (const dataset::RejectionGroup& one : overview.rejections) {
    view.push_back({{"verdict", one.verdict},
                    {"count", counted(one.kernels)},
                    {"name", one.example_name},
                    {"message", one.example_message},
                    {"source", one.example_source}});
  }
  return view;
}

json near_misses_view(const dataset::NearMissSummary& near_misses) {
  if (near_misses.pairs == 0) return false;
  json samples = json::array();
  for (const dataset::NearMissSample& one : near_misses.samples) {
    samples.push_back({{"name", one.kernel_name},
                       {"language", one.language == "cuda" ? "CUDA C++" : "C++"},
                       {"pass", one.pass},
                       {"mutation", one.mutation},
                       {"change", one.change},
                       {"message", one.message},
                       {"correct", one.correct_lines},
                       {"incorrect", one.incorrect_lines}});
  }
  return {{"pairs", counted(near_misses.pairs)},
          {"accepted", counted(near_misses.pairs_within_tolerance)},
          {"tolerance", fmt::format("{}", dataset::kCountedTolerance)},
          {"bars", bars_of(near_misses.pairs_by_mutation)},
          {"samples", std::move(samples)}};
}

}  // namespace

std::string dataset_html(const dataset::DatasetOverview& overview, const std::string& version) {
  std::uint64_t rejected = 0;
  for (const dataset::RejectionGroup& one : overview.rejections)
    rejected += one.kernels;
  std::string devices;
  for (const dataset::EvidenceSummary& one : overview.evidence) {
    const bool is_verified = one.verified_rows == overview.row_count;
    if (is_verified && devices.find(one.device) == std::string::npos)
      devices += (devices.empty() ? "" : ", ") + one.device;
  }
  const std::string style = std::string(kPageCss) + std::string(kDatasetCss);
  const json view = {
      {"title", fmt::format("Dataset {}", overview.name)},
      {"csp", fmt::format("default-src 'none'; style-src {}; img-src data:; base-uri 'none'; form-action 'none'",
                          csp_hash(style))},
      {"style", style},
      {"rows", counted(overview.row_count)},
      {"families", counted(overview.distributions.front().rows_by_value.size())},
      {"licenses", fmt::format("{}", fmt::join(overview.licenses, ", "))},
      {"emitters", fmt::format("{}", fmt::join(overview.emitters, ", "))},
      {"devices", devices},
      {"rejected", counted(rejected)},
      {"version", version},
      {"distributions", distributions_view(overview)},
      {"evidence", evidence_view(overview)},
      {"samples", samples_view(overview)},
      {"rejections", rejections_view(overview)},
      {"near_misses", near_misses_view(overview.near_misses)},
  };
  return fill(kDatasetHtml, view);
}

}  // namespace assay::reports
