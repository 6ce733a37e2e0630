#include "harness/blame/blame.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "harness/blame/decide.hpp"
#include "harness/suite/run/batch.hpp"

namespace assay::blame {

using backends::BuildVariant;
using harness::CaseRecord;
using harness::KernelSource;
using harness::Outcome;
using harness::Printer;
using harness::RunOptions;
using Role = BuildVariant::Role;

namespace {

/// The options that judge one pass alone, without caches and without side effects.
RunOptions alone(RunOptions options, std::string_view pass) {
  options.forward = pass == to_text(backends::Pass::kForward);
  options.backward = !options.forward;
  options.repetition_count = 1;
  options.keeps_source_texts = false;
  options.on_counterexample = nullptr;
  options.measure = nullptr;
  options.examine_failure = nullptr;
  options.cross_check_device = nullptr;
  options.verdict_cache = nullptr;
  options.test_plans = nullptr;
  return options;
}

/// A device that keeps the kernel that it built last.
class KeepingDevice final : public backends::Device {
 public:
  explicit KeepingDevice(backends::Device& device) : device_(device) {}

  [[nodiscard]] std::string_view name() const override { return device_.name(); }
  [[nodiscard]] backends::SourceTarget target() const override { return device_.target(); }
  [[nodiscard]] bool uses_cuda_math() const override { return device_.uses_cuda_math(); }
  [[nodiscard]] double input_error() const override { return device_.input_error(); }
  [[nodiscard]] bool derives_work_from_extents() const override { return device_.derives_work_from_extents(); }
  [[nodiscard]] bool is_repeatable() const override { return device_.is_repeatable(); }
  [[nodiscard]] bool can_run_threads_in_order() const override { return device_.can_run_threads_in_order(); }
  [[nodiscard]] backends::Capability can_build() const override { return device_.can_build(); }
  [[nodiscard]] backends::Capability can_run() const override { return device_.can_run(); }
  [[nodiscard]] std::string build_command(const backends::BuildFlags& flags) const override {
    return device_.build_command(flags);
  }
  std::vector<backends::BuildOutcome> build(std::span<const backends::EmittedKernel> kernels,
                                            const backends::BuildFlags& flags) override {
    std::vector<backends::BuildOutcome> outcomes = device_.build(kernels, flags);
    for (const backends::BuildOutcome& outcome : outcomes)
      if (const auto* kernel = std::get_if<backends::BuiltKernel>(&outcome)) kernel_ = *kernel;
    return outcomes;
  }
  Result<std::unique_ptr<backends::DeviceSession>> open(const backends::SessionLimits& limits) override {
    return device_.open(limits);
  }

  [[nodiscard]] const std::optional<backends::BuiltKernel>& kernel() const { return kernel_; }

 private:
  backends::Device& device_;
  std::optional<backends::BuiltKernel> kernel_;
};

/// Collects what the checks of the failing device say about the builds.
class ExecutionChecks {
 public:
  /// Checks the parts that a failing build uses, and notes those that a passing build uses.
  void add(const backends::DeviceDescriptor& row, const BuildVariantResult& vote,
           const std::optional<backends::BuiltKernel>& kernel) {
    if (row.self_check == nullptr || !kernel) return;
    const bool passes = harness::is_pass(vote.outcome);
    const bool fails = vote.role == Role::kSameFlags && !passes;
    if (!passes && !fails) return;
    backends::SelfCheckResult check = row.self_check(*kernel, fails);
    if (passes) passing_.insert(check.used_instructions.begin(), check.used_instructions.end());
    if (!fails) return;
    wrong_.insert(check.differences.begin(), check.differences.end());
    unchecked_.insert(check.unchecked_instructions.begin(), check.unchecked_instructions.end());
  }

  [[nodiscard]] ExecutionEvidence evidence() const {
    ExecutionEvidence evidence{.incorrect_instructions = {wrong_.begin(), wrong_.end()}};
    std::ranges::set_difference(unchecked_, passing_, std::back_inserter(evidence.unchecked_instructions));
    return evidence;
  }

