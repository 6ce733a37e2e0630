// assay bench: verified kernels a second, and how near that comes to what the compilers alone need.
#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <memory>
#include <set>
#include <span>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

#include "backends/device/artifact_files.hpp"
#include "backends/device/build_cache.hpp"
#include "cli/command.hpp"
#include "cli/compile_floor.hpp"
#include "cli/devices.hpp"
#include "cli/emission.hpp"
#include "cli/judging.hpp"
#include "cli/modes.hpp"
#include "cli/plan.hpp"
#include "reports/model/run.hpp"
#include "reports/model/summary.hpp"
#include "schemas/embedded.hpp"
#include "schemas/validator.hpp"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kFooter =
    "Judges the selection twice, as assay run does: with an empty cache and then with the full one, and hands the "
    "same\n"
    "sources to the bare compilers, before and after. The folder has the two runs, cold/ and warm/, with their "
    "reports,\n"
    "and bench.json.\n"
    "Device both judges on cpu and then on ptx, in a folder each; a kernel counts as verified if it is on both.\n"
    "Figures are of this machine and of what else it does.\n"
    "Exit status: as assay run's for the first of the two; 2 usage, 3 internal, 77 a device cannot be run here.";

/// One of the two runs.
struct Measured {
  double seconds = 0;  ///< from the selectors to the written reports
  int status = 0;
  std::set<std::string> kernels;
  std::set<std::string> verified;  ///< kernels of which all cases passed
  std::size_t cases = 0;
  std::vector<std::pair<std::string, double>> stages;  ///< in milliseconds, all cores together

  double rate() const { return static_cast<double>(verified.size()) / seconds; }
};

/// The selection on one device, or on several one after another.
struct Benched {
  std::string device;
  Measured cold, warm;
  CompileLowerBound floor;               ///< of those tried the fastest
  std::vector<CompileLowerBound> tried;  ///< by batch size, the mean of all measurements
};

Result<Measured> measure(const JudgeOptions& options) {
  Measured measured;
  const auto start = std::chrono::steady_clock::now();
  measured.status = judge_kernels(options);
  measured.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const Result<reports::Run> run = reports::read_run(options.output);
  if (!run.ok()) return run.error();
  std::set<std::string> wrong;
  for (const json& record : run->cases) {
    const std::string kernel =
        fmt::format("{}/{}", record.at("family").get<std::string>(), record.at("kernel").get<std::string>());
    measured.kernels.insert(kernel);
    const std::string outcome = record.at("outcome");
    if (outcome != "pass" && outcome != "pass_marginal") wrong.insert(kernel);
  }
  measured.cases = run->cases.size();
  std::ranges::set_difference(measured.kernels, wrong, std::inserter(measured.verified, measured.verified.end()));
  measured.stages = reports::summarise(*run).time_ms;
  return measured;
}

/// What a run hands to the compilers.
Result<std::vector<CompilerWork>> compiler_work(const JudgeOptions& options) {
  const std::vector<harness::Mode> modes = modes_of(options.device, options.mode, options.optimise);
  const Result<Choice> choice = choose(options, modes);
  if (!choice.ok()) return choice.error();
  const auto device = make_device(options.device);
  std::vector<CompilerWork> work;
  for (const Group& group : groups_of(*choice, modes, options)) {
    work.push_back({.flags = group.options.mode.flags,
                    .kernels = harness::emitted_kernels(group.sources, printer(), device->target(), group.options)});
  }
  return work;
}

Result<std::vector<CompileLowerBound>> measure_lower_bound(const std::vector<CompilerWork>& work,
                                                           const JudgeOptions& options, unsigned jobs,
                                                           std::span<const std::size_t> batches) {
  if (options.device != "ptx") return cpp_lower_bound(work, options.compiler, jobs, batches);
  Result<CompileLowerBound> floor = nvrtc_lower_bound(work, jobs);
  if (!floor.ok()) return floor.error();
  return std::vector{floor.take()};
}

/// Of this process and of the largest of those that it started, in bytes.
std::array<std::size_t, 2> peak_memory() {
  std::array<std::size_t, 2> peaks{};
  for (const auto& [who, peak] : {std::pair{RUSAGE_SELF, &peaks[0]}, std::pair{RUSAGE_CHILDREN, &peaks[1]}}) {
    rusage usage{};
    if (::getrusage(who, &usage) == 0) *peak = static_cast<std::size_t>(usage.ru_maxrss) * 1024;
  }
  return peaks;
}

