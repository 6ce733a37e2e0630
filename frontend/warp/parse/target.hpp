// Places: assignable expressions, also used as operands. A place is a variable or an array element, followed by
// components and fields: v, v[0], s.f, a[i, j], a[i].f.x. Array slices, a[i] and a[1:, j], and structs with arrays are
// places too; these are not values, but can be aliased and passed to functions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "frontend/warp/parse/function_context.hpp"

namespace assay::frontend {

/// One dimension of an array slice.
struct SliceDimension {
  using Kind = DimensionSelection;
  Kind kind = Kind::kAllIndices;  ///< which indices the slice selects in this dimension
  ir::ExprId index = ir::kNone;   ///< for kSingleIndex: the index
  ir::ExprId start = ir::kNone;   ///< for kRange: first index, an i32
  ir::ExprId extent = ir::kNone;  ///< for kRange: number of indices, an i32
  std::int64_t step = 1;          ///< for kRange: distance between indices
  ir::VarId indices = ir::kNone;  ///< for kIndexed: one-dimensional array of i32 that contains the indices
};

/// An assignable expression (a "place"), as described at the top of this file.
struct AssignmentTarget {
  /// What a place begins with.
  enum class RootKind : std::uint8_t {
    kFailed,    ///< nothing, because an error has been reported
    kValue,     ///< the value of an expression, which cannot be assigned
    kVariable,  ///< a variable that is not an array
    kArray,     ///< an array or an array slice
    /// An array field of a struct that was constructed without it. It has no elements.
    kMissingArray,
    kArrayStruct,  ///< a struct with arrays, an array of such structs, or an element of such an array
  };
  /// One step into a value: a component, whose index may be computed, a field, or a part of a transform.
  struct Accessor {
    bool is_field = false;         ///< whether it is a field of a struct
    std::int32_t field_index = 0;  ///< for a field: its number in the struct
    ir::ExprId index = ir::kNone;  ///< index of a component or row
    std::optional<ir::Op> transform_part =
        {};  ///< kTranslation or kRotation of a transform; nullopt: no part of a transform
    std::vector<ir::ExprId> tile_indices = {};  ///< for an element of a tile: its indices; otherwise empty
  };

  RootKind root_kind = RootKind::kFailed;             ///< what the place begins with
  ir::ExprId value = ir::kNone;                       ///< for kValue: the expression
  ir::VarId variable = ir::kNone;                     ///< for the other kinds: the variable, array or alias
  std::vector<SliceDimension> dimensions;             ///< for kArray, kArrayStruct: selected indices in each dimension
  std::vector<Accessor> accessors;                    ///< steps from the beginning to the place, from left to right
  std::vector<ir::ExprId> pending_tile_indices = {};  ///< indices of an element of a tile, until all of them are parsed
  /// For a slice of a vector or matrix: the steps to each of its components, after `accessors`.
  std::vector<std::vector<Accessor>> components = {};
  /// Type of the value at the place; for an array slice, an array with the dimensions that are not fixed.
  ir::Type type;

  bool failed() const { return root_kind == RootKind::kFailed; }
  /// Whether it is an array or array slice, with indices missing.
  bool lacks_indices() const { return root_kind == RootKind::kArray && (type.is_array() || type.is_local_array()); }
  /// Whether it is an array of structs with arrays, with indices missing.
  bool is_array_of_structs() const { return root_kind == RootKind::kArrayStruct && type.is_array(); }
  /// Whether it is an array of any kind, with indices missing.
  bool can_be_indexed() const {
    return lacks_indices() || is_array_of_structs() || root_kind == RootKind::kMissingArray;
  }
  bool is_whole_array() const;
  /// Whether it is an indexed array, or a part of one with indices missing.
  bool is_indexed_array() const;
  /// Whether it is a slice of a vector, matrix, quaternion or transform.
  bool is_slice() const { return !components.empty(); }
  /// Whether Warp can assign to it, if it is a slice: it must be a slice of a variable.
  bool is_assignable_slice() const { return root_kind == RootKind::kVariable && accessors.empty(); }
  /// The indices of the element: every dimension must be fixed.
  std::vector<ir::ExprId> indices() const;
};

/// The value of an integer expression of literals; nullopt for other expressions.
std::optional<std::int64_t> known_integer(const ir::Function& function, ir::ExprId value);
/// The indices of the place if it is one element of a tile, for a tile in a local array its position from the start;
/// otherwise nullopt. An index is nullopt if it is known only at run time.
std::optional<std::vector<std::optional<std::int64_t>>> tile_element(const FunctionContext& context,
                                                                     const AssignmentTarget& place);
/// The place of an array variable or alias.
AssignmentTarget place_of(FunctionContext& context, SyntaxNode node, ir::VarId name);
/// The place of a field of a struct with arrays, or of all these fields in an array of such structs. Copies the
/// indices.
AssignmentTarget place_of_field(FunctionContext& context, SyntaxNode node, const AssignmentTarget& place,
                                std::size_t field);
/// An alias of a new struct with arrays: its arrays are missing, its other fields are zero.
ir::VarId new_array_struct(FunctionContext& context, const std::string& name, ir::Type type);
/// The extent of the `number`-th dimension of the slice, not counting fixed dimensions.
ir::ExprId extent_of(FunctionContext& context, SyntaxNode node, const AssignmentTarget& place, int number);
/// An alias of the array slice; evaluates its indices now.
ir::VarId make_view(FunctionContext& context, SyntaxNode node, const AssignmentTarget& place, std::string_view name);

/// An alias of the struct with arrays, or of the array of such structs. Evaluates the indices, and the fields that are
/// values, now.
ir::VarId make_struct_view(FunctionContext& context, SyntaxNode node, const AssignmentTarget& place,
                           std::string_view name);

/// The value at the place; errors are reported at `node`. Consumes the place's expressions.
ir::ExprId read_target(FunctionContext& context, SyntaxNode node, const AssignmentTarget& place);
/// Appends the statement that stores `value`, which has the place's type. Reports an error if it cannot be assigned.
void write_target(FunctionContext& context, SyntaxNode node, const AssignmentTarget& place, ir::ExprId value);
/// A copy of the place with copied expressions.
AssignmentTarget copy_target(FunctionContext& context, const AssignmentTarget& place);

}  // namespace assay::frontend
