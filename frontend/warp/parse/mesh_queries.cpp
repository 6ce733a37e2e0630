#include "frontend/warp/parse/mesh_queries.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "ir/algebra.hpp"

namespace assay::frontend {

using ir::ExprId;
using ir::kNone;
using ir::Op;
using ir::VarId;
using ir::algebra::call;
using ir::algebra::E;
using ir::algebra::either;
using ir::algebra::like;

namespace {

constexpr ir::Type kMeshIdType = ir::scalar_type(ir::Scalar::kU64);
constexpr ir::Type kRow = ir::scalar_type(ir::Scalar::kU32);
constexpr ir::Type kVec3f = ir::vector_type(ir::Scalar::kF32, 3);
constexpr ir::Type kBarycentric = ir::vector_type(ir::Scalar::kF32, 2);
constexpr ir::Type kRayHit = ir::vector_type(ir::Scalar::kF32, 4);

/// Queries of points skip faces whose area is less than this share of the sum of their squared edges, times two.
constexpr double kSliver = 1e-6;
/// The squared length below which a random direction is drawn again.
constexpr double kShortDirection = 1e-8;
/// The greatest float32: a ray without end.
constexpr double kEndless = 0x1.fffffep127;

E both(E a, E c) { return call(Op::kAnd, a, c); }
E at_least(E a, double limit) { return call(Op::kGe, a, like(a, limit)); }
E at_most(E a, E limit) { return call(Op::kLe, a, limit); }
E at_most(E a, double limit) { return at_most(a, like(a, limit)); }
E dot(E a, E c) { return call(Op::kDot, a, c); }
E cross(E a, E c) { return call(Op::kCross, a, c); }

/// The fields of the struct of a query that visits faces. `next` is the place in the order of faces at which the query
/// continues.
enum IterationField : std::int32_t { kIterationMesh, kIterationNext = kNextField, kIterationFirst, kIterationSecond };

/// The corners of a face.
struct Corners {
  E p, q, r;
};

/// Builds one function.
class QueryFunction {
  ir::Function function_;

 public:
  ir::Builder b;  ///< appends to the function

  QueryFunction(const ir::Module& module, std::string_view name) : b(module, function_) { function_.name = name; }

  E parameter(std::string name, ir::Type type) { return value(b.parameter(std::move(name), type)); }
  /// Declares the parameters by which a mesh is passed.
  void mesh_parameters() {
    points_ = b.parameter("points", kVec3f.array_of(2));
    indices_ = b.parameter("indices", ir::kI32.array_of(2));
    mesh_ = b.parameter("mesh", kMeshIdType);
  }
  /// Declares the parameters of a function that continues a query, which contains the mesh: the query and an index.
  std::pair<E, E> query_parameters(ir::Type query) {
    points_ = b.parameter("points", kVec3f.array_of(2));
    indices_ = b.parameter("indices", ir::kI32.array_of(2));
    order_ = b.parameter("order", ir::kI32.array_of(1));
    const E given = parameter("query", query);
    const E index = parameter("index", ir::kI32);
    mesh_ = b.let("mesh", b.field(given.id, kIterationMesh));
    return {given, index};
  }
  VarId order() const { return order_; }
  E face_count() { return {&b, b.op(Op::kDiv, {b.shape_of(indices_, 1), b.i32(3)})}; }
  /// The arguments by which the mesh is passed on, followed by `more`.
  std::vector<ExprId> mesh_arguments(const std::vector<E>& more) {
    std::vector<ExprId> all{b.var(points_), b.var(indices_), b.var(mesh_)};
    for (const E argument : more)
      all.push_back(argument.id);
    return all;
  }

  E value(VarId variable) { return {&b, b.var(variable)}; }
  E number(double number) { return {&b, b.f32(number)}; }
  E let(const char* name, E value) { return this->value(b.let(name, value.id)); }
  E called(std::int32_t function, const std::vector<E>& arguments) {
    std::vector<ExprId> all;
    for (const E argument : arguments)
      all.push_back(argument.id);
    return {&b, b.call(function, all)};
  }
  E called_on_mesh(std::int32_t function, const std::vector<E>& more) {
    return {&b, b.call(function, mesh_arguments(more))};
  }

