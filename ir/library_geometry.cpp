// Warp's library: geometry.
#include <array>

#include "ir/library_definition.hpp"

namespace assay::ir {
namespace {

using namespace algebra;

E fused(E a, E b, E c) { return apply(a, Op::kFma, {a.id, b.id, c.id}); }
/// a b - c d without cancellation of the rounding errors (W. Kahan, "On the cost of floating-point computation without
/// extra-precise arithmetic", 2004).
E product_difference(Definition& d, E a, E b, E c, E e) {
  const E product = d.let("product", c * e);
  const E error = d.let("error", fused(-c, e, product));
  return d.let("difference", fused(a, b, -product) + error);
}

/// C. Ericson, "Real-Time Collision Detection", 2005, section 5.1.9. The segments are x + s (y - x) and z + t (u - z);
/// a segment whose squared length is at most v is a point.
E closest_points(Definition& d) {
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

constexpr auto kGeometryFunctions = std::to_array<LibraryFunction>({
    {{"closest_point_edge_edge", "hhhha",
      "(s, t, distance) of the closest points x + s (y - x) and z + t (u - z) of two segments"},
     closest_points},
});

}  // namespace

std::span<const LibraryFunction> geometry_functions() { return kGeometryFunctions; }

}  // namespace assay::ir
