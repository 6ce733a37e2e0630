// Argument specifications: the properties of an argument on which the callee's code depends. A function that is
// generic, or that is called with array slices, functions or structs with arrays, is instantiated for each
// specification.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "frontend/warp/parse/module_scope.hpp"
#include "frontend/warp/syntax/syntax.hpp"
#include "ir/module.hpp"

namespace assay::frontend {

struct SourceFunction;

/// How a slice selects indices in one dimension of an array.
enum class DimensionSelection : std::uint8_t {
  kAllIndices,   ///< all indices
  kSingleIndex,  ///< one index
  kRange,        ///< `extent` indices: start, start + step, ...
  kIndexed,      ///< the indices in another array, as in an indexed array
};

/// The specification of one argument.
struct ArgumentSpec {
  enum class Kind : std::uint8_t { kValue, kArray, kArrayStruct, kFunction };
  struct DimensionSpec {
    DimensionSelection kind = DimensionSelection::kAllIndices;  ///< how the slice selects indices in this dimension
    std::int64_t step = 1;                                      ///< distance between the indices of a kRange
    friend bool operator==(const DimensionSpec&, const DimensionSpec&) = default;
  };

  Kind kind = Kind::kValue;        ///< kind of the argument
  ir::Type type = {};              ///< type of the parameter; for an array slice, an array of the slice's rank
  ir::Type whole_array_type = {};  ///< kArray: type of the whole array that the argument is a slice of
  std::vector<DimensionSpec> dimensions = {};   ///< kArray: selection in each dimension of `whole_array_type`
  std::vector<ArgumentSpec> fields = {};        ///< kArrayStruct: properties of each field
  std::vector<SourceFunction*> functions = {};  ///< kFunction: functions of the file with the passed name
  std::string warp_function_name = {};  ///< kFunction: name of the passed Warp function; empty: a function of the file

  friend bool operator==(const ArgumentSpec&, const ArgumentSpec&) = default;
  /// Whether the type alone specifies the argument.
  bool is_plain() const;
  /// Whether it is an indexed array.
  bool is_indexed() const;
};

/// Whether a struct has an array, or a struct with one, among its fields.
bool contains_arrays(const ir::Module& module, ir::Type type);
/// The specification of a whole value or array of this type.
ArgumentSpec whole_argument(const ir::Module& module, ir::Type type);
/// The specification of an indexed array, as seen by the kernel; each dimension has an array of indices.
ArgumentSpec indexed_argument(ir::Type type);

/// The generic type name, with or without its module: "Any", "Float"; empty for other nodes.
std::string_view generic_name(SyntaxNode node);
/// Whether the annotation is generic: Any, wp.array(dtype=Any), Callable.
bool is_generic(SyntaxNode annotation);
/// Whether a parameter with this annotation accepts the argument.
bool accepts(const ModuleScope& scope, SyntaxNode annotation, const ArgumentSpec& given);

}  // namespace assay::frontend
