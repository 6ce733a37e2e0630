// The input sets of a kernel whose real launches were recorded.
//
// Each recorded launch is an input set. Further sets are copies of these with other float values: inside the range that
// the values of the same parameter and component have in the recorded launch. Integers stay as they are, unless a
// `domain` annotation gives their range, because most are indices or counts. A copy for which the kernel is not well
// defined is dropped; a recorded launch for which it is not is evidence of a defect.
#pragma once

#include <span>
#include <variant>
#include <vector>

#include "harness/judge/draw_sets.hpp"
#include "harness/judge/recorded_launch.hpp"

namespace assay::harness {

/// The inputs made from recorded launches.
struct RecordedSets {
  std::vector<InputSet> input_sets;  ///< input sets; those with the values of the recorded launches come first
  std::vector<DrawnLaunch>
      large_launches;  ///< recorded launches too large for a set; the oracle ran a sample of their threads
};

/// The sets of these launches, at most as many as the policy has unless more were recorded. A set of a launch with many
/// threads has only its first threads. Fails with the finding if the kernel is not well defined for a recorded launch,
/// or if it needs too many instructions.
std::variant<RecordedSets, InputDrawFailure> make_recorded_sets(const KernelUnderTest& subject, const InputSpace& space,
                                                                std::span<const RecordedLaunch> recorded,
                                                                const JudgingPolicy& policy,
                                                                const reference::ArithmeticProfile& profile,
                                                                std::uint64_t seed);

}  // namespace assay::harness
