#include "harness/dataset/overview.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "harness/dataset/producer.hpp"
#include "harness/dataset/row_file.hpp"
#include "ir/source_location.hpp"
#include "schemas/embedded.hpp"
#include "schemas/validator.hpp"

namespace assay::dataset {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Number of near misses that are shown, each of another mutation.
constexpr std::size_t kShownNearMisses = 8;
/// Greatest number of lines of a near miss that are shown.
constexpr std::size_t kShownLines = 12;
/// Upper limits of the ranges in which numbers are counted; greater numbers form a last range.
constexpr std::array<std::uint64_t, 8> kLineLimits = {5, 10, 20, 40, 80, 160, 320, 640};
constexpr std::array<std::uint64_t, 6> kStatementLimits = {2, 5, 10, 20, 40, 80};
constexpr std::array<std::uint64_t, 9> kDepthLimits = {0, 1, 2, 3, 4, 5, 6, 8, 12};
constexpr std::size_t kRhoRanges = 10;

std::uint64_t lines_of(const std::string& text) { return static_cast<std::uint64_t>(std::ranges::count(text, '\n')); }

/// Counts rows by range of a number.
template <std::size_t N>
class RangeCounts {
 public:
  explicit RangeCounts(const std::array<std::uint64_t, N>& limits) : limits_(limits) {}

  void add(std::uint64_t value) {
    ++rows_[static_cast<std::size_t>(std::ranges::lower_bound(limits_, value) - limits_.begin())];
  }

  /// Leaves out ranges without rows before the first and after the last range that has some.
  RowCounts distribution(std::string title, std::string note) const {
    RowCounts made{std::move(title), std::move(note), {}};
    std::size_t first = 0, end = N + 1;
    while (first < end && rows_[first] == 0)
      ++first;
    while (end > first && rows_[end - 1] == 0)
      --end;
    for (std::size_t k = first; k < end; ++k)
      made.rows_by_value.emplace_back(range(k), rows_[k]);
    return made;
  }

 private:
  std::string range(std::size_t k) const {
    if (k == N) return fmt::format("over {}", limits_[N - 1]);
    const std::uint64_t lowest = k == 0 ? std::min<std::uint64_t>(limits_[0], 1) : limits_[k - 1] + 1;
    return lowest == limits_[k] ? fmt::format("{}", lowest) : fmt::format("{} to {}", lowest, limits_[k]);
  }

  const std::array<std::uint64_t, N>& limits_;
  std::array<std::uint64_t, N + 1> rows_{};
};

using Counts = std::map<std::string, std::uint64_t>;
using CountList = std::vector<std::pair<std::string, std::uint64_t>>;

/// The most frequent first; equally frequent ones by name.
CountList by_frequency(const Counts& counts) {
  CountList list(counts.begin(), counts.end());
  std::ranges::stable_sort(list, [](const auto& a, const auto& b) { return a.second > b.second; });
  return list;
}

/// Collects the overview row by row.
class OverviewBuilder {
 public:
  explicit OverviewBuilder(std::size_t sample_count) : sample_count_(sample_count) {}

  void add(DatasetRow row, const std::string& split) {
    ++overview_.row_count;
    ++families_[row.family];
    ++splits_[split];
    ++loops_[row.difficulty.loop_kind.empty() ? "unknown" : row.difficulty.loop_kind];
    for (const std::string& feature : row.difficulty.features)
      ++features_[feature];
    for (const std::string& pattern : row.difficulty.memory_patterns)
      ++patterns_[pattern];
    statements_.add(static_cast<std::uint64_t>(row.difficulty.statement_count));
    nesting_.add(static_cast<std::uint64_t>(row.difficulty.nesting_depth));
    expressions_.add(static_cast<std::uint64_t>(row.difficulty.expression_depth));
    python_lines_.add(lines_of(row.python_source));
    cuda_lines_.add(lines_of(row.cuda_forward) + lines_of(row.cuda_backward));
    licenses_.insert(row.metadata.license);
    emitters_.insert(fmt::format("{} {}", row.metadata.emitter, row.metadata.emitter_version));
    add_evidence(row.evidence);
    keep_sample(std::move(row), split);
  }

