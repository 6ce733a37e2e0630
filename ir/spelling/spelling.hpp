// How types, literals and names are spelt in Warp Python: what the writer needs below the level of expressions.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "ir/module.hpp"

namespace assay::ir::spelling {

/// Hands out Python names, each once.
class NamePool {
 public:
  /// `wanted`, made a valid identifier that is no keyword, and numbered if it is taken.
  std::string take(std::string_view wanted);

 private:
  std::set<std::string, std::less<>> taken_;
};

/// The name after `wp.` of a vector, matrix, quaternion or transform type, or empty where Warp has none.
std::string short_name(ir::Type type);

/// "float", "int", "bool", or "wp.float64" and so on.
std::string spell_scalar(ir::Scalar scalar);

/// The number alone, without its type's constructor: "0.5", "-3", "True", "wp.inf". Floats are the shortest
/// decimal that reads back to the same value of their type.
std::string spell_number(ir::Scalar scalar, std::uint64_t bits);

/// Names of the vector and matrix types that Warp has no name for, in order of first use.
class TypeAliases {
 public:
  explicit TypeAliases(NamePool& names) : names_(names) {}

  /// The type's name in annotations and constructors. Structs are not spelt here.
  std::string spell(ir::Type type);
  /// One assignment line per alias made so far.
  const std::string& definitions() const { return definitions_; }

 private:
  NamePool& names_;
  std::map<std::string, std::string> aliases_;
  std::string definitions_;
};

}  // namespace assay::ir::spelling
