#include "harness/benchmark/benchmark.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

#include "backends/device/registry.hpp"
#include "harness/records/record_reader.hpp"
#include "harness/suite/emission.hpp"
#include "harness/suite/modes.hpp"
#include "harness/suite/plan.hpp"

namespace assay::benchmark {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// The total time of each stage over all cases, without stages that took none.
std::vector<std::pair<std::string, double>> stages_of(const std::vector<harness::CaseRecord>& cases) {
  std::vector<std::pair<std::string, double>> stages;
  for (const harness::StageTimeField& stage : harness::kStages) {
    double sum = 0;
    for (const harness::CaseRecord& record : cases)
      sum += record.stage_times.*stage.member;
    stages.emplace_back(stage.name, sum);
  }
  return stages;
}

Result<BenchmarkRun> measure(const harness::SuiteOptions& options, const Judge& judge) {
  BenchmarkRun measured;
  const auto start = std::chrono::steady_clock::now();
  measured.exit_status = judge(options);
  measured.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const Result<harness::RunRecords> run = harness::read_records(options.output);
  if (!run.ok()) return run.error();
  std::set<std::string> others;
  for (const harness::CaseRecord& record : run->cases) {
    const std::string kernel = record.family + "/" + record.kernel;
    measured.kernel_names.insert(kernel);
    if (!harness::is_pass(record.outcome)) others.insert(kernel);
  }
  measured.case_count = run->cases.size();
  std::ranges::set_difference(measured.kernel_names, others,
                              std::inserter(measured.verified_kernels, measured.verified_kernels.end()));
  measured.stage_milliseconds = stages_of(run->cases);
  return measured;
}

/// The kernels that a run compiles.
Result<std::vector<CompileInput>> compiler_work(const harness::SuiteOptions& options) {
  const auto modes = harness::make_modes_for_builds(options.device, options.mode, options.optimization_levels, {""});
  if (!modes.ok()) return modes.error();
  const std::vector<backends::NamedBuild> builds{{.name = "", .options = options.device_options}};
  const Result<harness::RunSelection> run_selection = harness::select_run(options, *modes, builds);
  if (!run_selection.ok()) return run_selection.error();
  const backends::SourceTarget target = backends::device_descriptor(options.device).target;
  std::vector<CompileInput> work;
  for (const harness::KernelGroup& group : harness::make_kernel_groups(*run_selection, *modes, options, builds)) {
    work.push_back({.flags = group.options.mode.flags,
                    .kernels = harness::emit_kernels(group.sources, harness::printer(), target, group.options)});
  }
  return work;
}

Result<std::vector<CompileLowerBound>> measure_lower_bound(const std::vector<CompileInput>& work,
                                                           const harness::SuiteOptions& options, unsigned jobs,
                                                           std::span<const std::size_t> batches) {
  if (backends::device_descriptor(options.device).toolkit == backends::Toolkit::kHostCompiler)
    return measure_cpp_lower_bounds(work, options.device_options.compiler, jobs, batches);
  Result<CompileLowerBound> floor = measure_nvrtc_lower_bound(work, jobs);
  if (!floor.ok()) return floor.error();
  return std::vector{floor.take()};
}

/// Combines two consecutive runs: a kernel counts as verified if both verify it.
BenchmarkRun followed_by(const BenchmarkRun& first, const BenchmarkRun& second) {
  BenchmarkRun both{.wall_seconds = first.wall_seconds + second.wall_seconds,
                    .exit_status = std::max(first.exit_status, second.exit_status),
                    .kernel_names = first.kernel_names,
                    .verified_kernels = {},
                    .case_count = first.case_count + second.case_count,
                    .stage_milliseconds = first.stage_milliseconds};
  both.kernel_names.insert(second.kernel_names.begin(), second.kernel_names.end());
  std::ranges::set_intersection(first.verified_kernels, second.verified_kernels,
                                std::inserter(both.verified_kernels, both.verified_kernels.end()));
  for (const auto& [stage, ms] : second.stage_milliseconds) {
    const auto known = std::ranges::find(both.stage_milliseconds, stage, &std::pair<std::string, double>::first);
    if (known == both.stage_milliseconds.end()) both.stage_milliseconds.emplace_back(stage, ms);
    else known->second += ms;
  }
  return both;
}

json run_json(const BenchmarkRun& run) {
  json stages = json::object();
  for (const auto& [stage, ms] : run.stage_milliseconds)
    stages[stage] = ms;
  return {{"seconds", run.wall_seconds},
          {"kernels", run.kernel_names.size()},
          {"verified", run.verified_kernels.size()},
          {"cases", run.case_count},
          {"kernels_per_second", run.verified_kernels_per_second()},
          {"stages_ms", stages}};
}

}  // namespace

