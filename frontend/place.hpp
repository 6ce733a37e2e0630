// What can stand on the left of an assignment, and is read in the same way on the right: a variable or an array
// element, then components and fields of it: v, v[0], s.f, a[i, j], a[i].f.x.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "frontend/function_context.hpp"

namespace assay::frontend {

struct Place {
  enum class Root : std::uint8_t {
    kFailed,    ///< told already
    kValue,     ///< of an expression: can be read only
    kVariable,  ///< of a variable that is no array
    kArray,     ///< of an array parameter or local array
  };
  /// One component, by an index that may be computed, one field, or one part of a transform.
  struct Step {
    bool is_field = false;
    std::int32_t field = 0;
    ir::ExprId index = ir::kNone;
    std::optional<ir::Op> part = {};  ///< kTranslation or kRotation of a transform
  };

  Root root = Root::kFailed;
  ir::ExprId value = ir::kNone;
  ir::VarId variable = ir::kNone;
  std::vector<ir::ExprId> indices;  ///< of the array; fewer than its rank while incomplete
  std::vector<Step> path;
  ir::Type type;  ///< of what the place holds; an array's while it lacks indices

  bool failed() const { return root == Root::kFailed; }
  bool is_whole_array() const { return root == Root::kArray && indices.empty(); }
  bool lacks_indices() const { return root == Root::kArray && (type.is_array() || type.is_local_array()); }
};

/// The value at the place. `node` is where to say so if there is none. Uses up the place's expressions.
ir::ExprId read_place(FunctionContext& context, Node node, const Place& place);
/// Appends the statement that puts `value`, of the place's type, there. Reports if it cannot.
void write_place(FunctionContext& context, Node node, const Place& place, ir::ExprId value);
/// The same place with expressions of its own.
Place copy_place(FunctionContext& context, const Place& place);

}  // namespace assay::frontend
