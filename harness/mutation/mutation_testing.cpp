#include "harness/mutation/mutation_testing.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>
#include <optional>
#include <thread>
#include <variant>

#include <fmt/format.h>

#include "harness/mutation/equivalence.hpp"
#include "harness/mutation/mutation.hpp"
#include "harness/suite/run/batch.hpp"
#include "ir/hash.hpp"
#include "ir/source_location.hpp"
#include "ir/text.hpp"
#include "ir/verifier.hpp"
#include "support/hash.hpp"
#include "support/rng.hpp"

namespace assay::mutation {
namespace {

using backends::EmittedKernel;
using harness::Prepared;

/// Variables are numbered anew where one moves, and most lines then differ.
constexpr std::size_t kMostPatchLines = 12;

harness::RunOptions run_options(const Campaign& campaign) {
  return {.jobs = campaign.jobs, .seed = campaign.seed, .policy = campaign.policy, .mode = {}};
}

/// The lines of two texts that differ: those between what they begin and what they end with, at most so many of each.
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
    if (end > head + shown) patch += fmt::format(" ... {} lines more\n", end - head - shown);
  };
  add("-", a);
  add("+", b);
  return patch;
}

/// Notes in what the texts differ.
void note_patch(MutantRecord& record, const std::string& before, const std::string& after) {
  record.patch = differing_lines(before, after, kMostPatchLines);
  record.patch_hash = fnv1a(differing_lines(before, after));
}

bool is_about(const ProvedEqual& proof, const MutantRecord& record) {
  return proof.kernel == record.family + "/" + record.kernel && proof.op == record.op &&
         proof.patch == record.patch_hash;
}

bool is_proved_equal(const MutantRecord& record) {
  return std::ranges::any_of(kProvedEqual, [&](const ProvedEqual& proof) { return is_about(proof, record); });
}

