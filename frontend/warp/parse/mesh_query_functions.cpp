#include "frontend/warp/parse/mesh_query_functions.hpp"

namespace assay::frontend::queries {
namespace {

/// Queries of points skip faces whose area is less than this share of the sum of their squared edges, times two.
constexpr double kSliver = 1e-6;
/// The squared length below which a random direction is drawn again.
constexpr double kShortDirection = 1e-8;
/// The greatest float32: a ray without end.
constexpr double kEndless = 0x1.fffffep127;

E barycentric(E u, E v) { return ir::algebra::make(kBarycentric, {u, v}); }

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

}  // namespace

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

ir::Function closest_face(const ir::Module& module, std::int32_t closest_on_triangle) {
  QueryFunction f(module, "wp_mesh_closest_face");
  f.mesh_parameters();
  const E x = f.parameter("x", kVec3f);
  const E limit = f.parameter("limit", ir::kF32);
  best_face(f, x, limit, closest_on_triangle, [](E square, E best) { return square < best; });
  return f.take(ir::kI32);
}

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

ir::Function furthest_face(const ir::Module& module, std::int32_t furthest_on_triangle) {
  QueryFunction f(module, "wp_mesh_furthest_face");
  f.mesh_parameters();
  const E x = f.parameter("x", kVec3f);
  const E limit = f.parameter("limit", ir::kF32);
  best_face(f, x, limit, furthest_on_triangle, [](E square, E best) { return square > best; });
  return f.take(ir::kI32);
}

ir::Function ray_hit(const ir::Module& module) {
  QueryFunction f(module, "wp_mesh_ray_hit");
  const E p = f.parameter("p", kVec3f);
  const E q = f.parameter("q", kVec3f);
  const E r = f.parameter("r", kVec3f);
  const E start = f.parameter("start", kVec3f);
  const E dir = f.parameter("dir", kVec3f);
  const E none = f.number(0);
  const auto miss = [&] { f.return_values({f.number(-1), none, none, none}); };
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
  f.return_values({dot(normal, a) / dot(normal, dir), volume_p / volume, volume_q / volume, volume / longest});
  return f.take({ir::kF32, ir::kF32, ir::kF32, ir::kF32});
}

ir::Function ray_face(const ir::Module& module, std::int32_t ray_hit, bool of_group) {
  QueryFunction f(module, of_group ? "wp_mesh_ray_face_of_group" : "wp_mesh_ray_face");
  f.mesh_parameters(of_group);
  const E start = f.parameter("start", kVec3f);
  const E dir = f.parameter("dir", kVec3f);
  const E limit = f.parameter("limit", ir::kF32);
  const VarId first = f.b.let("first", f.b.i32(-1));
  const VarId least = f.b.let("least", limit.id);
  f.for_each_face([&](E face) {
    const Corners at = f.corners(face);
    const E t = f.hit_of(ray_hit, at, start, dir)[0];
    f.b.if_(both(at_least(t, 0), t < f.value(least)).id, [&] {
      f.b.assign(least, t.id);
      f.b.assign(first, face.id);
    });
  });
  f.return_value(f.value(first));
  return f.take(ir::kI32);
}

ir::Function hit_count(const ir::Module& module, std::int32_t ray_hit, bool of_group) {
  QueryFunction f(module, of_group ? "wp_mesh_hit_count_of_group" : "wp_mesh_hit_count");
  f.mesh_parameters(of_group);
  const E start = f.parameter("start", kVec3f);
  const E dir = f.parameter("dir", kVec3f);
  const VarId hits = f.b.let("hits", f.b.i32(0));
  f.for_each_face([&](E face) {
    const Corners at = f.corners(face);
    const E t = f.hit_of(ray_hit, at, start, dir)[0];
    f.b.if_(at_least(t, 0).id, [&] { f.b.assign(hits, plus_one(f, hits).id); });
  });
  f.return_value(f.value(hits));
  return f.take(ir::kI32);
}

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
      const E sign = f.hit_of(ray_hit, at, x, dir)[3];
      f.b.if_((sign < f.number(0)).id, [&] { f.b.assign(votes, plus_one(f, votes).id); });
    });
  }
  const E is_inside{&f.b, f.b.op(Op::kGe, {f.b.var(votes), f.b.i32(2)})};
  f.return_value(ir::algebra::where(is_inside, f.number(-1), f.number(1)));
  return f.take(ir::kF32);
}

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