  /// The corners of a face, in new variables.
  Corners corners(E face) {
    // Mesh 0, which does not exist, has a row that no array has.
    const E row = let("row", {&b, b.op(Op::kSub, {b.cast(kRow, b.var(mesh_)), b.cast(kRow, b.i32(1))})});
    std::vector<E> all;
    for (int k = 0; k < 3; ++k) {
      const ExprId first = b.op(Op::kMul, {face.id, b.i32(3)});
      const ExprId position = b.cast(kRow, b.op(Op::kAdd, {first, b.i32(k)}));
      const ExprId index = b.cast(kRow, b.load(indices_, {row.id, position}));
      const std::array<const char*, 3> names = {"p", "q", "r"};
      all.push_back(let(names[static_cast<std::size_t>(k)], {&b, b.load(points_, {row.id, index})}));
    }
    return {all[0], all[1], all[2]};
  }
  /// Runs `body` for each face of the mesh, with its number.
  void for_each_face(const std::function<void(E)>& body) {
    b.for_("face", b.i32(0), face_count().id, b.i32(1), [&](VarId face) { body(value(face)); });
  }

  /// Sets a field of a struct that is held in a variable.
  void set(VarId variable, std::int32_t field, E value) {
    b.assign(variable, b.op(Op::kWithField, {b.var(variable), value.id}, ir::kVoid, field));
  }
  void return_value(E value) { b.return_({value.id}); }
  ir::Function take(ir::Type result) { return take(std::vector{result}); }
  ir::Function take(std::vector<ir::Type> results) {
    function_.results = std::move(results);
    return std::move(function_);
  }

