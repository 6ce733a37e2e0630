#include "frontend/warp/parse/mesh_queries.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "frontend/warp/parse/mesh_query_functions.hpp"

namespace assay::frontend {
namespace queries {
namespace {

/// Finds or adds the struct that Warp's queries return.
ir::Type result_struct(ir::Module& module, std::string_view name, const std::vector<ir::Field>& fields) {
  const auto found = std::ranges::find(module.structs, name, &ir::StructDef::name);
  const auto number = static_cast<int>(found - module.structs.begin());
  if (found == module.structs.end()) module.structs.push_back({.name = std::string(name), .fields = fields});
  return ir::struct_type(number);
}
enum PointField : std::int32_t { kPointResult, kPointSign, kPointFace, kPointU, kPointV };
ir::Type point_result(ir::Module& module) {
  return result_struct(
      module, "wp_MeshQueryPoint",
      {{"result", ir::kBool}, {"sign", ir::kF32}, {"face", ir::kI32}, {"u", ir::kF32}, {"v", ir::kF32}});
}
enum RayField : std::int32_t { kRayResult, kRaySign, kRayFace, kRayT, kRayU, kRayV, kRayNormal };
ir::Type ray_result(ir::Module& module) {
  return result_struct(module, "wp_MeshQueryRay",
                       {{"result", ir::kBool},
                        {"sign", ir::kF32},
                        {"face", ir::kI32},
                        {"t", ir::kF32},
                        {"u", ir::kF32},
                        {"v", ir::kF32},
                        {"normal", kVec3f}});
}

/// A struct for a query that visits faces.
ir::Type iteration_struct(ir::Module& module, const MeshQuery& query) {
  const bool is_box = query.name == "mesh_query_aabb";
  std::vector<ir::Field> fields{{"mesh", kMeshIdType}, {"next", ir::kI32}};
  fields.push_back({is_box ? "low" : "center", query.operands[0]});
  fields.push_back({is_box ? "high" : "radius", query.operands[1]});
  return result_struct(module, is_box ? "wp_MeshQueryAABB" : "wp_MeshQuerySphere", fields);
}

/// The functions of a file that the queries share. Each method returns the index of a function, which it adds first if
/// needed; a function is added after those that it calls.
class QueryLibrary {
 public:
  explicit QueryLibrary(WarpFileParser& file) : file_(file) {}

  std::int32_t closest_on_triangle() {
    return file_.library_function("wp_mesh_closest_on_triangle", queries::closest_on_triangle);
  }
  std::int32_t closest_face() {
    const std::int32_t on_triangle = closest_on_triangle();
    return file_.library_function("wp_mesh_closest_face",
                                  [&](const ir::Module& module) { return queries::closest_face(module, on_triangle); });
  }
  std::int32_t ray_hit() { return file_.library_function("wp_mesh_ray_hit", queries::ray_hit); }
  std::int32_t ray_face(bool of_group = false) {
    const std::int32_t hit = ray_hit();
    return file_.library_function(of_group ? "wp_mesh_ray_face_of_group" : "wp_mesh_ray_face",
                                  [&](const ir::Module& module) { return queries::ray_face(module, hit, of_group); });
  }

  std::int32_t furthest_on_triangle() {
    return file_.library_function("wp_mesh_furthest_on_triangle", queries::furthest_on_triangle);
  }
  std::int32_t furthest_face() {
    const std::int32_t on_triangle = furthest_on_triangle();
    return file_.library_function(
        "wp_mesh_furthest_face", [&](const ir::Module& module) { return queries::furthest_face(module, on_triangle); });
  }
  std::int32_t hit_count(bool of_group = false) {
    const std::int32_t hit = ray_hit();
    return file_.library_function(of_group ? "wp_mesh_hit_count_of_group" : "wp_mesh_hit_count",
                                  [&](const ir::Module& module) { return queries::hit_count(module, hit, of_group); });
  }
  std::int32_t side_by_winding() {
    const std::int32_t angle = file_.library_function("wp_solid_angle", queries::solid_angle);
    return file_.library_function("wp_mesh_side_by_winding",
                                  [&](const ir::Module& module) { return queries::side_by_winding(module, angle); });
  }
  std::int32_t side_by_rays() {
    const std::int32_t first = ray_face();
    const std::int32_t hit = ray_hit();
    return file_.library_function("wp_mesh_side_by_rays",
                                  [&](const ir::Module& module) { return queries::side_by_rays(module, first, hit); });
  }
  std::int32_t side_by_parity() {
    const std::int32_t count = hit_count();
    const std::int32_t step = random_generator_step(file_);
    return file_.library_function("wp_mesh_side_by_parity", [&](const ir::Module& module) {
      return queries::side_by_parity(module, count, step);
    });
  }

