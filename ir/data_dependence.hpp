// Finds the arrays whose accesses depend on the contents of a kernel's arrays.
#pragma once

#include <algorithm>
#include <vector>

#include "ir/module.hpp"

namespace assay::ir {

/// How the content of arrays may decide which elements of an array are accessed.
struct DataDependence {
  /// Whether it may decide if an access is made, as in `if x[i] > 0.0: y[i] = 1.0`, and no access to the same element
  /// is always made.
  bool is_conditional = false;
  /// By dimension: whether it may decide the index, as in `y[index[i]]`.
  std::vector<bool> has_computed_index;

  /// Whether it may decide which elements are accessed.
  [[nodiscard]] bool any() const { return is_conditional || computes_index(); }
  /// Whether it may decide the index in some dimension.
  [[nodiscard]] bool computes_index() const {
    return std::ranges::find(has_computed_index, true) != has_computed_index.end();
  }
  friend bool operator==(const DataDependence&, const DataDependence&) = default;
};

/// By parameter of the kernel: how the accesses to it depend on data; without dimensions for parameters that are no
/// arrays. Conservative: as much as possible where the analysis cannot tell. The module must be valid.
std::vector<DataDependence> data_dependences(const Module& module, const Function& kernel);

}  // namespace assay::ir