ir::Function solid_angle(const ir::Module& module) {
  QueryFunction f(module, "wp_solid_angle");
  const E p = f.parameter("p", kVec3f);
  const E q = f.parameter("q", kVec3f);
  const E r = f.parameter("r", kVec3f);
  const E x = f.parameter("x", kVec3f);
  const auto return_zero_if = [&](E condition) { f.b.if_(condition.id, [&] { f.return_value(f.number(0)); }); };
  std::vector<E> directions;
  for (const E corner : {p, q, r}) {
    const E away = f.let("away", corner - x);
    const E length = f.let("distance", call(Op::kLength, away));
    return_zero_if(call(Op::kEq, length, f.number(0)));
    directions.push_back(f.let("direction", away / length));
  }
  const E a = directions[0];
  const E c = directions[1];
  const E d = directions[2];
  const E sine = f.let("sine", dot(a, cross(c - a, d - a)));
  return_zero_if(call(Op::kEq, sine, f.number(0)));
  const E cosine = f.number(1) + dot(a, c) + dot(a, d) + dot(c, d);
  f.return_value(f.number(2) * call(Op::kAtan2, sine, cosine));
  return f.take(ir::kF32);
}

ir::Function side_by_winding(const ir::Module& module, std::int32_t solid_angle) {
  QueryFunction f(module, "wp_mesh_side_by_winding");
  f.mesh_parameters();
  const E x = f.parameter("x", kVec3f);
  const E threshold = f.parameter("threshold", ir::kF32);
  const VarId sum = f.b.let("sum", f.b.f32(0));
  f.for_each_face([&](E face) {
    const Corners at = f.corners(face);
    f.b.assign(sum, (f.value(sum) + f.called(solid_angle, {at.p, at.q, at.r, x})).id);
  });
  constexpr double kQuarterOfReciprocalPi = 0.07957747154594767;  // 1 / (4 pi)
  const E winding_number = f.value(sum) * f.number(kQuarterOfReciprocalPi);
  f.return_value(ir::algebra::where(winding_number > threshold, f.number(-1), f.number(1)));
  return f.take(ir::kF32);
}

ir::Function normal_weight(const ir::Module& module) {
  QueryFunction f(module, "wp_mesh_normal_weight");
  const E p = f.parameter("p", kVec3f);
  const E q = f.parameter("q", kVec3f);
  const E r = f.parameter("r", kVec3f);
  const E c = f.parameter("c", kVec3f);
  const E reach = f.parameter("reach", ir::kF32);
  const E near = f.let("near", reach * reach);
  const auto return_angle_if_near = [&](E corner, E next, E other) {
    const E from = f.let("from", c - corner);
    f.b.if_((dot(from, from) < near).id, [&] {
      const E cosine = dot(call(Op::kNormalize, next - corner), call(Op::kNormalize, other - corner));
      f.return_value(call(Op::kAcos, cosine));
    });
  };
  return_angle_if_near(p, q, r);
  return_angle_if_near(q, r, p);
  return_angle_if_near(r, p, q);
  // The square of the distance to the line through an edge, times that of the edge's length.
  const auto is_near_edge = [&](E from, E to) {
    const E edge = f.let("edge", to - from);
    const E away = f.let("away", c - from);
    const E along = f.let("along", dot(edge, away));
    const E square = f.let("square", dot(edge, edge));
    return f.let("is_near", dot(away, away) * square - along * along < near * square);
  };
  const E is_near = either(is_near_edge(p, q), either(is_near_edge(q, r), is_near_edge(p, r)));
  constexpr double kPi = 3.14159265359;
  f.b.if_(is_near.id, [&] { f.return_value(f.number(kPi)); });
  f.return_value(f.number(2 * kPi));
  return f.take(ir::kF32);
}

