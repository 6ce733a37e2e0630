// Where names are looked up: the file's top level, or the inside of one call of a Python function that makes kernels.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/module_scope.hpp"
#include "frontend/syntax.hpp"

namespace assay::frontend {

struct FunctionEntry;

struct Environment {
  explicit Environment(ir::Module& module) : scope(module) {}
  /// Inside `around`, whose names it sees.
  Environment(ir::Module& module, const Environment& around) : scope(module, &around.scope), outer(&around) {}

  ModuleScope scope;
  std::map<std::string, std::vector<FunctionEntry*>, std::less<>> functions;
  std::map<std::string, Node, std::less<>> factories;  ///< Python functions, by name
  const Environment* outer = nullptr;
};

}  // namespace assay::frontend
