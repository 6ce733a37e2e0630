#include "harness/mutation/mutation_testing.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>
#include <optional>
#include <thread>
#include <variant>

#include <fmt/format.h>

#include "backends/warp/replaced_code.hpp"
#include "harness/mutation/equivalence.hpp"
#include "harness/mutation/mutation.hpp"
#include "harness/suite/run/batch.hpp"
#include "ir/source_location.hpp"
#include "ir/text.hpp"
#include "ir/verifier.hpp"
#include "support/hash.hpp"
#include "support/rng.hpp"

namespace assay::mutation {
namespace {

using backends::EmittedKernel;
using harness::PreparedKernel;

/// Limit on the lines of a patch: if a variable moves, variables are renumbered and most lines differ.
constexpr std::size_t kMostPatchLines = 12;

harness::RunOptions run_options(const MutationCampaign& campaign) {
  return {.jobs = campaign.jobs, .seed = campaign.seed, .policy = campaign.policy, .mode = {}};
}

/// The differing lines of two texts: those between their common prefix and suffix, at most `most` of each.
std::string differing_lines(const std::string& before, const std::string& after, std::size_t most = std::string::npos) {
  const auto lines = [](const std::string& text) {
    std::vector<std::string> all;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      all.push_back(text.substr(at, end - at));
      at = end + 1;
    }
    return all;
  };
  const std::vector<std::string> a = lines(before), b = lines(after);
  const std::size_t shorter = std::min(a.size(), b.size());
  std::size_t head = 0, tail = 0;
  while (head < shorter && a[head] == b[head])
    ++head;
  while (tail < shorter - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail])
    ++tail;
  std::string patch;
  const auto add = [&](const char* sign, const std::vector<std::string>& text) {
    const std::size_t end = text.size() - tail;
    const std::size_t shown = std::min(most, end - head);
    for (std::size_t i = head; i < head + shown; ++i)
      patch += sign + text[i] + "\n";
    if (end > head + shown) patch += fmt::format(" ... {} more lines\n", end - head - shown);
  };
  add("-", a);
  add("+", b);
  return patch;
}

/// Records the difference between the texts.
void note_patch(MutantRecord& record, const std::string& before, const std::string& after) {
  record.patch = differing_lines(before, after, kMostPatchLines);
  record.patch_hash = fnv1a(differing_lines(before, after));
}

bool is_about(const EquivalenceProof& proof, const MutantRecord& record) {
  return proof.kernel == record.family + "/" + record.kernel && proof.op == record.op &&
         proof.patch_hash == record.patch_hash;
}

bool has_equivalence_proof(const MutantRecord& record) {
  const auto is_about_it = [&](const EquivalenceProof& proof) { return is_about(proof, record); };
  return std::ranges::any_of(kEquivalenceProofs, is_about_it) ||
         std::ranges::any_of(kWarpEquivalenceProofs, is_about_it);
}

void widen(reference::ReferenceResult& reference, double factor) {
  const auto scale = [&](auto& arrays) {
    for (auto& array : arrays) {
      if (!array) continue;
      for (auto& element : array->elements) {
        for (double& bound : element.bound)
          bound *= factor;
      }
    }
  };
  scale(reference.outputs);
  scale(reference.gradients);
}

/// The test plan with all bounds widened by the factor.
harness::TestPlan widened(harness::TestPlan test_plan, double factor) {
  for (harness::InputSet& set : test_plan.input_sets) {
    widen(set.reference, factor);
    for (auto& paths : set.alternative_path_results) {
      for (reference::ReferenceResult& path : paths)
        widen(path, factor);
    }
  }
  for (harness::DrawnLaunch& drawn : test_plan.extreme_size_launches)
    widen(drawn.reference, factor);
  return test_plan;
}

/// A mutant with its source.
struct Made {
  PlannedMutant planned;
  MutantRecord record;
  EmittedKernel emitted_kernel;
  std::optional<EmittedKernel> kernel_with_marked_barrier = std::nullopt;  ///< TextMutation::marked
};

