#include "cli/production.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backends/cuda/nvrtc/nvrtc.hpp"
#include "cli/devices.hpp"
#include "cli/emission.hpp"
#include "cli/modes.hpp"
#include "generators/generator.hpp"
#include "harness/dataset/render.hpp"
#include "harness/suite/select/select.hpp"
#include "harness/suite/select/suggest.hpp"
#include "support/files.hpp"
#include "support/version/version.hpp"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

/// Slots in a block: what a killed run loses of each thread's work, a few seconds.
constexpr std::uint32_t kJudgedBlock = 32;
constexpr std::uint32_t kUnjudgedBlock = 256;

Result<std::vector<dataset::Share>> shares_of(const ProductionOptions& options) {
  std::vector<dataset::Share> shares;
  std::vector<std::string> known;
  for (const generators::FamilyRow& row : generators::families())
    known.emplace_back(row.name);
  for (const std::string& name : options.families) {
    if (!generators::find_family(name)) {
      return Error{fmt::format("'{}' is no family{}; expected some of {}", name, harness::did_you_mean(name, known),
                               fmt::join(known, ", "))};
    }
  }
  for (const generators::FamilyRow& row : generators::families()) {
    const bool chosen = std::ranges::any_of(
        options.families, [&](const std::string& name) { return generators::find_family(name) == row.family; });
    if (options.families.empty() || chosen) shares.push_back({.family = std::string(row.name)});
  }
  for (const std::string& weight : options.weights) {
    const std::size_t equals = weight.find('=');
    const auto family = generators::find_family(weight.substr(0, equals));
    const auto share = std::ranges::find_if(
        shares, [&](const dataset::Share& one) { return generators::find_family(one.family) == family; });
    if (equals == std::string::npos || !family || share == shares.end()) {
      return Error{fmt::format("'{}' is no weight of a chosen family, expected one as loop=2", weight)};
    }
    const char* const end = weight.data() + weight.size();
    const auto [stop, error] = std::from_chars(weight.data() + equals + 1, end, share->weight);
    if (error != std::errc() || stop != end) {
      return Error{fmt::format("'{}' is no weight, expected a positive number as in loop=2", weight)};
    }
  }
  return shares;
}

Result<dataset::Shard> shard_of(const std::string& text) {
  dataset::Shard shard;
  const char* const end = text.data() + text.size();
  const auto [slash, first] = std::from_chars(text.data(), end, shard.index);
  const Error rejected{fmt::format("'{}' is no shard, expected one as 0/4 to 3/4", text)};
  if (first != std::errc() || slash == end || *slash != '/') return rejected;
  const auto [stop, second] = std::from_chars(slash + 1, end, shard.of);
  if (second != std::errc() || stop != end || shard.index >= shard.of) return rejected;
  return shard;
}

/// Where the shell would find the program of a command.
fs::path program_of(const std::string& command) {
  const std::string word = command.substr(0, command.find(' '));
  std::error_code error;
  if (word.find('/') != std::string::npos) return fs::canonical(word, error);
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (fs::exists(fs::path(folder) / word, error)) return fs::canonical(fs::path(folder) / word, error);
  }
  return {};
}

dataset::Tool tool_of(const std::string& device, const std::string& compiler) {
  fs::path file;
  if (device == "cpu") {
    const char* const chosen = std::getenv("CXX");
    const std::string standard = chosen == nullptr || *chosen == '\0' ? "c++" : chosen;
    file = program_of(compiler.empty() ? standard : compiler);
  } else if (const Result<cuda::Nvrtc> nvrtc = cuda::Nvrtc::load(); nvrtc.ok()) {
    std::error_code error;
    file = fs::canonical(nvrtc->library(), error);
  }
  const Result<std::string> sum = file.empty() ? Result<std::string>("") : sha256_of_file(file);
  return {.device = device,
          .version = make_device(device, {.compiler = compiler})->can_build().detail,
          .sha256 = sum.value_or("")};
}

std::string mode_name(const harness::Mode& mode) { return mode.name.empty() ? "strict" : mode.name; }

Result<std::vector<dataset::UserKernel>> user_kernels(const std::vector<std::string>& files) {
  const Result<harness::Selection> selection = harness::select(files, {.random_kernels = 0});
  if (!selection.ok()) return selection.error();
  std::vector<dataset::UserKernel> kernels;
  for (const harness::Selected& selected : selection->kernels) {
    const Result<harness::KernelSource> alone = dataset::alone(selected.source);
    if (!alone.ok()) return alone.error();
    kernels.push_back({.name = alone->selector, .python = alone->python});
  }
  return kernels;
}

