// The top-level names of a file except its functions: imports, constants, type aliases and structs.
//
// Nothing is executed: a name is known if its value follows from literals, arithmetic, Warp's types and other known
// names; any other name is stored with a reason, which is reported when a kernel uses the name.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/warp/parse/constant.hpp"
#include "frontend/warp/syntax/syntax.hpp"
#include "ir/module.hpp"
#include "support/result.hpp"

namespace assay::frontend {

/// The names at the top level of a file, or in a scope inside it, and what they mean.
class ModuleScope {
 public:
  /// Structs are added to `module`. Names that are not defined here are looked up in `outer`.
  explicit ModuleScope(ir::Module& module, const ModuleScope* outer = nullptr)
      : module_(module), enclosing_scope_(outer) {}

  void add_import(SyntaxNode statement);
  /// A module-level assignment. An unsupported one makes its names unknown, which is not an error by itself.
  void add_assignment(SyntaxNode assignment);
  /// The assignment of the value to the name, at module level.
  void define(std::string_view name, SyntaxNode value);
  /// A class decorated with @wp.struct. The error's message is the reason.
  Result<void> add_struct(SyntaxNode class_definition);
  /// A class that needs no decorator: an IntEnum, or a name for a vector or matrix type. False if it is neither, or if
  /// its name has a meaning already.
  bool add_class(SyntaxNode class_definition);
  /// Makes the name unknown for this reason.
  void mark_unknown(std::string_view name, std::string reason);
  /// The same, for a name that stays unknown whatever defines it later.
  void mark_rebound(std::string_view name, std::string reason);
  /// Defers the definition of the name until its first use; `resolve_deferred` then defines it.
  void defer(std::string_view name, std::function<void()> settle);
  /// Removes an import of the name, because the file redefines it.
  void remove_import(std::string_view name);
  /// Defines the name if that was deferred, or if it is a member of a module, "module.member".
  bool resolve_deferred(std::string_view name) const;

  /// A module that is imported from a file.
  struct FileModule {
    std::string importing_file;  ///< name of the file that imports it
    std::string module;          ///< name of the imported module
  };
  /// Defines the name of a module. The first use of a member calls `import_member`, which defines "name.member".
  void add_module(std::string_view name, FileModule module,
                  std::function<void(const std::string& name, const std::string& member)> import_member);
  /// The module that `name` names here or in an enclosing scope; null if none.
  const FileModule* file_module(std::string_view name) const;
  /// Defines `name` like `original` in the scope `from`. False if that is not defined.
  bool adopt(std::string_view name, const ModuleScope& from, std::string_view original);
  /// Binds a name, such as a parameter of a call, to an expression in the scope `from` or to a Warp function. False if
  /// the expression is unknown there.
  bool bind(std::string_view name, SyntaxNode expression, const ModuleScope& from);
  /// Defines a name with a constant value.
  void define_constant(std::string_view name, Constant value) {
    constants_by_name_[std::string(name)] = std::move(value);
  }
  /// Defines a name as another name of a Warp function or type.
  void bind_warp(std::string_view name, std::string_view warp_name) {
    warp_names_by_imported_name_[std::string(name)] = warp_name;
  }
  /// Whether this scope itself, not an enclosing one, defines the name.
  bool knows(std::string_view name) const;

  /// The lines of all files that have been read.
  const std::vector<std::string>& source_lines() const { return module_.source_lines; }
  /// The file's name for the Warp module, "wp"; empty if it has none.
  std::string name_of_warp() const;
  /// The Warp name that `node` refers to ("vec3", "types.vector"); empty if it is not a name of Warp.
  std::string warp_name(SyntaxNode node) const;
  /// The Python module that the identifier names: "warp", "math"; empty if none.
  std::string_view module_name(SyntaxNode name) const;
  /// The value of a constant expression of literals and known names; empty for other expressions.
  std::optional<Constant> constant(SyntaxNode expression) const;
  /// The type that an annotation or a constructor's name stands for.
  Result<ir::Type> type(SyntaxNode expression) const;
  /// The type T of the annotation wp.ref[T]; empty for any other annotation.
  SyntaxNode referenced_type(SyntaxNode annotation) const;
  /// Whether the annotation of a parameter stands for an indexed array, and the type of its elements and rank.
  bool is_indexed_array(SyntaxNode annotation) const;
  Result<ir::Type> indexed_array_type(SyntaxNode annotation) const;
  /// The vector or matrix type of the given extents: a number, or a tuple of two.
  Result<ir::Type> quaternion_or_transform(std::string_view name, SyntaxNode call) const;
  Result<ir::Type> sized_type(SyntaxNode size, ir::Type component, bool is_vector) const;
  /// Why a top-level name has no known value; empty if the name is not defined.
  std::string reason_unknown(std::string_view name) const;

