// What the files that build the functions for queries of meshes share: QueryFunction, which builds one function, and
// the functions on which the queries are based. Only mesh_queries.cpp and mesh_query_functions.cpp include this header.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/warp/parse/mesh_queries.hpp"
#include "ir/algebra.hpp"

namespace assay::frontend::queries {

using ir::ExprId;
using ir::kNone;
using ir::Op;
using ir::VarId;
using ir::algebra::call;
using ir::algebra::E;
using ir::algebra::either;
using ir::algebra::like;

inline constexpr ir::Type kMeshIdType = ir::scalar_type(ir::Scalar::kU64);
inline constexpr ir::Type kRow = ir::scalar_type(ir::Scalar::kU32);
inline constexpr ir::Type kVec3f = ir::vector_type(ir::Scalar::kF32, 3);
inline constexpr ir::Type kBarycentric = ir::vector_type(ir::Scalar::kF32, 2);

inline E both(E a, E c) { return call(Op::kAnd, a, c); }
inline E at_least(E a, double limit) { return call(Op::kGe, a, like(a, limit)); }
inline E at_most(E a, E limit) { return call(Op::kLe, a, limit); }
inline E at_most(E a, double limit) { return at_most(a, like(a, limit)); }
inline E dot(E a, E c) { return call(Op::kDot, a, c); }
inline E cross(E a, E c) { return call(Op::kCross, a, c); }

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
  /// Declares the parameters by which a mesh is passed. `of_group`: also those that select a group of its faces.
  void mesh_parameters(bool of_group = false) {
    points_ = b.parameter("points", kVec3f.array_of(2));
    indices_ = b.parameter("indices", ir::kI32.array_of(2));
    if (of_group) groups_ = b.parameter("groups", ir::kI32.array_of(2));
    mesh_ = b.parameter("mesh", kMeshIdType);
    if (of_group) root_ = b.parameter("root", ir::kI32);
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
  /// Zero, with such a rounding error that either sign is correct: `value` disappears in a large number.
  E of_unknown_sign(E value) {
    constexpr double kLarge = 1e30;
    return (value + number(kLarge)) - number(kLarge);
  }
  E face_count() { return {&b, b.op(Op::kDiv, {b.shape_of(indices_, 1), b.i32(3)})}; }
  /// The arguments by which the mesh is passed on, followed by `more`.
  std::vector<ExprId> mesh_arguments(const std::vector<E>& more) {
    std::vector<ExprId> all{b.var(points_), b.var(indices_)};
    if (groups_ != kNone) all.push_back(b.var(groups_));
    all.push_back(b.var(mesh_));
    if (root_ != kNone) all.push_back(b.var(root_));
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
  /// Calls ray_hit() and returns t, u, v and the sign, in new variables.
  std::array<E, 4> hit_of(std::int32_t ray_hit, const Corners& at, E start, E dir) {
    const std::vector<VarId> hit =
        b.call_statement(ray_hit, {at.p.id, at.q.id, at.r.id, start.id, dir.id}, {"t", "u", "v", "sign"});
    return {value(hit[0]), value(hit[1]), value(hit[2]), value(hit[3])};
  }
  E called_on_mesh(std::int32_t function, const std::vector<E>& more) {
    return {&b, b.call(function, mesh_arguments(more))};
  }

  /// The corners of a face, in new variables.
  Corners corners(E face) {
    const E row = let("row", mesh_row());
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
  /// Runs `body` for each face of the mesh, or of the group of its faces, with its number.
  void for_each_face(const std::function<void(E)>& body) {
    b.for_("face", b.i32(0), face_count().id, b.i32(1), [&](VarId face) {
      if (groups_ == kNone) return body(value(face));
      const auto group_of = [&](VarId number) { return b.load(groups_, {mesh_row().id, b.cast(kRow, b.var(number))}); };
      // A root below zero selects all faces; no face has its number.
      const VarId is_selected = b.let("is_selected", b.op(Op::kLt, {b.var(root_), b.i32(0)}));
      b.if_(b.op(Op::kNot, {b.var(is_selected)}), [&] {
        b.assign(is_selected, b.op(Op::kEq, {group_of(face), group_of(root_)}));
      });
      b.if_(b.var(is_selected), [&] { body(value(face)); });
    });
  }

  /// Sets a field of a struct that is held in a variable.
  void set(VarId variable, std::int32_t field, E value) {
    b.assign(variable, b.op(Op::kWithField, {b.var(variable), value.id}, ir::kVoid, field));
  }
  void return_value(E value) { b.return_({value.id}); }
  void return_values(const std::vector<E>& values) {
    std::vector<ExprId> all;
    for (const E value : values)
      all.push_back(value.id);
    b.return_(all);
  }
  ir::Function take(ir::Type result) { return take(std::vector{result}); }
  ir::Function take(std::vector<ir::Type> results) {
    function_.results = std::move(results);
    return std::move(function_);
  }

 private:
  /// The row of the mesh in the arrays. Mesh 0, which does not exist, has a row that no array has.
  E mesh_row() { return {&b, b.op(Op::kSub, {b.cast(kRow, b.var(mesh_)), b.cast(kRow, b.i32(1))})}; }

  VarId points_ = kNone;
  VarId indices_ = kNone;
  VarId groups_ = kNone;  ///< group of each face
  VarId root_ = kNone;    ///< a face of the selected group; below zero: all faces are selected
  VarId order_ = kNone;
  VarId mesh_ = kNone;
};

inline E plus_one(QueryFunction& f, VarId count) { return {&f.b, f.b.op(Op::kAdd, {f.b.var(count), f.b.i32(1)})}; }
/// Whether a function found a face.
inline E is_found(QueryFunction& f, E face) { return {&f.b, f.b.op(Op::kGe, {face.id, f.b.i32(0)})}; }

// Functions of the language. A number is the index of a function that they call.

/// The weights (u, v) of p and q in the point of the triangle p, q, r that is closest to x. The planes through the
/// corners and edges, perpendicular to the edges, divide space into one region for each corner, each edge and the
/// interior (C. Ericson, "Real-Time Collision Detection", 2005, section 5.1.5).
ir::Function closest_on_triangle(const ir::Module& module);
/// The face closest to x, if it is closer than `limit`; otherwise -1.
ir::Function closest_face(const ir::Module& module, std::int32_t closest_on_triangle);
/// The weights (u, v) of p and q in the corner of the triangle p, q, r that is furthest from x.
ir::Function furthest_on_triangle(const ir::Module& module);
/// The face with the point furthest from x, if this point is further away than `limit`; otherwise -1.
ir::Function furthest_face(const ir::Module& module, std::int32_t furthest_on_triangle);
/// The intersection of the line start + t dir with the triangle p, q, r: t, u, v and the sign; t = -1 if they do not
/// intersect. The sign is positive if the line meets the front, from which the corners are seen counterclockwise. It is
/// the doubled area of the triangle, projected along dir to the plane perpendicular to the axis that is closest to dir
/// (S. Woop, C. Benthin, I. Wald, "Watertight ray/triangle intersection", JCGT 2(1), 2013).
ir::Function ray_hit(const ir::Module& module);
/// The first face that the ray from `start` meets before t = limit; -1 if there is none. `of_group`: of a group of
/// faces.
ir::Function ray_face(const ir::Module& module, std::int32_t ray_hit, bool of_group);
/// The number of faces that the ray from `start` meets. `of_group`: of a group of faces.
ir::Function hit_count(const ir::Module& module, std::int32_t ray_hit, bool of_group);
/// The solid angle of the triangle p, q, r seen from x (A. van Oosterom, J. Strackee, "The solid angle of a plane
/// triangle", IEEE Transactions on Biomedical Engineering 30(2), 1983). Zero from a corner and in the triangle's plane.
ir::Function solid_angle(const ir::Module& module);
/// -1 if x is inside: if the winding number of the mesh around x, the sum of the solid angles divided by 4 pi, is
/// greater than the threshold. Otherwise 1.
ir::Function side_by_winding(const ir::Module& module, std::int32_t solid_angle);
/// -1 if x is inside: if at least two of the rays from x along the axes meet the back of a face first. Otherwise 1.
ir::Function side_by_rays(const ir::Module& module, std::int32_t ray_face, std::int32_t ray_hit);
/// -1 if x is inside: if at least half of some rays from x meet an odd number of faces. Otherwise 1. The directions are
/// random, but the same in each call: each component is 1 plus a random number between -spread and spread.
ir::Function side_by_parity(const ir::Module& module, std::int32_t hit_count, std::int32_t random_step);
/// The weight of the normal of the triangle p, q, r if the point c of it is closest to a point: the angle at a corner
/// that is closer to c than `reach`; pi if only an edge is that close; otherwise 2 pi.
ir::Function normal_weight(const ir::Module& module);
/// -1 if x is inside; otherwise 1. It is inside if the direction from the closest point, which is on `face`, to x
/// points against the sum of the weighted normals of all faces that are as close, up to a tolerance (J. Baerentzen, H.
/// Aanaes, "Signed distance computation using the angle weighted pseudonormal", 2005). The tolerance is `epsilon` times
/// the average length of the edges.
ir::Function side_by_normals(const ir::Module& module, std::int32_t closest_on_triangle, std::int32_t normal_weight);
/// The square of the distance between x and the triangle p, q, r. A triangle without area is its longest edge.
ir::Function square_of_distance(const ir::Module& module, std::int32_t closest_on_triangle);

/// Whether the box around the face overlaps the box from `low` to `high`. Boxes that touch overlap.
E boxes_overlap(const Corners& at, E low, E high);

}  // namespace assay::frontend::queries