Result<void> choose_kernels(const ProductionOptions& options, dataset::Plan& plan) {
  if (!options.from.empty()) {
    if (options.count != 0 || !options.families.empty() || !options.weights.empty()) {
      return Error{"--from takes all kernels of the files: --count, --families and --weights do not go with it"};
    }
    Result<std::vector<dataset::UserKernel>> kernels = user_kernels(options.from);
    if (!kernels.ok()) return kernels.error();
    plan.kernels = kernels.take();
    plan.count = plan.kernels.size();
    plan.shares = {{.family = "user"}};
  } else {
    if (options.count == 0) return Error{"--count is missing or 0, expected the number of rows to make"};
    Result<std::vector<dataset::Share>> shares = shares_of(options);
    if (!shares.ok()) return shares.error();
    plan.shares = shares.take();
  }
  return share_out(plan);
}

}  // namespace

Result<dataset::Plan> plan_of(const ProductionOptions& options) {
  dataset::Plan plan{.generator_version = std::string(kVersion),
                     .kernels_version = generators::kGeneratorVersion,
                     .count = options.count,
                     .seed = options.seed,
                     .verify = !options.no_verify,
                     .effort = options.no_verify  ? "none"
                               : options.quick    ? "quick"
                               : options.thorough ? "thorough"
                                                  : "standard",
                     .licence = options.licence,
                     .block_rows = options.no_verify ? kUnjudgedBlock : kJudgedBlock};
  if (Result<void> chosen = choose_kernels(options, plan); !chosen.ok()) return chosen.error();
  const Result<dataset::Shard> shard = shard_of(options.shard);
  if (!shard.ok()) return shard.error();
  plan.shard = *shard;
  if (plan.verify) add_devices(plan, options.devices, options.compiler);
  return plan;
}

void add_devices(dataset::Plan& plan, const std::vector<std::string>& devices, const std::string& compiler) {
  for (const std::string_view name : kDeviceNames) {
    const std::string device(name);
    if (std::ranges::find(devices, device) == devices.end()) continue;
    plan.devices.push_back(device);
    plan.toolchain.push_back(tool_of(device, compiler));
    for (const harness::Mode& mode : modes_of(device, "", 0))
      plan.flags.push_back(fmt::format("{}/{}", device, mode_name(mode)));
  }
}

Production::Production(const dataset::Plan& plan, const std::string& compiler) : plan_(plan) {
  std::vector<dataset::Verifier> verifiers;
  for (const std::string& name : plan.devices) {
    devices_.push_back(make_device(name, {.compiler = compiler}));
    verifiers.push_back({.device = devices_.back().get(),
                         .modes = modes_of(name, "", 0),
                         .memory_checks = name == "ptx" ? check_names() : std::vector<std::string>()});
  }
  const harness::Policy policy = plan.effort == "quick"      ? harness::Policy::quick()
                                 : plan.effort == "thorough" ? harness::Policy::thorough()
                                                             : harness::Policy::standard();
  producer_ = std::make_unique<dataset::Producer>(plan, std::move(verifiers),
                                                  dataset::Printers{.pair = pair_printer(), .one = printer()}, policy);
}

std::string Production::why_not() const {
  if (!plan_.verify) return "";
  std::vector<std::string> reasons;
  for (const auto& device : devices_) {
    const backends::Capability run = device->can_run();
    if (run.available) return "";
    reasons.push_back(fmt::format("{}: {}", device->name(), run.detail));
  }
  return fmt::format("{}", fmt::join(reasons, "; "));
}

int jobs_of(int jobs) { return jobs > 0 ? jobs : static_cast<int>(std::max(1U, std::thread::hardware_concurrency())); }

std::string closing_text(const dataset::Finished& finished, const std::string& output) {
  if (finished.was_complete) return fmt::format("{} is complete; nothing was left to do\n", output);
  const dataset::Timing& timing = finished.timing;
  std::string text = fmt::format("{} rows in {}, {:.1f} s, {:.1f} rows/s\n", finished.rows, output, timing.wall,
                                 timing.wall > 0 ? static_cast<double>(finished.rows) / timing.wall : 0);
  const harness::StageTimes& judging = timing.judging;
  const double own = timing.render + timing.write + (judging.adjoint + judging.emit) / 1e3;
  const double proof = (judging.reference + judging.compare) / 1e3;
  const double all = own + proof + (judging.build + judging.run) / 1e3;
  if (timing.judged > 0) {
    text +=
        fmt::format("time: compilers {:.0f}%, running {:.0f}%, oracle and comparison {:.0f}%, making rows {:.0f}%\n",
                    judging.build / 10 / all, judging.run / 10 / all, 100 * proof / all, 100 * own / all);
  }
  for (const auto& [kind, count] : finished.rejected_kinds)
    text += fmt::format("quarantine: {} {}\n", count, kind);
  if (finished.duplicates > 0) text += fmt::format("duplicates replaced: {}\n", finished.duplicates);
  return text;
}

}  // namespace assay::cli
