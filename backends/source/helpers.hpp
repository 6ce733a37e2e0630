// The helpers that emitted code may use, and the set of helpers that one kernel uses.
//
// Their texts are in helpers/: common.txt for both targets, cpu.txt and cuda.txt for one. A helper starts with a line
// "=== name: required helpers" and uses only helpers above it and functions of the target language; the target's file
// comes first. In a text, $F is replaced by the qualifiers of a function and $M by those of a member function.
// $I(i, N) stands for an index i below N. It is replaced by i, and in SourceHelper::checked_text by an expression that
// checks i.
//
// A text with sums that are spelt "a $+ b" and "a $- b" makes two helpers. In the helper "dot" the sums are ordinary
// ones. In the helper "rounded_dot" they are calls of rounded_sum and rounded_difference, which a compiler does not
// contract into a fused multiply-add, and names after a "$" change: "$dot(" is "rounded_dot(", "$operator+(" is
// "rounded_sum(", "$operator-(" is "rounded_difference(" and "$operator*(" is "rounded_product(".
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "backends/device/backend.hpp"
#include "backends/device/emitted_kernel.hpp"

namespace assay::source {

/// One helper of a target and the helpers that it uses.
struct HelperWithDependencies {
  backends::SourceHelper helper;  ///< name and text of the helper
  /// Indices in helpers_of(target) of the helpers that it uses; all are smaller than its own.
  std::vector<std::size_t> dependency_indices;
};

/// The prefix of the helpers whose sums are not contracted.
inline constexpr std::string_view kRoundedPrefix = "rounded_";

/// All helpers of a target in emission order.
const std::vector<HelperWithDependencies>& helpers_of(backends::SourceTarget target);

/// The set of helpers that one kernel uses, for all targets together, because the kernel's text uses the same names for
/// each.
class HelperSet {
 public:
  HelperSet();

  /// Adds the helper and its requirements. A target without a helper of this name must provide the function itself.
  void use(std::string_view name);
  /// The same for one target.
  void use(backends::SourceTarget target, std::string_view name);

  /// Whether a target has a helper of this name.
  static bool exists(std::string_view name);
  /// Whether the target's helper is in the set.
  bool contains(backends::SourceTarget target, std::string_view name) const;
  /// The target's helpers in the set, each after its requirements.
  std::vector<backends::SourceHelper> list(backends::SourceTarget target) const;

 private:
  void add(backends::SourceTarget target, std::size_t index);

  /// For each target: whether the kernel uses the helper, by index in helpers_of(target).
  std::array<std::vector<bool>, 2> used_helpers_;
};

/// The parts of the CUDA host program for the types in the set.
std::string host_parts(const HelperSet& used);

}  // namespace assay::source
