// Compares Warp's forward results with the oracle's bounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "harness/judge/compare/comparator.hpp"
#include "harness/warp_differences/exchange.hpp"
#include "harness/warp_differences/subject.hpp"

namespace assay::warp {

/// The result of comparing one launch.
struct ForwardComparison {
  std::int64_t checked_scalars = 0;     ///< number of scalars with a verdict
  std::int64_t unbounded_scalars = 0;   ///< number of scalars whose bound is infinite
  std::vector<std::string> mismatches;  ///< the first few, each with array, index, expected value, bound and result
};

/// One scalar that the kernel writes: the oracle's and Warp's result.
struct ComparedScalar {
  std::size_t parameter_index = 0;   ///< index of the array's parameter
  std::size_t scalar_index = 0;      ///< index of the scalar in the array, component by component
  harness::ExpectedScalar expected;  ///< the oracle's value and bound
  harness::ComputedScalar got;       ///< Warp's result
  /// Whether Warp's result is within the bound.
  harness::Agreement agreement = harness::Agreement::kAgrees;
};
using VisitScalar = std::function<void(const ComparedScalar&)>;

/// Compares every element that the kernel writes, and passes each comparison to `visit`, if given. The status of
/// `answer` must be kDone.
ForwardComparison compare_forward(const ComparedKernel& subject, std::size_t launch, const WarpPassResult& answer,
                                  const VisitScalar& visit = {});

/// The comparison as text: "expected 1 within 1e-07, got 2".
std::string describe(const harness::ExpectedScalar& expected, const harness::ComputedScalar& got);

/// A scalar of an array in Python notation: "x[3, 2]", followed by ".1" for a component of a compound element.
std::string element_notation(const ComparedKernel& subject, std::size_t parameter, const ir::Argument& argument,
                             std::size_t scalar);

}  // namespace assay::warp