  DatasetOverview finish(std::string name) {
    overview_.name = std::move(name);
    overview_.licenses.assign(licenses_.begin(), licenses_.end());
    overview_.emitters.assign(emitters_.begin(), emitters_.end());
    overview_.distributions = {
        {"Families", "", {families_.begin(), families_.end()}},
        {"Splits", "A split never shares near duplicates with another one.", {splits_.begin(), splits_.end()}},
        statements_.distribution("Statements", "Statements of the kernel and its functions."),
        python_lines_.distribution("Lines of Python", ""),
        cuda_lines_.distribution("Lines of CUDA C++", "Forward and backward function together."),
        nesting_.distribution("Nesting", "Greatest number of branches and loops around a statement."),
        expressions_.distribution("Depth of expressions", "Operations and loads on the longest path."),
        {"Loops", "The hardest kind of loop in the kernel.", by_frequency(loops_)},
        {"Language features", "A row can have several features, or none.", by_frequency(features_)},
        {"Memory accesses", "A row can have several patterns.", by_frequency(patterns_)},
        errors()};
    for (const auto& [key, summary] : evidence_)
      overview_.evidence.push_back(summary);
    choose_samples();
    return std::move(overview_);
  }

 private:
  void add_evidence(const std::vector<PassEvidence>& evidence) {
    std::optional<double> greatest;
    for (const PassEvidence& one : evidence) {
      EvidenceSummary& summary = evidence_[{one.device, one.pass, one.mode}];
      summary.device = one.device;
      summary.pass = one.pass;
      summary.mode = one.mode;
      ++(one.verdict == "pass" ? summary.verified_rows : summary.other_rows);
      summary.compared_values += static_cast<std::uint64_t>(one.values_compared);
      summary.input_sets += static_cast<std::uint64_t>(one.input_sets);
      summary.rejected_controls += static_cast<std::uint64_t>(one.rejected_negative_controls);
      if (!one.rho_max) continue;
      summary.rho_max = std::max(summary.rho_max, *one.rho_max);
      greatest = std::max(greatest.value_or(0), *one.rho_max);
    }
    if (!greatest) return;
    const auto range = static_cast<std::size_t>(std::min(*greatest, 1.0) * kRhoRanges);
    ++rho_[std::min(range, kRhoRanges - 1)];
  }

  RowCounts errors() const {
    RowCounts made{"Greatest error, in percent of its bound", "Over all devices, passes and values of a row.", {}};
    for (std::size_t k = 0; k < kRhoRanges; ++k)
      made.rows_by_value.emplace_back(fmt::format("{} to {}", 10 * k, 10 * (k + 1)), rho_[k]);
    return made;
  }

  void keep_sample(DatasetRow row, const std::string& split) {
    std::vector<SampleRow>& kept = samples_[row.family];
    if (kept.size() < sample_count_) kept.push_back({split, std::move(row)});
  }

  /// The first rows of all families, then the second ones, and so on.
  void choose_samples() {
    for (std::size_t k = 0; k < sample_count_; ++k) {
      for (auto& [family, rows] : samples_) {
        if (k < rows.size() && overview_.samples.size() < sample_count_)
          overview_.samples.push_back(std::move(rows[k]));
      }
    }
  }

