#include "harness/mutation/score.hpp"

namespace assay::mutation {

void MutantCounts::add(const MutantRecord& mutant) {
  if (mutant.fate == MutantFate::kInvalid) return;
  if (mutant.fate == MutantFate::kEquivalent) {
    ++equivalent;
    return;
  }
  if (mutant.fate == MutantFate::kEquivalentByProof) {
    ++equivalent_by_proof;
    return;
  }
  ++mutants;
  killed += mutant.fate == MutantFate::kKilled;
  promotable += row(mutant.op).detectable_by != DetectableBy::kPrecision && !mutant.promote.equivalent_by_proof;
  killed_by_promotion += mutant.promote.killed();
  killed_by_native += mutant.native.killed();
  if (mutant.fate == MutantFate::kKilled) kernels.insert(mutant.family + "/" + mutant.kernel);
}

double MutantCounts::share() const {
  return mutants == 0 ? 1 : static_cast<double>(killed) / static_cast<double>(mutants);
}

void MutationScore::add(const MutantRecord& mutant) {
  (row(mutant.op).detectable_by == DetectableBy::kThreads ? threaded : single_thread_mutants).add(mutant);
  by_operator[mutant.op].add(mutant);
  by_family[mutant.family].add(mutant);
  if (mutant.fate == MutantFate::kKilled)
    ++by_check[mutant.promote.killed() ? mutant.promote.check : mutant.native.check];
  if (mutant.fate == MutantFate::kSurvived) survivors.push_back(mutant);
  if (mutant.killed_with_widened_bounds.size() != kWidenings.size()) return;
  ++widened_kills;
  for (std::size_t w = 0; w < kWidenings.size(); ++w)
    killed_with_widened_bounds[w] += mutant.killed_with_widened_bounds[w];
}

}  // namespace assay::mutation
