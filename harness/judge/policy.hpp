// How thoroughly a kernel is judged (docs/design/numerics.md, section 1).
#pragma once

#include <cstdint>

namespace assay::harness {

struct Policy {
  int generic_sets = 6;      ///< input sets drawn evenly from the domain
  int edge_sets = 2;         ///< close to the domain's ends
  int scale_sets = 2;        ///< large and small magnitudes
  int deep_sets = 2;         ///< of these, how many also go through T0, T2 and T5
  int redraws = 20;          ///< for a set with uncertain decisions or too wide bounds
  int thresholds = 8;        ///< choices of the kernel that are tried closely on either side
  bool large_launch = true;  ///< one launch above 65,535 threads, compared on sampled threads
  /// Backward it costs as much as all other launches together: of this many kernels one has it.
  std::uint64_t large_backward_one_in = 8;
  /// A verdict takes both lanes. How strong each is by itself is known by leaving the other out.
  bool native_precision = true;  ///< T3 and T5, sizes
  bool f64_promotion = true;     ///< T1 and T2

  int sets() const { return generic_sets + edge_sets + scale_sets; }

  static constexpr Policy standard() { return {}; }
  static constexpr Policy quick() {
    return {.generic_sets = 2, .edge_sets = 0, .scale_sets = 0, .deep_sets = 1, .thresholds = 0, .large_launch = false};
  }
  static constexpr Policy thorough() {
    return {.generic_sets = 24,
            .edge_sets = 8,
            .scale_sets = 8,
            .deep_sets = 8,
            .thresholds = 32,
            .large_backward_one_in = 1};
  }
};

/// Budgets of checks without a verdict; beyond them a case is inconclusive.
inline constexpr double kInconclusiveShare = 0.10;
/// Of the generic sets, the share that must be conclusive.
inline constexpr double kConclusiveSets = 0.8;
/// Negative controls that the comparator must refuse for each output and each gradient.
inline constexpr std::int64_t kControlsRejected = 3;
/// Finite differences of the generated code against its own adjoint, relative, beside the scheme's error estimate.
inline constexpr double kDifferenceGate = 1e-8;

}  // namespace assay::harness
