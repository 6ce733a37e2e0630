// Where names are looked up: a file's top level, or the inside of one call of a Python function that makes kernels.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/warp/parse/module_scope.hpp"
#include "frontend/warp/syntax/syntax.hpp"

namespace assay::frontend {

struct FunctionEntry;

struct Environment {
  /// The top level of a file.
  Environment(ir::Module& module, std::string file_name, bool imported)
      : scope(module), file(std::move(file_name)), is_imported(imported) {}
  /// Inside `around`, whose names it sees.
  Environment(ir::Module& module, const Environment& around)
      : scope(module, &around.scope), outer(&around), file(around.file), is_imported(around.is_imported) {}

  ModuleScope scope;
  std::map<std::string, std::vector<FunctionEntry*>, std::less<>> functions;
  std::map<std::string, Node, std::less<>> factories;  ///< Python functions, by name
  const Environment* outer = nullptr;
  /// Inside a Python function whose arguments nothing gives: its name, and the parameters with the values chosen for
  /// them.
  std::string assumed_for;
  std::vector<std::pair<std::string, std::string>> assumed;
  std::string file;
  bool is_imported = false;  ///< the file is one that another imports from
};

}  // namespace assay::frontend
