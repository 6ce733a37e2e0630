// Environments for name lookup: the top level of a file, or one call of a kernel factory (a Python function that
// defines kernels).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/warp/parse/module_scope.hpp"
#include "frontend/warp/syntax/syntax.hpp"

namespace assay::frontend {

struct SourceFunction;

/// The names that are visible at the top level of a file, or in one call of a kernel factory.
struct Environment {
  /// The top level of a file.
  Environment(ir::Module& module, std::string file_name, bool imported)
      : scope(module), file(std::move(file_name)), is_imported(imported) {}
  /// Nested in `around`, whose names are visible.
  Environment(ir::Module& module, const Environment& around)
      : scope(module, &around.scope),
        enclosing_environment(&around),
        file(around.file),
        is_imported(around.is_imported) {}

  ModuleScope scope;  ///< constants, types and imports by name
  /// Functions and kernels by name; several with the same name are overloads.
  std::map<std::string, std::vector<SourceFunction*>, std::less<>> functions;
  std::map<std::string, SyntaxNode, std::less<>> kernel_factories;  ///< Python functions that define kernels, by name
  const Environment* enclosing_environment = nullptr;  ///< enclosing environment; null for the top level of a file
  /// Name of the factory, if this is a call with assumed arguments because the file never calls it; otherwise empty.
  std::string uncalled_factory_name;
  /// Parameters of this factory with their assumed values.
  std::vector<std::pair<std::string, std::string>> assumed_arguments;
  std::string file;          ///< name of the file
  bool is_imported = false;  ///< whether another file imports from the file
};

}  // namespace assay::frontend
