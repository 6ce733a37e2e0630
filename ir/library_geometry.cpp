// Warp's library: geometry.
#include <array>
#include <vector>

#include "ir/library_definition.hpp"

namespace assay::ir {
namespace {

using namespace algebra;

E fused(E a, E b, E c) { return apply(a, Op::kFma, {a.id, b.id, c.id}); }
/// a b - c d without cancellation of the rounding errors (W. Kahan, "On the cost of floating-point computation without
/// extra-precise arithmetic", 2004).
E product_difference(LibraryFunctionBuilder& d, E a, E b, E c, E e) {
  const E product = d.let("product", c * e);
  const E error = d.let("error", fused(-c, e, product));
  return d.let("difference", fused(a, b, -product) + error);
}

/// C. Ericson, "Real-Time Collision Detection", 2005, section 5.1.9. The segments are x + s (y - x) and z + t (u - z);
/// a segment whose squared length is at most v is a point.
E closest_points(LibraryFunctionBuilder& d) {
  Builder& b = d.builder();
  const E none = like(d[0], 0);
  const E one = like(d[0], 1);
  const E d1 = d.let("d1", d[1] - d[0]);
  const E d2 = d.let("d2", d[3] - d[2]);
  const E r = d.let("r", d[0] - d[2]);
  const E a = d.let("a", dot(d1, d1));
  const E e = d.let("e", dot(d2, d2));
  const E f = d.let("f", dot(d2, r));
  const E c = d.let("c", dot(d1, r));
  const E is_point1 = d.let("is_point1", call(Op::kLe, a, d[4]));
  const E is_point2 = d.let("is_point2", call(Op::kLe, e, d[4]));
  const VarId s = b.let_zero("s", kF32);
  const VarId t = b.let_zero("t", kF32);
  const auto clamped = [&](E x) { return apply(x, Op::kClamp, {x.id, none.id, one.id}).id; };
  const auto both_lines = [&] {
    const E along = d.let("along", dot(d1, d2));
    const E sine = product_difference(d, a, e, along, along);
    b.if_((sine > none).id, [&] { b.assign(s, clamped(product_difference(d, along, f, c, e) / sine)); });
    b.assign(t, ((along * E{&b, b.var(s)} + f) / e).id);
    b.if_((E{&b, b.var(t)} < none).id,
          [&] {
            b.assign(t, none.id);
            b.assign(s, clamped(-c / a));
          },
          [&] {
            b.if_((E{&b, b.var(t)} > one).id, [&] {
              b.assign(t, one.id);
              b.assign(s, clamped((along - c) / a));
            });
          });
  };
  b.if_(
      is_point1.id, [&] { b.if_(call(Op::kNot, is_point2).id, [&] { b.assign(t, clamped(f / e)); }); },
      [&] {
        b.if_(
            is_point2.id, [&] { b.assign(s, clamped(-c / a)); }, both_lines);
      });
  const E at1{&b, b.var(s)};
  const E at2{&b, b.var(t)};
  const E between = (d[2] + at2 * d2) - (d[0] + at1 * d1);
  return make(d[0].type(), {at1, at2, call(Op::kLength, between)});
}

// ---- intersections of triangles: T. Moeller, "A fast triangle-triangle intersection test", 1997, without divisions

/// Whether |distance| < 1e-6. The limit is a double as in Warp: rounded to a float it would be another number.
E is_tiny(E distance) {
  Builder& b = *distance.b;
  const Type wide = scalar_type(Scalar::kF64);
  const E exact = distance.type() == wide ? distance : E{&b, b.cast(wide, distance.id)};
  return call(Op::kAnd, exact<like(exact, 1e-6), exact> like(exact, -1e-6));
}

/// Component `number`, an int32 variable.
E at(LibraryFunctionBuilder& d, E vector, VarId number) {
  return apply(vector, Op::kExtract, {vector.id, d.builder().var(number)});
}

/// Returns 1 from the function if the segments v0 v1 and u0 u1 intersect, projected to the coordinates i and j
/// (F. Antonio, "Faster line segment intersection", Graphics Gems III, 1992).
void test_edges(LibraryFunctionBuilder& d, const std::array<E, 2>& v, const std::array<E, 2>& u, VarId i, VarId j) {
  Builder& b = d.builder();
  const E ax = d.let("ax", at(d, v[1], i) - at(d, v[0], i));
  const E ay = d.let("ay", at(d, v[1], j) - at(d, v[0], j));
  const E bx = d.let("bx", at(d, u[0], i) - at(d, u[1], i));
  const E by = d.let("by", at(d, u[0], j) - at(d, u[1], j));
  const E cx = d.let("cx", at(d, v[0], i) - at(d, u[0], i));
  const E cy = d.let("cy", at(d, v[0], j) - at(d, u[0], j));
  const E f = d.let("f", ay * bx - ax * by);
  const E e = d.let("d", by * cx - bx * cy);
  const E none = like(f, 0);
  const auto both = [](E x, E y) { return call(Op::kAnd, x, y); };
  const auto between = [&](E low, E x, E high) { return both(call(Op::kGe, x, low), call(Op::kLe, x, high)); };
  const E ahead = both(f > none, between(none, e, f));
  const E behind = both(f < none, between(f, e, none));
  b.if_(either(ahead, behind).id, [&] {
    const E g = d.let("e", ax * cy - ay * cx);
    const E hit = choose(f > none, between(none, g, f), between(f, g, none));
    b.if_(hit.id, [&] { b.return_({b.i32(1)}); });
  });
}

/// Returns 1 from the function if the point v lies in the triangle u, projected to the coordinates i and j.
void test_point(LibraryFunctionBuilder& d, E v, const std::array<E, 3>& u, VarId i, VarId j) {
  Builder& b = d.builder();
  std::vector<E> sides;
  for (std::size_t k = 0; k < 3; ++k) {
    const E first = u[k];
    const E second = u[(k + 1) % 3];
    const E slope_i = d.let("slope", at(d, second, j) - at(d, first, j));
    const E slope_j = d.let("slope", -(at(d, second, i) - at(d, first, i)));
    const E offset = d.let("offset", -slope_i * at(d, first, i) - slope_j * at(d, first, j));
    sides.push_back(d.let("side", slope_i * at(d, v, i) + slope_j * at(d, v, j) + offset));
  }
  const E none = like(sides[0], 0);
  const E inside = call(Op::kAnd, sides[0] * sides[1] > none, sides[0] * sides[2] > none);
  b.if_(inside.id, [&] { b.return_({b.i32(1)}); });
}

/// Whether the triangles y, z, u and v, w, t in the plane with the normal x intersect.
E coplanar_triangles(LibraryFunctionBuilder& d) {
  Builder& b = d.builder();
  std::vector<E> sizes;
  for (int k = 0; k < 3; ++k)
    sizes.push_back(d.let("size", call(Op::kAbs, d[0][k])));
  const E first_over_second = d.let("first_over_second", sizes[0] > sizes[1]);
  // The coordinates without that of the greatest component of the normal.
  const E drops_first = call(Op::kAnd, first_over_second, sizes[0] > sizes[2]);
  const E drops_last = choose(first_over_second, call(Op::kNot, sizes[0] > sizes[2]), sizes[2] > sizes[1]);
  const VarId i = b.let("i", where(drops_first, {&b, b.i32(1)}, {&b, b.i32(0)}).id);
  const VarId j = b.let("j", where(drops_last, {&b, b.i32(1)}, {&b, b.i32(2)}).id);
  const std::array<E, 3> v{d[1], d[2], d[3]};
  const std::array<E, 3> u{d[4], d[5], d[6]};
  for (std::size_t k = 0; k < 3; ++k)
    for (std::size_t l = 0; l < 3; ++l)
      test_edges(d, {v[k], v[(k + 1) % 3]}, {u[l], u[(l + 1) % 3]}, i, j);
  test_point(d, v[0], u, i, j);
  test_point(d, u[0], v, i, j);
  return {&b, b.i32(0)};
}

/// The part of the intersection line that a triangle covers, if it has a corner outside the other plane: its
/// corners' coordinates on the line and distances to the other plane give (a, b, c, x0, x1), from which the caller
/// makes the ends of the interval.
struct Covered {
  VarId a, b, c, x0, x1;
};
Covered covered(LibraryFunctionBuilder& d, const std::array<E, 3>& on_line, const std::array<E, 3>& distance,
                E product01, E product02) {
  Builder& b = d.builder();
  const Type scalar = distance[0].type();
  Covered result{};
  for (VarId* part : {&result.a, &result.b, &result.c, &result.x0, &result.x1})
    *part = b.let_zero("part", scalar);
  const E none = like(distance[0], 0);
  /// Corner `k` is alone on its side.
  const auto alone = [&](std::size_t k, std::size_t l, std::size_t m) {
    return [&, k, l, m] {
      b.assign(result.a, on_line[k].id);
      b.assign(result.b, ((on_line[l] - on_line[k]) * distance[k]).id);
      b.assign(result.c, ((on_line[m] - on_line[k]) * distance[k]).id);
      b.assign(result.x0, (distance[k] - distance[l]).id);
      b.assign(result.x1, (distance[k] - distance[m]).id);
    };
  };
  const auto differs = [&](E x) { return call(Op::kNe, x, none); };
  const E first = either(distance[1] * distance[2] > none, differs(distance[0]));
  b.if_((product01 > none).id, alone(2, 0, 1), [&] {
    b.if_((product02 > none).id, alone(1, 0, 2), [&] {
      b.if_(first.id, alone(0, 1, 2), [&] { b.if_(differs(distance[1]).id, alone(1, 0, 2), alone(2, 0, 1)); });
    });
  });
  return result;
}

/// The signed distances of three points to the plane through x with this normal, scaled by its length; tiny ones are 0.
std::array<E, 3> distances(LibraryFunctionBuilder& d, E normal, E x, const std::array<E, 3>& points) {
  const E offset = d.let("offset", -dot(normal, x));
  std::vector<E> found;
  for (const E point : points) {
    const E distance = d.let("distance", dot(normal, point) + offset);
    found.push_back(d.let("distance", where(is_tiny(distance), like(distance, 0), distance)));
  }
  return {found[0], found[1], found[2]};
}

/// Whether the triangles x, y, z and u, v, w intersect.
E intersect_triangles(LibraryFunctionBuilder& d) {
  Builder& b = d.builder();
  const std::array<E, 3> v{d[0], d[1], d[2]};
  const std::array<E, 3> u{d[3], d[4], d[5]};
  const auto no_hit = [&] { b.return_({b.i32(0)}); };
  const auto normal_of = [&](const std::array<E, 3>& t) { return d.let("normal", cross(t[1] - t[0], t[2] - t[0])); };
  const auto product = [&](E x, E y) { return d.let("product", x * y); };
  const auto same_side = [&](E x, E y) { return call(Op::kAnd, x > like(x, 0), y > like(y, 0)).id; };
  const E n1 = normal_of(v);
  const std::array<E, 3> du = distances(d, n1, v[0], u);
  const E du01 = product(du[0], du[1]);
  const E du02 = product(du[0], du[2]);
  b.if_(same_side(du01, du02), no_hit);
  const E n2 = normal_of(u);
  const std::array<E, 3> dv = distances(d, n2, u[0], v);
  const E dv01 = product(dv[0], dv[1]);
  const E dv02 = product(dv[0], dv[2]);
  b.if_(same_side(dv01, dv02), no_hit);
  // Here and not where the distances are used, because the axis of the line is arbitrary for parallel planes.
  const auto all_zero = [&](const std::array<E, 3>& distance) {
    const auto is_zero = [&](E x) { return call(Op::kEq, x, like(x, 0)); };
    return call(Op::kAnd, is_zero(distance[0]), call(Op::kAnd, is_zero(distance[1]), is_zero(distance[2])));
  };
  b.if_(either(all_zero(dv), all_zero(du)).id, [&] {
    b.return_({d.library("coplanar_triangles", {n1, v[0], v[1], v[2], u[0], u[1], u[2]}).id});
  });
  const E line = d.let("line", cross(n1, n2));
  const VarId axis = b.let("axis", b.i32(0));
  const VarId greatest = b.let("greatest", call(Op::kAbs, line[0]).id);
  for (int k = 1; k < 3; ++k) {
    const E size = d.let("size", call(Op::kAbs, line[k]));
    b.if_((size > E{&b, b.var(greatest)}).id, [&] {
      b.assign(greatest, size.id);
      b.assign(axis, b.i32(k));
    });
  }
  const auto on_line = [&](const std::array<E, 3>& t) {
    return std::array<E, 3>{d.let("on_line", at(d, t[0], axis)), d.let("on_line", at(d, t[1], axis)),
                            d.let("on_line", at(d, t[2], axis))};
  };
  const std::array<E, 3> vp = on_line(v);
  const std::array<E, 3> up = on_line(u);
  const Covered p = covered(d, vp, dv, dv01, dv02);
  const Covered q = covered(d, up, du, du01, du02);
  const auto value = [&](VarId variable) { return E{&b, b.var(variable)}; };
  const E xx = d.let("xx", value(p.x0) * value(p.x1));
  const E yy = d.let("yy", value(q.x0) * value(q.x1));
  const E xxyy = d.let("xxyy", xx * yy);
  const E middle1 = d.let("middle", value(p.a) * xxyy);
  const E end1 = d.let("end", middle1 + value(p.b) * value(p.x1) * yy);
  const E end2 = d.let("end", middle1 + value(p.c) * value(p.x0) * yy);
  const E middle2 = d.let("middle", value(q.a) * xxyy);
  const E end3 = d.let("end", middle2 + value(q.b) * xx * value(q.x1));
  const E end4 = d.let("end", middle2 + value(q.c) * xx * value(q.x0));
  const auto ordered = [&](E x, E y) {
    const E swaps = d.let("swaps", x > y);
    return std::array<E, 2>{d.let("low", where(swaps, y, x)), d.let("high", where(swaps, x, y))};
  };
  const std::array<E, 2> one = ordered(end1, end2);
  const std::array<E, 2> two = ordered(end3, end4);
  const E apart = either(one[1] < two[0], two[1] < one[0]);
  return where(apart, {&b, b.i32(0)}, {&b, b.i32(1)});
}

constexpr auto kGeometryFunctions = std::to_array<LibraryFunction>({
    {{"intersect_tri_tri", "333333", "1 if the triangles (x, y, z) and (u, v, w) intersect, else 0", true},
     intersect_triangles},
    {{"coplanar_triangles", "3333333",
      "1 if the triangles (y, z, u) and (v, w, t), which lie in a plane with normal x, intersect, else 0", true, true},
     coplanar_triangles},
    {{"closest_point_edge_edge", "hhhha",
      "(s, t, distance) for the segments from x to y and from z to u, with the closest points x + s (y - x) and z + t "
      "(u - z)"},
     closest_points},
});

}  // namespace

std::span<const LibraryFunction> geometry_functions() { return kGeometryFunctions; }

}  // namespace assay::ir
