// Custom replays (wp.func_replay): the backward pass calls a replay where it would otherwise call the function again.
// Only where the replay returns what the function returned is the result the derivative of the kernel.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/judge/input_set.hpp"
#include "reference/cpu/reference.hpp"

namespace assay::harness {

/// Decides whether the replays of a kernel repeat what their functions did in the forward pass. The oracle alone
/// decides it, so that no device is needed.
class CustomReplayCheck {
 public:
  /// `subject` must outlive the check. Returns nullopt if the kernel calls no function with a replay, has no backward
  /// pass, or has a replay that the oracle does not support.
  static std::optional<CustomReplayCheck> make(const KernelUnderTest& subject);

  /// Returns how the gradient changes if the replays run instead of their functions, as a clause such as "with the
  /// replay of 'count' (line 9), the gradient of x[2] is 0.5, but the derivative is 0.75"; nullopt if it does not
  /// change, or if that depends on uncertain decisions. `is_uninitialized` states for each parameter whether the
  /// forward pass may read only the elements that it has written.
  std::optional<std::string> find_change(const InputSet& set, const reference::ArithmeticProfile& profile,
                                         std::vector<bool> is_uninitialized) const;

 private:
  CustomReplayCheck(const KernelUnderTest& subject, reference::Oracle oracle)
      : subject_(subject), oracle_(std::move(oracle)) {}

  std::string text_of_replays() const;

  const KernelUnderTest& subject_;
  reference::Oracle oracle_;  ///< evaluates the kernel with replays in place of their functions
};

}  // namespace assay::harness