/// Makes the mutants of one correct kernel.
class MutantFactory {
 public:
  MutantFactory(const MutationCampaign& campaign, std::size_t kernel, const harness::Printer& printer,
                backends::SourceTarget target)
      : campaign_(campaign),
        number_(kernel),
        printer_(printer),
        target_(target),
        prepared_(harness::prepare_kernel(campaign.kernels[kernel], printer, target, run_options(campaign))) {
    usable_ = !prepared_.early_result && prepared_.emitted_kernel;
    if (!usable_) return;
    kernel_.emplace(*prepared_.source->module, prepared_.kernel());
    if (prepared_.adjoint) backward_.emplace(*prepared_.adjoint, prepared_.kernel());
  }

  bool usable() const { return usable_; }
  const PreparedKernel& prepared() const { return prepared_; }

  std::size_t places(MutationOperator op) const {
    if (!usable_) return 0;
    if (target_ == backends::SourceTarget::kWarpPython)
      return warp_codes() == nullptr ? 0 : find_warp_mutations(op, warp_codes()->native).size();
    if (row(op).changed_part == MutatedKernelPart::kPrintedText)
      return find_text_mutations(op, *prepared_.emitted_kernel).size();
    const MutationContext* context = setting_of(op);
    return context == nullptr ? 0 : find_mutations(op, *context).size();
  }

  /// Nothing if the mutant is invalid or does not differ from the kernel.
  std::optional<Made> make(const PlannedMutant& planned) const {
    Made made{.planned = planned, .record = {}, .emitted_kernel = {}};
    const harness::KernelSource& source = campaign_.kernels[number_];
    made.record = {
        .name = name_of(campaign_, planned), .op = planned.op, .family = source.family, .kernel = source.kernel};
    if (target_ == backends::SourceTarget::kWarpPython) return with_warp_code(std::move(made));
    if (row(planned.op).changed_part == MutatedKernelPart::kPrintedText) {
      auto found = find_text_mutations(planned.op, *prepared_.emitted_kernel);
      made.record.description = found[planned.mutation_index].description;
      made.emitted_kernel = std::move(found[planned.mutation_index].kernel);
      made.kernel_with_marked_barrier = std::move(found[planned.mutation_index].kernel_with_marked_barrier);
      note_patch(made.record, prepared_.emitted_kernel->source(), made.emitted_kernel.source());
      return made;
    }
    const MutationContext& context = *setting_of(planned.op);
    const Mutation mutation = find_mutations(planned.op, context)[planned.mutation_index];
    made.record.description = mutation.description;
    const ir::SourceLocation place = ir::source_location(context.module, mutation.loc);
    made.record.line = place.is_imported ? 0 : place.loc.line;
    ir::Function changed = context.function;
    FunctionEditor editor(context.module, changed);
    mutation.apply(editor);
    auto emitted = print(planned.op, changed, made.record);
    if (!emitted) return std::nullopt;
    made.emitted_kernel = std::move(*emitted);
    return made;
  }

 private:
  /// The text that Warp generates for the kernel, if the device runs it.
  const WarpCodes* warp_codes() const {
    const bool has_codes = number_ < campaign_.warp_codes.size() && campaign_.warp_codes[number_];
    return has_codes ? &*campaign_.warp_codes[number_] : nullptr;
  }

  /// Makes the same change in both precisions. If the texts differ in more than their types, only the native text is
  /// changed.
  Made with_warp_code(Made made) const {
    const std::size_t number = made.planned.mutation_index;
    auto native = find_warp_mutations(made.planned.op, warp_codes()->native);
    auto promoted = find_warp_mutations(made.planned.op, warp_codes()->promoted);
    made.record.description = native[number].description;
    note_patch(made.record, warp_codes()->native.source, native[number].source);
    made.emitted_kernel = *prepared_.emitted_kernel;
    const auto replace = [&](backends::Precision precision, std::string& text) {
      made.emitted_kernel.helpers.push_back(
          {.name = warp::replacement_code_helper_name(precision), .text = std::move(text)});
    };
    if (promoted.size() == native.size()) replace(backends::Precision::kPromoted, promoted[number].source);
    replace(backends::Precision::kNative, native[number].source);
    return made;
  }

  const MutationContext* setting_of(MutationOperator op) const {
    if (row(op).changed_part != MutatedKernelPart::kBackward) return &*kernel_;
    return backward_ ? &*backward_ : nullptr;
  }

