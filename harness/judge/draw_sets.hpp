// Draws the input sets on which a kernel is judged.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "harness/judge/input_set.hpp"
#include "harness/judge/inputs/input_space.hpp"
#include "harness/judge/policy.hpp"

namespace assay::harness {

/// The sets that the policy asks for, each drawn again while a decision is uncertain or the gradient's bounds are too
/// wide to be informative, at most Policy::redraws times; then sets that go where the others did not (coverage.hpp).
/// Or why the kernel has no defined run. A kernel with
/// atomics gets one set more, whose sums are exact in any order.
std::variant<std::vector<InputSet>, NoInputs> draw_sets(const Subject& subject, InputSpace& space, const Policy& policy,
                                                        const reference::Profile& profile, std::uint64_t seed);

/// One set of the given extent, not redrawn for its path.
std::variant<InputSet, NoInputs> draw_set(const Subject& subject, InputSpace& space, const DrawRequest& request,
                                          const reference::Profile& profile, bool gradient);

}  // namespace assay::harness