json run_json(const Measured& run) {
  json stages = json::object();
  for (const auto& [stage, ms] : run.stages)
    stages[stage] = ms;
  return {{"seconds", run.seconds}, {"kernels", run.kernels.size()},    {"verified", run.verified.size()},
          {"cases", run.cases},     {"kernels_per_second", run.rate()}, {"stages_ms", stages}};
}

json bench_json(const Benched& benched) {
  json tried = json::array();
  for (const CompileLowerBound& floor : benched.tried)
    tried.push_back({{"batch", floor.batch}, {"seconds", floor.seconds}});
  const CompileLowerBound& floor = benched.floor;
  return {{"device", benched.device},
          {"cold", run_json(benched.cold)},
          {"warm", run_json(benched.warm)},
          {"floor", {{"seconds", floor.seconds}, {"batch", floor.batch}, {"units", floor.units}, {"tried", tried}}},
          {"floor_over_total", floor.seconds / benched.cold.seconds},
          {"cold_over_warm", benched.cold.seconds / benched.warm.seconds}};
}

std::string table(const Benched& benched, unsigned jobs) {
  const auto& [device, cold, warm, floor, tried] = benched;
  std::string text =
      fmt::format("\n{} kernels, {} cases on {}, {} at once\n\n", cold.kernels.size(), cold.cases, device, jobs);
  text += fmt::format("{:<28}{:>10}{:>10}\n", "", "cold", "warm");
  text += fmt::format("{:<28}{:>10.1f}{:>10.1f}\n", "seconds", cold.seconds, warm.seconds);
  text += fmt::format("{:<28}{:>10.1f}{:>10.1f}\n", "verified kernels a second", cold.rate(), warm.rate());
  const auto sum = [](const Measured& run) {
    double total = 0;
    for (const auto& [stage, ms] : run.stages)
      total += ms;
    return std::max(total, 1e-9);
  };
  for (std::size_t s = 0; s < cold.stages.size(); ++s) {
    text += fmt::format("  {:<26}{:>9.1f}%{:>9.1f}%\n", cold.stages[s].first, 100 * cold.stages[s].second / sum(cold),
                        100 * warm.stages[s].second / sum(warm));
  }
  text += floor.batch == 0 ? fmt::format("\nthe bare compilers: {:.1f} s for {} units\n", floor.seconds, floor.units)
                           : fmt::format("\nthe bare compilers: {:.1f} s for {} units of at most {} kernel{}\n",
                                         floor.seconds, floor.units, floor.batch, floor.batch == 1 ? "" : "s");
  return text + fmt::format("floor / total {:.2f}, cold / warm {:.1f}\n", floor.seconds / cold.seconds,
                            cold.seconds / warm.seconds);
}

/// Two runs, one after another: what both verify is verified.
Measured followed_by(const Measured& first, const Measured& second) {
  Measured both{.seconds = first.seconds + second.seconds,
                .status = std::max(first.status, second.status),
                .kernels = first.kernels,
                .verified = {},
                .cases = first.cases + second.cases,
                .stages = first.stages};
  both.kernels.insert(second.kernels.begin(), second.kernels.end());
  std::ranges::set_intersection(first.verified, second.verified, std::inserter(both.verified, both.verified.end()));
  for (const auto& [stage, ms] : second.stages) {
    const auto known = std::ranges::find(both.stages, stage, &std::pair<std::string, double>::first);
    if (known == both.stages.end()) both.stages.emplace_back(stage, ms);
    else known->second += ms;
  }
  return both;
}

Benched followed_by(const Benched& first, const Benched& second) {
  return {.device = "both",
          .cold = followed_by(first.cold, second.cold),
          .warm = followed_by(first.warm, second.warm),
          .floor = {.batch = 0,
                    .units = first.floor.units + second.floor.units,
                    .seconds = first.floor.seconds + second.floor.seconds},
          .tried = {}};
}

/// The bare compilers are measured before the first run and after the second: a machine that others use too changes
/// from minute to minute, by more than what is to be measured.
Result<Benched> bench_on(JudgeOptions options, const fs::path& output, unsigned jobs) {
  const Result<std::vector<CompilerWork>> work = compiler_work(options);
  if (!work.ok()) return work.error();
  Result<std::vector<CompileLowerBound>> lower_bounds = measure_lower_bound(*work, options, jobs, kLowerBoundBatches);
  if (!lower_bounds.ok()) return lower_bounds.error();
  options.output = (output / "cold").string();
  Result<Measured> cold = measure(options);
  if (!cold.ok()) return cold.error();
  options.output = (output / "warm").string();
  Result<Measured> warm = measure(options);
  if (!warm.ok()) return warm.error();
  const Result<std::vector<CompileLowerBound>> after = measure_lower_bound(*work, options, jobs, kLowerBoundBatches);
  if (!after.ok()) return after.error();
  lower_bounds->insert(lower_bounds->end(), after->begin(), after->end());
  const std::vector<CompileLowerBound> means = means_of(*lower_bounds);
  return Benched{.device = options.device,
                 .cold = cold.take(),
                 .warm = warm.take(),
                 .floor = *std::ranges::min_element(means, {}, &CompileLowerBound::seconds),
                 .tried = means};
}

