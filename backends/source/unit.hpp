// The state shared by all parts of one kernel's sources, for all targets: names of structs and functions, and the
// helpers and setters used so far.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/source/helpers.hpp"
#include "backends/source/names.hpp"
#include "ir/module.hpp"

namespace assay::source {

/// Whether emitted code stores the type in 16 bits, computes in `real` and rounds after every operation.
constexpr bool is_half(ir::Scalar scalar) { return scalar == ir::Scalar::kF16 || scalar == ir::Scalar::kBF16; }

/// The C spelling of a scalar type; the kernel's 32-bit float is "real".
std::string_view spelling(ir::Scalar scalar);

/// The state of one kernel's source text.
class SourceUnit {
 public:
  /// `symbols` are the names of the entry points, which nothing else may use.
  SourceUnit(const ir::Module& module, std::vector<std::string> symbols);

  const ir::Module& module() const { return module_; }
  HelperSet& helpers() { return helpers_; }
  const HelperSet& helpers() const { return helpers_; }
  const std::vector<std::string>& symbols() const { return entry_point_names_; }
  NameScopes& globals() { return global_names_; }

  /// The spelling of a value or array type; for a local array, of its element.
  std::string type(ir::Type type);
  const std::string& struct_name(int id) const { return struct_names_[static_cast<std::size_t>(id)]; }
  /// Returns the name of a field of a struct, which is given by its index in Module::structs.
  const std::string& field_name(int id, int field) const {
    return field_names_[static_cast<std::size_t>(id)][static_cast<std::size_t>(field)];
  }
  const std::string& function_name(int id) const { return function_names_[static_cast<std::size_t>(id)]; }

  /// "// 12: y[i] = x[i]" for a line of the module's source, counted from 1.
  const std::string& comment(int line);

  /// The name of the function that returns a struct with one field replaced.
  const std::string& setter_name(int struct_id, int field);
  /// The same, and marks the function as used.
  const std::string& use_setter(int struct_id, int field);
  /// The struct and field of each used setter.
  const std::set<std::pair<int, int>>& setters() const { return used_setters_; }

  /// Notes that a printed function has a local array with elements of this type.
  void note_local_array(ir::Type element) {
    has_arrays_of_structs_ = has_arrays_of_structs_ || !element.is_scalar() || is_half(element.scalar);
  }
  /// As EmittedKernel::has_arrays_of_structs.
  [[nodiscard]] bool has_arrays_of_structs() const { return has_arrays_of_structs_; }

 private:
  void name_structs();
  void name_functions();

  const ir::Module& module_;                           ///< module that contains the kernel
  bool has_arrays_of_structs_ = false;                 ///< see has_arrays_of_structs()
  std::vector<std::string> entry_point_names_;         ///< names of the entry points
  HelperSet helpers_;                                  ///< helpers used so far
  NameScopes global_names_;                            ///< taken names at namespace scope
  std::vector<std::string> struct_names_;              ///< name of each struct
  std::vector<std::vector<std::string>> field_names_;  ///< name of each field, by struct and field
  std::vector<std::string> function_names_;            ///< name of each function
  /// Comment for each source line; empty until the first comment is requested.
  std::vector<std::string> comments_by_line_;
  std::map<std::pair<int, int>, std::string> setter_names_;  ///< name of the setter of each field, by struct and field
  std::set<std::pair<int, int>> used_setters_;               ///< setters in use, each as struct and field
};

}  // namespace assay::source
