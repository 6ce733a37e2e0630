#include "harness/dataset/production.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backends/device/registry.hpp"
#include "generators/generator.hpp"
#include "harness/dataset/card.hpp"
#include "harness/dataset/render.hpp"
#include "harness/dataset/row_ptx.hpp"
#include "harness/suite/emission.hpp"
#include "harness/suite/modes.hpp"
#include "harness/suite/select/select.hpp"
#include "harness/suite/select/suggest.hpp"
#include "support/files.hpp"
#include "support/utf8.hpp"
#include "support/version/version.hpp"

namespace assay::dataset {
namespace {

namespace fs = std::filesystem;

/// Slots in a block: a killed run loses at most one block of each thread, a few seconds of work.
constexpr std::uint32_t kJudgedBlock = 32;
constexpr std::uint32_t kUnjudgedBlock = 256;

Result<std::vector<FamilyShare>> shares_of(const ProductionOptions& options) {
  std::vector<FamilyShare> shares;
  std::vector<std::string> known;
  for (const generators::KernelFamilyDefinition& row : generators::families())
    known.emplace_back(row.name);
  for (const std::string& name : options.families) {
    if (!generators::find_family(name)) {
      return Error{fmt::format("unknown family '{}'{}; expected one or more of {}", name,
                               harness::did_you_mean(name, known), fmt::join(known, ", "))};
    }
  }
  for (const generators::KernelFamilyDefinition& row : generators::families()) {
    const bool chosen = std::ranges::any_of(
        options.families, [&](const std::string& name) { return generators::find_family(name) == row.family; });
    // The rows of a family that is written as Python have arrays instead of meshes, grids and the like: only on
    // request.
    const bool is_default = options.families.empty() && row.make != nullptr;
    if (is_default || chosen) shares.push_back({.family = std::string(row.name)});
  }
  std::set<std::string> weighted;
  for (const std::string& weight : options.weights) {
    const std::size_t equals = weight.find('=');
    const auto family = generators::find_family(weight.substr(0, equals));
    const auto share = std::ranges::find_if(
        shares, [&](const FamilyShare& one) { return generators::find_family(one.family) == family; });
    if (equals == std::string::npos || !family || share == shares.end()) {
      return Error{fmt::format("--weights: '{}' must begin with a selected family, such as loop=2", weight)};
    }
    const char* const end = weight.data() + weight.size();
    const auto [stop, error] = std::from_chars(weight.data() + equals + 1, end, share->weight);
    if (error != std::errc() || stop != end) {
      return Error{fmt::format("--weights: '{}' must be a positive number, such as loop=2", weight)};
    }
    if (!weighted.insert(share->family).second)
      return Error{fmt::format("--weights: '{}' gives family '{}' a second weight", weight, share->family)};
  }
  return shares;
}

Result<DatasetShard> shard_of(const std::string& text) {
  DatasetShard shard;
  const char* const end = text.data() + text.size();
  const auto [slash, first] = std::from_chars(text.data(), end, shard.shard_index);
  const Error rejected{fmt::format("--shard must be I/N with I from 0 to N - 1, such as 0/4, got '{}'", text)};
  if (first != std::errc() || slash == end || *slash != '/') return rejected;
  const auto [stop, second] = std::from_chars(slash + 1, end, shard.shard_count);
  if (second != std::errc() || stop != end || shard.shard_index >= shard.shard_count) return rejected;
  return shard;
}

Result<DeviceCompiler> tool_of(const backends::DeviceDescriptor& row, const std::string& compiler) {
  const auto device = backends::make_device(row.name, {.compiler = backends::fastest_compiler(compiler)});
  if (!device.ok()) return device.error();
  const std::vector<fs::path> files = (*device)->compiler_files();
  const Result<std::string> sum = files.empty() ? Result<std::string>("") : sha256_of_file(files.front());
  return DeviceCompiler{
      .device = std::string(row.name), .version = (*device)->can_build().tool_or_reason, .sha256 = sum.value_or("")};
}

std::string mode_name(const harness::Mode& mode) { return mode.name.empty() ? "strict" : mode.name; }

Result<std::vector<UserKernel>> user_kernels(const std::vector<std::string>& files) {
  const Result<harness::Selection> selection = harness::select(files, {.random_kernels_per_family = 0});
  if (!selection.ok()) return selection.error();
  std::vector<UserKernel> kernels;
  for (const harness::SelectedKernel& selected : selection->kernels) {
    if (!is_utf8(selected.source.file))
      return Error{"the name of a file in a dataset must be UTF-8; rename the file", selected.source.file};
    if (selected.source.parse_error) {
      kernels.push_back({.name = fmt::format("{}/{}", selected.source.family, selected.source.kernel),
                         .python_source = selected.source.python,
                         .parse_error = selected.source.parse_error->text()});
      continue;
    }
    const Result<harness::KernelSource> standalone = isolated_kernel(selected.source);
    if (!standalone.ok()) return standalone.error();
    kernels.push_back({.name = standalone->selector, .python_source = standalone->python});
  }
  return kernels;
}

Result<void> choose_kernels(const ProductionOptions& options, DatasetPlan& plan) {
  if (!options.python_files.empty() || !options.imported_kernels.empty()) {
    if (options.row_count != 0 || !options.families.empty() || !options.weights.empty()) {
      return Error{
          "--from and --module take every kernel of the files and modules and cannot be combined with --count, "
          "--families or --weights"};
    }
    plan.user_kernels = options.imported_kernels;
    if (plan.user_kernels.empty()) {
      Result<std::vector<UserKernel>> kernels = user_kernels(options.python_files);
      if (!kernels.ok()) return kernels.error();
      plan.user_kernels = kernels.take();
    }
    plan.row_count = plan.user_kernels.size();
    plan.family_shares = {{.family = std::string(kUserFamily)}};
  } else {
    if (options.row_count == 0) return Error{"--count is required: the number of rows to make"};
    Result<std::vector<FamilyShare>> shares = shares_of(options);
    if (!shares.ok()) return shares.error();
    plan.family_shares = shares.take();
  }
  return distribute_rows(plan);
}

/// The license of all kernels, or kLicensePerRow.
std::string common_license(const std::vector<UserKernel>& kernels) {
  std::set<std::string> licenses;
  for (const UserKernel& kernel : kernels) {
    if (kernel.export_error.empty() && kernel.parse_error.empty())
      licenses.insert(kernel.origin ? kernel.origin->license : std::string(kUnknownLicense));
  }
  if (licenses.empty()) return std::string(kUnknownLicense);
  return licenses.size() == 1 ? *licenses.begin() : std::string(kLicensePerRow);
}

/// The owner of the kernels in a file decides on their license.
Result<void> choose_license(const ProductionOptions& options, DatasetPlan& plan) {
  plan.license = options.license;
  if (plan.license.empty()) {
    plan.license = plan.user_kernels.empty() ? std::string(kDefaultLicense) : common_license(plan.user_kernels);
    return {};
  }
  const auto is_allowed = [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '.' || c == '+'; };
  if (!std::ranges::all_of(plan.license, is_allowed)) {
    return Error{
        fmt::format("--license must be an SPDX identifier such as CC-BY-4.0 or Apache-2.0, got '{}'", plan.license)};
  }
  return {};
}

}  // namespace

Result<DatasetPlan> make_plan(const ProductionOptions& options) {
  DatasetPlan plan{.generator_version = std::string(kVersion),
                   .emitter = options.emitter,
                   // ProducerSetup::device_unavailable_reason() reports a missing emitter.
                   .emitter_version = version_of_emitter(options.emitter).value_or(""),
                   .kernel_generators_version = generators::kGeneratorVersion,
                   .row_count = options.row_count,
                   .seed = options.seed,
                   .verifies_rows = !options.skips_verification,
                   .judging_effort = options.skips_verification ? "none"
                                     : options.uses_few_inputs  ? "quick"
                                     : options.uses_many_inputs ? "thorough"
                                                                : "standard",
                   .compression = find_compression(options.compression).value_or(Compression::kGzip),
                   .slots_per_block = options.skips_verification ? kUnjudgedBlock : kJudgedBlock};
  if (Result<void> chosen = choose_kernels(options, plan); !chosen.ok()) return chosen.error();
  if (!options.excluded_files.empty()) {
    for (const std::string& file : options.excluded_files) {
      if (!fs::exists(file)) return Error{"--exclude: no such file or folder", file};
    }
    Result<std::vector<UserKernel>> excluded = user_kernels(options.excluded_files);
    if (!excluded.ok()) return excluded.error();
    plan.excluded_kernels = excluded.take();
  }
  if (Result<void> licensed = choose_license(options, plan); !licensed.ok()) return licensed.error();
  if (!options.ptx_architecture.empty()) {
    if (plan.emitter != kAssayEmitter) return Error{"--with-ptx needs --emitter assay"};
    Result<PtxCompiler> ptx = find_ptx_compiler(options.ptx_architecture);
    if (!ptx.ok()) return ptx.error();
    plan.ptx = ptx.take();
  }
  const Result<DatasetShard> shard = shard_of(options.shard);
  if (!shard.ok()) return shard.error();
  plan.shard = *shard;
  if (plan.verifies_rows) {
    if (Result<void> added = add_devices(plan, options.devices, options.compiler); !added.ok()) return added.error();
  }
  return plan;
}

Result<void> add_devices(DatasetPlan& plan, const std::vector<std::string>& devices, const std::string& compiler) {
  const std::vector<std::string> possible = devices_of_emitter(plan.emitter);
  std::vector<std::string> chosen = devices;
  if (chosen.empty() && plan.judging_effort == "quick") chosen = {possible.front()};
  if (chosen.empty()) chosen = default_devices_of(plan.emitter);
  for (const std::string& name : chosen) {
    if (std::ranges::find(possible, name) == possible.end()) {
      return Error{fmt::format("device '{}' does not run code of the emitter '{}'; expected one or more of {}", name,
                               plan.emitter, fmt::join(possible, ", "))};
    }
  }
  for (const backends::DeviceDescriptor& row : backends::devices()) {
    if (std::ranges::find(chosen, row.name) == chosen.end()) continue;
    Result<DeviceCompiler> tool = tool_of(row, compiler);
    if (!tool.ok()) return tool.error();
    plan.devices.emplace_back(row.name);
    plan.toolchain.push_back(tool.take());
    for (const harness::Mode& mode : harness::modes_of(row.name, "", 0))
      plan.numeric_modes.push_back(fmt::format("{}/{}", row.name, mode_name(mode)));
  }
  return {};
}

Result<ProducerSetup> ProducerSetup::make(const DatasetPlan& plan, const std::string& compiler) {
  ProducerSetup production(plan);
  std::vector<VerifyingDevice> verifiers;
  for (const std::string& name : plan.devices) {
    auto device = backends::make_device(name, {.compiler = backends::fastest_compiler(compiler)});
    if (!device.ok()) return device.error();
    const auto checks = backends::device_descriptor(name).check_names;
    verifiers.push_back({.device = device->get(),
                         .modes = harness::modes_of(name, "", 0),
                         .memory_checks = std::vector<std::string>(checks.begin(), checks.end())});
    production.devices_.push_back(device.take());
  }
  const harness::JudgingPolicy policy = plan.judging_effort == "quick"      ? harness::JudgingPolicy::quick()
                                        : plan.judging_effort == "thorough" ? harness::JudgingPolicy::thorough()
                                                                            : harness::JudgingPolicy::standard();
  Result<RowPtxCompiler> ptx_compiler = make_ptx_compiler(plan);
  if (!ptx_compiler.ok()) return ptx_compiler.error();
  production.producer_ = std::make_unique<RowProducer>(
      plan, std::move(verifiers),
      RowPrinters{.pair_printer = plan.emitter == kAssayEmitter ? harness::pair_printer() : no_printer(),
                  .single_printer = harness::printer(),
                  .warp_codegen = installed_warp(),
                  .ptx_compiler = ptx_compiler.take()},
      policy);
  return production;
}

std::string ProducerSetup::device_unavailable_reason() const {
  if (const Result<std::string> version = version_of_emitter(plan_.emitter); !version.ok())
    return version.error().text();
  if (!plan_.verifies_rows) return "";
  std::vector<std::string> reasons;
  for (const auto& device : devices_) {
    const backends::Capability run = device->can_run();
    if (run.is_available) return "";
    reasons.push_back(fmt::format("{}: {}", device->name(), run.tool_or_reason));
  }
  return fmt::format("{}", fmt::join(reasons, "; "));
}

int jobs_of(int jobs) { return jobs > 0 ? jobs : static_cast<int>(std::max(1U, std::thread::hardware_concurrency())); }

std::uint64_t rows_of_shard(const DatasetPlan& plan) {
  std::uint64_t rows = 0;
  for (const std::uint64_t block : blocks_of_shard(plan))
    rows += std::min<std::uint64_t>(plan.slots_per_block, plan.row_count - block * plan.slots_per_block);
  return rows;
}

std::string closing_text(const DatasetPlan& plan, const FinishedDataset& finished, const std::string& output) {
  if (finished.was_already_complete) return fmt::format("{} is already complete\n", output);
  const Timing& timing = finished.timing;
  std::string text = fmt::format(
      "{} row{} in {}, {:.1f} s, {:.1f} rows/s\n", finished.rows, finished.rows == 1 ? "" : "s", output,
      timing.wall_seconds, timing.wall_seconds > 0 ? static_cast<double>(finished.rows) / timing.wall_seconds : 0);
  const harness::StageTimes& judging = timing.judging_times;
  const double own = timing.preparation_seconds + timing.write_seconds + (judging.adjoint_ms + judging.emit_ms) / 1e3;
  const double proof = (judging.oracle_ms + judging.compare_ms) / 1e3;
  const double all = own + proof + (judging.build_ms + judging.launch_ms) / 1e3;
  if (timing.judged_kernel_count > 0) {
    text +=
        fmt::format("time: compilers {:.0f}%, kernels {:.0f}%, oracle and comparison {:.0f}%, writing rows {:.0f}%\n",
                    judging.build_ms / 10 / all, judging.launch_ms / 10 / all, 100 * proof / all, 100 * own / all);
  }
  for (const auto& [kind, count] : finished.rejected_counts_by_verdict)
    text += fmt::format("quarantine: {} {}\n", count, kind);
  if (finished.duplicate_count > 0)
    text += fmt::format("duplicates and near duplicates replaced: {}\n", finished.duplicate_count);
  if (!plan.user_kernels.empty()) {
    const std::uint64_t without_row = finished.requested_rows - finished.rows - finished.rejected;
    if (without_row > 0) text += fmt::format("duplicates left out: {}\n", without_row);
  }
  for (const std::string& part : unverified_parts(plan, finished.rows, finished.passed_rows))
    text += fmt::format("not verified: {}\n", part);
  return text;
}

}  // namespace assay::dataset
