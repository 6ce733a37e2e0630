// Types, literals and names in Warp Python: used by the writer for everything below expressions.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "ir/module.hpp"

namespace assay::ir::spelling {

/// Makes Python names unique.
class NamePool {
 public:
  /// `wanted` as a valid identifier that is not a keyword, with a number appended if it is taken.
  std::string take(std::string_view wanted);

 private:
  std::set<std::string, std::less<>> taken_names_;  ///< names that have been taken
};

/// The name after `wp.` of a vector, matrix, quaternion or transform type; empty if Warp has none.
std::string short_name(ir::Type type);

/// All types that Warp has names for, with each of their names: "float32", "float", "vec3", "vec3f", "spatial_vectorh".
const std::map<std::string, ir::Type, std::less<>>& types_by_name();

/// "float", "int", "bool", or "wp.float64" and so on.
std::string spell_scalar(ir::Scalar scalar);

/// The number without the constructor of its type: "0.5", "-3", "True", "wp.inf". Floats are printed as the shortest
/// decimal that parses to the same value of their type.
std::string spell_number(ir::Scalar scalar, std::uint64_t bits);

/// Names for the vector and matrix types that have no name in Warp, in the order of their first use.
class TypeAliases {
 public:
  explicit TypeAliases(NamePool& names) : names_(names) {}

  /// The name of the type in annotations and constructors. Structs are not supported.
  std::string spell(ir::Type type);
  /// One assignment line for each alias created so far.
  const std::string& definitions() const { return alias_definitions_text_; }

 private:
  NamePool& names_;  ///< names of the file, from which aliases are taken
  /// Alias of each type, by the call that constructs the type.
  std::map<std::string, std::string> alias_by_type_constructor_;
  std::string alias_definitions_text_;  ///< assignments that define the aliases, one line for each
};

}  // namespace assay::ir::spelling