  /// A copy of the module with a kernel replaced by the function; empty if it is invalid or unchanged.
  static std::optional<ir::Module> with_kernel(const ir::Module& module, std::size_t kernel, ir::Function changed,
                                               MutantRecord& record) {
    ir::Module copy = module;
    copy.kernels[kernel] = std::move(changed);
    if (!ir::verify(copy).empty() || ir::hash(copy) == ir::hash(module)) return std::nullopt;
    note_patch(record, ir::to_text(module), ir::to_text(copy));
    return copy;
  }

  std::optional<EmittedKernel> print(MutationOperator op, ir::Function changed, MutantRecord& record) const {
    const harness::KernelSource& source = *prepared_.source;
    const auto printed = [&](const ir::Module& module, const ir::Function& forward, const ir::Function* backward) {
      Result<EmittedKernel> emitted = printer_(module, forward, backward, target_);
      return emitted.ok() ? std::optional(emitted.take()) : std::nullopt;
    };
    if (row(op).changed_part == MutatedKernelPart::kBackward) {
      const auto module = with_kernel(prepared_.adjoint->module, 0, std::move(changed), record);
      return module ? printed(*module, prepared_.kernel(), &module->kernels[0]) : std::nullopt;
    }
    const auto module = with_kernel(*source.module, source.kernel_index, std::move(changed), record);
    if (!module) return std::nullopt;
    const ir::Function& kernel = module->kernels[source.kernel_index];
    if (row(op).changed_part == MutatedKernelPart::kForward) {
      const ir::Function* backward = prepared_.adjoint ? &prepared_.adjoint->module.kernels[0] : nullptr;
      return printed(prepared_.adjoint ? prepared_.adjoint->module : *module, kernel, backward);
    }
    const Result<transforms::AdjointModule> adjoint = transforms::make_adjoint(*module, kernel);
    const bool same_shape = prepared_.adjoint && adjoint.ok() &&
                            adjoint->gradient_parameters.size() == prepared_.adjoint->gradient_parameters.size() &&
                            ir::hash(adjoint->module) != ir::hash(prepared_.adjoint->module);
    return same_shape ? printed(adjoint->module, prepared_.kernel(), &adjoint->module.kernels[0]) : std::nullopt;
  }

  const MutationCampaign& campaign_;
  std::size_t number_;
  const harness::Printer& printer_;
  backends::SourceTarget target_;
  PreparedKernel prepared_;
  bool usable_ = false;
  std::optional<MutationContext> kernel_, backward_;
};

std::string check_of(const harness::PassVerdict& verdict) {
  if (!verdict.failed()) return "";
  const auto decision = verdict.decide();
  const std::string outcome(harness::to_text(decision.outcome));
  if (decision.outcome != harness::Outcome::fail) return outcome + "(" + decision.outcome_detail + ")";
  return decision.outcome_detail == "mismatch" && !verdict.mismatches.empty()
             ? verdict.mismatches.front().check_name + " mismatch"
             : decision.outcome_detail;
}

/// Judges the mutants of one kernel.
class MutantJudge {
 public:
  MutantJudge(const MutationCampaign& campaign, const PreparedKernel& prepared, backends::Device& device,
              backends::DeviceSession& session)
      : campaign_(campaign), prepared_(prepared), device_(device), session_(session) {
    auto drawn = harness::draw_test_plan(subject(), bench(true, true));
    if (auto* test_plan = std::get_if<harness::TestPlan>(&drawn)) test_plan_ = std::move(*test_plan);
  }

  /// Whether the original kernel passes, in the passes in which its mutants are judged.
  bool original_passes(const backends::BuiltKernel& kernel) const {
    if (!test_plan_) return false;
    for (const bool forward : {true, false}) {
      if (!forward && prepared_.adjoint == std::nullopt) continue;
      for (const bool promote : {true, false}) {
        if (!check(kernel, forward, promote, *test_plan_).empty()) return false;
      }
    }
    return true;
  }

