// Draws the input sets on which a kernel is judged.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "harness/judge/input_set.hpp"
#include "harness/judge/inputs/input_space.hpp"
#include "harness/judge/policy.hpp"

namespace assay::harness {

/// Draws the sets that the policy requires, or returns the reason why no inputs were found. A set is redrawn while a
/// decision is uncertain or the gradient's bounds are too wide to be informative, at most
/// JudgingPolicy::max_redraws_per_input_set times. Further sets cover branches that these leave uncovered
/// (coverage.hpp). A kernel with atomics gets an additional set, whose sums are exact in any order. If no inputs are
/// found because an atomic depends on the order of the threads, the sets assume this order, and `space` states it
/// (InputSpace::order_dependence).
std::variant<std::vector<InputSet>, InputDrawFailure> draw_input_sets(const KernelUnderTest& subject, InputSpace& space,
                                                                      const JudgingPolicy& policy,
                                                                      const reference::ArithmeticProfile& profile,
                                                                      std::uint64_t seed);

/// One set of the given extent, without redraws.
std::variant<InputSet, InputDrawFailure> draw_input_set(const KernelUnderTest& subject, InputSpace& space,
                                                        const DrawRequest& request,
                                                        const reference::ArithmeticProfile& profile, bool gradient);

/// The set of this launch. Its reference has findings if the kernel is not well defined for it.
InputSet evaluate_input_set(const KernelUnderTest& subject, const InputSpace& space, const DrawRequest& request,
                            const ir::Launch& launch, const reference::ArithmeticProfile& profile);
/// Adds InputSet::alternative_path_results.
void add_alternative_paths(const KernelUnderTest& subject, const InputSpace& space,
                           const reference::ArithmeticProfile& profile, InputSet& set);

/// The greater, the more of the set is conclusive. Used to choose between sets.
double conclusiveness(const InputSet& set);
/// A set of at least this conclusiveness is not redrawn.
inline constexpr double kSufficientConclusiveness = 6 + 0.99;

}  // namespace assay::harness
