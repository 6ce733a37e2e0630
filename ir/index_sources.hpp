// Finds the arrays whose elements are used as indices of other arrays.
#pragma once

#include <set>
#include <vector>

#include "ir/module.hpp"

namespace assay::ir {

/// The integer arrays, parameters of a kernel, from whose elements the indices of some accesses are computed.
struct IndexSources {
  std::set<VarId> direct;    ///< as `first` in `y[first[i] + j]`
  std::set<VarId> indirect;  ///< their elements select elements of other sources, as `order` in `y[first[order[i]]]`

  friend bool operator==(const IndexSources&, const IndexSources&) = default;
};

/// For each parameter of a kernel, the sources of the indices with which it is accessed. The bound of a loop is no
/// source of its variable, but the start is.
struct ParameterIndexSources {
  IndexSources loads;   ///< of accesses that read elements
  IndexSources stores;  ///< of accesses that change elements, atomics among them
};

/// The sources for each parameter of the kernel. Conservative: what a variable contains is the union of all that is
/// assigned to it. The module must be valid.
std::vector<ParameterIndexSources> index_sources(const Module& module, const Function& kernel);

}  // namespace assay::ir