 private:
  VarId points_ = kNone;
  VarId indices_ = kNone;
  VarId order_ = kNone;
  VarId mesh_ = kNone;
};

E barycentric(E u, E v) { return ir::algebra::make(kBarycentric, {u, v}); }

/// The weights (u, v) of p and q in the point of the triangle p, q, r that is closest to x. The planes through the
/// corners and edges, perpendicular to the edges, divide space into one region for each corner, each edge and the
/// interior (C. Ericson, "Real-Time Collision Detection", 2005, section 5.1.5).
ir::Function closest_on_triangle(const ir::Module& module) {
  QueryFunction f(module, "wp_mesh_closest_on_triangle");
  const E p = f.parameter("p", kVec3f);
  const E q = f.parameter("q", kVec3f);
  const E r = f.parameter("r", kVec3f);
  const E x = f.parameter("x", kVec3f);
  const E none = f.number(0);
  const E one = f.number(1);
  const auto return_if = [&](E condition, const std::function<std::pair<E, E>()>& weights) {
    f.b.if_(condition.id, [&] {
      const auto [u, v] = weights();
      f.return_value(barycentric(u, v));
    });
  };
  /// How far x is from a corner along the edges from p to q and from p to r.
  const E to_q = f.let("to_q", q - p);
  const E to_r = f.let("to_r", r - p);
  const auto along = [&](E corner) {
    const E from = f.let("from", x - corner);
    return std::pair{f.let("along_q", dot(to_q, from)), f.let("along_r", dot(to_r, from))};
  };
  const auto [pq, pr] = along(p);
  return_if(both(at_most(pq, 0), at_most(pr, 0)), [&] { return std::pair{one, none}; });
  const auto [qq, qr] = along(q);
  return_if(both(at_least(qq, 0), at_most(qr, qq)), [&] { return std::pair{none, one}; });
  const E area_r = f.let("area_r", pq * qr - qq * pr);
  return_if(both(at_most(area_r, 0), both(at_least(pq, 0), at_most(qq, 0))), [&] {
    const E v = f.let("v", pq / (pq - qq));
    return std::pair{1.0 - v, v};
  });
  const auto [rq, rr] = along(r);
  return_if(both(at_least(rr, 0), at_most(rq, rr)), [&] { return std::pair{none, none}; });
  const E area_q = f.let("area_q", rq * pr - pq * rr);
  return_if(both(at_most(area_q, 0), both(at_least(pr, 0), at_most(rr, 0))), [&] {
    return std::pair{1.0 - pr / (pr - rr), none};
  });
  const E area_p = f.let("area_p", qq * rr - rq * qr);
  const E from_q = f.let("from_q", qr - qq);
  const E from_r = f.let("from_r", rq - rr);
  return_if(both(at_most(area_p, 0), both(at_least(from_q, 0), at_least(from_r, 0))), [&] {
    return std::pair{none, 1.0 - from_q / (from_q + from_r)};
  });
  const E scale = f.let("scale", one / (area_p + area_q + area_r));
  const E v = f.let("v", area_q * scale);
  f.return_value(barycentric(1.0 - v - area_r * scale, v));
  return f.take(kBarycentric);
}

/// Runs `body` with the corners of each face except slivers.
void for_each_solid_face(QueryFunction& f, const std::function<void(E, const Corners&)>& body) {
  f.for_each_face([&](E face) {
    const Corners at = f.corners(face);
    const E to_q = f.let("to_q", at.q - at.p);
    const E to_r = f.let("to_r", at.r - at.p);
    const E opposite = f.let("opposite", at.r - at.q);
    const E squares = dot(to_q, to_q) + dot(to_r, to_r) + dot(opposite, opposite);
    const E share = call(Op::kLength, cross(to_q, to_r)) / squares;
    f.b.if_(call(Op::kNot, share < like(share, kSliver)).id, [&] { body(face, at); });
  });
}

E point_at(const Corners& at, E u, E v) { return at.p * u + at.q * v + at.r * (1.0 - u - v); }

/// Returns from the function the face whose point, at weights that `on_triangle` computes, has the best distance from
/// x: one that is better than `limit`. Returns -1 if there is none.
void best_face(QueryFunction& f, E x, E limit, std::int32_t on_triangle, const std::function<E(E, E)>& is_better) {
  const VarId found = f.b.let("found", f.b.i32(-1));
  const VarId best = f.b.let("best", (limit * limit).id);
  for_each_solid_face(f, [&](E face, const Corners& at) {
    const E weights = f.let("weights", f.called(on_triangle, {at.p, at.q, at.r, x}));
    const E away = f.let("away", point_at(at, weights[0], weights[1]) - x);
    const E square = f.let("square", dot(away, away));
    f.b.if_(is_better(square, f.value(best)).id, [&] {
      f.b.assign(best, square.id);
      f.b.assign(found, face.id);
    });
  });
  f.return_value(f.value(found));
}

/// The face closest to x, if it is closer than `limit`; otherwise -1.
ir::Function closest_face(const ir::Module& module, std::int32_t closest_on_triangle) {
  QueryFunction f(module, "wp_mesh_closest_face");
  f.mesh_parameters();
  const E x = f.parameter("x", kVec3f);
  const E limit = f.parameter("limit", ir::kF32);
  best_face(f, x, limit, closest_on_triangle, [](E square, E best) { return square < best; });
  return f.take(ir::kI32);
}

/// The weights (u, v) of p and q in the corner of the triangle p, q, r that is furthest from x.
ir::Function furthest_on_triangle(const ir::Module& module) {
  QueryFunction f(module, "wp_mesh_furthest_on_triangle");
  const E p = f.parameter("p", kVec3f);
  const E q = f.parameter("q", kVec3f);
  const E r = f.parameter("r", kVec3f);
  const E x = f.parameter("x", kVec3f);
  const auto square_to = [&](E corner) {
    const E away = f.let("away", corner - x);
    return f.let("square", dot(away, away));
  };
  const E to_p = square_to(p);
  const E to_q = square_to(q);
  const E to_r = square_to(r);
  const E none = f.number(0);
  const E one = f.number(1);
  f.b.if_(both(to_p > to_q, to_p > to_r).id, [&] { f.return_value(barycentric(one, none)); });
  f.b.if_((to_q > to_r).id, [&] { f.return_value(barycentric(none, one)); });
  f.return_value(barycentric(none, none));
  return f.take(kBarycentric);
}

/// The face with the point furthest from x, if this point is further away than `limit`; otherwise -1.
ir::Function furthest_face(const ir::Module& module, std::int32_t furthest_on_triangle) {
  QueryFunction f(module, "wp_mesh_furthest_face");
  f.mesh_parameters();
  const E x = f.parameter("x", kVec3f);
  const E limit = f.parameter("limit", ir::kF32);
  best_face(f, x, limit, furthest_on_triangle, [](E square, E best) { return square > best; });
  return f.take(ir::kI32);
}

/// The intersection of the line start + t dir with the triangle p, q, r: (t, u, v, sign), or t = -1 if they do not
/// intersect. The sign is positive if the line meets the front, from which the corners are seen counterclockwise. It is
/// the doubled area of the triangle, projected along dir to the plane perpendicular to the axis that is closest to dir
/// (S. Woop, C. Benthin, I. Wald, "Watertight ray/triangle intersection", JCGT 2(1), 2013).
ir::Function ray_hit(const ir::Module& module) {
  QueryFunction f(module, "wp_mesh_ray_hit");
  const E p = f.parameter("p", kVec3f);
  const E q = f.parameter("q", kVec3f);
  const E r = f.parameter("r", kVec3f);
  const E start = f.parameter("start", kVec3f);
  const E dir = f.parameter("dir", kVec3f);
  const E none = f.number(0);
  const auto miss = [&] { f.return_value(ir::algebra::make(kRayHit, {f.number(-1), none, none, none})); };
  const E a = f.let("a", p - start);
  const E c = f.let("b", q - start);
  const E e = f.let("c", r - start);
  // The volume of dir and two corners is zero if the line meets the edge between these corners.
  const E volume_p = f.let("volume_p", dot(dir, cross(e, c)));
  const E volume_q = f.let("volume_q", dot(dir, cross(a, e)));
  const E volume_r = f.let("volume_r", dot(dir, cross(c, a)));
  const E is_negative = either(volume_p < none, either(volume_q < none, volume_r < none));
  const E is_positive = either(volume_p > none, either(volume_q > none, volume_r > none));
  f.b.if_(both(is_negative, is_positive).id, miss);
  const E volume = f.let("volume", volume_p + volume_q + volume_r);
  f.b.if_(call(Op::kEq, volume, none).id, miss);
  const E normal = f.let("normal", cross(q - p, r - p));
  const auto size = [](E number) { return call(Op::kAbs, number); };
  const E longest = call(Op::kMax, call(Op::kMax, size(dir[0]), size(dir[1])), size(dir[2]));
  f.return_value(ir::algebra::make(
      kRayHit, {dot(normal, a) / dot(normal, dir), volume_p / volume, volume_q / volume, volume / longest}));
  return f.take(kRayHit);
}

/// The first face that the ray from `start` meets before t = limit; -1 if there is none.
ir::Function ray_face(const ir::Module& module, std::int32_t ray_hit) {
  QueryFunction f(module, "wp_mesh_ray_face");
  f.mesh_parameters();
  const E start = f.parameter("start", kVec3f);
  const E dir = f.parameter("dir", kVec3f);
  const E limit = f.parameter("limit", ir::kF32);
  const VarId first = f.b.let("first", f.b.i32(-1));
  const VarId least = f.b.let("least", limit.id);
  f.for_each_face([&](E face) {
    const Corners at = f.corners(face);
    const E t = f.let("t", f.called(ray_hit, {at.p, at.q, at.r, start, dir})[0]);
    f.b.if_(both(at_least(t, 0), t < f.value(least)).id, [&] {
      f.b.assign(least, t.id);
      f.b.assign(first, face.id);
    });
  });
  f.return_value(f.value(first));
  return f.take(ir::kI32);
}

E plus_one(QueryFunction& f, VarId count) { return {&f.b, f.b.op(Op::kAdd, {f.b.var(count), f.b.i32(1)})}; }
/// Whether a function found a face.
E is_found(QueryFunction& f, E face) { return {&f.b, f.b.op(Op::kGe, {face.id, f.b.i32(0)})}; }

/// The number of faces that the ray from `start` meets.
ir::Function hit_count(const ir::Module& module, std::int32_t ray_hit) {
  QueryFunction f(module, "wp_mesh_hit_count");
  f.mesh_parameters();
  const E start = f.parameter("start", kVec3f);
  const E dir = f.parameter("dir", kVec3f);
  const VarId hits = f.b.let("hits", f.b.i32(0));
  f.for_each_face([&](E face) {
    const Corners at = f.corners(face);
    const E t = f.called(ray_hit, {at.p, at.q, at.r, start, dir})[0];
    f.b.if_(at_least(t, 0).id, [&] { f.b.assign(hits, plus_one(f, hits).id); });
  });
  f.return_value(f.value(hits));
  return f.take(ir::kI32);
}

/// -1 if x is inside: if at least two of the rays from x along the axes meet the back of a face first. Otherwise 1.
ir::Function side_by_rays(const ir::Module& module, std::int32_t ray_face, std::int32_t ray_hit) {
  QueryFunction f(module, "wp_mesh_side_by_rays");
  f.mesh_parameters();
  const E x = f.parameter("x", kVec3f);
  const VarId votes = f.b.let("votes", f.b.i32(0));
  for (int axis = 0; axis < 3; ++axis) {
    std::vector<E> unit;
    for (int k = 0; k < 3; ++k)
      unit.push_back(f.number(k == axis ? 1 : 0));
    const E dir = f.let("dir", ir::algebra::make(kVec3f, unit));
    const E face = f.let("face", f.called_on_mesh(ray_face, {x, dir, f.number(kEndless)}));
    f.b.if_(is_found(f, face).id, [&] {
      const Corners at = f.corners(face);
      const E sign = f.called(ray_hit, {at.p, at.q, at.r, x, dir})[3];
      f.b.if_((sign < f.number(0)).id, [&] { f.b.assign(votes, plus_one(f, votes).id); });
    });
  }
  const E is_inside{&f.b, f.b.op(Op::kGe, {f.b.var(votes), f.b.i32(2)})};
  f.return_value(ir::algebra::where(is_inside, f.number(-1), f.number(1)));
  return f.take(ir::kF32);
}

/// -1 if x is inside: if at least half of some rays from x meet an odd number of faces. Otherwise 1. The directions are
/// random, but the same in each call: each component is 1 plus a random number between -spread and spread.
ir::Function side_by_parity(const ir::Module& module, std::int32_t hit_count, std::int32_t random_step) {
  QueryFunction f(module, "wp_mesh_side_by_parity");
  f.mesh_parameters();
  const E x = f.parameter("x", kVec3f);
  const E rays = f.parameter("rays", ir::kI32);
  const E spread = f.parameter("spread", ir::kF32);
  constexpr std::int64_t kSeed = 42;
  const VarId state = f.b.let("state", f.b.call(random_step, {f.b.literal(kRow, kSeed)}));
  const VarId votes = f.b.let("votes", f.b.i32(0));
  const auto draw = [&] {
    f.b.assign(state, f.b.call(random_step, {f.b.var(state)}));
    const ExprId bits = f.b.op(Op::kShiftRight, {f.b.var(state), f.b.literal(kRow, std::int64_t{8})});
    const E unit = E{&f.b, f.b.cast(ir::kF32, bits)} * f.number(0x1p-24);
    return f.let("drawn", (spread + spread) * unit - spread);
  };
  f.b.for_("ray", f.b.i32(0), rays.id, f.b.i32(1), [&](VarId) {
    const VarId dir = f.b.let_zero("dir", kVec3f);
    f.b.while_(f.b.boolean(true), [&] {
      std::vector<E> components;
      for (int k = 0; k < 3; ++k)
        components.push_back(draw());
      for (E& component : components)
        component = 1.0 + component;
      f.b.assign(dir, ir::algebra::make(kVec3f, components).id);
      f.b.if_(at_least(dot(f.value(dir), f.value(dir)), kShortDirection).id, [&] { f.b.break_(); });
    });
    const E hits = f.called_on_mesh(hit_count, {x, f.value(dir)});
    const ExprId is_odd = f.b.op(Op::kNe, {f.b.op(Op::kMod, {hits.id, f.b.i32(2)}), f.b.i32(0)});
    f.b.if_(is_odd, [&] { f.b.assign(votes, plus_one(f, votes).id); });
  });
  const ExprId doubled = f.b.op(Op::kMul, {f.b.var(votes), f.b.i32(2)});
  const E is_inside{&f.b, f.b.op(Op::kGe, {doubled, rays.id})};
  f.return_value(ir::algebra::where(is_inside, f.number(-1), f.number(1)));
  return f.take(ir::kF32);
}

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

/// The square of the distance between x and the triangle p, q, r. A triangle without area is its longest edge.
ir::Function square_of_distance(const ir::Module& module, std::int32_t closest_on_triangle) {
  QueryFunction f(module, "wp_mesh_square_of_distance");
  const E p = f.parameter("p", kVec3f);
  const E q = f.parameter("q", kVec3f);
  const E r = f.parameter("r", kVec3f);
  const E x = f.parameter("x", kVec3f);
  const auto return_square_to = [&](E point) {
    const E away = f.let("away", point - x);
    f.return_value(dot(away, away));
  };
  const auto return_square_to_edge = [&](E from, E edge, E square) {
    const E none = f.number(0);
    const E one = f.number(1);
    const VarId place = f.b.let("place", none.id);
    f.b.if_((square > none).id, [&] {
      const E along = dot(x - from, edge) / square;
      f.b.assign(place, f.b.op(Op::kClamp, {along.id, none.id, one.id}));
    });
    return_square_to(from + edge * f.value(place));
  };
  const E normal = f.let("normal", cross(q - p, r - p));
  f.b.if_(call(Op::kEq, dot(normal, normal), f.number(0)).id, [&] {
    const std::array<E, 3> edges{f.let("edge", q - p), f.let("edge", r - p), f.let("edge", r - q)};
    std::vector<E> squares;
    for (const E edge : edges)
      squares.push_back(f.let("square", dot(edge, edge)));
    const E is_first = both(call(Op::kGe, squares[0], squares[1]), call(Op::kGe, squares[0], squares[2]));
    f.b.if_(is_first.id, [&] { return_square_to_edge(p, edges[0], squares[0]); });
    f.b.if_(call(Op::kGe, squares[1], squares[2]).id, [&] { return_square_to_edge(p, edges[1], squares[1]); });
    return_square_to_edge(q, edges[2], squares[2]);
  });
  const E weights = f.let("weights", f.called(closest_on_triangle, {p, q, r, x}));
  return_square_to(point_at({p, q, r}, weights[0], weights[1]));
  return f.take(ir::kF32);
}

/// Whether the box around the face overlaps the box from `low` to `high`. Boxes that touch overlap.
E boxes_overlap(const Corners& at, E low, E high) {
  const auto overlap = [&](int axis) {
    const E least = call(Op::kMin, call(Op::kMin, at.p[axis], at.q[axis]), at.r[axis]);
    const E greatest = call(Op::kMax, call(Op::kMax, at.p[axis], at.q[axis]), at.r[axis]);
    return both(at_most(least, high[axis]), call(Op::kGe, greatest, low[axis]));
  };
  return both(overlap(0), both(overlap(1), overlap(2)));
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
    return file_.library_function("wp_mesh_closest_on_triangle", frontend::closest_on_triangle);
  }
  std::int32_t closest_face() {
    const std::int32_t on_triangle = closest_on_triangle();
    return file_.library_function(
        "wp_mesh_closest_face", [&](const ir::Module& module) { return frontend::closest_face(module, on_triangle); });
  }
  std::int32_t ray_hit() { return file_.library_function("wp_mesh_ray_hit", frontend::ray_hit); }
  std::int32_t ray_face() {
    const std::int32_t hit = ray_hit();
    return file_.library_function("wp_mesh_ray_face",
                                  [&](const ir::Module& module) { return frontend::ray_face(module, hit); });
  }

