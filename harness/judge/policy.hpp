// How thoroughly a kernel is judged (docs/design/numerics.md, section 1).
#pragma once

#include <cstdint>

namespace assay::harness {

/// How many inputs are drawn, and which checks run.
struct JudgingPolicy {
  int uniform_input_sets = 6;         ///< number of input sets drawn evenly from the domain
  int near_bound_input_sets = 2;      ///< number of input sets close to the ends of the domain
  int wide_magnitude_input_sets = 2;  ///< number of input sets with large and small magnitudes
  /// Number of input sets for candidates with a large number added to each float of an array, or a large factor.
  int float_offset_input_sets = 0;
  /// Number of input sets whose arrays do not fit the launch, for kernels that use the extents of arrays.
  int other_extent_input_sets = 3;
  int fully_checked_input_sets = 2;  ///< number of sets with oracle_self_check, finite_differences and determinism
  /// Maximum number of redraws of a set with uncertain decisions or uninformative bounds.
  int max_redraws_per_input_set = 20;
  /// Maximum number of crossings of thresholds (thresholds.hpp) whose two sides are tested.
  int max_tested_thresholds = 12;
  bool judges_large_launch = true;  ///< whether to judge a launch above 65,535 threads, compared on sampled threads
  /// The large backward launch costs as much as all other launches together: one in this many kernels gets it.
  std::uint64_t kernels_per_large_backward_launch = 8;
  /// Whether to judge the kernel with its own types: native_precision, determinism, sizes. A verdict requires both
  /// precision variants; mutation testing disables one to measure the other.
  bool judges_native_precision = true;
  /// Whether to judge the kernel with f64 promotion: f64_promotion, finite_differences.
  bool judges_f64_promotion = true;

  /// Number of input sets, without those with float offsets.
  int input_sets() const { return uniform_input_sets + near_bound_input_sets + wide_magnitude_input_sets; }

  static constexpr JudgingPolicy standard() { return {}; }
  /// Few inputs, for --quick.
  static constexpr JudgingPolicy quick() {
    return {.uniform_input_sets = 2,
            .near_bound_input_sets = 0,
            .wide_magnitude_input_sets = 0,
            .other_extent_input_sets = 1,
            .fully_checked_input_sets = 1,
            .max_tested_thresholds = 0,
            .judges_large_launch = false};
  }
  /// Many inputs, for --thorough.
  static constexpr JudgingPolicy thorough() {
    return {.uniform_input_sets = 24,
            .near_bound_input_sets = 8,
            .wide_magnitude_input_sets = 8,
            .other_extent_input_sets = 12,
            .fully_checked_input_sets = 8,
            .max_tested_thresholds = 32,
            .kernels_per_large_backward_launch = 1};
  }
};

/// Largest allowed share of inconclusive checks; with a larger share the case is inconclusive.
inline constexpr double kMaxInconclusiveShare = 0.10;
/// Share of the uniformly drawn input sets that must be conclusive.
inline constexpr double kMinConclusiveSetShare = 0.8;
/// Number of negative controls that the comparator must reject, for each output and each gradient.
inline constexpr std::int64_t kRequiredRejectedControls = 3;
/// Relative tolerance of finite_differences, in addition to the error estimate of the extrapolation.
inline constexpr double kFiniteDifferenceTolerance = 1e-8;

}  // namespace assay::harness
