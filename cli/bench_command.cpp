// assay bench: verified kernels per second, next to the time that the compilers alone need.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "backends/device/artifact_files.hpp"
#include "backends/device/build_cache.hpp"
#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/run_suite.hpp"
#include "harness/benchmark/benchmark.hpp"
#include "harness/records/record.hpp"
#include "schemas/embedded.hpp"
#include "schemas/validator.hpp"
#include "support/files.hpp"
#include "support/version/version.hpp"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kAllDevices = "both";

constexpr const char* kBenchFooter =
    "Judges the selection twice, like 'assay run': first with an empty build cache, then with the cache that the\n"
    "first run filled. Before and after these runs, it compiles the same sources without judging them. The output\n"
    "folder contains bench.json and the two runs with their reports in cold/ and warm/. It adds the figures to\n"
    "history.jsonl, one line for each command with this output folder.\n"
    "With --device both, it measures cpu and then ptx, each in its own folder; a kernel counts as verified only if\n"
    "both devices verify it. The results depend on this machine and on its other load.\n"
    "Exit status: the exit status of the cold run; 2 usage error, 3 internal error, 77 a device cannot run here.";

/// The devices that need no hardware of their own: figures of a GPU come from assay profile.
std::vector<std::string> benchmarked_devices() {
  std::vector<std::string> names;
  for (const backends::DeviceDescriptor& row : backends::devices())
    if (!row.is_gpu && backends::runs_emitted_code(row)) names.emplace_back(row.name);
  return names;
}

json document_of(const std::vector<benchmark::BenchmarkResult>& benchmarked, unsigned jobs) {
  json document = to_json(benchmarked.back());
  const auto [own, child] = benchmark::peak_memory();
  document["schema_version"] = schemas::kBenchSchemaVersion;
  document["time"] = harness::utc_now();
  document["commit"] =
      fmt::format("{}{}", kCommitHash.substr(0, 12), kHasUncommittedChanges ? " with local changes" : "");
  document["jobs"] = jobs;
  document["peak_bytes"] = {{"own", own}, {"largest_child", child}};
  for (std::size_t i = 0; i + 1 < benchmarked.size(); ++i)
    document["devices"].push_back(to_json(benchmarked[i]));
  return document;
}

std::string text_of(const std::vector<benchmark::BenchmarkResult>& benchmarked, unsigned jobs) {
  std::string text;
  for (const benchmark::BenchmarkResult& one : benchmarked)
    text += to_text(one, jobs);
  const auto [own, child] = benchmark::peak_memory();
  // The system reports for a child at least the memory that this process had when it started the child.
  return text + fmt::format("peak memory: {} MiB; largest compiler or worker process: {}{} MiB\n", own >> 20U,
                            child > own ? "" : "at most ", child >> 20U);
}

/// Adds a line. The file is replaced as a whole, so that an interrupted command leaves no part of a line.
Result<void> add_to_history(const fs::path& path, const json& document) {
  std::string lines;
  if (fs::exists(path)) {
    Result<std::string> earlier = read_file_text(path);
    if (!earlier.ok()) return earlier.error();
    lines = earlier.take();
  }
  return put_file(path, lines + document.dump() + "\n");
}

int bench(harness::SuiteOptions options) {
  const unsigned jobs =
      options.jobs > 0 ? static_cast<unsigned>(options.jobs) : std::max(1U, std::thread::hardware_concurrency());
  const Result<backends::ScratchDirectory> cache =
      backends::make_artifact_directory(backends::default_cache_directory());
  if (!cache.ok()) return fail(cache.error());
  options.device_options.cache_directory = (cache->path() / "cache").string();
  const fs::path output = options.output;
  const bool on_all = options.device == kAllDevices;
  const std::vector<std::string> devices = on_all ? benchmarked_devices() : std::vector{options.device};
  for (const std::string& name : devices) {
    const auto device = backends::make_device(name, options.device_options);
    if (!device.ok()) return fail(device.error());
    if (const backends::Capability can = (*device)->can_run(); !can.is_available)
      return fail_unsupported(name, can.tool_or_reason);
  }
  const auto judge = [](const harness::SuiteOptions& suite) {
    return run_suite({.suite_options = suite, .reduction_time_limit_seconds = 0});
  };
  std::vector<benchmark::BenchmarkResult> benchmarked;
  for (const std::string& device : devices) {
    options.device = device;
    auto one = benchmark::run_benchmark(options, (on_all ? output / device : output).string(), jobs, judge);
    if (!one.ok()) return fail(one.error());
    benchmarked.push_back(one.take());
  }
  if (on_all) benchmarked.push_back(followed_by(benchmarked[0], benchmarked[1]));

  const json document = document_of(benchmarked, jobs);
  const auto diagnostics = schemas::Validator(schemas::kBenchSchemaText).diagnostics(document);
  if (!diagnostics.empty())
    return fail({"bug: bench.json violates its schema: " + diagnostics.front().text()}, ExitStatus::internal);
  if (const auto put = put_file(output / "bench.json", document.dump(1) + "\n"); !put.ok())
    return fail(put.error(), ExitStatus::internal);
  if (const auto added = add_to_history(output / "history.jsonl", document); !added.ok())
    return fail(added.error(), ExitStatus::internal);
  const int printed = print_or_fail(text_of(benchmarked, jobs));
  return printed == 0 ? benchmarked.back().cold_cache_run.exit_status : printed;
}

}  // namespace

void add_bench(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<harness::SuiteOptions>();
  CLI::App& command =
      *app.add_subcommand("bench", "Measure verified kernels per second and the share of time spent in compilers");
  command.add_option("SELECTOR", options->selectors, "Cases to judge, selected as in 'assay run'")->option_text(" [*]");
  std::vector<std::string> names = benchmarked_devices();
  names.emplace_back(kAllDevices);
  command.add_option("--device", options->device, "Device to measure")
      ->option_text(fmt::format("{{{}}} [cpu]", fmt::join(names, ",")))
      ->check(CLI::IsMember(names));
  add_random_option(command, options->random_kernels_per_family);
  add_seed_option(command, options->seed, "Seed of the inputs and of the first random kernel");
  add_jobs_option(command, options->jobs, "Number of kernel batches processed at once");
  add_compiler_option(command, options->device_options.compiler);
  options->output = "bench-out";
  command.add_option("--output", options->output, "Output folder for bench.json and the reports of both runs")
      ->option_text("DIR [bench-out]");
  command.footer(kBenchFooter);
  command.callback([options, &invocation] {
    if (options->selectors.empty()) options->selectors = {"*"};
    options->command_line = invocation.arguments;
    invocation.status = bench(*options);
  });
}

}  // namespace assay::cli