  void judge(const backends::BuiltKernel& kernel, MutantRecord& record, const EmittedKernel& emitted_kernel) {
    const MutatedKernelPart part = row(record.op).changed_part;
    Rejection rejection;
    record.promoted.rejecting_check = check(kernel, part, true, *test_plan_, &rejection);
    record.native.rejecting_check = check(kernel, part, false, *test_plan_, &rejection);
    if (campaign_.keeps_rejections && (record.promoted.killed() || record.native.killed())) {
      rejection.kernel = emitted_kernel;
      record.rejection = std::make_shared<const Rejection>(std::move(rejection));
    }
    record.status =
        record.promoted.killed() || record.native.killed() ? MutantStatus::kKilled : MutantStatus::kSurvived;
    if (!campaign_.judges_widened_bounds || !record.native.killed()) return;
    for (std::size_t w = 0; w < kBoundWideningFactors.size(); ++w)
      record.killed_with_widened_bounds.push_back(!check(kernel, part, false, with_wider_bounds(w)).empty());
  }

 private:
  harness::KernelUnderTest subject() const {
    return {.module = *prepared_.source->module,
            .kernel = prepared_.kernel(),
            .promoted = *prepared_.promoted,
            .adjoint = prepared_.adjoint ? &*prepared_.adjoint : nullptr,
            .oracle = *prepared_.oracle,
            .promoted_oracle = *prepared_.promoted_oracle};
  }

  harness::JudgeConfiguration bench(bool forward, bool backward) const {
    const auto library = device_.uses_cuda_math() ? reference::MathLibrary::kCuda : reference::MathLibrary::kLibm;
    return {.session = session_,
            .policy = campaign_.policy,
            .profile = {.native_library = library, .promoted_library = library, .flushes_subnormals = false},
            .seed = campaign_.seed,
            .forward = forward,
            .backward = backward,
            .time_limit = campaign_.time_limit};
  }

  const harness::TestPlan& with_wider_bounds(std::size_t number) {
    for (std::size_t w = widened_.size(); w < kBoundWideningFactors.size(); ++w)
      widened_.push_back(widened(*test_plan_, kBoundWideningFactors[w]));
    return widened_[number];
  }

  /// The check that first rejects a mutation of `part`; empty if none does. Text mutations may affect both passes,
  /// which share helpers.
  std::string check(const backends::BuiltKernel& kernel, MutatedKernelPart part, bool promote,
                    const harness::TestPlan& test_plan, Rejection* rejection = nullptr) const {
    std::string rejected =
        part == MutatedKernelPart::kForward ? "" : check(kernel, false, promote, test_plan, rejection);
    if (rejected.empty() && (part == MutatedKernelPart::kForward || part == MutatedKernelPart::kPrintedText))
      rejected = check(kernel, true, promote, test_plan, rejection);
    return rejected;
  }

  /// Checks one pass; if it is rejected, replaces the evidence in `rejection`, unless that is null.
  std::string check(const backends::BuiltKernel& kernel, bool forward, bool promote, const harness::TestPlan& test_plan,
                    Rejection* rejection = nullptr) const {
    // Warp may reject the promoted kernel.
    if (promote && kernel.find(backends::Pass::kForward, backends::Precision::kPromoted) == nullptr) return "";
    harness::JudgeConfiguration bench = this->bench(forward, !forward);
    bench.policy.judges_f64_promotion = promote;
    bench.policy.judges_native_precision = !promote;
    bench.compares_with_tolerances = rejection != nullptr && campaign_.keeps_rejections && !promote;
    const harness::Judgment judgment = harness::judge(test_plan, subject(), kernel, bench);
    const harness::PassVerdict& verdict = forward ? judgment.forward : judgment.backward;
    std::string rejected = check_of(verdict);
    if (bench.compares_with_tolerances) rejection->tolerance_comparisons = verdict.tolerance_comparisons;
    if (rejection != nullptr && !rejected.empty()) {
      rejection->rejecting_check = rejected;
      rejection->message = verdict.decide().message;
      rejection->mismatch = verdict.mismatches.empty() ? std::nullopt : std::optional(verdict.mismatches.front());
      rejection->counterexample = verdict.counterexample;
    }
    return rejected;
  }

  const MutationCampaign& campaign_;
  const PreparedKernel& prepared_;
  backends::Device& device_;
  backends::DeviceSession& session_;
  std::optional<harness::TestPlan> test_plan_;
  std::vector<harness::TestPlan> widened_;
};

