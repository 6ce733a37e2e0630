// What can stand on the left of an assignment, and is read in the same way on the right: a variable or an array
// element, then components and fields of it: v, v[0], s.f, a[i, j], a[i].f.x. Also what stands for a part of an array,
// a[i] and a[1:, j], and for a struct that holds arrays: these are no values, but names that can be given and passed
// on.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "frontend/warp/parse/function_context.hpp"

namespace assay::frontend {

/// One dimension of an array of which a part is meant.
struct Dimension {
  using Kind = DimensionKind;
  Kind kind = Kind::kWhole;
  ir::ExprId index = ir::kNone;
  ir::ExprId start = ir::kNone;   ///< i32
  ir::ExprId extent = ir::kNone;  ///< i32
  std::int64_t step = 1;
};

struct Place {
  enum class Root : std::uint8_t {
    kFailed,    ///< told already
    kValue,     ///< of an expression: can be read only
    kVariable,  ///< of a variable that is no array
    kArray,     ///< of an array, or a part of one
    kPack,      ///< of a struct with arrays
  };
  /// One component, by an index that may be computed, one field, or one part of a transform.
  struct Step {
    bool is_field = false;
    std::int32_t field = 0;
    ir::ExprId index = ir::kNone;
    std::optional<ir::Op> part = {};    ///< kTranslation or kRotation of a transform
    std::vector<ir::ExprId> tile = {};  ///< an element of a tile: its indices
  };

  Root root = Root::kFailed;
  ir::ExprId value = ir::kNone;
  ir::VarId variable = ir::kNone;     ///< of a kPack: its alias
  std::vector<Dimension> dimensions;  ///< of the array
  std::vector<Step> path;
  std::vector<ir::ExprId> tile_indices = {};  ///< of a tile, while some are missing
  ir::Type type;  ///< of what the place holds; of a part of an array, an array of the rank that is left

  bool failed() const { return root == Root::kFailed; }
  /// Whether it stands for an array, or a part of one, with indices to come.
  bool lacks_indices() const { return root == Root::kArray && (type.is_array() || type.is_local_array()); }
  bool is_whole_array() const;
  /// The indices of the element: every dimension must be fixed.
  std::vector<ir::ExprId> indices() const;
};

/// The place that an array variable, or an alias, stands for.
Place place_of(FunctionContext& context, Node node, ir::VarId name);
/// The extent of what is left of the array in its `number`-th dimension that is not fixed.
ir::ExprId extent_of(FunctionContext& context, Node node, const Place& place, int number);
/// A name for the part of the array: its indices are evaluated now.
ir::VarId make_view(FunctionContext& context, Node node, const Place& place, std::string_view name);

/// The value at the place. `node` is where to say so if there is none. Uses up the place's expressions.
ir::ExprId read_place(FunctionContext& context, Node node, const Place& place);
/// Appends the statement that puts `value`, of the place's type, there. Reports if it cannot.
void write_place(FunctionContext& context, Node node, const Place& place, ir::ExprId value);
/// The same place with expressions of its own.
Place copy_place(FunctionContext& context, const Place& place);

}  // namespace assay::frontend
