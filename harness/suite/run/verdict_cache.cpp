#include "harness/suite/run/verdict_cache.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "harness/records/record_json.hpp"
#include "ir/text.hpp"
#include "support/hash.hpp"

namespace assay::harness {
namespace {

using nlohmann::json;

/// The part of the key for the policy. Binds each member, so that a new member does not compile until it is considered
/// here.
std::string text_of(const JudgingPolicy& policy) {
  const auto& [uniform_input_sets, near_bound_input_sets, wide_magnitude_input_sets, float_offset_input_sets,
               other_extent_input_sets, fully_checked_input_sets, max_redraws_per_input_set, thresholds,
               judges_large_launch, kernels_per_large_backward_launch, native_precision, f64_promotion] = policy;
  return fmt::format("{} {} {} {} {} {} {} {} {} {} {} {}", uniform_input_sets, near_bound_input_sets,
                     wide_magnitude_input_sets, float_offset_input_sets, other_extent_input_sets,
                     fully_checked_input_sets, max_redraws_per_input_set, thresholds, judges_large_launch,
                     kernels_per_large_backward_launch, native_precision, f64_promotion);
}

std::string text_of(const RunOptions& options, const backends::Device& device) {
  const auto& [forward, backward, jobs, seed, policy, batch, repetition_count, mode, time_limit, fixed_extents,
               trusts_custom_gradients, may_fix_thread_order, decides_gradients_by_finite_differences,
               reproduce_command_prefix, reproduce_command_has_device, keeps_source_texts, on_counterexample,
               examine_failure, measure, cross_check_device, verdict_cache, test_plans] = options;
  return fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}\n{}\n{}\n{}", forward, backward, seed,
                     text_of(policy), repetition_count, mode.name, static_cast<int>(mode.flags.architectures),
                     mode.flags.omits_promoted, mode.flags.promotes_for_first_architecture, time_limit.count(),
                     fmt::join(fixed_extents.launch, ","), fixed_extents.shapes, trusts_custom_gradients,
                     may_fix_thread_order, decides_gradients_by_finite_differences, keeps_source_texts,
                     reproduce_command_has_device ? reproduce_command_prefix : "", device.build_command(mode.flags),
                     cross_check_device == nullptr ? "" : cross_check_device->build_command(mode.flags));
}

/// The lines of the kernel's file that its records may refer to: those up to its end, or all lines if it uses functions
/// below it.
std::string lines_of(const KernelSource& source) {
  const ir::Module& module = *source.module;
  const ir::Function& kernel = module.kernels[source.kernel_index];
  const auto own = static_cast<std::size_t>(kernel.loc.line + std::ranges::count(source.python, '\n') + 1);
  const bool all = !module.imported_files.empty() || std::ranges::any_of(module.functions, [&](const ir::Function& f) {
    return f.loc.line > kernel.loc.line;
  });
  const std::size_t count = all ? module.source_lines.size() : std::min(own, module.source_lines.size());
  return fmt::format("{}", fmt::join(std::span(module.source_lines).first(count), "\n"));
}

ir::Module alone(const KernelSource& source) {
  ir::Module module = *source.module;
  module.kernels = {source.module->kernels[source.kernel_index]};
  return module;
}

}  // namespace

Result<std::unique_ptr<VerdictCache>> VerdictCache::open(const std::filesystem::path& directory,
                                                         const backends::Device& device,
                                                         const RunEnvironment& environment, std::uint64_t max_bytes) {
  const std::string program = program_identity();
  if (program.empty()) return Error{"Assay or one of its libraries has no build ID"};
  auto store = backends::BuildCache::open(directory, max_bytes);
  if (!store.ok()) return store.error();
  std::vector<std::string> compilers;
  for (const std::filesystem::path& file : device.compiler_files())
    compilers.push_back(backends::file_identity(file));
  return std::unique_ptr<VerdictCache>(
      new VerdictCache(store.take(), device,
                       fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", program, environment.os_name,
                                   environment.cpu_model, environment.compiler, environment.nvrtc, device.name(),
                                   device.can_build().tool_or_reason, fmt::join(compilers, "\n"))));
}

std::string VerdictCache::make_cache_key(const KernelSource& source, std::span<const std::string> cases,
                                         const RunOptions& options) const {
  const json parts = {"verdict",
                      environment_key_,
                      text_of(options, device_),
                      source.family,
                      source.kernel,
                      source.file,
                      source.selector,
                      source.python,
                      std::vector<std::string>(cases.begin(), cases.end()),
                      lines_of(source),
                      source.recorded_launches == nullptr ? "" : digest_of(*source.recorded_launches),
                      ir::to_text(alone(source))};
  return sha256_hex(parts.dump(-1, ' ', false, json::error_handler_t::replace));
}

std::vector<CaseRecord> VerdictCache::find(const KernelSource& source, std::span<const std::string> cases,
                                           const RunOptions& options) {
  if (source.module == nullptr) return {};
  const std::optional<std::string> kept = storage_->read(make_cache_key(source, cases, options));
  if (!kept) return {};
  const json lines = json::parse(*kept, nullptr, false);
  if (!lines.is_array() || lines.size() != cases.size()) return {};
  std::vector<CaseRecord> records;
  try {
    std::ranges::transform(lines, std::back_inserter(records), case_from);
  } catch (const json::exception&) {
    return {};  // not written by this cache
  }
  for (CaseRecord& record : records) {
    record.is_cached = true;
    record.stage_times = {};
    record.judging_times.reset();
  }
  return records;
}

void VerdictCache::store(const KernelSource& source, std::span<const std::string> cases, const RunOptions& options,
                         std::span<const CaseRecord> records) {
  if (source.module == nullptr || cases.empty()) return;
  json lines = json::array();
  for (const std::string& name : cases) {
    const auto record = std::ranges::find(records, name, &CaseRecord::name);
    if (record == records.end() || record->attempt_outcomes.size() != 1) return;
    if (!is_pass(record->outcome)) return;
    lines.push_back(json::parse(to_line(*record)));
  }
  // Write errors are ignored: they only cost time in the next run.
  static_cast<void>(storage_->write(make_cache_key(source, cases, options), lines.dump()));
}

}  // namespace assay::harness
