#include "frontend/warp/parse/spatial_queries.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "frontend/warp/parse/mesh_queries.hpp"
#include "frontend/warp/parse/module_scope.hpp"
#include "ir/algebra.hpp"

namespace assay::frontend {
namespace spatial {
namespace {

using ir::ExprId;
using ir::kNone;
using ir::Op;
using ir::VarId;
using ir::algebra::call;
using ir::algebra::E;
using ir::algebra::either;
using ir::algebra::like;
using ir::algebra::where;

constexpr ir::Type kIdType = ir::scalar_type(ir::Scalar::kU64);
constexpr ir::Type kIndexType = ir::scalar_type(ir::Scalar::kU32);
constexpr ir::Type kPointType = ir::vector_type(ir::Scalar::kF32, 3);
constexpr ir::Type kCellType = ir::vector_type(ir::Scalar::kI32, 3);
/// The greatest float32.
constexpr double kGreatest = 0x1.fffffep127;

E both_of(E a, E c) { return call(Op::kAnd, a, c); }
E is_at_most(E a, E limit) { return call(Op::kLe, a, limit); }
E less_of(E a, E c) { return call(Op::kMin, a, c); }
E greater_of(E a, E c) { return call(Op::kMax, a, c); }
E all_axes(const std::function<E(int)>& condition) {
  return both_of(condition(0), both_of(condition(1), condition(2)));
}

/// A kind of query and what its struct contains.
struct QueryType {
  const SpatialQuery* query;
  bool is_restricted;       ///< whether the last field is the group or root
  std::string name;         ///< name of the function
  std::string struct_name;  ///< name of the struct

  QueryType(const SpatialQuery& of, bool restricted)
      : query(&of),
        is_restricted(restricted),
        name(fmt::format("wp_{}{}", of.name, restricted ? "_of_group" : "")),
        struct_name(fmt::format("wp_{}{}", of.struct_name, restricted ? "OfGroup" : "")) {}

  /// The fields: the structure, `next`, what the query searches, and the group or root.
  std::vector<ir::Field> fields() const {
    std::vector<ir::Field> all{{"id", kIdType}, {"next", ir::kI32}};
    if (query->kind == SpatialKind::kGrid) {
      all.push_back({"low", kCellType});
      all.push_back({"high", kCellType});
    } else {
      std::string_view names = query->parameters;
      for (const ir::Type type : query->operands) {
        names.remove_prefix(names.find(' ') + 1);
        all.push_back({std::string(names.substr(0, names.find(' '))), type});
      }
    }
    if (is_restricted) all.push_back({std::string(query->restriction()), ir::kI32});
    return all;
  }
  /// Finds or adds the struct.
  ir::Type type(ir::Module& module) const {
    const auto found = std::ranges::find(module.structs, struct_name, &ir::StructDef::name);
    const auto number = static_cast<int>(found - module.structs.begin());
    if (found == module.structs.end()) module.structs.push_back({.name = struct_name, .fields = fields()});
    return ir::struct_type(number);
  }
};

/// Numbers of the fields of a query. A restricted query has the group or root as its last field.
enum SpatialField : std::int32_t { kIdField, kFirstOperandField = kNextField + 1 };

/// Builds one function.
class SpatialFunction {
  ir::Function function_;

 public:
  ir::Builder b;  ///< appends to the function

  SpatialFunction(const ir::Module& module, std::string_view name) : b(module, function_) { function_.name = name; }