std::size_t jobs_of(const MutationCampaign& campaign) {
  return campaign.jobs > 0 ? static_cast<std::size_t>(campaign.jobs)
                           : std::max(1U, std::thread::hardware_concurrency());
}

/// Runs work(k) for each k below count on the campaign's threads.
void in_parallel(const MutationCampaign& campaign, std::size_t count, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  const auto loop = [&] {
    for (std::size_t k = next++; k < count; k = next++)
      work(k);
  };
  std::vector<std::jthread> threads;
  for (std::size_t t = 1; t < std::min(jobs_of(campaign), count); ++t)
    threads.emplace_back(loop);
  loop();
}

/// Marks the precision variants that passed as equivalent by proof if the missing barrier is redundant there.
void check_barrier_redundant(const EmittedKernel& kernel_with_marked_barrier, MutantRecord& record,
                             backends::Device& device, const IsBarrierRedundant& is_redundant) {
  if (record.promoted.killed() && record.native.killed()) return;
  const backends::BuildOutcome outcome =
      device.build({&kernel_with_marked_barrier, 1}, backends::BuildFlags::strict()).front();
  const auto* built = std::get_if<backends::BuiltKernel>(&outcome);
  if (built == nullptr) return;
  const auto prove = [&](backends::Precision precision, PrecisionVerdict& verdict) {
    if (verdict.killed()) return;
    const Result<bool> proof = is_redundant(*built, precision);
    verdict.equivalent_by_proof = proof.ok() && *proof;
  };
  prove(backends::Precision::kPromoted, record.promoted);
  prove(backends::Precision::kNative, record.native);
}

/// Makes and judges all mutants of one kernel, in the order of the plan.
std::vector<MutantRecord> judged(const MutationCampaign& campaign, std::size_t kernel,
                                 const std::vector<PlannedMutant>& planned, backends::Device& device,
                                 const harness::Printer& printer, const EquivalenceChecks& proofs) {
  const MutantFactory factory(campaign, kernel, printer, device.target());
  std::vector<EmittedKernel> sources{*factory.prepared().emitted_kernel};
  std::vector<std::optional<EmittedKernel>> kernel_with_marked_barrier;
  std::vector<MutantRecord> records;
  for (const PlannedMutant& one : planned) {
    std::optional<Made> made = factory.make(one);
    if (!made) continue;
    records.push_back(std::move(made->record));
    sources.push_back(std::move(made->emitted_kernel));
    kernel_with_marked_barrier.push_back(std::move(made->kernel_with_marked_barrier));
  }
  if (records.empty()) return records;
  backends::BuildFlags flags = backends::BuildFlags::strict();
  flags.uses_fastest_compiler = true;
  const std::vector<backends::BuildOutcome> built = device.build(sources, flags);
  Result<std::unique_ptr<backends::DeviceSession>> session = device.open({});
  const auto* original = std::get_if<backends::BuiltKernel>(&built[0]);
  if (original == nullptr || !session.ok()) return records;
  MutantJudge judge(campaign, factory.prepared(), device, **session);
  if (!judge.original_passes(*original)) return records;
  for (std::size_t m = 0; m < records.size(); ++m) {
    const auto* mutant = std::get_if<backends::BuiltKernel>(&built[m + 1]);
    if (mutant == nullptr) continue;
    MutantRecord& record = records[m];
    judge.judge(*mutant, record, sources[m + 1]);
    if (kernel_with_marked_barrier[m])
      check_barrier_redundant(*kernel_with_marked_barrier[m], record, device, proofs.is_barrier_redundant);
    if (record.status == MutantStatus::kKilled) record.patch.clear();
    if (record.status != MutantStatus::kSurvived) continue;
    const Result<bool> same = proofs.compiles_to_same_code(sources[0], sources[m + 1]);
    if (same.ok() && *same) record.status = MutantStatus::kEquivalent;
    else if (has_equivalence_proof(record) ||
             (record.promoted.equivalent_by_proof && record.native.equivalent_by_proof))
      record.status = MutantStatus::kEquivalentByProof;
  }
  return records;
}

}  // namespace