  std::int32_t square_of_distance() {
    const std::int32_t on_triangle = closest_on_triangle();
    return file_.library_function("wp_mesh_square_of_distance", [&](const ir::Module& module) {
      return queries::square_of_distance(module, on_triangle);
    });
  }

  /// The function that continues a query: (points, indices, order, query, index) -> (whether there is another face, the
  /// new value of `next`, the face or else `index`).
  std::int32_t next_face(const MeshQuery& query) {
    const ir::Type type = iteration_struct(file_.module(), query);
    const bool is_box = query.name == "mesh_query_aabb";
    const std::int32_t square = is_box ? -1 : square_of_distance();
    const std::string name = fmt::format("wp_{}_next", query.name);
    return file_.library_function(name, [&](const ir::Module& module) {
      QueryFunction f(module, name);
      const auto [given, index] = f.query_parameters(type);
      const ExprId query_struct = given.id;
      const auto field = [&](IterationField number) { return E{&f.b, f.b.field(query_struct, number)}; };
      const E first = f.let("first", field(kIterationFirst));
      const E second = f.let("second", field(kIterationSecond));
      const auto is_visited = [&](const Corners& at) {
        if (is_box) return boxes_overlap(at, first, second);
        const E radius = f.let("radius", call(Op::kMax, second, f.number(0)));
        return at_most(f.called(square, {at.p, at.q, at.r, first}), radius * radius);
      };
      const ExprId end = f.b.shape_of(f.order(), 0);
      f.b.for_("place", field(kIterationNext).id, end, f.b.i32(1), [&](VarId place) {
        const E face = f.let("face", {&f.b, f.b.load(f.order(), {f.b.cast(kRow, f.b.var(place))})});
        f.b.if_(f.b.op(Op::kLt, {face.id, f.face_count().id}), [&] {
          const Corners at = f.corners(face);
          f.b.if_(is_visited(at).id, [&] { f.b.return_({f.b.boolean(true), plus_one(f, place).id, face.id}); });
        });
      });
      f.b.return_({f.b.boolean(false), f.b.shape_of(f.order(), 0), index.id});
      return f.take({ir::kBool, ir::kI32, ir::kI32});
    });
  }

  std::int32_t side_by_normals() {
    const std::int32_t on_triangle = closest_on_triangle();
    const std::int32_t weight = file_.library_function("wp_mesh_normal_weight", queries::normal_weight);
    return file_.library_function("wp_mesh_side_by_normals", [&](const ir::Module& module) {
      return queries::side_by_normals(module, on_triangle, weight);
    });
  }

  std::int32_t query(const MeshQuery& query, bool of_group) {
    if (query.visits_faces) return start(query);
    if (query.name == "mesh_query_ray") return ray_query(query, of_group);
    if (query.name == "mesh_query_ray_anyhit") return any_hit(query, of_group);
    if (query.name == "mesh_query_ray_count_intersections") return count(query, of_group);
    const auto no_sign = [](QueryFunction& f, const Operands&, E) { return f.number(0); };
    if (query.name == "mesh_query_point_no_sign") return point_query(query, no_sign);
    if (query.name == "mesh_query_point") {
      const std::int32_t side = side_by_rays();
      return point_query(
          query, [&](QueryFunction& f, const Operands& given, E) { return f.called_on_mesh(side, {given[0]}); });
    }
    if (query.name == "mesh_query_point_sign_parity") {
      const std::int32_t side = side_by_parity();
      return point_query(query, [&](QueryFunction& f, const Operands& given, E) {
        return f.called_on_mesh(side, {given[0], given[2], given[3]});
      });
    }
    if (query.name == "mesh_query_point_sign_normal") {
      const std::int32_t side = side_by_normals();
      return point_query(query, [&](QueryFunction& f, const Operands& given, E face) {
        return f.called_on_mesh(side, {given[0], face, given[2]});
      });
    }
    if (query.name == "mesh_query_point_sign_winding_number") {
      const std::int32_t side = side_by_winding();
      return point_query(query, [&](QueryFunction& f, const Operands& given, E) {
        return f.called_on_mesh(side, {given[0], given[3]});
      });
    }
    return point_query(query, no_sign, furthest_face(), furthest_on_triangle());
  }

 private:
  using Operands = std::vector<E>;
  /// Builds the sign of the distance of a query.
  using SignOf = std::function<E(QueryFunction&, const Operands&, E face)>;

