// The median of measurements.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace assay::bench {

/// The median of at least one value; the upper of two middle values.
inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace assay::bench
