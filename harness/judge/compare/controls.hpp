// Negative controls: incorrect results that the comparator must reject. A comparator that accepts one cannot be trusted
// with the actual result (docs/design/numerics.md, section 5).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "harness/judge/compare/comparator.hpp"

namespace assay::harness {

/// The negative controls of one array, and how the comparator decided.
struct NegativeControlCounts {
  std::int64_t tried_controls = 0;     ///< number of controls that differ from the actual result
  std::int64_t rejected_controls = 0;  ///< of these, the number that the comparator rejected
  std::string_view
      wrongly_accepted_control_name;  ///< name of a control that the comparator accepted; empty if there is none
  /// Name of the rejected control with the least greatest rho; empty if none was rejected.
  std::string_view nearest_rejected_control;
  double least_rejected_rho = 0;  ///< greatest rho of this control over the array

  void reject(std::string_view name, double rho);

  void add(const NegativeControlCounts& other);
};

/// Presents zeros, ones, the mean of the inputs, the result plus one, and the negated, doubled, shuffled and
/// shifted-by-one-row result to the comparator. `got` passed; `expected` are its bounds; `row_length` is the number of
/// scalars in one row of the array. The comparator must also reject results at the edge: just beyond the bounds on
/// either side, with only the last value beyond its bound, and with numbers and NaN exchanged; these are not counted. A
/// control that equals the result does not count. For a gradient, `initial_gradient` is the initial content of the
/// buffer, which corresponds to an adjoint that adds nothing; empty for outputs.
NegativeControlCounts try_negative_controls(std::span<const ComputedScalar> got,
                                            std::span<const ExpectedScalar> expected, double input_mean,
                                            std::size_t row_length, std::uint64_t seed,
                                            std::span<const ComputedScalar> initial_gradient = {});

}  // namespace assay::harness
