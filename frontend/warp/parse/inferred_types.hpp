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

/// Which indices a slice selects in one dimension of an array.
enum class DimensionSelection : std::uint8_t {
  kAllIndices,   ///< all indices
  kSingleIndex,  ///< one index
  kRange,        ///< `extent` indices: start, start + step, ...
  kIndexed,      ///< the indices that another array contains
};

/// The properties of one argument on which the callee's code depends.
struct ArgumentSpec {
  enum class Kind : std::uint8_t { kValue, kArray, kMissingArray, kArrayStruct, kFunction };
  /// The properties of a slice in one dimension.
  struct DimensionSpec {
    DimensionSelection kind = DimensionSelection::kAllIndices;  ///< which indices the slice selects in this dimension
    std::int64_t step = 1;                                      ///< for kRange: distance between indices
    friend bool operator==(const DimensionSpec&, const DimensionSpec&) = default;
  };

  Kind kind = Kind::kValue;        ///< kind of the argument
  ir::Type type = {};              ///< type of the parameter; for a slice, an array with the rank of the slice
  ir::Type whole_array_type = {};  ///< for kArray: type of the array of which the argument is a slice
  std::vector<DimensionSpec> dimensions = {};  ///< for kArray: selection in each dimension of `whole_array_type`
  /// For kArrayStruct: properties of each field. Those of an array of structs are arrays, whose first dimensions are
  /// those of the array of structs.
  std::vector<ArgumentSpec> fields = {};
  std::vector<SourceFunction*> functions = {};  ///< for kFunction: functions of the file that have the passed name
  /// For kFunction: name of the passed Warp function; empty: a function of the file.
  std::string warp_function_name = {};

  friend bool operator==(const ArgumentSpec&, const ArgumentSpec&) = default;
  /// Whether the type alone specifies the argument.
  bool is_plain() const;
  /// Whether it is an indexed array.
  bool is_indexed() const;
};

/// Whether a struct has an array, or a struct with one, among its fields.
bool contains_arrays(const ir::Module& module, ir::Type type);
/// Whether the elements of an array, and of the arrays in their fields, have at most four indices together.
bool has_few_dimensions(const ir::Module& module, ir::Type type);
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
