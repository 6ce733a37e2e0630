#include "harness/mutation/score.hpp"

namespace assay::mutation {

void MutantCounts::add(const MutantRecord& mutant) {
  if (mutant.status == MutantStatus::kInvalid) return;
  if (mutant.status == MutantStatus::kEquivalent) {
    ++equivalent_count;
    return;
  }
  if (mutant.status == MutantStatus::kEquivalentByProof) {
    ++equivalent_by_proof;
    return;
  }
  ++mutants;
  killed += mutant.status == MutantStatus::kKilled;
  detectable_with_promotion +=
      row(mutant.op).detectable_by != DetectableBy::kNativePrecision && !mutant.promoted.equivalent_by_proof;
  killed_by_promotion += mutant.promoted.killed();
  killed_by_native_precision += mutant.native.killed();
  if (mutant.status == MutantStatus::kKilled) kernels_with_kills.insert(mutant.family + "/" + mutant.kernel);
}

double MutantCounts::share() const {
  return mutants == 0 ? 1 : static_cast<double>(killed) / static_cast<double>(mutants);
}

void MutationScore::add(const MutantRecord& mutant) {
  (row(mutant.op).detectable_by == DetectableBy::kConcurrentThreads ? threaded_mutants : single_thread_mutants)
      .add(mutant);
  by_operator[mutant.op].add(mutant);
  by_family[mutant.family].add(mutant);
  if (mutant.status == MutantStatus::kKilled)
    ++kills_by_check[mutant.promoted.killed() ? mutant.promoted.rejecting_check : mutant.native.rejecting_check];
  if (mutant.status == MutantStatus::kSurvived) survivors.push_back(mutant);
  if (mutant.killed_with_widened_bounds.size() != kBoundWideningFactors.size()) return;
  ++mutants_judged_with_widened_bounds;
  for (std::size_t w = 0; w < kBoundWideningFactors.size(); ++w)
    killed_with_widened_bounds[w] += mutant.killed_with_widened_bounds[w];
}

}  // namespace assay::mutation
