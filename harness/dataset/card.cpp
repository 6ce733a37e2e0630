#include "harness/dataset/card.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "backends/device/registry.hpp"
#include "harness/dataset/emitter.hpp"
#include "support/files.hpp"

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
  - name: docstring
    dtype: string
  - name: instruction
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
  - name: difficulty
    struct:
    - name: statements
      dtype: int64
    - name: depth
      dtype: int64
    - name: expression_depth
      dtype: int64
    - name: loop_kind
      dtype: string
    - name: features
      list: string
    - name: memory_patterns
      list: string
  - name: origin
    struct:
    - name: package
      dtype: string
    - name: version
      dtype: string
    - name: file
      dtype: string
    - name: license
      dtype: string
    - name: attribution
      dtype: string
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
    - name: license
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
    - name: checks
      list:
      - name: name
        dtype: string
      - name: values_compared
        dtype: int64
      - name: rho_max
        dtype: float64
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

/// Licenses that the Hugging Face hub knows under the SPDX identifier in lower case. It has more; for a license that is
/// not listed here, the header states "other" and its name, which the hub accepts for every license.
constexpr std::string_view kHubLicenses[] = {
    "apache-2.0", "bsd-2-clause", "bsd-3-clause", "cc-by-4.0", "cc-by-nc-4.0", "cc-by-sa-4.0", "cc0-1.0",
    "gpl-3.0",    "lgpl-3.0",     "mit",          "mpl-2.0",   "odc-by",       "unknown",      "unlicense"};