  static Operands declare_operands(QueryFunction& f, const MeshQuery& query) {
    Operands operands;
    std::string_view names = query.parameters;
    for (const ir::Type type : query.operands) {
      names.remove_prefix(names.find(' ') + 1);
      operands.push_back(f.parameter(std::string(names.substr(0, names.find(' '))), type));
    }
    return operands;
  }

  /// Adds the function of a query; `build` appends its body.
  std::int32_t add(const MeshQuery& query, ir::Type result,
                   const std::function<void(QueryFunction&, const Operands&)>& build, bool of_group = false) {
    const std::string name = fmt::format("wp_{}{}", query.name, of_group ? "_of_group" : "");
    return file_.library_function(name, [&](const ir::Module& module) {
      QueryFunction f(module, name);
      f.mesh_parameters(of_group);
      build(f, declare_operands(f, query));
      return f.take(result);
    });
  }

  /// The function (mesh, operands...) -> struct that starts a query which visits faces.
  std::int32_t start(const MeshQuery& query) {
    const ir::Type type = iteration_struct(file_.module(), query);
    const std::string name = fmt::format("wp_{}", query.name);
    return file_.library_function(name, [&](const ir::Module& module) {
      QueryFunction f(module, name);
      const E mesh = f.parameter("mesh", kMeshIdType);
      const Operands operands = declare_operands(f, query);
      const VarId started = f.b.let_zero("started", type);
      f.set(started, kIterationMesh, mesh);
      f.set(started, kIterationFirst, operands[0]);
      f.set(started, kIterationSecond, operands[1]);
      f.return_value(f.value(started));
      return f.take(type);
    });
  }

  std::int32_t point_query(const MeshQuery& query, const SignOf& sign) {
    const std::int32_t closest = closest_face();
    return point_query(query, sign, closest, closest_on_triangle());
  }
  /// A query for the point of the face that `best_face` finds.
  std::int32_t point_query(const MeshQuery& query, const SignOf& sign, std::int32_t best_face,
                           std::int32_t on_triangle) {
    const ir::Type result = point_result(file_.module());
    return add(query, result, [&](QueryFunction& f, const Operands& given) {
      const VarId found = f.b.let_zero("found", result);
      const E face = f.let("face", f.called_on_mesh(best_face, {given[0], given[1]}));
      f.b.if_(is_found(f, face).id, [&] {
        const Corners at = f.corners(face);
        const E weights = f.let("weights", f.called(on_triangle, {at.p, at.q, at.r, given[0]}));
        f.set(found, kPointResult, {&f.b, f.b.boolean(true)});
        f.set(found, kPointSign, sign(f, given, face));
        f.set(found, kPointFace, face);
        f.set(found, kPointU, weights[0]);
        f.set(found, kPointV, weights[1]);
      });
      f.return_value(f.value(found));
    });
  }

  std::int32_t ray_query(const MeshQuery& query, bool of_group) {
    const ir::Type result = ray_result(file_.module());
    const std::int32_t first = ray_face(of_group);
    const std::int32_t hit = ray_hit();
    const auto build = [&](QueryFunction& f, const Operands& given) {
      const VarId found = f.b.let_zero("found", result);
      const E face = f.let("face", f.called_on_mesh(first, given));
      f.b.if_(is_found(f, face).id, [&] {
        const Corners at = f.corners(face);
        const auto [t, u, v, sign] = f.hit_of(hit, at, given[0], given[1]);
        f.set(found, kRayResult, {&f.b, f.b.boolean(true)});
        f.set(found, kRaySign, sign);
        f.set(found, kRayFace, face);
        f.set(found, kRayT, t);
        f.set(found, kRayU, u);
        f.set(found, kRayV, v);
        f.set(found, kRayNormal, call(Op::kNormalize, cross(at.q - at.p, at.r - at.p)));
      });
      f.return_value(f.value(found));
    };
    return add(query, result, build, of_group);
  }

  std::int32_t any_hit(const MeshQuery& query, bool of_group) {
    const std::int32_t first = ray_face(of_group);
    const auto build = [&](QueryFunction& f, const Operands& given) {
      f.return_value(is_found(f, f.called_on_mesh(first, given)));
    };
    return add(query, ir::kBool, build, of_group);
  }

  std::int32_t count(const MeshQuery& query, bool of_group) {
    const std::int32_t hits = hit_count(of_group);
    const auto build = [&](QueryFunction& f, const Operands& given) { f.return_value(f.called_on_mesh(hits, given)); };
    return add(query, ir::kI32, build, of_group);
  }