 private:
  using Enumeration = std::map<std::string, Constant, std::less<>>;  ///< value by member

  /// The innermost scope that knows the name; null if none does.
  const ModuleScope* owner(std::string_view name) const;
  /// The scope that knows a member of a file's module, "physics.LIMIT"; null for any other attribute.
  const ModuleScope* member_owner(SyntaxNode attribute) const;
  // scope_constants.cpp
  std::optional<Constant> constant_attribute(SyntaxNode attribute) const;
  std::optional<Constant> constant_of_floats(SyntaxNode call, std::string_view name) const;
  std::optional<Constant> constant_comparison(SyntaxNode comparison) const;
  std::optional<bool> constant_truth(SyntaxNode expression) const;
  std::optional<Constant> constant_call(SyntaxNode call) const;
  std::optional<Constant> constant_function(SyntaxNode function, const std::vector<Constant>& values) const;
  Result<ir::Type> type_in_string(SyntaxNode string) const;
  Result<ir::Type> type_of_call(SyntaxNode call) const;
  Result<ir::Type> array_type(int rank, SyntaxNode arguments) const;
  Result<ir::Type> vector_or_matrix(std::string_view name, SyntaxNode arguments) const;
  std::optional<Constant> constant_element(SyntaxNode subscript) const;
  bool is_only_indexed(std::string_view name) const;
  void add_enumeration(SyntaxNode class_definition, bool is_flag);

  ir::Module& module_;
  /// Scope in which names are looked up that are not defined here; null: none.
  const ModuleScope* enclosing_scope_ = nullptr;
  /// Module that each name refers to: "wp" to "warp".
  std::map<std::string, std::string, std::less<>> modules_by_alias_;
  std::map<std::string, std::string, std::less<>>
      warp_names_by_imported_name_;                                 ///< Warp's name for each name in `from warp import`
  std::map<std::string, Constant, std::less<>> constants_by_name_;  ///< value of each constant, by name
  /// A tuple or list of constants and of such tuples. Its name is unknown otherwise, because kernels can only use its
  /// elements.
  struct Sequence {
    std::optional<Constant> value = {};   ///< of an element that is a constant
    std::vector<Sequence> elements = {};  ///< elements of a tuple or list
    bool is_list = false;                 ///< whether Python code could change it
  };
  std::optional<Sequence> sequence(SyntaxNode value) const;
  const Sequence* known_sequence(SyntaxNode name) const;
  std::map<std::string, Sequence, std::less<>> sequences_by_name_;  ///< by the name of the tuple or list
  std::map<std::string, ir::Type, std::less<>> types_by_name_;      ///< type of each alias and struct, by name
  std::map<std::string, Enumeration, std::less<>> enumerations_;    ///< members of each IntEnum class, by class name
  /// For each unknown name: why it is unknown.
  std::map<std::string, std::string, std::less<>> reasons_by_unknown_name_;
  std::set<std::string, std::less<>> rebound_names_;  ///< names that stay unknown whatever defines them later
  /// Mutable, because the definition of a name does not depend on when it is resolved.
  mutable std::map<std::string, std::function<void()>, std::less<>> deferred_;
  /// An imported module whose file was found.
  struct ImportedModule {
    FileModule module;  ///< the module
    /// Defines "name.member" on its first use.
    std::function<void(const std::string& name, const std::string& member)> import_member;
  };
  /// Imported modules with a file, by their names here.
  std::map<std::string, ImportedModule, std::less<>> imported_modules_by_name_;
  mutable std::set<std::string, std::less<>> imported_members_;  ///< members that have been defined: "module.member"
};

/// The arguments of a call.
struct CallArguments {
  std::vector<SyntaxNode> positional_arguments;              ///< positional arguments, including starred ones
  std::map<std::string_view, SyntaxNode> keyword_arguments;  ///< keyword arguments by name
  bool has_star_argument = false;                            ///< whether a positional argument is starred
};
CallArguments arguments_of(SyntaxNode call);
/// The rank of an array type by its name, "array2d"; 0 for other names.
int array_rank(std::string_view name);

}  // namespace assay::frontend
