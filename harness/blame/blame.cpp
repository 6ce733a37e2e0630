#include "harness/blame/blame.hpp"

#include <memory>
#include <utility>
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
  options.repeat = 1;
  options.keep_sources = false;
  options.on_counterexample = nullptr;
  options.measure = nullptr;
  options.examine_failure = nullptr;
  options.cross_check_device = nullptr;
  options.verdicts = nullptr;
  options.test_plans = nullptr;
  return options;
}

/// Judges one build; `vote` says which.
Vote judged(Vote vote, const backends::DeviceOptions& device_options, const KernelSource& source,
            const Printer& printer, const RunOptions& options) {
  const auto device = backends::make_device(vote.device, device_options);
  if (!device.ok() || !(*device)->can_run().available) {
    vote.outcome = Outcome::unsupported;
    return vote;
  }
  harness::run_batch({&source, 1}, **device, printer, options, [&](const CaseRecord& record) {
    vote.outcome = record.outcome;
    vote.kind = record.kind;
  });
  return vote;
}

/// Whether a variant of another device than the failing one says something new.
bool is_wanted(const BuildVariant& variant, bool same_device) {
  return same_device || variant.role == Role::kUnoptimized || variant.role == Role::kTrapping;
}

}  // namespace

bool can_examine(const CaseRecord& record) {
  const backends::DeviceRow* const row = backends::find_device(record.device);
  if (row == nullptr || row->variants == nullptr) return false;
  return record.outcome == Outcome::fail || record.outcome == Outcome::crashed ||
         record.outcome == Outcome::memory_fault;
}

harness::Blame find_culprit(const CaseRecord& failing, const KernelSource& source, const Printer& printer,
                            const RunOptions& options, const backends::DeviceOptions& device_options) {
  const RunOptions usual = alone(options, failing.pass);
  RunOptions unoptimized = usual;
  unoptimized.mode.flags.optimization_level = 0;
  unoptimized.mode.flags.fast_compile = false;
  std::vector<Vote> votes;
  for (const backends::DeviceRow& row : backends::devices()) {
    if (row.variants == nullptr) continue;
    for (const BuildVariant& variant : row.variants(device_options)) {
      if (!is_wanted(variant, row.name == failing.device)) continue;
      const bool optimizes = variant.role == Role::kSameFlags || variant.role == Role::kOtherCompiler;
      Vote vote{.device = std::string(row.name),
                .role = variant.role,
                .compiler = variant.compiler,
                .target = variant.target};
      votes.push_back(judged(std::move(vote), variant.options, source, printer, optimizes ? usual : unoptimized));
    }
  }
  harness::Blame blame = decide(failing, votes);
  if (blame.culprit != "undetermined") return blame;
  for (const backends::DeviceRow& row : backends::devices()) {
    if (backends::runs_emitted_code(row) || row.is_gpu) continue;
    Vote vote{.device = std::string(row.name), .compiler = "code of NVIDIA Warp", .is_other_generator = true};
    votes.push_back(judged(std::move(vote), device_options, source, printer, unoptimized));
    break;
  }
  return decide(failing, votes);
}

}  // namespace assay::blame