  std::int32_t furthest_on_triangle() {
    return file_.library_function("wp_mesh_furthest_on_triangle", frontend::furthest_on_triangle);
  }
  std::int32_t furthest_face() {
    const std::int32_t on_triangle = furthest_on_triangle();
    return file_.library_function("wp_mesh_furthest_face", [&](const ir::Module& module) {
      return frontend::furthest_face(module, on_triangle);
    });
  }
  std::int32_t hit_count() {
    const std::int32_t hit = ray_hit();
    return file_.library_function("wp_mesh_hit_count",
                                  [&](const ir::Module& module) { return frontend::hit_count(module, hit); });
  }
  std::int32_t side_by_rays() {
    const std::int32_t first = ray_face();
    const std::int32_t hit = ray_hit();
    return file_.library_function("wp_mesh_side_by_rays",
                                  [&](const ir::Module& module) { return frontend::side_by_rays(module, first, hit); });
  }
  std::int32_t side_by_parity() {
    const std::int32_t count = hit_count();
    const std::int32_t step = random_generator_step(file_);
    return file_.library_function("wp_mesh_side_by_parity", [&](const ir::Module& module) {
      return frontend::side_by_parity(module, count, step);
    });
  }

  std::int32_t square_of_distance() {
    const std::int32_t on_triangle = closest_on_triangle();
    return file_.library_function("wp_mesh_square_of_distance", [&](const ir::Module& module) {
      return frontend::square_of_distance(module, on_triangle);
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

  std::int32_t query(const MeshQuery& query) {
    if (query.visits_faces) return start(query);
    const auto no_sign = [](QueryFunction& f, const Operands&) { return f.number(0); };
    if (query.name == "mesh_query_point_no_sign") return point_query(query, no_sign);
    if (query.name == "mesh_query_point") {
      const std::int32_t side = side_by_rays();
      return point_query(query,
                         [&](QueryFunction& f, const Operands& given) { return f.called_on_mesh(side, {given[0]}); });
    }
    if (query.name == "mesh_query_point_sign_parity") {
      const std::int32_t side = side_by_parity();
      return point_query(query, [&](QueryFunction& f, const Operands& given) {
        return f.called_on_mesh(side, {given[0], given[2], given[3]});
      });
    }
    if (query.name == "mesh_query_furthest_point_no_sign")
      return point_query(query, no_sign, furthest_face(), furthest_on_triangle());
    if (query.name == "mesh_query_ray") return ray_query(query);
    return query.name == "mesh_query_ray_anyhit" ? any_hit(query) : count(query);
  }

 private:
  using Operands = std::vector<E>;
  /// Builds the sign of the distance of a query.
  using SignOf = std::function<E(QueryFunction&, const Operands&)>;

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
                   const std::function<void(QueryFunction&, const Operands&)>& build) {
    const std::string name = fmt::format("wp_{}", query.name);
    return file_.library_function(name, [&](const ir::Module& module) {
      QueryFunction f(module, name);
      f.mesh_parameters();
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
        f.set(found, kPointSign, sign(f, given));
        f.set(found, kPointFace, face);
        f.set(found, kPointU, weights[0]);
        f.set(found, kPointV, weights[1]);
      });
      f.return_value(f.value(found));
    });
  }

