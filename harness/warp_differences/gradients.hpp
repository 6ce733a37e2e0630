// Holds Warp's gradients against the oracle's; where they depart, finite differences say which are right.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "harness/warp_differences/exchange.hpp"
#include "harness/warp_differences/subject.hpp"

namespace assay::warp {

enum class Arbitration : std::uint8_t {
  kWarpWrong,  ///< the difference quotient agrees with ours and not with Warp's
  kWeWrong,    ///< the difference quotient does not agree with ours
  kUndecided,  ///< no difference quotient: a kink within every step, or a pole
};

/// An array whose gradient in Warp departs from ours.
struct Departure {
  std::size_t parameter = 0;
  std::size_t departing = 0, compared = 0;  ///< scalars
  // The scalar that decided.
  std::string place;
  long double ours = 0;
  double warp = 0;
  std::optional<long double> difference;
  Arbitration arbitration = Arbitration::kUndecided;
};

struct GradientComparison {
  std::size_t agreeing = 0;  ///< arrays
  std::size_t unknown = 0;   ///< arrays of which no scalar has a finite bound
  std::vector<Departure> departures;
};

/// Gradients of all float arrays, but for those that the kernel only overwrites: what is left in such a buffer after a
/// backward pass is nobody's derivative. Agreement is |warp - ours| <= 4 bound + 1e-5 magnitude; the answer must be
/// done.
GradientComparison compare_gradients(const Subject& subject, std::size_t launch, const Answer& answer);

}  // namespace assay::warp
