#include "harness/dataset/card.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "harness/dataset/emitter.hpp"

namespace assay::dataset {
namespace {

using Json = nlohmann::ordered_json;

/// The types of all columns, so that a loader need not guess them from rows with null values.
constexpr std::string_view kFeatures = R"(  features:
  - name: id
    dtype: string
  - name: schema_version
    dtype: string
  - name: family
    dtype: string
  - name: kernel_name
    dtype: string
  - name: python_source
    dtype: string
  - name: cpu_forward
    dtype: string
  - name: cpu_backward
    dtype: string
  - name: cuda_forward
    dtype: string
  - name: cuda_backward
    dtype: string
  - name: cpu_source
    dtype: string
  - name: cuda_source
    dtype: string
  - name: ptx
    dtype: string
  - name: signature
    list:
    - name: name
      dtype: string
    - name: type
      dtype: string
    - name: rank
      dtype: int64
    - name: intent
      dtype: string
    - name: differentiable
      dtype: bool
  - name: launch
    struct:
    - name: rank
      dtype: int64
    - name: conditions
      list: string
  - name: metadata
    struct:
    - name: generator
      dtype: string
    - name: generator_version
      dtype: string
    - name: emitter
      dtype: string
    - name: emitter_version
      dtype: string
    - name: kernels_version
      dtype: int64
    - name: name
      dtype: string
    - name: seed
      dtype: string
    - name: category
      dtype: string
    - name: device
      list: string
    - name: flags
      list: string
    - name: effort
      dtype: string
    - name: toolchain
      list:
      - name: device
        dtype: string
      - name: version
        dtype: string
      - name: sha256
        dtype: string
    - name: licence
      dtype: string
  - name: evidence
    list:
    - name: device
      dtype: string
    - name: pass
      dtype: string
    - name: mode
      dtype: string
    - name: verdict
      dtype: string
    - name: reason
      dtype: string
    - name: rho_max
      dtype: float64
    - name: values_compared
      dtype: int64
    - name: input_sets
      dtype: int64
    - name: sizes
      list: int64
    - name: finite_difference_rho
      dtype: float64
    - name: determinism
      dtype: string
    - name: memory_checks
      list: string
    - name: controls_rejected
      dtype: int64
    - name: inconclusive
      struct:
      - name: path
        dtype: int64
      - name: kink
        dtype: int64
      - name: conditioning
        dtype: int64
      - name: overflow
        dtype: int64
      - name: race
        dtype: int64
      - name: domain
        dtype: int64
)";

std::string_view size_category(std::uint64_t rows) {
  struct Row {
    std::uint64_t below;
    std::string_view name;
  };
  constexpr Row kInstructionCategoryCount[] = {
      {1'000, "n<1K"},          {10'000, "1K<n<10K"},        {100'000, "10K<n<100K"},     {1'000'000, "100K<n<1M"},
      {10'000'000, "1M<n<10M"}, {100'000'000, "10M<n<100M"}, {1'000'000'000, "100M<n<1B"}};
  for (const Row& row : kInstructionCategoryCount) {
    if (rows < row.below) return row.name;
  }
  return "n>1B";
}

std::string header(const DatasetPlan& plan, const DatasetStatistics& stats, const SplitBytes& bytes) {
  std::string text = fmt::format(
      "---\nlicense: {}\ntask_categories:\n- text-generation\ntags:\n- code\n- cuda\n- gpu\n- autodiff\n"
      "size_categories:\n- {}\nconfigs:\n- config_name: default\n  data_files:\n",
      plan.license, size_category(stats.rows()));
  std::string splits = "  splits:\n";
  for (const char* split : {"train", "validation", "test"}) {
    const auto found = stats.splits().find(split);
    if (found == stats.splits().end()) continue;
    text += fmt::format("  - split: {0}\n    path: data/{0}-*.jsonl.zst\n", split);
    splits +=
        fmt::format("  - name: {}\n    num_bytes: {}\n    num_examples: {}\n", split, bytes.at(split), found->second);
  }
  return text + "dataset_info:\n" + std::string(kFeatures) + splits + "---\n\n";
}

/// A bar such as "########" for a value, scaled to the greatest value.
std::string bar(std::uint64_t value, std::uint64_t greatest) {
  constexpr std::uint64_t kCells = 30;
  return std::string(greatest == 0 ? 0 : (value * kCells + greatest - 1) / greatest, '#');
}

std::string chart(std::string_view what, const Json& counts, std::size_t most) {
  std::vector<std::pair<std::string, std::uint64_t>> rows;
  for (const auto& [name, count] : counts.items())
    rows.emplace_back(name, count.get<std::uint64_t>());
  const bool cut = rows.size() > most;
  if (cut) {
    std::ranges::stable_sort(rows, std::greater<>(), [](const auto& row) { return row.second; });
    rows.resize(most);
  }
  std::uint64_t greatest = 0;
  for (const auto& [name, count] : rows)
    greatest = std::max(greatest, count);
  std::string text = fmt::format("| {} | count | |\n|---|---:|---|\n", what);
  for (const auto& [name, count] : rows)
    text += fmt::format("| {} | {} | `{}` |\n", name, count, bar(count, greatest));
  if (cut) text += fmt::format("\nThe {} most frequent of {}; `stats.json` lists all.\n", most, counts.size());
  return text;
}

std::string lengths_table(const Json& lengths) {
  std::string text = "| text | rows | minimum | mean | maximum |\n|---|---:|---:|---:|---:|\n";
  for (const auto& [name, one] : lengths.items()) {
    const auto rows = one.at("rows").get<std::uint64_t>();
    if (rows == 0) continue;
    text += fmt::format("| `{}` | {} | {} | {} | {} |\n", name, rows, one.at("least").get<std::uint64_t>(),
                        one.at("total").get<std::uint64_t>() / rows, one.at("greatest").get<std::uint64_t>());
  }
  return text;
}

std::string verdicts_table(const Json& verdicts) {
  std::string text = "| device/pass/mode | verdicts |\n|---|---|\n";
  for (const auto& [where, counts] : verdicts.items()) {
    std::vector<std::string> parts;
    for (const auto& [verdict, count] : counts.items())
      parts.push_back(fmt::format("{} {}", count.get<std::uint64_t>(), verdict));
    text += fmt::format("| {} | {} |\n", where, fmt::join(parts, ", "));
  }
  return text;
}

std::string sample_text(const std::string& line) {
  if (line.empty()) return "";
  const nlohmann::json row = nlohmann::json::parse(line);
  const std::string cuda = row.at("cuda_forward");
  return fmt::format(
      "## Example row\n\n`{}`, family {}:\n\n```python\n{}```\n\nIts `cuda_forward`:\n\n```cuda\n{}```\n\n",
      row.at("id").get<std::string>(), row.at("family").get<std::string>(), row.at("python_source").get<std::string>(),
      cuda);
}

std::string intro(const DatasetPlan& plan, const DatasetStatistics& stats) {
  std::string proof = "The rows were generated without verification, as their `evidence` states.";
  if (plan.verifies_rows) {
    proof = fmt::format(
        "Each row was verified before it was added ({}): forward and backward pass were run on many input sets, and "
        "each "
        "value was compared with a reference within a computed error bound. `evidence` lists the checks by device. "
        "Kernels that did not pass are in `quarantine/` with their verdicts.",
        fmt::join(plan.numeric_modes, ", "));
  }
  std::string emitter;
  if (plan.emitter == kWarpEmitter) {
    emitter = fmt::format(" The translations are the code that NVIDIA Warp {} generates; they include Warp's headers.",
                          plan.emitter_version);
  }
  return fmt::format(
      "# GPU kernels in Python, C++ and CUDA, with their derivatives\n\n{} kernels in Warp Python, each with its C++ "
      "and CUDA C++ translations, forward and backward, generated by Assay {} from seed {}.{}\n{}\n\n",
      stats.rows(), plan.generator_version, plan.seed, emitter, proof);
}

}  // namespace

std::string render_dataset_card(const DatasetPlan& plan, const DatasetStatistics& stats, const Json& stats_json,
                                const SplitBytes& bytes, const std::string& sample) {
  std::string text = header(plan, stats, bytes) + intro(plan, stats);
  text += "## Families\n\n" + chart("family", stats_json.at("families"), 100) + "\n";
  text += "## Splits\n\n" + chart("split", stats_json.at("splits"), 3);
  text += "\nNo program occurs twice, and near duplicates (Jaccard index of 0.8 or more) are in the same split.\n\n";
  text += "## Lengths in bytes\n\n" + lengths_table(stats_json.at("lengths")) + "\n";
  text += "## Operations\n\n" + chart("operation", stats_json.at("operations"), 20) + "\n";
  text += "## Verdicts\n\n" + verdicts_table(stats_json.at("verdicts")) + "\n";
  text += sample_text(sample);
  text +=
      "## Files\n\n`schema.json` describes a row; `stats.json` contains all statistics; `checksums.sha256` is for "
      "`sha256sum "
      "-c`; `journal.jsonl` lists the kernels by position. `assay validate .` checks everything.\n";
  return text;
}

}  // namespace assay::dataset
