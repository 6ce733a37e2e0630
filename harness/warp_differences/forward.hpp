// Compares Warp's forward results with the oracle's bounds.
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

/// Compares every element that the kernel writes. The answer must be kDone.
ForwardComparison compare_forward(const ComparedKernel& subject, std::size_t launch, const PassAnswer& answer);

/// A scalar of an array in Python notation: "x[3, 2]", followed by ".1" for a component of a compound element.
std::string place(const ComparedKernel& subject, std::size_t parameter, const ir::Argument& argument,
                  std::size_t scalar);

}  // namespace assay::warp
