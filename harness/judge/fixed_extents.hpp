// The extents of launches for code that supports no others.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace assay::harness {

/// Extents that every launch has, for code that supports no others.
struct FixedExtents {
  std::vector<std::int32_t> launch;                         ///< extents of the launch; empty: not fixed
  std::map<std::string, std::vector<std::int32_t>> shapes;  ///< extents of arrays, by the name of the parameter
};

}  // namespace assay::harness