std::string name_of(const MutationCampaign& campaign, const PlannedMutant& mutant) {
  const harness::KernelSource& source = campaign.kernels[mutant.kernel];
  return fmt::format("{}/{}#{}.{}", source.family, source.kernel, row(mutant.op).name, mutant.mutation_index);
}

std::vector<std::string> find_stale_proofs(const MutationCampaign& campaign, std::span<const EquivalenceProof> proofs,
                                           backends::SourceTarget target, const harness::Printer& printer) {
  std::vector<std::string> stale;
  for (const EquivalenceProof& proof : proofs) {
    for (std::size_t k = 0; k < campaign.kernels.size(); ++k) {
      if (campaign.kernels[k].family + "/" + campaign.kernels[k].kernel != proof.kernel) continue;
      const MutantFactory factory(campaign, k, printer, target);
      bool found = false;
      for (std::size_t n = 0; n < factory.places(proof.op) && !found; ++n) {
        const std::optional<Made> made = factory.make({k, proof.op, n});
        found = made && is_about(proof, made->record);
      }
      if (!found) stale.emplace_back(proof.kernel);
    }
  }
  return stale;
}

std::vector<PlannedMutant> plan_mutants(const MutationCampaign& campaign, const backends::Device& device,
                                        const harness::Printer& printer) {
  std::vector<std::map<MutationOperator, std::size_t>> places(campaign.kernels.size());
  in_parallel(campaign, campaign.kernels.size(), [&](std::size_t k) {
    const MutantFactory factory(campaign, k, printer, device.target());
    for (const MutationOperator op : campaign.operators)
      places[k][op] = factory.places(op);
  });

  // The places of each operator in random order, round-robin over the kernels.
  std::map<MutationOperator, std::vector<PlannedMutant>> queues;
  for (const MutationOperator op : campaign.operators) {
    Rng rng(fnv1a(row(op).name) ^ campaign.seed);
    std::vector<std::vector<PlannedMutant>> rounds;
    for (std::size_t k = 0; k < campaign.kernels.size(); ++k) {
      std::vector<std::size_t> numbers(places[k][op]);
      std::iota(numbers.begin(), numbers.end(), std::size_t{0});
      rng.shuffle(numbers);
      for (std::size_t r = 0; r < numbers.size(); ++r) {
        if (rounds.size() <= r) rounds.emplace_back();
        rounds[r].push_back({k, op, numbers[r]});
      }
    }
    for (std::vector<PlannedMutant>& round : rounds) {
      rng.shuffle(round);
      queues[op].insert(queues[op].end(), round.begin(), round.end());
    }
  }
  std::vector<PlannedMutant> plan;
  for (std::size_t r = 0; plan.size() < campaign.max_mutants; ++r) {
    const std::size_t before = plan.size();
    for (const auto& [op, queue] : queues) {
      if (r < queue.size() && plan.size() < campaign.max_mutants) plan.push_back(queue[r]);
    }
    if (plan.size() == before) break;
  }
  return plan;
}

Result<void> run_mutants(const MutationCampaign& campaign, const std::vector<PlannedMutant>& plan,
                         backends::Device& device, const harness::Printer& printer, const EquivalenceChecks& proofs,
                         const MutantCallback& take) {
  std::map<std::size_t, std::vector<PlannedMutant>> by_kernel;
  for (const PlannedMutant& mutant : plan) {
    if (!campaign.completed_mutants.contains(name_of(campaign, mutant))) by_kernel[mutant.kernel].push_back(mutant);
  }
  const std::vector<std::pair<std::size_t, std::vector<PlannedMutant>>> work(by_kernel.begin(), by_kernel.end());
  std::mutex taking;
  std::optional<Error> failure;
  in_parallel(campaign, work.size(), [&](std::size_t w) {
    {
      const std::lock_guard lock(taking);
      if (failure) return;
    }
    const auto records = judged(campaign, work[w].first, work[w].second, device, printer, proofs);
    const std::lock_guard lock(taking);
    for (const MutantRecord& record : records) {
      if (failure) return;
      if (const Result<void> taken = take(record); !taken.ok()) failure = taken.error();
    }
  });
  if (failure) return *failure;
  return {};
}

}  // namespace assay::mutation
