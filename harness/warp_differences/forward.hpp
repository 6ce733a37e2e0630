// Holds what Warp computed forward against the oracle's bound.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/warp_differences/exchange.hpp"
#include "harness/warp_differences/subject.hpp"

namespace assay::warp {

struct ForwardComparison {
  std::int64_t checks = 0;              ///< scalars with a verdict
  std::int64_t unknown = 0;             ///< scalars whose bound is infinite
  std::vector<std::string> mismatches;  ///< the first few: array, index, expected, bound, got
};

/// Every cell that the kernel writes. The answer must be done.
ForwardComparison compare_forward(const Subject& subject, std::size_t launch, const Answer& answer);

/// The scalar of an array as Python names it: "x[3, 2]", and ".1" behind it for a part of a compound element.
std::string place(const Subject& subject, std::size_t parameter, const ir::Argument& argument, std::size_t scalar);

}  // namespace assay::warp