Result<BenchmarkResult> run_benchmark(harness::SuiteOptions options, const std::string& output, unsigned jobs,
                                      const Judge& judge) {
  const Result<std::vector<CompileInput>> work = compiler_work(options);
  if (!work.ok()) return work.error();
  Result<std::vector<CompileLowerBound>> lower_bounds =
      measure_lower_bound(*work, options, jobs, kMeasuredKernelsPerTranslationUnit);
  if (!lower_bounds.ok()) return lower_bounds.error();
  options.output = (fs::path(output) / "cold").string();
  Result<BenchmarkRun> cold = measure(options, judge);
  if (!cold.ok()) return cold.error();
  options.output = (fs::path(output) / "warm").string();
  Result<BenchmarkRun> warm = measure(options, judge);
  if (!warm.ok()) return warm.error();
  const Result<std::vector<CompileLowerBound>> after =
      measure_lower_bound(*work, options, jobs, kMeasuredKernelsPerTranslationUnit);
  if (!after.ok()) return after.error();
  lower_bounds->insert(lower_bounds->end(), after->begin(), after->end());
  const std::vector<CompileLowerBound> means = means_of(*lower_bounds);
  return BenchmarkResult{.device = options.device,
                         .cold_cache_run = cold.take(),
                         .warm_cache_run = warm.take(),
                         .fastest_lower_bound = *std::ranges::min_element(means, {}, &CompileLowerBound::wall_seconds),
                         .lower_bounds_by_batch_size = means};
}

BenchmarkResult followed_by(const BenchmarkResult& first, const BenchmarkResult& second) {
  return {.device = "both",
          .cold_cache_run = followed_by(first.cold_cache_run, second.cold_cache_run),
          .warm_cache_run = followed_by(first.warm_cache_run, second.warm_cache_run),
          .fastest_lower_bound = {.batch_size = 0,
                                  .translation_unit_count = first.fastest_lower_bound.translation_unit_count +
                                                            second.fastest_lower_bound.translation_unit_count,
                                  .wall_seconds =
                                      first.fastest_lower_bound.wall_seconds + second.fastest_lower_bound.wall_seconds},
          .lower_bounds_by_batch_size = {}};
}

json to_json(const BenchmarkResult& benchmarked) {
  json tried = json::array();
  for (const CompileLowerBound& one : benchmarked.lower_bounds_by_batch_size)
    tried.push_back({{"batch", one.batch_size}, {"seconds", one.wall_seconds}});
  const CompileLowerBound& lower_bound = benchmarked.fastest_lower_bound;
  return {{"device", benchmarked.device},
          {"cold", run_json(benchmarked.cold_cache_run)},
          {"warm", run_json(benchmarked.warm_cache_run)},
          {"floor",
           {{"seconds", lower_bound.wall_seconds},
            {"batch", lower_bound.batch_size},
            {"units", lower_bound.translation_unit_count},
            {"tried", tried}}},
          {"floor_over_total", lower_bound.wall_seconds / benchmarked.cold_cache_run.wall_seconds},
          {"cold_over_warm", benchmarked.cold_cache_run.wall_seconds / benchmarked.warm_cache_run.wall_seconds}};
}

std::string to_text(const BenchmarkResult& benchmarked, unsigned jobs) {
  const auto& [device, cold, warm, lower_bound, lower_bounds] = benchmarked;
  std::string text = fmt::format("\n{} kernels with {} cases, device {}, {} processed at once\n\n",
                                 cold.kernel_names.size(), cold.case_count, device, jobs);
  text += fmt::format("{:<28}{:>10}{:>10}\n", "", "cold", "warm");
  text += fmt::format("{:<28}{:>10.1f}{:>10.1f}\n", "seconds", cold.wall_seconds, warm.wall_seconds);
  text += fmt::format("{:<28}{:>10.1f}{:>10.1f}\n", "verified kernels per second", cold.verified_kernels_per_second(),
                      warm.verified_kernels_per_second());
  const auto sum = [](const BenchmarkRun& run) {
    double total = 0;
    for (const auto& [stage, ms] : run.stage_milliseconds)
      total += ms;
    return std::max(total, 1e-9);
  };
  for (std::size_t s = 0; s < cold.stage_milliseconds.size(); ++s) {
    text += fmt::format("  {:<26}{:>9.1f}%{:>9.1f}%\n", cold.stage_milliseconds[s].first,
                        100 * cold.stage_milliseconds[s].second / sum(cold),
                        100 * warm.stage_milliseconds[s].second / sum(warm));
  }
  text += lower_bound.batch_size == 0
              ? fmt::format("\ncompilation alone: {:.1f} s for {} source files\n", lower_bound.wall_seconds,
                            lower_bound.translation_unit_count)
              : fmt::format("\ncompilation alone: {:.1f} s for {} source files of at most {} kernel{}\n",
                            lower_bound.wall_seconds, lower_bound.translation_unit_count, lower_bound.batch_size,
                            lower_bound.batch_size == 1 ? "" : "s");
  return text + fmt::format("compilers alone / total {:.2f}, cold / warm {:.1f}\n",
                            lower_bound.wall_seconds / cold.wall_seconds, cold.wall_seconds / warm.wall_seconds);
}

std::array<std::size_t, 2> peak_memory() {
  std::array<std::size_t, 2> peaks{};
  for (const auto& [who, peak] : {std::pair{RUSAGE_SELF, &peaks[0]}, std::pair{RUSAGE_CHILDREN, &peaks[1]}}) {
    rusage usage{};
    if (::getrusage(who, &usage) == 0) *peak = static_cast<std::size_t>(usage.ru_maxrss) * 1024;
  }
  return peaks;
}

}  // namespace assay::benchmark
