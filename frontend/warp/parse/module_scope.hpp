// The names of a file's top level, apart from its functions: imports, constants, type aliases and structs.
//
// Nothing is executed: a name is known if its value follows from literals, arithmetic, Warp's types and other known
// names; any other is remembered with the reason, which is told when a kernel uses it.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "frontend/warp/parse/constant.hpp"
#include "frontend/warp/syntax/syntax.hpp"
#include "ir/module.hpp"
#include "support/result.hpp"

namespace assay::frontend {

class ModuleScope {
 public:
  /// Structs are added to `module`. Names that are not defined here are looked up in `outer`.
  explicit ModuleScope(ir::Module& module, const ModuleScope* outer = nullptr) : module_(module), outer_(outer) {}

  void add_import(Node statement);
  /// A module-level assignment. One that cannot be understood makes its names unknown, which is no error by itself.
  void add_assignment(Node assignment);
  /// A class decorated with @wp.struct. The error's message is the reason.
  Result<void> add_struct(Node class_definition);
  /// A class that needs no decorator: an IntEnum, or a name for a vector or matrix type. False if it is neither, or if
  /// its name has a meaning already.
  bool add_class(Node class_definition);
  /// Makes the name unknown for this reason.
  void forbid(std::string_view name, std::string reason);
  /// Leaves the name's meaning open until it is first asked for; `settle` then gives it one.
  void defer(std::string_view name, std::function<void()> settle);
  /// Drops what an import made of the name, as the file defines it anew.
  void forget_import(std::string_view name);
  /// Settles the name if that was deferred, or if it is that of a module's member, "module.member".
  bool settle(std::string_view name) const;

  /// A module that a file can be found for.
  struct FileModule {
    std::string importing_file;
    std::string module;
  };
  /// Names a module. `bring` gives "name.member" its meaning here when that is first asked for.
  void add_module(std::string_view name, FileModule module,
                  std::function<void(const std::string& name, const std::string& member)> bring);
  /// The module that `name` names here or around; null if none.
  const FileModule* file_module(std::string_view name) const;
  /// Gives `name` the meaning that `original` has in the scope `from`. False if that is none.
  bool adopt(std::string_view name, const ModuleScope& from, std::string_view original);
  /// Gives a name its meaning, as a call gives one to a parameter: what the expression is in the scope `from`, or
  /// Warp's function. False if it is nothing that is known there.
  bool bind(std::string_view name, Node expression, const ModuleScope& from);
  void bind_warp(std::string_view name, std::string_view warp_name) { imported_[std::string(name)] = warp_name; }
  /// Whether this scope itself, not one around it, gives the name a meaning.
  bool knows(std::string_view name) const;

  /// What the file calls Warp's module, "wp"; empty if it has no name for it.
  std::string name_of_warp() const;
  /// What `node` names in Warp's module ("vec3", "types.vector"); empty if it is no name of Warp.
  std::string warp_name(Node node) const;
  /// The value of an expression of literals and known names; empty if it is not such.
  std::optional<Constant> constant(Node expression) const;
  /// The type that an annotation or a constructor's name stands for.
  Result<ir::Type> type(Node expression) const;
  /// The vector or matrix type of the given extents: a number, or a tuple of two.
  Result<ir::Type> sized_type(Node size, ir::Type component, bool is_vector) const;
  /// Why a name of the top level has no value here; empty if nothing is known of it.
  std::string why_unknown(std::string_view name) const;

 private:
  using Enumeration = std::map<std::string, Constant, std::less<>>;  ///< value by member

  /// The innermost scope that knows the name; null if none does.
  const ModuleScope* owner(std::string_view name) const;
  /// The scope that knows a member of a file's module, "physics.LIMIT"; null for any other attribute.
  const ModuleScope* member_owner(Node attribute) const;
  /// The Python module that the identifier names: "warp", "math"; empty if none.
  std::string_view module_name(Node name) const;
  // scope_constants.cpp
  std::optional<Constant> constant_attribute(Node attribute) const;
  std::optional<Constant> constant_of_floats(Node call, std::string_view name) const;
  std::optional<Constant> constant_comparison(Node comparison) const;
  std::optional<bool> constant_truth(Node expression) const;
  std::optional<Constant> constant_call(Node call) const;
  std::optional<Constant> constant_function(Node function, const std::vector<Constant>& values) const;
  Result<ir::Type> type_in_string(Node string) const;
  Result<ir::Type> type_of_call(Node call) const;
  Result<ir::Type> array_type(std::string_view constructor, Node arguments) const;
  Result<ir::Type> vector_or_matrix(std::string_view name, Node arguments) const;
  void define(std::string_view name, Node value);
  void add_enumeration(Node class_definition, bool is_flag);

  ir::Module& module_;
  const ModuleScope* outer_ = nullptr;
  std::map<std::string, std::string, std::less<>> modules_;   ///< alias to module: "wp" to "warp"
  std::map<std::string, std::string, std::less<>> imported_;  ///< name to Warp's name, from `from warp import`
  std::map<std::string, Constant, std::less<>> constants_;
  std::map<std::string, ir::Type, std::less<>> types_;  ///< aliases and structs
  std::map<std::string, Enumeration, std::less<>> enumerations_;
  std::map<std::string, std::string, std::less<>> unknown_;  ///< name to reason
  /// Mutable, as what a name means does not depend on when that is found out.
  mutable std::map<std::string, std::function<void()>, std::less<>> deferred_;
  struct NamedModule {
    FileModule module;
    std::function<void(const std::string& name, const std::string& member)> bring;
  };
  std::map<std::string, NamedModule, std::less<>> file_modules_;
  mutable std::set<std::string, std::less<>> brought_;  ///< "module.member"
};

/// The arguments of a call: positional ones, starred ones among them, which set `has_star`, and keyword ones by name.
struct Arguments {
  std::vector<Node> positional;
  std::map<std::string_view, Node> keyword;
  bool has_star = false;
};
Arguments arguments_of(Node call);
/// The rank that the name of an array type states, "array2d"; 0 if it is no such name.
int array_rank(std::string_view name);

}  // namespace assay::frontend
