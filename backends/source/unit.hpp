// What the parts of one kernel's sources share, whatever the target: the names of structs and functions, and what was
// used so far.
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

/// Whether emitted code stores it in 16 bits, computes it in `real` and rounds after every operation.
constexpr bool is_half(ir::Scalar scalar) { return scalar == ir::Scalar::kF16 || scalar == ir::Scalar::kBF16; }

/// A scalar type as C spells it; the kernel's 32-bit float is "real".
std::string_view spelling(ir::Scalar scalar);

class Unit {
 public:
  /// `symbols` are the names of the entry points, which nothing else may have.
  Unit(const ir::Module& module, std::vector<std::string> symbols);

  const ir::Module& module() const { return module_; }
  HelperSet& helpers() { return helpers_; }
  const HelperSet& helpers() const { return helpers_; }
  const std::vector<std::string>& symbols() const { return symbols_; }
  NameScopes& globals() { return globals_; }

  /// The spelling of a value or array type; of the element for a local array.
  std::string type(ir::Type type);
  const std::string& struct_name(int id) const { return struct_names_[static_cast<std::size_t>(id)]; }
  const std::string& field_name(int id, int field) const {
    return field_names_[static_cast<std::size_t>(id)][static_cast<std::size_t>(field)];
  }
  const std::string& function_name(int id) const { return function_names_[static_cast<std::size_t>(id)]; }

  /// "// 12: y[i] = x[i]" for a line of the module's source, counted from 1.
  const std::string& comment(int line);

  /// The name of the function that returns a struct with one field replaced.
  const std::string& setter_name(int struct_id, int field);
  /// The same, and the function is used.
  const std::string& use_setter(int struct_id, int field);
  /// Struct and field of each setter that is used.
  const std::set<std::pair<int, int>>& setters() const { return used_setters_; }

 private:
  void name_structs();
  void name_functions();

  const ir::Module& module_;
  std::vector<std::string> symbols_;
  HelperSet helpers_;
  NameScopes globals_;
  std::vector<std::string> struct_names_;
  std::vector<std::vector<std::string>> field_names_;
  std::vector<std::string> function_names_;
  std::vector<std::string> comments_;  ///< by line of the source; empty until it is asked for
  std::map<std::pair<int, int>, std::string> setter_names_;
  std::set<std::pair<int, int>> used_setters_;
};

}  // namespace assay::source