  std::size_t sample_count_;
  DatasetOverview overview_;
  Counts families_, splits_, loops_, features_, patterns_;
  RangeCounts<std::size(kStatementLimits)> statements_{kStatementLimits};
  RangeCounts<std::size(kDepthLimits)> nesting_{kDepthLimits}, expressions_{kDepthLimits};
  RangeCounts<std::size(kLineLimits)> python_lines_{kLineLimits}, cuda_lines_{kLineLimits};
  std::array<std::uint64_t, kRhoRanges> rho_{};
  std::set<std::string> licenses_, emitters_;
  std::map<std::array<std::string, 3>, EvidenceSummary> evidence_;
  std::map<std::string, std::vector<SampleRow>> samples_;  ///< the first rows of each family
};

Result<std::vector<RejectionGroup>> rejections_of(const fs::path& dataset) {
  const fs::path file = dataset / "quarantine" / "quarantine.jsonl";
  std::map<std::string, RejectionGroup> groups;
  if (!fs::exists(file)) return std::vector<RejectionGroup>{};
  const auto take = [&](const std::string& line, const fs::path&, std::uint64_t number) -> Result<bool> {
    const json parsed = json::parse(line, nullptr, false);
    if (!parsed.is_object() || !parsed.contains("verdict"))
      return Error{"is not a quarantined kernel; run 'assay validate' for details",
                   fmt::format("{}:{}", file.string(), number)};
    const RejectedCandidate rejected = rejected_from(parsed);
    RejectionGroup& group = groups[rejected.verdict];
    if (group.kernels++ == 0) group = {rejected.verdict, 1, rejected.name, rejected.message, rejected.python_source};
    return true;
  };
  if (const Result<void> read = for_each_row(file, take); !read.ok()) return read.error();
  std::vector<RejectionGroup> list;
  for (auto& [verdict, group] : groups)
    list.push_back(std::move(group));
  std::ranges::stable_sort(list, [](const auto& a, const auto& b) { return a.kernels > b.kernels; });
  return list;
}

std::string joined(const std::vector<std::string>& lines, std::size_t begin, std::size_t end) {
  std::string text;
  for (std::size_t k = begin; k < std::min(end, begin + kShownLines); ++k)
    text += fmt::format("{}\n", lines[k]);
  if (end > begin + kShownLines) text += fmt::format("... {} more lines\n", end - begin - kShownLines);
  return text;
}

/// Leaves out the lines that both texts have at their beginnings and at their ends, but for one line of context.
std::pair<std::string, std::string> differing_lines(const std::string& correct, const std::string& incorrect) {
  const std::vector<std::string> a = ir::split_lines(correct), b = ir::split_lines(incorrect);
  std::size_t begin = 0, end = 0;
  const std::size_t shorter = std::min(a.size(), b.size());
  while (begin < shorter && a[begin] == b[begin])
    ++begin;
  while (end < shorter - begin && a[a.size() - 1 - end] == b[b.size() - 1 - end])
    ++end;
  const std::size_t context = begin > 0 ? begin - 1 : 0;
  return {joined(a, context, a.size() - end), joined(b, context, b.size() - end)};
}

Result<NearMissSummary> near_misses_of(const fs::path& folder) {
  NearMissSummary summary;
  Counts mutations;
  bool has_file = false;
  for (const char* const split : {"train", "validation", "test"}) {
    const fs::path file = folder / fmt::format("{}.jsonl.gz", split);
    if (!fs::exists(file)) continue;
    has_file = true;
    const auto take = [&](const std::string& line, const fs::path&, std::uint64_t number) -> Result<bool> {
      const json pair = json::parse(line, nullptr, false);
      if (!pair.is_object() || !pair.contains("rejected") || !pair.contains("mutation"))
        return Error{"is not a preference pair; give a folder that 'assay dataset export --format preference' wrote",
                     fmt::format("{}:{}", file.string(), number)};
      ++summary.pairs;
      const json accepting = pair.value("accepted_by_allclose", json::array());
      summary.pairs_within_tolerance +=
          std::find(accepting.begin(), accepting.end(), json(kCountedTolerance)) == accepting.end() ? 0 : 1;
      const std::string mutation = pair.value("mutation", "");
      if (++mutations[mutation] > 1 || summary.samples.size() == kShownNearMisses) return true;
      auto [correct, incorrect] = differing_lines(pair.value("chosen", ""), pair.value("rejected", ""));
      summary.samples.push_back({.kernel_name = pair.value("kernel_name", ""),
                                 .language = pair.value("language", ""),
                                 .pass = pair.value("pass", ""),
                                 .mutation = mutation,
                                 .change = pair.value("change", ""),
                                 .message = pair.value("/reason/message"_json_pointer, ""),
                                 .correct_lines = std::move(correct),
                                 .incorrect_lines = std::move(incorrect)});
      return true;
    };
    if (const Result<void> read = for_each_row(file, take); !read.ok()) return read.error();
  }
  if (!has_file)
    return Error{
        "has no train.jsonl.gz, validation.jsonl.gz or test.jsonl.gz; give a folder that 'assay dataset "
        "export --format preference' wrote",
        folder.string()};
  summary.pairs_by_mutation = by_frequency(mutations);
  return summary;
}

}  // namespace

Result<DatasetOverview> overview_of(const OverviewOptions& options) {
  const schemas::Validator schema(schemas::kDatasetRowSchemaText);
  OverviewBuilder builder(options.sample_count);
  std::uint64_t rows = 0;
  const auto take = [&](const std::string& line, const fs::path& file, std::uint64_t number) -> Result<bool> {
    const json parsed = json::parse(line, nullptr, false);
    if (parsed.is_discarded() || !schema.diagnostics(parsed).empty())
      return Error{"invalid dataset row; run 'assay validate' for details",
                   fmt::format("{}:{}", file.string(), number)};
    ++rows;
    builder.add(row_from(parsed), split_of(file));
    return true;
  };
  if (const Result<void> read = for_each_row(options.dataset, take); !read.ok()) return read.error();
  if (rows == 0) return Error{"has no rows", options.dataset.string()};
  fs::path name = fs::absolute(options.dataset).lexically_normal();
  if (!name.has_filename()) name = name.parent_path();
  DatasetOverview overview = builder.finish(name.filename().string());
  auto rejections = rejections_of(options.dataset);
  if (!rejections.ok()) return rejections.error();
  overview.rejections = rejections.take();
  if (!options.near_misses.empty()) {
    auto near_misses = near_misses_of(options.near_misses);
    if (!near_misses.ok()) return near_misses.error();
    overview.near_misses = near_misses.take();
  }
  return overview;
}

}  // namespace assay::dataset
