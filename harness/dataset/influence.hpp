// Which parameters and functions influence what a kernel writes.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "ir/module.hpp"

namespace assay::dataset {

/// The parameters that may influence the content of the array `output` after the launch, through values or through
/// conditions, in order of the parameters. The analysis follows the order of the statements: a stored value that is
/// always overwritten later has no influence. It recognizes this only for the element with the thread's own indices, as
/// in x[i].
std::vector<ir::VarId> parameters_behind(const ir::Module& module, const ir::Function& kernel, ir::VarId output);

/// What influences the content of an array after the launch, apart from parameters.
struct ConstructsBehind {
  std::set<std::string> functions;  ///< names of functions, a part of `functions_called`; no atomics
  bool loop = false;                ///< whether something that influences it is computed in a loop
  bool branch = false;              ///< whether something that influences it is computed in a branch or after one

  friend bool operator==(const ConstructsBehind&, const ConstructsBehind&) = default;
};
ConstructsBehind constructs_behind(const ir::Module& module, const ir::Function& kernel, ir::VarId output);

}  // namespace assay::dataset
