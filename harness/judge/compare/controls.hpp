// Negative controls: wrong results that the comparator must refuse. A comparator that accepts one cannot be trusted
// with the true result (docs/design/numerics.md, section 5).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "harness/judge/compare/comparator.hpp"

namespace assay::harness {

struct ControlTally {
  std::int64_t presented = 0;  ///< controls that differ from the true result
  std::int64_t rejected = 0;   ///< of these, how many the comparator refused
  std::string_view accepted;   ///< name of one that it accepted; empty if none
  std::string_view closest;    ///< name of the refused one with the least `closest_rho`; empty if none was refused
  double closest_rho = 0;      ///< its greatest rho

  void reject(std::string_view name, double rho);

  void add(const ControlTally& other);
};

/// Presents zeros, ones, the inputs' mean, the result plus one, the negated, doubled, shuffled and shifted-by-one-row
/// result to the comparator. `got` passed; `expected` are its bounds; `row` is the number of scalars in one row of the
/// array. Results at the edge are presented too, and must all be refused: just beyond the bounds on either side, with
/// the last value alone beyond its bound, no number where there should be one; these are not counted. A control that
/// equals the result does not count. For a gradient, `untouched` is what the buffer held before, which stands for an
/// adjoint that adds nothing; empty for outputs.
ControlTally present_controls(std::span<const Computed> got, std::span<const Expected> expected, double input_mean,
                              std::size_t row, std::uint64_t seed, std::span<const Computed> untouched = {});

}  // namespace assay::harness
