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
/// decision is uncertain or the gradient's bounds are too wide to be informative, at most Policy::max_redraws times.
/// Further sets cover branches that these leave uncovered (coverage.hpp). A kernel with atomics gets an additional set,
/// whose sums are exact in any order.
std::variant<std::vector<InputSet>, NoInputs> draw_sets(const KernelUnderTest& subject, InputSpace& space,
                                                        const Policy& policy,
                                                        const reference::ArithmeticProfile& profile,
                                                        std::uint64_t seed);

/// One set of the given extent, without redraws.
std::variant<InputSet, NoInputs> draw_set(const KernelUnderTest& subject, InputSpace& space, const DrawRequest& request,
                                          const reference::ArithmeticProfile& profile, bool gradient);

}  // namespace assay::harness