  std::int32_t ray_query(const MeshQuery& query) {
    const ir::Type result = ray_result(file_.module());
    const std::int32_t first = ray_face();
    const std::int32_t hit = ray_hit();
    return add(query, result, [&](QueryFunction& f, const Operands& given) {
      const VarId found = f.b.let_zero("found", result);
      const E face = f.let("face", f.called_on_mesh(first, given));
      f.b.if_(is_found(f, face).id, [&] {
        const Corners at = f.corners(face);
        const E met = f.let("met", f.called(hit, {at.p, at.q, at.r, given[0], given[1]}));
        f.set(found, kRayResult, {&f.b, f.b.boolean(true)});
        f.set(found, kRaySign, met[3]);
        f.set(found, kRayFace, face);
        f.set(found, kRayT, met[0]);
        f.set(found, kRayU, met[1]);
        f.set(found, kRayV, met[2]);
        f.set(found, kRayNormal, call(Op::kNormalize, cross(at.q - at.p, at.r - at.p)));
      });
      f.return_value(f.value(found));
    });
  }

  std::int32_t any_hit(const MeshQuery& query) {
    const std::int32_t first = ray_face();
    return add(query, ir::kBool, [&](QueryFunction& f, const Operands& given) {
      f.return_value(is_found(f, f.called_on_mesh(first, given)));
    });
  }