/// The lines of the header for a license.
std::string license_header(std::string_view license) {
  std::string id(license);
  std::ranges::transform(id, id.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (std::ranges::find(kHubLicenses, id) != std::end(kHubLicenses)) return fmt::format("license: {}\n", id);
  return fmt::format("license: other\nlicense_name: {}\n", id);
}

std::string header(const DatasetPlan& plan, const DatasetStatistics& stats, const SplitBytes& bytes) {
  std::string text = fmt::format(
      "---\n{}pretty_name: GPU kernels in Python, C++ and CUDA, with their derivatives\nlanguage:\n- en\n- code\n"
      "task_categories:\n- text-generation\ntags:\n- code\n- cuda\n- gpu\n- autodiff\n- warp\n"
      "size_categories:\n- {}\nconfigs:\n- config_name: default\n  data_files:\n",
      license_header(plan.license), size_category(stats.rows()));
  std::string splits = "  splits:\n";
  for (const char* split : {"train", "validation", "test"}) {
    const auto found = stats.splits().find(split);
    if (found == stats.splits().end()) continue;
    text += fmt::format("  - split: {0}\n    path: data/{0}-*.jsonl{1}\n", split, suffix_of(plan.compression));
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
  // Rows of schema 1.2 and older have no instruction.
  const auto text_of = [&](const char* member) { return row.value(member, ""); };
  return fmt::format(
      "## Example row\n\nA kernel of the family {}. Its `instruction`:\n\n```text\n{}\n```\n\nIts `python_source`:\n\n"
      "```python\n{}```\n\nIts `cuda_forward`:\n\n```cuda\n{}```\n\n",
      text_of("family"), text_of("instruction"), text_of("python_source"), text_of("cuda_forward"));
}

std::string intro(const DatasetPlan& plan, const DatasetStatistics& stats) {
  std::string emitter;
  if (plan.emitter == kWarpEmitter) {
    emitter = fmt::format(" The translations are the code that NVIDIA Warp {} generates; they include Warp's headers.",
                          plan.emitter_version);
  }
  return fmt::format(
      "# GPU kernels in Python, C++ and CUDA, with their derivatives\n\n{} kernels in Warp Python, each with its C++ "
      "and CUDA C++ translations, forward and backward, generated by Assay {} from seed {}.{}\n\n",
      stats.rows(), plan.generator_version, plan.seed, emitter);
}

/// The columns, for a reader; the header has their types.
constexpr std::string_view kColumns = R"(## Columns

| column | content |
|---|---|
| `id` | SHA-256 of the canonical program; equal for programs that differ only in names |
| `family`, `kernel_name` | kind of the kernel, and its name in all sources |
| `instruction` | asks for the kernel in English: name, parameters, launch, each step, preconditions |
| `docstring` | what the kernel computes from what, and how |
| `python_source` | the kernel in Warp Python |
| `cpu_forward`, `cpu_backward`, `cpu_source` | the passes in C++, and the complete file |
| `cuda_forward`, `cuda_backward`, `cuda_source` | the passes in CUDA C++, and the complete file |
| `ptx` | PTX of `cuda_source`, if it was stored |
| `signature`, `launch` | the parameters with their types, and how to launch the kernel |
| `difficulty` | statements, depth of nesting and of expressions, kind of loop, language features, memory patterns |
| `origin` | for a kernel of a Python package: package, version, file, license, attribution; otherwise null |
| `metadata` | generator, seed, devices, compilers, license |
| `evidence` | the result of the checks for each device, pass and numeric mode |

A backward column is null if the kernel has no float parameter. `instruction` and `docstring` were generated from the
program, not written by a person or a language model.

)";

bool has_origins(const DatasetPlan& plan) {
  return std::ranges::any_of(plan.user_kernels, [](const UserKernel& kernel) { return kernel.origin.has_value(); });
}

/// A sentence on the packages of the kernels.
std::string packages_text(const DatasetPlan& plan) {
  std::map<std::string, std::size_t> counts;
  for (const UserKernel& kernel : plan.user_kernels) {
    if (!kernel.origin) continue;
    const live::KernelOrigin& origin = *kernel.origin;
    ++counts[origin.package.empty() ? origin.file : fmt::format("{} {}", origin.package, origin.version)];
  }
  std::vector<std::string> packages;
  for (const auto& [package, count] : counts)
    packages.push_back(fmt::format("{} ({} kernel{})", package, count, count == 1 ? "" : "s"));
  return fmt::format(
      "Kernels that exist after the import of Python packages: {}. Each was written as a standalone file with the "
      "values that it captures. `origin` states its package, file and license.",
      fmt::join(packages, ", "));
}

/// The lines on whom to name for kernels of packages.
std::string attributions(const DatasetPlan& plan) {
  std::set<std::string> lines;
  for (const UserKernel& kernel : plan.user_kernels) {
    if (kernel.origin) lines.insert(kernel.origin->attribution);
  }
  std::string text;
  for (const std::string& line : lines)
    text += fmt::format("- {}\n", line);
  return text.empty() ? "" : fmt::format("The kernels were copied from:\n\n{}\n", text);
}

std::string provenance(const DatasetPlan& plan) {
  std::string source = fmt::format(
      "Random kernels of version {} of Assay's generators, which need no existing code: each family has a generator "
      "that draws programs from a seed. Variables and kernels are named after what they compute.",
      plan.kernel_generators_version);
  if (!plan.user_kernels.empty())
    source = has_origins(plan) ? packages_text(plan)
                               : fmt::format("The {} kernels of the user's Python files.", plan.user_kernels.size());
  const std::string ptx = plan.ptx.architecture.empty() ? ""
                                                        : fmt::format(" {} compiled the CUDA C++ to PTX for `{}`.",
                                                                      plan.ptx.version, plan.ptx.architecture);
  return fmt::format(
      "## How the rows were made\n\n{} Each kernel was parsed, differentiated and printed as C++ and CUDA C++.{} The "
      "first line of `journal.jsonl` is the plan: the same plan and version of Assay give the same rows.\n\n",
      source, ptx);
}

/// A sentence on the devices and numeric modes in which rows passed.
std::string passed_text(std::uint64_t rows, const PassedRows& passed) {
  std::vector<std::string> complete;
  std::vector<std::string> partial;
  for (const auto& [mode, count] : passed.by_mode) {
    if (count == rows) complete.push_back(mode);
    else partial.push_back(fmt::format("{} ({} of {} rows)", mode, count, rows));
  }
  if (complete.empty())
    return fmt::format("Rows passed all checks that their `evidence` lists, on these devices and numeric modes: {}.",
                       fmt::join(partial, ", "));
  std::string text =
      fmt::format("Each row passed all checks that its `evidence` lists, on these devices and numeric modes: {}.",
                  fmt::join(complete, ", "));
  if (!partial.empty()) text += fmt::format(" Some rows also passed on {}.", fmt::join(partial, ", "));
  return text;
}

std::string verification(const DatasetPlan& plan, const DatasetStatistics& stats) {
  const std::string heading = "## What was verified\n\n";
  if (!plan.verifies_rows)
    return heading + "Nothing: the rows were generated without verification, as their `evidence` states.\n\n";
  if (stats.passed_rows().by_mode.empty()) return heading + "Nothing: no row ran on a device.\n\n";
  return heading + passed_text(stats.rows(), stats.passed_rows()) +
         " Forward and backward pass were run on drawn input sets, and each value was compared with a reference within "
         "a computed error bound. Gradients were also compared with finite differences. Kernels that did not pass are "
         "in `quarantine/` with their verdicts.\n\n";
}

std::string limits(const DatasetPlan& plan, const DatasetStatistics& stats) {
  std::vector<std::string> lines = unverified_parts(plan, stats.rows(), stats.passed_rows());
  lines.emplace_back("A check shows agreement on the inputs that were drawn, not on all inputs.");
  if (plan.user_kernels.empty()) {
    lines.emplace_back(
        "Random programs are not a sample of programs that people write: they contain every language feature of their "
        "family, but few algorithms with a purpose.");
  }
  lines.emplace_back("The rows say nothing about speed: no kernel was tuned.");
  std::string text = "## Known limits\n\n";
  for (const std::string& line : lines)
    text += fmt::format("- {}\n", line);
  return text + "\n";
}

std::string citation(const DatasetPlan& plan, const DatasetStatistics& stats) {
  return fmt::format(
      "## License and citation\n\nLicense of the rows: {}.\n\n{}```bibtex\n@misc{{assay_rows,\n  title = {{GPU kernels "
      "in "
      "Python, C++ and CUDA, with their derivatives: {} rows}},\n  note = {{Generated by Assay {}, seed "
      "{}}}\n}}\n```\n\n",
      plan.license == kLicensePerRow ? "different ones, stated in `metadata.license`" : plan.license,
      attributions(plan), stats.rows(), plan.generator_version, plan.seed);
}

}  // namespace

