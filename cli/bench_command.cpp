// assay bench: verified kernels a second, and how near that comes to what the compilers alone need.
#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <memory>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

#include "backends/artifact_files.hpp"
#include "backends/build_cache.hpp"
#include "cli/command.hpp"
#include "cli/compile_floor.hpp"
#include "cli/devices.hpp"
#include "cli/emission.hpp"
#include "cli/judging.hpp"
#include "cli/modes.hpp"
#include "cli/plan.hpp"
#include "reports/run.hpp"
#include "reports/summary.hpp"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kFooter =
    "Judges the selection twice, as assay run does: with an empty cache and then with the full one, and hands the "
    "same\n"
    "sources to the bare compilers. The folder has the two runs, cold/ and warm/, with their reports, and bench.json.\n"
    "Figures are of this machine and of what else it does.\n"
    "Exit status: as assay run's for the first of the two; 2 usage, 3 internal.";

/// One of the two runs.
struct Measured {
  double seconds = 0;  ///< from the selectors to the written reports
  int status = 0;
  std::size_t kernels = 0;
  std::size_t verified = 0;  ///< kernels of which all cases passed
  std::size_t cases = 0;
  std::vector<std::pair<std::string, double>> stages;  ///< in milliseconds, all cores together
};

Result<Measured> measure(const JudgeOptions& options) {
  Measured measured;
  const auto start = std::chrono::steady_clock::now();
  measured.status = judge_kernels(options);
  measured.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const Result<reports::Run> run = reports::read_run(options.output);
  if (!run.ok()) return run.error();
  std::set<std::string> kernels;
  std::set<std::string> wrong;
  for (const json& record : run->cases) {
    const std::string kernel =
        fmt::format("{}/{}", record.at("family").get<std::string>(), record.at("kernel").get<std::string>());
    kernels.insert(kernel);
    const std::string outcome = record.at("outcome");
    if (outcome != "pass" && outcome != "pass_marginal") wrong.insert(kernel);
  }
  measured.cases = run->cases.size();
  measured.kernels = kernels.size();
  measured.verified = kernels.size() - wrong.size();
  measured.stages = reports::summarise(*run).time_ms;
  return measured;
}

Result<CompileFloor> measure_floor(const JudgeOptions& options, unsigned jobs) {
  const std::vector<harness::Mode> modes = modes_of(options.device, options.mode, options.optimise);
  const Result<Choice> choice = choose(options, modes);
  if (!choice.ok()) return choice.error();
  const auto device = make_device(options.device);
  std::vector<CompilerWork> work;
  for (const Group& group : groups_of(*choice, modes, options)) {
    work.push_back({.flags = group.options.mode.flags,
                    .kernels = harness::emitted_kernels(group.sources, printer(), device->target(), group.options)});
  }
  return options.device == "ptx" ? nvrtc_floor(work, jobs) : cpp_floor(work, options.compiler, jobs);
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
  return {{"seconds", run.seconds},
          {"kernels", run.kernels},
          {"verified", run.verified},
          {"cases", run.cases},
          {"kernels_per_second", static_cast<double>(run.verified) / run.seconds},
          {"stages_ms", stages}};
}

json bench_json(const JudgeOptions& options, unsigned jobs, const Measured& cold, const Measured& warm,
                const CompileFloor& floor) {
  json tried = json::array();
  for (const auto& [batch, seconds] : floor.tried)
    tried.push_back({{"batch", batch}, {"seconds", seconds}});
  const auto [own, child] = peak_memory();
  return {{"device", options.device},
          {"jobs", jobs},
          {"cold", run_json(cold)},
          {"warm", run_json(warm)},
          {"floor", {{"seconds", floor.seconds}, {"batch", floor.batch}, {"units", floor.units}, {"tried", tried}}},
          {"floor_over_total", floor.seconds / cold.seconds},
          {"cold_over_warm", cold.seconds / warm.seconds},
          {"peak_bytes", {{"own", own}, {"largest_child", child}}}};
}

std::string table(const JudgeOptions& options, unsigned jobs, const Measured& cold, const Measured& warm,
                  const CompileFloor& floor) {
  std::string text =
      fmt::format("\n{} kernels, {} cases on {}, {} at once\n\n", cold.kernels, cold.cases, options.device, jobs);
  text += fmt::format("{:<28}{:>10}{:>10}\n", "", "cold", "warm");
  text += fmt::format("{:<28}{:>10.1f}{:>10.1f}\n", "seconds", cold.seconds, warm.seconds);
  text +=
      fmt::format("{:<28}{:>10.1f}{:>10.1f}\n", "verified kernels a second",
                  static_cast<double>(cold.verified) / cold.seconds, static_cast<double>(warm.verified) / warm.seconds);
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
  text += fmt::format("\nthe bare compilers: {:.1f} s for {} units of at most {} kernel{}\n", floor.seconds,
                      floor.units, floor.batch, floor.batch == 1 ? "" : "s");
  text += fmt::format("floor / total {:.2f}, cold / warm {:.1f}\n", floor.seconds / cold.seconds,
                      cold.seconds / warm.seconds);
  const auto [own, child] = peak_memory();
  return text + fmt::format("greatest memory: {} MiB, of one compiler or worker {} MiB\n", own >> 20U, child >> 20U);
}

int bench(JudgeOptions options) {
  const unsigned jobs =
      options.jobs > 0 ? static_cast<unsigned>(options.jobs) : std::max(1U, std::thread::hardware_concurrency());
  const Result<backends::ScratchDirectory> cache =
      backends::make_artifact_directory(backends::default_cache_directory());
  if (!cache.ok()) return fail(cache.error());
  const fs::path output = options.output;
  options.cache = (cache->path() / "cache").string();
  options.output = (output / "cold").string();
  const Result<Measured> cold = measure(options);
  if (!cold.ok()) return fail(cold.error());
  options.output = (output / "warm").string();
  const Result<Measured> warm = measure(options);
  if (!warm.ok()) return fail(warm.error());
  const Result<CompileFloor> floor = measure_floor(options, jobs);
  if (!floor.ok()) return fail(floor.error());
  const fs::path file = output / "bench.json";
  if (!backends::write_file(file, bench_json(options, jobs, *cold, *warm, *floor).dump(1) + "\n"))
    return fail({"cannot write " + file.string() + "; is the disk full?"}, ExitStatus::internal);
  const Result<void> printed = print(table(options, jobs, *cold, *warm, *floor));
  if (!printed.ok()) return fail(printed.error(), ExitStatus::internal);
  return cold->status;
}

}  // namespace

void add_bench(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<JudgeOptions>();
  CLI::App& command = *app.add_subcommand("bench", "Measure verified kernels a second, and the compilers' share");
  command.add_option("SELECTOR", options->selectors, "What to judge, as for assay run")->option_text(" [*]");
  command.add_option("--device", options->device, "Where to run")
      ->option_text("{cpu,ptx} [cpu]")
      ->check(CLI::IsMember({"cpu", "ptx"}));
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