  std::int32_t count(const MeshQuery& query) {
    const std::int32_t hits = hit_count();
    return add(query, ir::kI32,
               [&](QueryFunction& f, const Operands& given) { f.return_value(f.called_on_mesh(hits, given)); });
  }

  WarpFileParser& file_;
};

}  // namespace

const MeshQuery* find_mesh_query(std::string_view name) {
  constexpr std::string_view kPointParameters = "id point max_dist";
  constexpr std::string_view kRayParameters = "id start dir max_t";
  constexpr std::string_view kSignedOutputs = "inside face bary_u bary_v";
  constexpr std::string_view kUnsignedOutputs = "face bary_u bary_v";
  static const MeshQuery kQueries[] = {
      {.name = "mesh_query_point",
       .parameters = kPointParameters,
       .operands = {kVec3f, ir::kF32},
       .outputs = kSignedOutputs},
      {.name = "mesh_query_point_no_sign",
       .parameters = kPointParameters,
       .operands = {kVec3f, ir::kF32},
       .outputs = kUnsignedOutputs},
      {.name = "mesh_query_point_sign_parity",
       .parameters = "id point max_dist n_sample perturbation_scale",
       .operands = {kVec3f, ir::kF32, ir::kI32, ir::kF32},
       .defaults = {1, 0.1},
       .outputs = kSignedOutputs},
      {.name = "mesh_query_furthest_point_no_sign",
       .parameters = "id point min_dist",
       .operands = {kVec3f, ir::kF32},
       .outputs = kUnsignedOutputs},
      {.name = "mesh_query_ray",
       .parameters = kRayParameters,
       .operands = {kVec3f, kVec3f, ir::kF32},
       .has_root = true,
       .outputs = "t bary_u bary_v sign normal face"},
      {.name = "mesh_query_ray_anyhit",
       .parameters = kRayParameters,
       .operands = {kVec3f, kVec3f, ir::kF32},
       .has_root = true},
      {.name = "mesh_query_ray_count_intersections",
       .parameters = "id start dir",
       .operands = {kVec3f, kVec3f},
       .has_root = true},
      {.name = "mesh_query_aabb", .parameters = "id low high", .operands = {kVec3f, kVec3f}, .visits_faces = true},
      {.name = "mesh_query_sphere",
       .parameters = "id center radius",
       .operands = {kVec3f, ir::kF32},
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
  return QueryLibrary(file).next_face(query);
}

std::int32_t function_of_query(WarpFileParser& file, const MeshQuery& query) { return QueryLibrary(file).query(query); }

}  // namespace assay::frontend