  WarpFileParser& file_;
};

}  // namespace
}  // namespace queries

const MeshQuery* find_mesh_query(std::string_view name) {
  constexpr std::string_view kPointParameters = "id point max_dist";
  constexpr std::string_view kRayParameters = "id start dir max_t";
  constexpr std::string_view kSignedOutputs = "inside face bary_u bary_v";
  constexpr std::string_view kUnsignedOutputs = "face bary_u bary_v";
  static const MeshQuery kQueries[] = {
      {.name = "mesh_query_point",
       .parameters = kPointParameters,
       .operands = {queries::kVec3f, ir::kF32},
       .outputs = kSignedOutputs},
      {.name = "mesh_query_point_no_sign",
       .parameters = kPointParameters,
       .operands = {queries::kVec3f, ir::kF32},
       .outputs = kUnsignedOutputs},
      {.name = "mesh_query_point_sign_normal",
       .parameters = "id point max_dist epsilon",
       .operands = {queries::kVec3f, ir::kF32, ir::kF32},
       .defaults = {1e-3},
       .outputs = kSignedOutputs},
      {.name = "mesh_query_point_sign_parity",
       .parameters = "id point max_dist n_sample perturbation_scale",
       .operands = {queries::kVec3f, ir::kF32, ir::kI32, ir::kF32},
       .defaults = {1, 0.1},
       .outputs = kSignedOutputs},
      {.name = "mesh_query_point_sign_winding_number",
       .parameters = "id point max_dist accuracy threshold",
       .operands = {queries::kVec3f, ir::kF32, ir::kF32, ir::kF32},
       .defaults = {2, 0.5},
       .outputs = kSignedOutputs},
      {.name = "mesh_query_furthest_point_no_sign",
       .parameters = "id point min_dist",
       .operands = {queries::kVec3f, ir::kF32},
       .outputs = kUnsignedOutputs},
      {.name = "mesh_query_ray",
       .parameters = kRayParameters,
       .operands = {queries::kVec3f, queries::kVec3f, ir::kF32},
       .has_root = true,
       .outputs = "t bary_u bary_v sign normal face"},
      {.name = "mesh_query_ray_anyhit",
       .parameters = kRayParameters,
       .operands = {queries::kVec3f, queries::kVec3f, ir::kF32},
       .has_root = true},
      {.name = "mesh_query_ray_count_intersections",
       .parameters = "id start dir",
       .operands = {queries::kVec3f, queries::kVec3f},
       .has_root = true},
      {.name = "mesh_query_aabb",
       .parameters = "id low high",
       .operands = {queries::kVec3f, queries::kVec3f},
       .visits_faces = true},
      {.name = "mesh_query_sphere",
       .parameters = "id center radius",
       .operands = {queries::kVec3f, ir::kF32},
       .visits_faces = true},
  };
  const auto* const found = std::ranges::find(kQueries, name, &MeshQuery::name);
  return found == std::end(kQueries) ? nullptr : found;
}

bool continues_mesh_query(std::string_view name) { return name == "mesh_query_next" || name == "mesh_query_aabb_next"; }

const MeshQuery* query_of_struct(std::string_view name) {
  return name == "wp_MeshQueryAABB"     ? find_mesh_query("mesh_query_aabb")
         : name == "wp_MeshQuerySphere" ? find_mesh_query("mesh_query_sphere")
                                        : nullptr;
}

std::int32_t next_face_of_query(WarpFileParser& file, const MeshQuery& query) {
  return queries::QueryLibrary(file).next_face(query);
}

bool selects_group(SyntaxNode call, const MeshQuery& query) {
  if (!query.has_root) return false;
  const CallArguments arguments = arguments_of(call);
  if (const auto named = arguments.keyword_arguments.find("root"); named != arguments.keyword_arguments.end())
    return named->second.text() != "-1";
  // With the parameters that receive results, the root is the last one, too.
  const std::size_t without_root = query.operands.size() + 1;
  const auto outputs =
      static_cast<std::size_t>(std::ranges::count(query.outputs, ' ')) + (query.outputs.empty() ? 0 : 1);
  const std::size_t count = arguments.positional_arguments.size();
  const bool has_root = count == without_root + 1 || (outputs > 0 && count == without_root + outputs + 1);
  return has_root && arguments.positional_arguments.back().text() != "-1";
}

std::int32_t function_of_query(WarpFileParser& file, const MeshQuery& query, bool of_group) {
  return queries::QueryLibrary(file).query(query, of_group);
}

}  // namespace assay::frontend