ir::Function side_by_normals(const ir::Module& module, std::int32_t closest_on_triangle, std::int32_t normal_weight) {
  QueryFunction f(module, "wp_mesh_side_by_normals");
  f.mesh_parameters();
  const E x = f.parameter("x", kVec3f);
  const E closest_face = f.parameter("face", ir::kI32);
  const E epsilon = f.parameter("epsilon", ir::kF32);
  const VarId edges = f.b.let("edges", f.b.f32(0));
  f.for_each_face([&](E face) {
    const Corners at = f.corners(face);
    const auto distance = [](E from, E to) { return call(Op::kLength, to - from); };
    f.b.assign(edges, (f.value(edges) + distance(at.p, at.q) + distance(at.p, at.r) + distance(at.q, at.r)).id);
  });
  const ExprId edge_count = f.b.op(Op::kMul, {f.face_count().id, f.b.i32(3)});
  const E reach = f.let("reach", f.value(edges) / E{&f.b, f.b.cast(ir::kF32, edge_count)} * epsilon);
  const auto closest_on = [&](const Corners& at) {
    const E weights = f.let("weights", f.called(closest_on_triangle, {at.p, at.q, at.r, x}));
    return f.let("closest", point_at(at, weights[0], weights[1]));
  };
  const Corners found = f.corners(closest_face);
  const E away = f.let("away", x - closest_on(found));
  const E least = f.let("least", call(Op::kLength, away));
  const auto normal_of = [](const Corners& at) { return call(Op::kNormalize, cross(at.q - at.p, at.r - at.p)); };
  const auto return_side = [&](E side) {
    f.return_value(ir::algebra::where(side > f.number(0), f.number(1), f.number(-1)));
  };
  const auto distance_to = [&](E closest) { return f.let("distance", call(Op::kLength, closest - x)); };
  const VarId near_count = f.b.let("near_count", f.b.i32(0));
  for_each_solid_face(f, [&](E, const Corners& at) {
    f.b.if_((distance_to(closest_on(at)) < least + 2.0 * reach).id,
            [&] { f.b.assign(near_count, plus_one(f, near_count).id); });
  });
  // One weight does not change the sign, and rounding errors could decide which weight it is.
  f.b.if_(f.b.op(Op::kLt, {f.b.var(near_count), f.b.i32(2)}), [&] { return_side(dot(normal_of(found), away)); });
  const VarId side = f.b.let("side", f.b.f32(0));
  // Warp adds the normals of slightly more distant faces if it happens to visit them before the closest one.
  const VarId unsure = f.b.let("unsure", f.b.f32(0));
  for_each_solid_face(f, [&](E, const Corners& at) {
    const E closest = closest_on(at);
    const E distance = distance_to(closest);
    f.b.if_((distance < least + 2.0 * reach).id, [&] {
      const E weight = f.called(normal_weight, {at.p, at.q, at.r, closest, reach});
      const E part = f.let("part", weight * dot(normal_of(at), away));
      f.b.if_((distance < least + reach).id, [&] { f.b.assign(side, (f.value(side) + part).id); },
              [&] { f.b.assign(unsure, (f.value(unsure) + call(Op::kAbs, part)).id); });
    });
  });
  const E is_unsure = f.value(unsure) > call(Op::kAbs, f.value(side));
  f.b.if_(is_unsure.id, [&] { return_side(f.of_unknown_sign(f.value(side))); });
  return_side(f.value(side));
  return f.take(ir::kF32);
}

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

E boxes_overlap(const Corners& at, E low, E high) {
  const auto overlap = [&](int axis) {
    const E least = call(Op::kMin, call(Op::kMin, at.p[axis], at.q[axis]), at.r[axis]);
    const E greatest = call(Op::kMax, call(Op::kMax, at.p[axis], at.q[axis]), at.r[axis]);
    return both(at_most(least, high[axis]), call(Op::kGe, greatest, low[axis]));
  };
  return both(overlap(0), both(overlap(1), overlap(2)));
}

}  // namespace assay::frontend::queries
