// Finds inputs close to the thresholds of a kernel's branches. Only such inputs reveal a slightly incorrect threshold.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/judge/inputs/input_space.hpp"
#include "ir/launch.hpp"
#include "ir/module.hpp"
#include "reference/cpu/reference.hpp"

namespace assay::harness {

/// Two close launches of one thread for which one choice of the kernel (reference::BranchPoint) or an integer result
/// differs.
struct ThresholdPair {
  ir::Launch before, after;  ///< the launches on either side of the threshold
};

/// Distance of the two launches: for floats, 2^-18, 2^-14 and 2^-10 of the line between two inputs of the domain;
/// integers are adjacent, and bools differ.
inline constexpr int kThresholdExponents[] = {18, 14, 10};

/// Where a line between two inputs crosses a threshold: a pair for each of kThresholdExponents, the closest first.
using Crossing = std::vector<ThresholdPair>;

/// Finds at most `most` crossings by bisection between drawn inputs, one or two for each choice. Floats are moved
/// first, then integers and bools. All integer results together count as one more choice. Further crossings are found
/// between an input and the same input with smaller floats in one parameter. Choices that are the same for all drawn
/// inputs have no crossing. `known`: the choices in other launches of the kernel. More inputs are drawn as long as one
/// of these choices differs there only. Empty: not known.
std::vector<Crossing> find_threshold_crossings(const ir::Module& module, const reference::Oracle& oracle,
                                               InputSpace& space, std::uint64_t seed, int most,
                                               const std::vector<reference::BranchPoint>& known = {});

}  // namespace assay::harness