void widen(reference::Reference& reference, double factor) {
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

/// The exam with all bounds so much wider.
harness::TestPlan widened(harness::TestPlan test_plan, double factor) {
  for (harness::InputSet& set : test_plan.sets) {
    widen(set.reference, factor);
    for (auto& paths : set.other_paths) {
      for (reference::Reference& path : paths)
        widen(path, factor);
    }
  }
  for (harness::Drawn& drawn : test_plan.sizes)
    widen(drawn.reference, factor);
  return test_plan;
}

/// A mutant's source, and what of it differs.
struct Made {
  Planned planned;
  MutantRecord record;
  EmittedKernel emitted;
  std::optional<EmittedKernel> marked = std::nullopt;  ///< TextMutation::marked
};

/// One right kernel, and the mutants that are made of it.
class Workshop {
 public:
  Workshop(const Campaign& campaign, std::size_t kernel, const harness::Printer& printer, backends::SourceTarget target)
      : campaign_(campaign),
        number_(kernel),
        printer_(printer),
        target_(target),
        prepared_(harness::prepare(campaign.kernels[kernel], printer, target, run_options(campaign))) {
    usable_ = !prepared_.stopped && prepared_.emitted;
    if (!usable_) return;
    kernel_.emplace(*prepared_.source->module, prepared_.kernel());
    if (prepared_.adjoint) backward_.emplace(*prepared_.adjoint, prepared_.kernel());
  }

  bool usable() const { return usable_; }
  const Prepared& prepared() const { return prepared_; }

  std::size_t places(Operator op) const {
    if (!usable_) return 0;
    if (row(op).part == Part::kText) return find_text_mutations(op, *prepared_.emitted).size();
    const Setting* setting = setting_of(op);
    return setting == nullptr ? 0 : find_mutations(op, *setting).size();
  }

  /// Nothing where the change gives no valid program, or none that differs.
  std::optional<Made> make(const Planned& planned) const {
    Made made{.planned = planned, .record = {}, .emitted = {}};
    const harness::KernelSource& source = campaign_.kernels[number_];
    made.record = {
        .name = name_of(campaign_, planned), .op = planned.op, .family = source.family, .kernel = source.kernel};
    if (row(planned.op).part == Part::kText) {
      auto found = find_text_mutations(planned.op, *prepared_.emitted);
      made.record.what = found[planned.number].what;
      made.emitted = std::move(found[planned.number].kernel);
      made.marked = std::move(found[planned.number].marked);
      note_patch(made.record, prepared_.emitted->source(), made.emitted.source());
      return made;
    }
    const Setting& setting = *setting_of(planned.op);
    const Mutation mutation = find_mutations(planned.op, setting)[planned.number];
    made.record.what = mutation.what;
    const ir::SourceLocation place = ir::source_location(setting.module, mutation.loc);
    made.record.line = place.is_imported ? 0 : place.loc.line;
    ir::Function changed = setting.function;
    Editor editor(setting.module, changed);
    mutation.apply(editor);
    auto emitted = print(planned.op, changed, made.record);
    if (!emitted) return std::nullopt;
    made.emitted = std::move(*emitted);
    return made;
  }

 private:
  const Setting* setting_of(Operator op) const {
    if (row(op).part != Part::kBackward) return &*kernel_;
    return backward_ ? &*backward_ : nullptr;
  }

  /// A copy of the module with the function in the place of a kernel; empty if it is not valid or not another program.
  static std::optional<ir::Module> with_kernel(const ir::Module& module, std::size_t kernel, ir::Function changed,
                                               MutantRecord& record) {
    ir::Module copy = module;
    copy.kernels[kernel] = std::move(changed);
    if (!ir::verify(copy).empty() || ir::hash(copy) == ir::hash(module)) return std::nullopt;
    note_patch(record, ir::to_text(module), ir::to_text(copy));
    return copy;
  }

  std::optional<EmittedKernel> print(Operator op, ir::Function changed, MutantRecord& record) const {
    const harness::KernelSource& source = *prepared_.source;
    const auto printed = [&](const ir::Module& module, const ir::Function& forward, const ir::Function* backward) {
      Result<EmittedKernel> emitted = printer_(module, forward, backward, target_);
      return emitted.ok() ? std::optional(emitted.take()) : std::nullopt;
    };
    if (row(op).part == Part::kBackward) {
      const auto module = with_kernel(prepared_.adjoint->module, 0, std::move(changed), record);
      return module ? printed(*module, prepared_.kernel(), &module->kernels[0]) : std::nullopt;
    }
    const auto module = with_kernel(*source.module, source.kernel_index, std::move(changed), record);
    if (!module) return std::nullopt;
    const ir::Function& kernel = module->kernels[source.kernel_index];
    if (row(op).part == Part::kForward) {
      const ir::Function* backward = prepared_.adjoint ? &prepared_.adjoint->module.kernels[0] : nullptr;
      return printed(prepared_.adjoint ? prepared_.adjoint->module : *module, kernel, backward);
    }
    const Result<transforms::Adjoint> adjoint = transforms::make_adjoint(*module, kernel);
    const bool same_shape = prepared_.adjoint && adjoint.ok() &&
                            adjoint->gradients.size() == prepared_.adjoint->gradients.size() &&
                            ir::hash(adjoint->module) != ir::hash(prepared_.adjoint->module);
    return same_shape ? printed(adjoint->module, prepared_.kernel(), &adjoint->module.kernels[0]) : std::nullopt;
  }

  const Campaign& campaign_;
  std::size_t number_;
  const harness::Printer& printer_;
  backends::SourceTarget target_;
  Prepared prepared_;
  bool usable_ = false;
  std::optional<Setting> kernel_, backward_;
};

std::string check_of(const harness::PassVerdict& verdict) {
  if (!verdict.failed()) return "";
  const auto decision = verdict.decide();
  const std::string outcome(harness::to_text(decision.outcome));
  if (decision.outcome != harness::Outcome::fail) return outcome + "(" + decision.kind + ")";
  return decision.kind == "mismatch" && !verdict.mismatches.empty() ? verdict.mismatches.front().tier + " mismatch"
                                                                    : decision.kind;
}

/// Judges the mutants of one kernel.
class Tribunal {
 public:
  Tribunal(const Campaign& campaign, const Prepared& prepared, backends::Device& device, backends::Session& session)
      : campaign_(campaign), prepared_(prepared), device_(device), session_(session) {
    auto drawn = harness::draw_test_plan(subject(), bench(true, true));
    if (auto* test_plan = std::get_if<harness::TestPlan>(&drawn)) test_plan_ = std::move(*test_plan);
  }

  /// Whether the suite passes the kernel itself, in the passes that mutants of it are judged by.
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

  void judge(const backends::BuiltKernel& kernel, MutantRecord& record) {
    const Part part = row(record.op).part;
    record.promote.check = check(kernel, part, true, *test_plan_);
    record.native.check = check(kernel, part, false, *test_plan_);
    record.fate = record.promote.killed() || record.native.killed() ? Fate::kKilled : Fate::kSurvived;
    if (!campaign_.widen || !record.native.killed()) return;
    for (std::size_t w = 0; w < kWidenings.size(); ++w)
      record.killed_widened.push_back(!check(kernel, part, false, with_wider_bounds(w)).empty());
  }

 private:
  harness::Subject subject() const {
    return {.module = *prepared_.source->module,
            .kernel = prepared_.kernel(),
            .promoted = *prepared_.promoted,
            .adjoint = prepared_.adjoint ? &*prepared_.adjoint : nullptr,
            .oracle = *prepared_.oracle,
            .promoted_oracle = *prepared_.promoted_oracle};
  }

  harness::JudgeConfiguration bench(bool forward, bool backward) const {
    const bool cuda = device_.target() == backends::SourceTarget::kCuda;
    const auto library = cuda ? reference::MathLibrary::kCuda : reference::MathLibrary::kLibm;
    return {.session = session_,
            .policy = campaign_.policy,
            .profile = {.native_library = library, .promoted_library = library, .flush_to_zero = false},
            .seed = campaign_.seed,
            .forward = forward,
            .backward = backward,
            .time_limit = campaign_.time_limit};
  }

  const harness::TestPlan& with_wider_bounds(std::size_t number) {
    for (std::size_t w = widened_.size(); w < kWidenings.size(); ++w)
      widened_.push_back(widened(*test_plan_, kWidenings[w]));
    return widened_[number];
  }

  /// What refuses a change of `part` first; empty if nothing does. The two passes share helpers, which are text.
  std::string check(const backends::BuiltKernel& kernel, Part part, bool promote,
                    const harness::TestPlan& test_plan) const {
    std::string rejected = part == Part::kForward ? "" : check(kernel, false, promote, test_plan);
    if (rejected.empty() && (part == Part::kForward || part == Part::kText))
      rejected = check(kernel, true, promote, test_plan);
    return rejected;
  }

  std::string check(const backends::BuiltKernel& kernel, bool forward, bool promote,
                    const harness::TestPlan& test_plan) const {
    harness::JudgeConfiguration bench = this->bench(forward, !forward);
    bench.policy.f64_promotion = promote;
    bench.policy.native_precision = !promote;
    const harness::Judgement judgement = harness::judge(test_plan, subject(), kernel, bench);
    return check_of(forward ? judgement.forward : judgement.backward);
  }

  const Campaign& campaign_;
  const Prepared& prepared_;
  backends::Device& device_;
  backends::Session& session_;
  std::optional<harness::TestPlan> test_plan_;
  std::vector<harness::TestPlan> widened_;
};

std::size_t jobs_of(const Campaign& campaign) {
  return campaign.jobs > 0 ? static_cast<std::size_t>(campaign.jobs)
                           : std::max(1U, std::thread::hardware_concurrency());
}

/// Runs work(k) for each k below count on the campaign's threads.
void in_parallel(const Campaign& campaign, std::size_t count, const std::function<void(std::size_t)>& work) {
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

/// Notes of the lanes that passed a missing barrier where it is none.
void prove_barrier_needless(const EmittedKernel& marked, MutantRecord& record, backends::Device& device,
                            const NeedlessBarrier& needless) {
  if (record.promote.killed() && record.native.killed()) return;
  const backends::BuildOutcome outcome = device.build({&marked, 1}, backends::BuildFlags::strict()).front();
  const auto* built = std::get_if<backends::BuiltKernel>(&outcome);
  if (built == nullptr) return;
  const auto prove = [&](backends::Precision precision, PrecisionVerdict& verdict) {
    if (verdict.killed()) return;
    const Result<bool> proof = needless(*built, precision);
    verdict.proved = proof.ok() && *proof;
  };
  prove(backends::Precision::kPromoted, record.promote);
  prove(backends::Precision::kNative, record.native);
}

/// All mutants of one kernel, judged; in the order of the plan.
std::vector<MutantRecord> judged(const Campaign& campaign, std::size_t kernel, const std::vector<Planned>& planned,
                                 backends::Device& device, const harness::Printer& printer, const Proofs& proofs) {
  const Workshop workshop(campaign, kernel, printer, device.target());
  std::vector<EmittedKernel> sources{*workshop.prepared().emitted};
  std::vector<std::optional<EmittedKernel>> marked;
  std::vector<MutantRecord> records;
  for (const Planned& one : planned) {
    std::optional<Made> made = workshop.make(one);
    if (!made) continue;
    records.push_back(std::move(made->record));
    sources.push_back(std::move(made->emitted));
    marked.push_back(std::move(made->marked));
  }
  if (records.empty()) return records;
  const std::vector<backends::BuildOutcome> built = device.build(sources, backends::BuildFlags::strict());
  Result<std::unique_ptr<backends::Session>> session = device.open({});
  const auto* right = std::get_if<backends::BuiltKernel>(&built[0]);
  if (right == nullptr || !session.ok()) return records;
  Tribunal tribunal(campaign, workshop.prepared(), device, **session);
  if (!tribunal.original_passes(*right)) return records;
  for (std::size_t m = 0; m < records.size(); ++m) {
    const auto* mutant = std::get_if<backends::BuiltKernel>(&built[m + 1]);
    if (mutant == nullptr) continue;
    MutantRecord& record = records[m];
    tribunal.judge(*mutant, record);
    if (marked[m]) prove_barrier_needless(*marked[m], record, device, proofs.needless_barrier);
    if (record.fate == Fate::kKilled) record.patch.clear();
    if (record.fate != Fate::kSurvived) continue;
    const Result<bool> same = proofs.same_code(sources[0], sources[m + 1]);
    if (same.ok() && *same) record.fate = Fate::kEquivalent;
    else if (is_proved_equal(record) || (record.promote.proved && record.native.proved)) record.fate = Fate::kProved;
  }
  return records;
}

}  // namespace

std::string name_of(const Campaign& campaign, const Planned& mutant) {
  const harness::KernelSource& source = campaign.kernels[mutant.kernel];
  return fmt::format("{}/{}#{}.{}", source.family, source.kernel, row(mutant.op).name, mutant.number);
}

std::vector<std::string> stale_proofs(const Campaign& campaign, std::span<const ProvedEqual> proofs,
                                      backends::SourceTarget target, const harness::Printer& printer) {
  std::vector<std::string> stale;
  for (const ProvedEqual& proof : proofs) {
    for (std::size_t k = 0; k < campaign.kernels.size(); ++k) {
      if (campaign.kernels[k].family + "/" + campaign.kernels[k].kernel != proof.kernel) continue;
      const Workshop workshop(campaign, k, printer, target);
      bool found = false;
      for (std::size_t n = 0; n < workshop.places(proof.op) && !found; ++n) {
        const std::optional<Made> made = workshop.make({k, proof.op, n});
        found = made && is_about(proof, made->record);
      }
      if (!found) stale.emplace_back(proof.kernel);
    }
  }
  return stale;
}

std::vector<Planned> plan_mutants(const Campaign& campaign, const backends::Device& device,
                                  const harness::Printer& printer) {
  std::vector<std::map<Operator, std::size_t>> places(campaign.kernels.size());
  in_parallel(campaign, campaign.kernels.size(), [&](std::size_t k) {
    const Workshop workshop(campaign, k, printer, device.target());
    for (const Operator op : campaign.operators)
      places[k][op] = workshop.places(op);
  });

  // Each operator's places in a random order, but one of each kernel before the second of any.
  std::map<Operator, std::vector<Planned>> queues;
  for (const Operator op : campaign.operators) {
    Rng rng(fnv1a(row(op).name) ^ campaign.seed);
    std::vector<std::vector<Planned>> rounds;
    for (std::size_t k = 0; k < campaign.kernels.size(); ++k) {
      std::vector<std::size_t> numbers(places[k][op]);
      std::iota(numbers.begin(), numbers.end(), std::size_t{0});
      rng.shuffle(numbers);
      for (std::size_t r = 0; r < numbers.size(); ++r) {
        if (rounds.size() <= r) rounds.emplace_back();
        rounds[r].push_back({k, op, numbers[r]});
      }
    }
    for (std::vector<Planned>& round : rounds) {
      rng.shuffle(round);
      queues[op].insert(queues[op].end(), round.begin(), round.end());
    }
  }
  std::vector<Planned> plan;
  for (std::size_t r = 0; plan.size() < campaign.mutants; ++r) {
    const std::size_t before = plan.size();
    for (const auto& [op, queue] : queues) {
      if (r < queue.size() && plan.size() < campaign.mutants) plan.push_back(queue[r]);
    }
    if (plan.size() == before) break;
  }
  return plan;
}

Result<void> run_mutants(const Campaign& campaign, const std::vector<Planned>& plan, backends::Device& device,
                         const harness::Printer& printer, const Proofs& proofs, const TakeMutant& take) {
  std::map<std::size_t, std::vector<Planned>> by_kernel;
  for (const Planned& mutant : plan) {
    if (!campaign.done.contains(name_of(campaign, mutant))) by_kernel[mutant.kernel].push_back(mutant);
  }
  const std::vector<std::pair<std::size_t, std::vector<Planned>>> work(by_kernel.begin(), by_kernel.end());
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