std::string render_dataset_card(const DatasetPlan& plan, const DatasetStatistics& stats, const Json& stats_json,
                                const SplitBytes& bytes, const std::string& sample) {
  std::string text = header(plan, stats, bytes) + intro(plan, stats) + std::string(kColumns) + provenance(plan) +
                     verification(plan, stats) + limits(plan, stats);
  text += "## Families\n\n" + chart("family", stats_json.at("families"), 100) + "\n";
  text += "## Splits\n\n" + chart("split", stats_json.at("splits"), 3);
  const Json& near = stats_json.at("near_duplicates");
  text += fmt::format(
      "\nNo program occurs twice. {} of {} rows are near duplicates of another row (Jaccard index of at least 0.8 over "
      "five-token sequences of the canonical program); near duplicates are in the same split.\n\n",
      near.at("rows").get<std::uint64_t>(), stats.rows());
  text += "## Lengths in bytes\n\n" + lengths_table(stats_json.at("lengths")) + "\n";
  text += "## Operations\n\n" + chart("operation", stats_json.at("operations"), 20) + "\n";
  text += "## Verdicts\n\n" + verdicts_table(stats_json.at("verdicts")) + "\n";
  text += sample_text(sample) + citation(plan, stats);
  text +=
      "## Files\n\n`schema.json` describes a row; `stats.json` contains all statistics; `checksums.sha256` is for "
      "`sha256sum "
      "-c`; `journal.jsonl` lists the kernels by position. `assay validate .` checks everything.\n";
  return text;
}

std::vector<std::string> unverified_parts(const DatasetPlan& plan, std::uint64_t rows, const PassedRows& passed) {
  std::vector<std::string> parts;
  if (!plan.verifies_rows) return parts;
  for (const std::string& device : devices_of_emitter(plan.emitter)) {
    const auto found = passed.by_device.find(device);
    const std::uint64_t count = found == passed.by_device.end() ? 0 : found->second;
    const bool is_asked_for = std::ranges::find(plan.devices, device) != plan.devices.end();
    if (count == rows && (rows > 0 || is_asked_for)) continue;
    parts.push_back(fmt::format("{} on the device `{}` ({}).",
                                count == 0 ? "No row ran" : fmt::format("Only {} of {} rows ran", count, rows), device,
                                backends::device_descriptor(device).summary));
  }
  if (plan.judging_effort == "quick")
    parts.emplace_back("The rows were judged on few inputs (`--quick`): no inputs near bounds, no large launches.");
  return parts;
}

}  // namespace assay::dataset
