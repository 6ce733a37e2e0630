#include "harness/suite/plan.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backends/device/registry.hpp"
#include "harness/suite/launches/launch_files.hpp"
#include "harness/suite/modes.hpp"
#include "harness/suite/select/failed_before.hpp"
#include "harness/suite/select/shard.hpp"
#include "support/hash.hpp"
#include "support/shell.hpp"

namespace assay::harness {
namespace {

/// A candidate may run many more threads than its specification.
constexpr std::chrono::seconds kCandidateTimeLimit{30};

JudgingPolicy policy_of(const SuiteOptions& options) {
  if (options.quick) return JudgingPolicy::quick();
  JudgingPolicy policy = options.thorough ? JudgingPolicy::thorough() : JudgingPolicy::standard();
  // A candidate may use a block for each thread of the specification, which takes too long for a large launch.
  const bool is_candidate = !options.device_options.candidate_path.empty();
  if (is_candidate && !options.thorough) policy.judges_large_launch = false;
  if (is_candidate) policy.float_offset_input_sets = 11;
  return policy;
}

/// The start of the command that reproduces a case: every option but its selector, device, pass and seed.
std::string reproduce_command_prefix(const SuiteOptions& options, const Mode& mode) {
  const std::string& candidate = options.device_options.candidate_path;
  std::string prefix =
      candidate.empty() ? "assay run" + options.reproduce_import_options : "assay judge " + quote_for_shell(candidate);
  if (options.quick) prefix += " --quick";
  if (options.thorough) prefix += " --thorough";
  if (options.trusts_custom_gradients) prefix += " --trust-custom-gradients";
  if (mode.flags.optimization_level != 0) prefix += fmt::format(" --optimise {}", mode.flags.optimization_level);
  if (!options.device_options.compiler.empty()) prefix += " --cxx " + quote_for_shell(options.device_options.compiler);
  for (const std::string& check : options.device_options.disabled_checks)
    prefix += " --no-check " + check;
  if (!options.device_options.approximation_tables_file.empty())
    prefix += " --ptx-tables " + quote_for_shell(options.device_options.approximation_tables_file);
  if (!options.device_options.python_interpreter.empty())
    prefix += " --python " + quote_for_shell(options.device_options.python_interpreter);
  if (!options.device_options.cuda_compiler.empty())
    prefix += " --cuda-compiler " + options.device_options.cuda_compiler;
  if (!options.device_options.nvrtc_version_or_path.empty())
    prefix += " --nvrtc " + quote_for_shell(options.device_options.nvrtc_version_or_path);
  if (!options.device_options.architectures.empty())
    prefix += fmt::format(" --arch {}", fmt::join(options.device_options.architectures, ","));
  if (!options.launches_folder.empty()) prefix += " --launches " + quote_for_shell(options.launches_folder);
  if (!options.cross_check_device.empty()) prefix += " --cross-check " + options.cross_check_device;
  return candidate.empty() ? prefix + mode_option(options.device, mode) : prefix + " --against";
}

RunOptions run_options(const SuiteOptions& options, const Mode& mode) {
  // Warp takes seconds for each kernel, and a batch shows no progress before its first kernel is judged.
  constexpr std::size_t kBatch = 96, kWarpBatch = 24;
  const bool emitted = backends::runs_emitted_code(backends::device_descriptor(options.device));
  return {.jobs = options.jobs,
          .seed = options.seed,
          .policy = policy_of(options),
          .batch_size = emitted ? kBatch : kWarpBatch,
          .repetition_count = options.repetition_count,
          .mode = mode,
          .time_limit = options.device_options.candidate_path.empty() ? RunOptions{}.time_limit : kCandidateTimeLimit,
          .fixed_extents = options.fixed_extents,
          .trusts_custom_gradients = options.trusts_custom_gradients,
          .reproduce_command_prefix = reproduce_command_prefix(options, mode),
          .reproduce_command_has_device = options.device_options.candidate_path.empty(),
          .keeps_source_texts = true};
}

/// The selection by mode and passes: most runs have one group for each mode.
std::vector<KernelGroup> groups_by_passes(const Selection& selection, const std::vector<Mode>& modes,
                                          const SuiteOptions& options,
                                          const std::vector<backends::NamedBuild>& builds) {
  const KernelSampleSize sample = sample_of(options.thorough ? "thorough" : options.quick ? "quick" : "standard");
  std::vector<KernelGroup> groups;
  for (const Mode& mode : modes) {
    const std::size_t first = groups.size();
    for (const SelectedKernel& kernel : selection.kernels) {
      const bool forward = kernel.forward && options.pass != "backward";
      const bool backward = kernel.backward && options.pass != "forward";
      std::optional<Mode> judged = judged_mode(mode, kernel, modes, sample);
      if (judged && options.follows_another_device)
        judged = mode_for_further_device(*judged, kernel.source.family, kernel.source.kernel, sample);
      if (!judged || (!forward && !backward)) continue;
      auto group =
          std::find_if(groups.begin() + static_cast<std::ptrdiff_t>(first), groups.end(), [&](const KernelGroup& g) {
            return g.options.forward == forward && g.options.backward == backward &&
                   g.options.mode.flags == judged->flags;
          });
      if (group == groups.end()) {
        group = groups.insert(
            group, KernelGroup{.options = run_options(make_options_for_build(options, builds, mode.build), *judged)});
        group->options.forward = forward;
        group->options.backward = backward;
      }
      group->sources.push_back(kernel.source);
    }
  }
  return groups;
}

/// One in this many kernels is also judged with optimization; with --thorough all are.
constexpr std::uint64_t kOptimizedSampleInterval = 16;
constexpr int kSampledLevel = 2;
/// Larger modules are not in the sample: optimizing their backward kernels may take minutes.
constexpr std::size_t kMostExpressionsInSample = 3000;

bool is_sampled(const KernelSource& source, const SuiteOptions& options) {
  if (source.parse_error) return false;
  std::size_t expressions = 0;
  for (const auto* functions : {&source.module->functions, &source.module->kernels})
    for (const ir::Function& function : *functions)
      expressions += function.expressions.size();
  if (expressions > kMostExpressionsInSample && !options.thorough) return false;
  return options.thorough || fnv1a(source.family + "/" + source.kernel) % kOptimizedSampleInterval == 0;
}

/// Adds the sample that is judged at -O2, in a separate mode, to a run without an explicit level.
void add_optimized_sample(std::vector<KernelGroup>& groups, const SuiteOptions& options) {
  if (!backends::device_descriptor(options.device).has_optimization_levels ||
      options.optimization_levels != std::vector{0} || options.builds.compilers.size() > 1 || options.quick)
    return;
  Mode mode = modes_of(options.device, "strict", kSampledLevel).front();
  // The unoptimized builds show with f64 promotion that the formulas are right.
  mode.flags.omits_promoted = !options.thorough;
  std::vector<KernelGroup> sample;
  for (const KernelGroup& group : groups) {
    if (group.options.mode.flags.contracts_multiply_add) continue;
    KernelGroup optimized{.options = run_options(options, mode), .sources = {}};
    optimized.options.forward = group.options.forward;
    optimized.options.backward = group.options.backward;
    std::ranges::copy_if(group.sources, std::back_inserter(optimized.sources),
                         [&](const KernelSource& source) { return is_sampled(source, options); });
    if (!optimized.sources.empty()) sample.push_back(std::move(optimized));
  }
  std::ranges::move(sample, std::back_inserter(groups));
}

/// Hash of everything that determines the records of a selection.
std::string inputs_of(const Selection& selection, const std::vector<Mode>& modes, const SuiteOptions& options,
                      const std::vector<backends::NamedBuild>& builds) {
  std::string text = fmt::format("{}\n{}\n{}\n", options.pass, options.seed, options.repetition_count);
  for (const Mode& mode : modes)
    text += reproduce_command_prefix(make_options_for_build(options, builds, mode.build), mode) + "\n";
  for (const SelectedKernel& kernel : selection.kernels)
    text += fmt::format("{} {} {} {}\n{}\n", kernel.source.selector, kernel.forward, kernel.backward,
                        fmt::join(kernel.modes, " "), kernel.source.python) +
            (kernel.source.recorded_launches == nullptr ? "" : digest_of(*kernel.source.recorded_launches));
  return sha256_hex(text);
}

}  // namespace

std::optional<Mode> judged_mode(const Mode& mode, const SelectedKernel& kernel, const std::vector<Mode>& modes,
                                KernelSampleSize sample) {
  if (std::ranges::find(kernel.modes, mode.name) == kernel.modes.end()) return std::nullopt;
  if (kernel.modes.size() < modes.size()) return for_family(mode, kernel.source.family);
  return mode_for_kernel(mode, modes, kernel.source.family, kernel.source.kernel, sample);
}

SuiteOptions make_options_for_build(const SuiteOptions& options, const std::vector<backends::NamedBuild>& builds,
                                    std::string_view build) {
  SuiteOptions result = options;
  result.device_options = std::ranges::find(builds, build, &backends::NamedBuild::name)->options;
  return result;
}

Result<RunSelection> select_run(const SuiteOptions& options, const std::vector<Mode>& modes,
                                const std::vector<backends::NamedBuild>& builds) {
  RunSelection run_selection;
  std::vector<std::string> selectors = options.selectors;
  std::vector<CaseRecord> failed;
  if (!options.failed_run_folder.empty()) {
    auto before = failed_cases(options.failed_run_folder, options.device);
    if (!before.ok()) return before.error();
    failed = before.take();
    selectors = selectors_of(failed);
    if (selectors.empty()) return run_selection;
  }
  Result<Selection> selection = options.exported_kernels
                                    ? select_exported(*options.exported_kernels, names_of(modes))
                                    : select(selectors, {.device = options.device,
                                                         .modes = names_of(modes),
                                                         .random_kernels_per_family = options.random_kernels_per_family,
                                                         .first_random_seed = options.seed});
  if (!selection.ok()) return selection.error();
  run_selection.selection = selection.take();
  if (!options.failed_run_folder.empty()) keep_failed(run_selection.selection, failed);
  if (!options.launches_folder.empty()) {
    const auto files = read_launch_files(options.launches_folder);
    if (!files.ok()) return files.error();
    if (auto attached = attach_launches(run_selection.selection, *files); !attached.ok()) return attached.error();
  }
  run_selection.inputs_hash = inputs_of(run_selection.selection, modes, options, builds);
  if (!options.shard.empty()) {
    const Result<Shard> shard = parse_shard(options.shard);
    if (!shard.ok()) return shard.error();
    run_selection.shard = *shard;
    keep_shard(run_selection.selection, run_selection.shard);
  }
  return run_selection;
}

std::vector<KernelGroup> make_kernel_groups(const RunSelection& run_selection, const std::vector<Mode>& modes,
                                            const SuiteOptions& options,
                                            const std::vector<backends::NamedBuild>& builds) {
  std::vector<KernelGroup> groups = groups_by_passes(run_selection.selection, modes, options, builds);
  add_optimized_sample(groups, options);
  return groups;
}

}  // namespace assay::harness