  VarId array(const char* name, ir::Type element, int rank) { return b.parameter(name, element.array_of(rank)); }
  E parameter(const char* name, ir::Type type) { return value(b.parameter(name, type)); }
  E value(VarId variable) { return {&b, b.var(variable)}; }
  E let(const char* name, E value) { return this->value(b.let(name, value.id)); }
  E i32(std::int64_t number) { return {&b, b.i32(number)}; }
  E index(E position) { return {&b, b.cast(kIndexType, position.id)}; }
  /// The row of a structure. Structure 0, which does not exist, has a row that no array has.
  E row_of(E id) { return let("row", {&b, b.op(Op::kSub, {b.cast(kIndexType, id.id), b.cast(kIndexType, b.i32(1))})}); }
  /// An element. Indices do not count from the end.
  E at(VarId array, E row) { return {&b, b.load(array, {row.id})}; }
  E at(VarId array, E row, E column) { return {&b, b.load(array, {row.id, column.id})}; }
  E field(E object, std::int32_t number) { return {&b, b.field(object.id, number)}; }
  E count(VarId order) { return {&b, b.shape_of(order, 0)}; }

  /// Appends a loop over the places of `order` from the field `next` on, which ends the function at the first element
  /// for which the condition holds; then declares the function's results.
  void visit(VarId order, E query, E index, const std::function<E(E)>& is_visited) {
    b.for_("place", field(query, kNextField).id, count(order).id, b.i32(1), [&](VarId place) {
      const E found = let("found", at(order, this->index(value(place))));
      b.if_(is_visited(found).id, [&] {
        b.return_({b.boolean(true), b.op(Op::kAdd, {b.var(place), b.i32(1)}), found.id});
      });
    });
    b.return_({b.boolean(false), count(order).id, index.id});
    function_.results = {ir::kBool, ir::kI32, ir::kI32};
  }
  void return_value(E value) {
    b.return_({value.id});
    function_.results = {value.type()};
  }
  ir::Function take() { return std::move(function_); }
};

/// The struct of a started query.
void return_query(SpatialFunction& f, ir::Type type, const std::vector<std::pair<std::int32_t, E>>& fields) {
  const VarId started = f.b.let_zero("started", type);
  for (const auto& [number, value] : fields)
    f.b.assign(started, f.b.op(Op::kWithField, {f.b.var(started), value.id}, ir::kVoid, number));
  f.return_value(f.value(started));
}

ir::Function start_of_grid_query(const ir::Module& module, const std::string& name, const QueryType& of, ir::Type type,
                                 ir::Scalar scalar) {
  SpatialFunction f(module, name);
  const ir::Type number = ir::scalar_type(scalar);
  const VarId widths = f.array("widths", ir::kF32, 1);
  const E grid = f.parameter("grid", kIdType);
  const E point = f.parameter("point", ir::vector_type(scalar, 3));
  const E reach = f.parameter("max_dist", number);
  std::vector<std::pair<std::int32_t, E>> fields{{kIdField, grid}};
  if (of.is_restricted) fields.emplace_back(kFirstOperandField + 2, f.parameter("group", ir::kI32));
  const E width = f.at(widths, f.row_of(grid));
  const E divisor = scalar == ir::Scalar::kF32 ? width : E{&f.b, f.b.cast(number, width.id)};
  const E cells_per_unit = f.let("cells_per_unit", E{&f.b, f.b.literal(number, 1.0)} / divisor);
  std::vector<E> low;
  std::vector<E> high;
  for (int axis = 0; axis < 3; ++axis) {
    const auto cell_at = [&](const char* variable, E coordinate) {
      return f.let(variable, {&f.b, f.b.cast(ir::kI32, call(Op::kFloor, coordinate * cells_per_unit).id)});
    };
    low.push_back(cell_at("low", point[axis] - reach));
    // If the distance is negative, Warp visits the cell that it reaches first.
    high.push_back(greater_of(low.back(), cell_at("high", point[axis] + reach)));
  }
  fields.emplace_back(kFirstOperandField, ir::algebra::make(kCellType, low));
  fields.emplace_back(kFirstOperandField + 1, ir::algebra::make(kCellType, high));
  return_query(f, type, fields);
  return f.take();
}

ir::Function next_of_grid_query(const ir::Module& module, const std::string& name, const QueryType& of, ir::Type type) {
  SpatialFunction f(module, name);
  const VarId cells = f.array("cells", kCellType, 2);
  const VarId dims = f.array("dims", kCellType, 1);
  const VarId groups = of.is_restricted ? f.array("groups", ir::kI32, 2) : kNone;
  const VarId order = f.array("order", ir::kI32, 1);
  const E query = f.parameter("query", type);
  const E index = f.parameter("index", ir::kI32);
  const E row = f.row_of(f.field(query, kIdField));
  const E size = f.let("size", f.at(dims, row));
  const E low = f.let("low", f.field(query, kFirstOperandField));
  const E span = f.let("span", f.field(query, kFirstOperandField + 1) - low);
  f.visit(order, query, index, [&](E point) {
    const E offset = f.let("offset", f.at(cells, row, f.index(point)) - low);
    const E is_near = all_axes([&](int axis) {
      const E rest = f.let("rest", call(Op::kMod, offset[axis], size[axis]));
      return is_at_most(where(rest < f.i32(0), rest + size[axis], rest), span[axis]);
    });
    if (!of.is_restricted) return is_near;
    const E group = f.at(groups, row, f.index(point));
    return both_of(call(Op::kEq, group, f.field(query, kFirstOperandField + 2)), is_near);
  });
  return f.take();
}

/// What the condition of a query of boxes needs.
struct BoxTest {
  SpatialFunction& f;
  E query;
  E lower;  ///< corner of the box
  E upper;  ///< opposite corner
  E limit;  ///< greatest distance along a ray