 private:
  std::set<std::string> passing_;    ///< parts that passing builds use
  std::set<std::string> unchecked_;  ///< parts that failing builds use and that cannot be checked
  std::set<std::string> wrong_;      ///< lines of SelfCheckResult::differences
};

/// Judges one build; `vote` says which.
BuildVariantResult judged(BuildVariantResult vote, const backends::DeviceOptions& device_options,
                          const KernelSource& source, const Printer& printer, const RunOptions& options,
                          ExecutionChecks* checks = nullptr) {
  const auto device = backends::make_device(vote.device, device_options);
  if (!device.ok() || !(*device)->can_run().is_available) {
    vote.outcome = Outcome::unsupported;
    return vote;
  }
  KeepingDevice keeping(**device);
  harness::run_batch({&source, 1}, keeping, printer, options, [&](const CaseRecord& record) {
    vote.outcome = record.outcome;
    vote.outcome_detail = record.outcome_detail;
  });
  if (checks != nullptr) checks->add(backends::device_descriptor(vote.device), vote, keeping.kernel());
  return vote;
}

/// Whether a variant of another device than the failing one says something new.
bool is_wanted(const BuildVariant& variant, bool same_device) {
  return same_device || variant.role == Role::kUnoptimized || variant.role == Role::kTrapOnUndefinedBehavior;
}

}  // namespace

bool can_examine(const CaseRecord& record) {
  const backends::DeviceDescriptor* const row = backends::find_device(record.device);
  if (row == nullptr || row->variants == nullptr) return false;
  // A kernel that was not built has no results, and other compilers may take as long.
  if (record.outcome_detail == "build") return false;
  return record.outcome == Outcome::fail || record.outcome == Outcome::crashed ||
         record.outcome == Outcome::memory_fault;
}

harness::FailureOrigin find_culprit(const CaseRecord& failing, const KernelSource& source, const Printer& printer,
                                    const RunOptions& options, const backends::DeviceOptions& device_options) {
  const RunOptions usual = alone(options, failing.pass);
  RunOptions unoptimized = usual;
  unoptimized.mode.flags.optimization_level = 0;
  unoptimized.mode.flags.fast_compile = false;
  unoptimized.mode.flags.compiles_batches = false;
  // Finite differences of the failing device's own forward pass say whether its gradient is wrong.
  unoptimized.decides_gradients_by_finite_differences = true;
  std::vector<BuildVariantResult> votes;
  ExecutionChecks checks;
  for (const backends::DeviceDescriptor& row : backends::devices()) {
    if (row.variants == nullptr) continue;
    for (const BuildVariant& variant : row.variants(device_options)) {
      if (!is_wanted(variant, row.name == failing.device)) continue;
      const bool optimizes = variant.role == Role::kSameFlags || variant.role == Role::kOtherCompiler;
      BuildVariantResult vote{.device = std::string(row.name),
                              .role = variant.role,
                              .compiler = variant.compiler,
                              .target = variant.target};
      ExecutionChecks* const own = row.name == failing.device ? &checks : nullptr;
      votes.push_back(judged(std::move(vote), variant.options, source, printer, optimizes ? usual : unoptimized, own));
    }
  }
  const ExecutionEvidence execution = checks.evidence();
  harness::FailureOrigin blame = decide_blame(failing, votes, execution);
  if (blame.responsible_component != "undetermined") return blame;
  for (const backends::DeviceDescriptor& row : backends::devices()) {
    if (backends::runs_emitted_code(row) || row.is_gpu) continue;
    BuildVariantResult vote{
        .device = std::string(row.name), .compiler = "code generated by NVIDIA Warp", .is_from_other_generator = true};
    votes.push_back(judged(std::move(vote), device_options, source, printer, unoptimized));
    break;
  }
  return decide_blame(failing, votes, execution);
}

}  // namespace assay::blame