int bench(JudgeOptions options) {
  const unsigned jobs =
      options.jobs > 0 ? static_cast<unsigned>(options.jobs) : std::max(1U, std::thread::hardware_concurrency());
  const Result<backends::ScratchDirectory> cache =
      backends::make_artifact_directory(backends::default_cache_directory());
  if (!cache.ok()) return fail(cache.error());
  options.cache = (cache->path() / "cache").string();
  const fs::path output = options.output;
  const bool on_both = options.device == "both";
  const auto devices = on_both ? std::vector<std::string>{"cpu", "ptx"} : std::vector{options.device};
  // Before anything takes time.
  for (const std::string& device : devices) {
    const backends::Capability can = make_device(device, {.compiler = options.compiler})->can_run();
    if (can.available) continue;
    return fail({fmt::format("the device {} cannot run here: {}", device, can.detail)}, ExitStatus::all_unsupported);
  }
  std::vector<Benched> benched;
  for (const std::string& device : devices) {
    options.device = device;
    Result<Benched> one = bench_on(options, on_both ? output / device : output, jobs);
    if (!one.ok()) return fail(one.error());
    benched.push_back(one.take());
  }
  if (on_both) benched.push_back(followed_by(benched[0], benched[1]));

  const auto [own, child] = peak_memory();
  json figures = bench_json(benched.back());
  figures["schema_version"] = schemas::kBenchSchemaVersion;
  figures["jobs"] = jobs;
  figures["peak_bytes"] = {{"own", own}, {"largest_child", child}};
  std::string text;
  for (const Benched& one : benched) {
    text += table(one, jobs);
    if (on_both && &one != &benched.back()) figures["devices"].push_back(bench_json(one));
  }
  // The system counts for a process at least what this one had when it started that.
  text += fmt::format("greatest memory: {} MiB, of one compiler or worker {}{} MiB\n", own >> 20U,
                      child > own ? "" : "at most ", child >> 20U);
  if (const auto diagnostics = schemas::Validator(schemas::kBenchSchemaText).diagnostics(figures); !diagnostics.empty())
    return fail({"bug: bench.json breaks its schema: " + diagnostics.front().text()}, ExitStatus::internal);
  const fs::path file = output / "bench.json";
  if (!backends::write_file(file, figures.dump(1) + "\n"))
    return fail({"cannot write " + file.string() + "; is the disk full?"}, ExitStatus::internal);
  const Result<void> printed = print(text);
  if (!printed.ok()) return fail(printed.error(), ExitStatus::internal);
  return benched.back().cold.status;
}

}  // namespace

void add_bench(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<JudgeOptions>();
  CLI::App& command = *app.add_subcommand("bench", "Measure verified kernels a second, and the compilers' share");
  command.add_option("SELECTOR", options->selectors, "What to judge, as for assay run")->option_text(" [*]");
  command.add_option("--device", options->device, "Where to run")
      ->option_text("{cpu,ptx,both} [cpu]")
      ->check(CLI::IsMember({"cpu", "ptx", "both"}));
  command.add_option("--random", options->random, "Random kernels of each family that a pattern names")
      ->option_text("N [8]")
      ->check(CLI::Range(0, 1'000'000));
  command.add_option("--seed", options->seed, "Seed of the inputs, and of the first random kernel")
      ->option_text("S [1]");
  command.add_option("--jobs", options->jobs, "Batches of kernels at once; 0: one for each core")
      ->option_text("N [0]")
      ->check(CLI::Range(0, 1024));
  command.add_option("--cxx", options->compiler, "The C++ compiler of the device cpu; default: $CXX, else c++")
      ->option_text("COMMAND");
  options->output = "bench-out";
  command.add_option("--output", options->output, "The folder for the two runs and bench.json")
      ->option_text("DIR [bench-out]");
  command.footer(kFooter);
  command.callback([options, &invocation] {
    if (options->selectors.empty()) options->selectors = {"*"};
    options->reduce = 0;
    options->command_line = invocation.words;
    invocation.status = bench(*options);
  });
}

}  // namespace assay::cli