  E operand(int number) const { return f.field(query, kFirstOperandField + number); }
  E number(double value) const { return {&f.b, f.b.f32(value)}; }
};

E box_overlaps(const BoxTest& test) {
  const E low = test.operand(0);
  const E high = test.operand(1);
  return all_axes([&](int axis) {
    return both_of(is_at_most(test.lower[axis], high[axis]), call(Op::kGe, test.upper[axis], low[axis]));
  });
}

/// Whether a line meets the box, grown by `margin` if it is given: the line meets the slab of each axis between two
/// distances, and the greatest first distance is at most the least second one (T. Kay, J. Kajiya, "Ray tracing complex
/// scenes", SIGGRAPH 1986). A line parallel to a slab must be inside it. For a query of rays, the sides of the slab are
/// outside, because Warp multiplies zero by infinity there; and so is the greatest distance.
E line_meets(const BoxTest& test, const E* margin) {
  const E start = test.operand(0);
  const E dir = test.operand(1);
  std::optional<E> first;
  std::optional<E> last;
  std::optional<E> is_outside;
  for (int axis = 0; axis < 3; ++axis) {
    const E lower = margin == nullptr ? test.lower[axis] : test.lower[axis] - *margin;
    const E upper = margin == nullptr ? test.upper[axis] : test.upper[axis] + *margin;
    const E is_parallel = test.f.let("is_parallel", call(Op::kEq, dir[axis], test.number(0)));
    const E beyond = margin == nullptr ? either(is_at_most(start[axis], lower), call(Op::kGe, start[axis], upper))
                                       : either(start[axis]<lower, start[axis]> upper);
    is_outside = is_outside ? either(*is_outside, both_of(is_parallel, beyond)) : both_of(is_parallel, beyond);
    const E inverse = test.number(1) / where(is_parallel, test.number(1), dir[axis]);
    const E to_lower = test.f.let("to_lower", (lower - start[axis]) * inverse);
    const E to_upper = test.f.let("to_upper", (upper - start[axis]) * inverse);
    const E enters = where(is_parallel, test.number(-kGreatest), less_of(to_lower, to_upper));
    const E leaves = where(is_parallel, test.number(kGreatest), greater_of(to_lower, to_upper));
    first = test.f.let("first", first ? greater_of(enters, *first) : enters);
    last = test.f.let("last", last ? less_of(leaves, *last) : leaves);
  }
  const E is_late = margin == nullptr ? call(Op::kGe, *first, test.limit) : *first > test.limit;
  const E is_met = both_of(call(Op::kGe, *last, test.number(0)), call(Op::kGe, *last, *first));
  return both_of(call(Op::kNot, either(*is_outside, is_late)), is_met);
}

E sphere_touches(const BoxTest& test) {
  const E center = test.operand(0);
  const E radius = test.f.let("radius", greater_of(test.operand(1), test.number(0)));
  std::vector<E> squares;
  for (int axis = 0; axis < 3; ++axis) {
    const E beyond = greater_of(test.lower[axis] - center[axis], center[axis] - test.upper[axis]);
    const E away = test.f.let("away", greater_of(beyond, test.number(0)));
    squares.push_back(away * away);
  }
  return is_at_most(ir::algebra::sum(squares), radius * radius);
}

bool has_limit(const SpatialQuery& query) { return query.name == "bvh_query_ray" || query.name == "bvh_query_capsule"; }

E box_is_found(const SpatialQuery& query, const BoxTest& test) {
  if (query.name == "bvh_query_aabb") return box_overlaps(test);
  if (query.name == "bvh_query_sphere") return sphere_touches(test);
  if (query.name == "bvh_query_ray") return line_meets(test, nullptr);
  const E radius = test.f.let("radius", greater_of(test.operand(2), test.number(0)));
  return line_meets(test, &radius);
}

ir::Function start_of_box_query(const ir::Module& module, const std::string& name, const QueryType& of, ir::Type type) {
  SpatialFunction f(module, name);
  const E bvh = f.parameter("bvh", kIdType);
  std::vector<std::pair<std::int32_t, E>> fields{{kIdField, bvh}};
  const std::vector<ir::Field> all = of.fields();
  for (std::size_t k = kFirstOperandField; k < all.size(); ++k)
    fields.emplace_back(static_cast<std::int32_t>(k), f.parameter(all[k].name.c_str(), all[k].type));
  return_query(f, type, fields);
  return f.take();
}

ir::Function next_of_box_query(const ir::Module& module, const std::string& name, const QueryType& of, ir::Type type) {
  SpatialFunction f(module, name);
  const VarId lowers = f.array("lowers", kPointType, 2);
  const VarId uppers = f.array("uppers", kPointType, 2);
  const VarId groups = of.is_restricted ? f.array("groups", ir::kI32, 2) : kNone;
  const VarId order = f.array("order", ir::kI32, 1);
  const E query = f.parameter("query", type);
  const E index = f.parameter("index", ir::kI32);
  const E limit = has_limit(*of.query) ? f.parameter("max_dist", ir::kF32) : index;
  const E row = f.row_of(f.field(query, kIdField));
  f.visit(order, query, index, [&](E box) {
    const E column = f.index(box);
    const E lower = f.let("lower", f.at(lowers, row, column));
    const E upper = f.let("upper", f.at(uppers, row, column));
    const E is_found = box_is_found(*of.query, {f, query, lower, upper, limit});
    if (!of.is_restricted) return is_found;
    const auto root_field = static_cast<std::int32_t>(of.fields().size()) - 1;
    const E root = f.let("root", f.field(query, root_field));
    const E is_in_group = call(Op::kEq, f.at(groups, row, column), f.at(groups, row, f.index(root)));
    return both_of(either(root < f.i32(0), is_in_group), is_found);
  });
  return f.take();
}

}  // namespace
}  // namespace spatial

std::string_view spatial_noun(SpatialKind kind) {
  return kind == SpatialKind::kMesh ? "mesh" : kind == SpatialKind::kGrid ? "hash grid" : "BVH";
}

HiddenParameter rows_of(SpatialKind kind) {
  return kind == SpatialKind::kMesh   ? HiddenParameter::kMeshIndices
         : kind == SpatialKind::kGrid ? HiddenParameter::kGridWidths
                                      : HiddenParameter::kBvhLowers;
}

const SpatialQuery* find_spatial_query(std::string_view name) {
  using spatial::kPointType;
  static const SpatialQuery kQueries[] = {
      {SpatialKind::kGrid, "hash_grid_query", "HashGridQuery", "id point max_dist", {kPointType, ir::kF32}},
      {SpatialKind::kBvh, "bvh_query_aabb", "BvhQueryAabb", "id low high", {kPointType, kPointType}},
      {SpatialKind::kBvh, "bvh_query_ray", "BvhQueryRay", "id start dir", {kPointType, kPointType}},
      {SpatialKind::kBvh,
       "bvh_query_capsule",
       "BvhQueryCapsule",
       "id start dir radius",
       {kPointType, kPointType, ir::kF32}},
      {SpatialKind::kBvh, "bvh_query_sphere", "BvhQuerySphere", "id center radius", {kPointType, ir::kF32}},
  };
  const auto* const found = std::ranges::find(kQueries, name, &SpatialQuery::name);
  return found == std::end(kQueries) ? nullptr : found;
}

bool is_restricted(SyntaxNode call, const SpatialQuery& query) {
  const CallArguments arguments = arguments_of(call);
  const std::size_t place = query.operands.size() + 1;
  const auto by_name = arguments.keyword_arguments.find(query.restriction());
  const bool is_named = by_name != arguments.keyword_arguments.end();
  if (!is_named && arguments.positional_arguments.size() <= place) return false;
  const SyntaxNode given = is_named ? by_name->second : arguments.positional_arguments[place];
  return query.kind == SpatialKind::kGrid || given.text() != "-1";
}

std::optional<SpatialKind> continued_kind(std::string_view name) {
  if (continues_mesh_query(name)) return SpatialKind::kMesh;
  if (name == "hash_grid_query_next") return SpatialKind::kGrid;
  return name == "bvh_query_next" ? std::optional(SpatialKind::kBvh) : std::nullopt;
}

HiddenParameters spatial_parameters_of(SyntaxNode call, std::string_view warp_function) {
  const auto set_of = [](std::initializer_list<HiddenParameter> parameters) {
    HiddenParameters set;
    for (const HiddenParameter parameter : parameters)
      set.set(static_cast<std::size_t>(parameter));
    return set;
  };
  const HiddenParameters grid = set_of({HiddenParameter::kGridCells, HiddenParameter::kGridDims,
                                        HiddenParameter::kGridWidths, HiddenParameter::kGridOrder});
  const HiddenParameters bvh =
      set_of({HiddenParameter::kBvhLowers, HiddenParameter::kBvhUppers, HiddenParameter::kBvhOrder});
  const HiddenParameters bvh_groups = set_of({HiddenParameter::kBvhGroups});
  if (warp_function == "hash_grid_point_id") return set_of({HiddenParameter::kGridWidths, HiddenParameter::kGridOrder});
  if (warp_function == "bvh_get_group_root") return bvh | bvh_groups;
  if (warp_function == "mesh_get_group_root") {
    return set_of({HiddenParameter::kMeshPoints, HiddenParameter::kMeshIndices, HiddenParameter::kMeshOrder,
                   HiddenParameter::kMeshGroups})
        .set(kQueriesMeshes);
  }
  const SpatialQuery* const query = find_spatial_query(warp_function);
  if (query == nullptr) {
    const std::optional<SpatialKind> continued = continued_kind(warp_function);
    return continued == SpatialKind::kGrid ? grid : continued == SpatialKind::kBvh ? bvh : HiddenParameters();
  }
  const bool is_grid = query->kind == SpatialKind::kGrid;
  const HiddenParameters groups = is_grid ? set_of({HiddenParameter::kGridGroups}) : bvh_groups;
  return (is_grid ? grid : bvh) | (is_restricted(call, *query) ? groups : HiddenParameters());
}

std::optional<QueryStep> step_of_struct(std::string_view struct_name) {
  if (const MeshQuery* const query = query_of_struct(struct_name)) {
    return QueryStep{SpatialKind::kMesh,
                     {HiddenParameter::kMeshPoints, HiddenParameter::kMeshIndices, HiddenParameter::kMeshOrder},
                     false,
                     [query](WarpFileParser& file) { return next_face_of_query(file, *query); }};
  }
  for (const std::string_view name :
       {"hash_grid_query", "bvh_query_aabb", "bvh_query_ray", "bvh_query_capsule", "bvh_query_sphere"}) {
    for (const bool restricted : {false, true}) {
      const SpatialQuery& query = *find_spatial_query(name);
      const spatial::QueryType of(query, restricted);
      if (of.struct_name != struct_name) continue;
      const bool is_grid = query.kind == SpatialKind::kGrid;
      std::vector<HiddenParameter> arrays = is_grid
                                                ? std::vector{HiddenParameter::kGridCells, HiddenParameter::kGridDims}
                                                : std::vector{HiddenParameter::kBvhLowers, HiddenParameter::kBvhUppers};
      if (restricted) arrays.push_back(is_grid ? HiddenParameter::kGridGroups : HiddenParameter::kBvhGroups);
      arrays.push_back(is_grid ? HiddenParameter::kGridOrder : HiddenParameter::kBvhOrder);
      return QueryStep{query.kind, arrays, spatial::has_limit(query), [of, is_grid](WarpFileParser& file) {
                         const ir::Type type = of.type(file.module());
                         const std::string next = of.name + "_next";
                         return file.library_function(next, [&](const ir::Module& module) {
                           return is_grid ? spatial::next_of_grid_query(module, next, of, type)
                                          : spatial::next_of_box_query(module, next, of, type);
                         });
                       }};
    }
  }
  return std::nullopt;
}

std::int32_t function_of_spatial_query(WarpFileParser& file, const SpatialQuery& query, ir::Scalar scalar,
                                       bool is_restricted) {
  const spatial::QueryType of(query, is_restricted);
  const ir::Type type = of.type(file.module());
  const std::string name =
      scalar == ir::Scalar::kF32 ? of.name : fmt::format("{}_{}", of.name, scalar == ir::Scalar::kF16 ? "f16" : "f64");
  return file.library_function(name, [&](const ir::Module& module) {
    return query.kind == SpatialKind::kGrid ? spatial::start_of_grid_query(module, name, of, type, scalar)
                                            : spatial::start_of_box_query(module, name, of, type);
  });
}

std::int32_t function_of_point_id(WarpFileParser& file) {
  const std::string name = "wp_hash_grid_point_id";
  return file.library_function(name, [&](const ir::Module& module) {
    spatial::SpatialFunction f(module, name);
    const ir::VarId order = f.array("order", ir::kI32, 1);
    f.return_value(f.at(order, f.index(f.parameter("index", ir::kI32))));
    return f.take();
  });
}

std::int32_t function_of_group_root(WarpFileParser& file) {
  const std::string name = "wp_get_group_root";
  return file.library_function(name, [&](const ir::Module& module) {
    spatial::SpatialFunction f(module, name);
    const ir::VarId groups = f.array("groups", ir::kI32, 2);
    const ir::VarId order = f.array("order", ir::kI32, 1);
    const spatial::E id = f.parameter("id", spatial::kIdType);
    const spatial::E group = f.parameter("group", ir::kI32);
    const spatial::E row = f.row_of(id);
    f.b.for_("place", f.b.i32(0), f.count(order).id, f.b.i32(1), [&](ir::VarId place) {
      const spatial::E member = f.let("member", f.at(order, f.index(f.value(place))));
      const spatial::E is_found = ir::algebra::call(ir::Op::kEq, f.at(groups, row, f.index(member)), group);
      f.b.if_(is_found.id, [&] { f.return_value(member); });
    });
    f.return_value(f.i32(-1));
    return f.take();
  });
}

}  // namespace assay::frontend
