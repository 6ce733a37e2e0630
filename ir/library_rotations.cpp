// Warp's library: rotations, rigid transforms and spatial vectors.
#include <array>
#include <numbers>
#include <vector>

#include "ir/library_definition.hpp"

namespace assay::ir {
namespace {

using namespace algebra;

// ---- quaternions; x, y, z, w are the components of the first operand

/// v (2 w^2 - 1) + a 2 (a . v) +- 2 w (a x v) with the axis a = (x, y, z): the rotation for a quaternion of length 1.
E rotated(LibraryFunctionBuilder& d, bool inverse) {
  const E q = d[0];
  const E axis = d.let("axis", three(q, 0));
  const E scale = d.let("scale", 2.0 * q[3] * q[3] - 1.0);
  const E along = d.let("along", 2.0 * dot(axis, d[1]));
  const E kept = d[1] * scale + axis * along;
  const E turned = 2.0 * (cross(axis, d[1]) * q[3]);
  return inverse ? kept - turned : kept + turned;
}

/// The matrix whose columns are the rotated unit vectors.
E rotation_matrix(LibraryFunctionBuilder& d) {
  const E q = d[0];
  const E scale = d.let("scale", 2.0 * q[3] * q[3] - 1.0);
  const E x = d.let("x2", 2.0 * q[0]);
  const E y = d.let("y2", 2.0 * q[1]);
  const E z = d.let("z2", 2.0 * q[2]);
  const E wx = d.let("wx2", 2.0 * (q[0] * q[3]));
  const E wy = d.let("wy2", 2.0 * (q[1] * q[3]));
  const E wz = d.let("wz2", 2.0 * (q[2] * q[3]));
  return make(matrix_of(q, 3, 3), {scale + q[0] * x, q[0] * y - wz, q[0] * z + wy,  //
                                   q[1] * x + wz, scale + q[1] * y, q[1] * z - wx,  //
                                   q[2] * x - wy, q[2] * y + wx, scale + q[2] * z});
}

E from_half_angle(E axis, E half) {
  return make(quaternion_of(axis), {axis * call(Op::kSin, half), call(Op::kCos, half)});
}

E from_roll_pitch_yaw(LibraryFunctionBuilder& d) {
  const auto half = [&](const char* name, Op op, std::size_t k) {
    return d.let(name, call(op, d[k] * like(d[k], 0.5)));
  };
  const E cy = half("cy", Op::kCos, 2);
  const E sy = half("sy", Op::kSin, 2);
  const E cr = half("cr", Op::kCos, 0);
  const E sr = half("sr", Op::kSin, 0);
  const E cp = half("cp", Op::kCos, 1);
  const E sp = half("sp", Op::kSin, 1);
  return make(quaternion_of(cy), {cy * sr * cp - sy * cr * sp, cy * cr * sp + sy * sr * cp, sy * cr * cp - cy * sr * sp,
                                  cy * cr * cp + sy * sr * sp});
}

E slerp(LibraryFunctionBuilder& d) {
  const E turn = d.let("turn", conjugate(d[0]) * d[1]);
  const E vector = d.let("vector", three(turn, 0));
  const E angle = 2.0 * call(Op::kAtan2, call(Op::kLength, vector), call(Op::kAbs, turn[3]));
  const E half = d.let("half", (d[2] * angle) * like(d[2], 0.5));
  const E unit = d.let("unit", call(Op::kNormalize, vector));
  const E axis = d.let("axis", choose(turn[3] < like(turn, 0), -unit, unit));
  return d[0] * from_half_angle(axis, half);
}

/// The axis of the shorter rotation, and the angle from 0 to pi.
E axis_and_angle(LibraryFunctionBuilder& d) {
  const E vector = d.let("vector", three(d[0], 0));
  const E unit = d.let("unit", call(Op::kNormalize, vector));
  d.also(2.0 * call(Op::kAtan2, call(Op::kLength, vector), call(Op::kAbs, d[0][3])));
  return choose(d[0][3] < like(d[0][3], 0), -unit, unit);
}

/// The component of the rotation axis of d[1] along d[0].
E along_axis(LibraryFunctionBuilder& d) { return dot(d[0], three(d[1], 0)); }
E quaternion_twist(LibraryFunctionBuilder& d) {
  const E part = d.let("part", d[0] * along_axis(d));
  return d.library("normalize", {make(d[1].type(), {part, d[1][3]})});
}
E twist_angle(LibraryFunctionBuilder& d, E sine) { return 2.0 * call(Op::kAtan2, sine, d[1][3]); }

E unit_quaternion(LibraryFunctionBuilder& d) {
  const E length = d.let("length", call(Op::kLength, d[0]));
  const E none = like(length, 0);
  const E identity = make(d[0].type(), {none, none, none, like(length, 1)});
  return choose(length > none, d[0] * (like(length, 1) / length), identity);
}

/// Computed from the greatest of the trace and the diagonal elements, whose square root is far from zero.
E from_matrix(LibraryFunctionBuilder& d) {
  const E m = d[0];
  Builder& b = d.builder();
  const Type type = quaternion_of(m);
  const VarId q = b.let_zero("q", type);
  const E trace = d.let("trace", m[0][0] + m[1][1] + m[2][2]);
  // Components i, j, k of the axis, where i is the greatest; each product contains component i as a factor.
  const auto by_diagonal = [&](int i) {
    const int j = (i + 1) % 3;
    const int k = (i + 2) % 3;
    const E root = d.let("root", call(Op::kSqrt, (m[i][i] - (m[j][j] + m[k][k])) + like(m, 1)));
    const E factor = d.let("factor", like(m, 0.5) / root);
    std::vector<E> parts(4, root);
    parts[static_cast<std::size_t>(i)] = 0.5 * root;
    parts[static_cast<std::size_t>(j)] = (m[i][j] + m[j][i]) * factor;
    parts[static_cast<std::size_t>(k)] = (m[k][i] + m[i][k]) * factor;
    parts[3] = (m[k][j] - m[j][k]) * factor;
    b.assign(q, make(type, parts).id);
  };
  const auto by_trace = [&] {
    const E root = d.let("root", call(Op::kSqrt, trace + like(m, 1)));
    const E factor = d.let("factor", like(m, 0.5) / root);
    b.assign(q, make(type, {(m[2][1] - m[1][2]) * factor, (m[0][2] - m[2][0]) * factor, (m[1][0] - m[0][1]) * factor,
                            0.5 * root})
                    .id);
  };
  const auto exceeds = [&](int i, int j) { return (m[i][i] > m[j][j]).id; };
  b.if_(call(Op::kGe, trace, like(m, 0)).id, by_trace, [&] {
    b.if_(
        exceeds(1, 0),
        [&] {
          b.if_(
              exceeds(2, 1), [&] { by_diagonal(2); }, [&] { by_diagonal(1); });
        },
        [&] {
          b.if_(
              exceeds(2, 0), [&] { by_diagonal(2); }, [&] { by_diagonal(0); });
        });
  });
  return d.library("normalize", {{&b, b.var(q)}});
}

// ---- Euler angles

/// The angles about the fixed first, second and third axis, applied in this order.
E to_roll_pitch_yaw(LibraryFunctionBuilder& d) {
  const E q = d[0];
  const E one = like(q, 1);
  const auto angle = [&](E twice_sine, E loss) { return call(Op::kAtan2, 2.0 * twice_sine, 1.0 - 2.0 * loss); };
  const E sine = 2.0 * (q[3] * q[1] - q[2] * q[0]);
  const E pitch = call(Op::kAsin, apply(sine, Op::kClamp, {sine.id, (-one).id, one.id}));
  return make(vector_of(q, 3), {angle(q[3] * q[0] + q[1] * q[2], q[0] * q[0] + q[1] * q[1]), pitch,
                                angle(q[3] * q[2] + q[0] * q[1], q[1] * q[1] + q[2] * q[2])});
}

E at(E a, E index) { return apply(a, Op::kExtract, {a.id, index.id}); }
E with(E a, E index, E part) { return apply(a, Op::kInsert, {a.id, index.id, part.id}); }
E whole(E a, int value) { return {a.b, a.b->i32(value)}; }

/// Rotation by the angle e[axis] about the axis with this index.
E about_axis(LibraryFunctionBuilder& d, E axis) {
  const E half = d.let("half", 0.5 * at(d[0], axis));
  const E none = make(vector_of(half, 3), {like(half, 0), like(half, 0), like(half, 0)});
  return d.let("turn", make(quaternion_of(half), {with(none, axis, call(Op::kSin, half)), call(Op::kCos, half)}));
}
E from_euler(LibraryFunctionBuilder& d) {
  const E first = about_axis(d, d[1]);
  const E second = about_axis(d, d[2]);
  return about_axis(d, d[3]) * (second * first);
}

/// E. Bernardes, S. Viollet, "Quaternion to Euler angles conversion", PLoS ONE 17(11), 2022. Component i of the result
/// is the first angle, component j the second one, and the remaining component the third one, also if i = k.
E to_euler(LibraryFunctionBuilder& d) {
  const E q = d[0];
  // A new expression for each use.
  const auto i = [&] { return d[1]; };
  const auto j = [&] { return d[2]; };
  const E proper = d.let("proper", call(Op::kEq, i(), d[3]));
  const E last_axis = d.let("last", where(proper, whole(q, 3) - i() - j(), d[3]));
  const VarId last_axis_variable = q.b->function().expr(last_axis.id).variable;
  const auto k = [&] { return E{q.b, q.b->var(last_axis_variable)}; };
  // 1 for even and -1 for odd permutations.
  const E parity = d.let(
      "parity", like(q, 0.5) * E{q.b, q.b->cast(q.type().component(), ((i() - j()) * (j() - k()) * (k() - i())).id)});
  const E qi = d.let("qi", at(q, i()));
  const E qj = d.let("qj", at(q, j()));
  const E qk = d.let("qk", at(q, k()) * parity);
  const E a = d.let("a", where(proper, q[3], q[3] - qj));
  const E b = d.let("b", where(proper, qi, qi + qk));
  const E c = d.let("c", where(proper, qj, qj + q[3]));
  const E e = d.let("e", where(proper, qk, qk - qi));
  const E near = d.let("near", a * a + b * b);
  const E middle = d.let("middle", call(Op::kAcos, 2.0 * near / (near + c * c + e * e) - 1.0));
  const E half_sum = d.let("half_sum", call(Op::kAtan2, b, a));
  const E half_difference = d.let("half_difference", call(Op::kAtan2, e, c));
  // At both ends of the second angle only the sum or the difference of the others is determined: the first is zero.
  const auto is_near = [&](E x) { return call(Op::kAbs, x) < like(x, 1e-6); };
  const E at_zero = d.let("at_zero", is_near(middle));
  const E at_end = d.let("at_end", either(at_zero, is_near(middle - std::numbers::pi)));
  const E first = where(at_end, like(q, 0), half_sum - half_difference);
  const E last =
      d.let("third", where(at_zero, 2.0 * half_sum, where(at_end, 2.0 * half_difference, half_sum + half_difference)));
  const E none = make(vector_of(q, 3), {like(q, 0), like(q, 0), like(q, 0)});
  const E second = where(proper, middle, middle - std::numbers::pi / 2);
  return with(with(with(none, i(), first), j(), second), k(), where(proper, last, last * parity));
}

// ---- transforms and spatial vectors

E translation(E t) { return call(Op::kTranslation, t); }
E rotation(E t) { return call(Op::kRotation, t); }
E top(E v) { return call(Op::kSpatialTop, v); }
E bottom(E v) { return call(Op::kSpatialBottom, v); }
Type transform_of(E like) { return transform_type(like.type().scalar); }
E spatial(E w, E v) { return make(vector_of(w, 6), {w, v}); }

E turned(LibraryFunctionBuilder& d, E t, E v) { return d.library("quat_rotate", {rotation(t), v}); }
E composed(LibraryFunctionBuilder& d) {
  return make(d[0].type(), {turned(d, d[0], translation(d[1])) + translation(d[0]), rotation(d[0]) * rotation(d[1])});
}
E inverted(LibraryFunctionBuilder& d) {
  const E back = d.let("back", conjugate(rotation(d[0])));
  return make(d[0].type(), {-d.library("quat_rotate", {back, translation(d[0])}), back});
}
E homogeneous(LibraryFunctionBuilder& d) {
  const E p = d.let("p", translation(d[0]));
  const E r = d.let("r", d.library("quat_to_matrix", {rotation(d[0])}));
  std::vector<E> all;
  for (int row = 0; row < 3; ++row)
    for (const E part : {r[row][0], r[row][1], r[row][2], p[row]})
      all.push_back(part);
  for (const double last : {0.0, 0.0, 0.0, 1.0})
    all.push_back(like(p, last));
  return make(matrix_of(p, 4, 4), all);
}
E from_homogeneous(LibraryFunctionBuilder& d) {
  const E m = d[0];
  return make(transform_of(m),
              {make(vector_of(m, 3), {m[0][3], m[1][3], m[2][3]}), d.library("quat_from_matrix", {m})});
}

/// The translation x, rotation y and scale z as a matrix that scales first.
E composed_matrix(LibraryFunctionBuilder& d) {
  const E r = d.let("r", d.library("quat_to_matrix", {d[1]}));
  std::vector<E> all;
  for (int row = 0; row < 3; ++row) {
    for (int column = 0; column < 3; ++column)
      all.push_back(d[2][column] * r[row][column]);
    all.push_back(d[0][row]);
  }
  for (const double last : {0.0, 0.0, 0.0, 1.0})
    all.push_back(like(d[0], last));
  return make(matrix_of(d[0], 4, 4), all);
}
/// The translation, rotation and scale of a matrix. A column of zeros is not scaled.
E decomposed_matrix(LibraryFunctionBuilder& d) {
  const E m = d[0];
  std::vector<E> scale, divisor;
  for (int column = 0; column < 3; ++column) {
    const E square = m[0][column] * m[0][column] + m[1][column] * m[1][column] + m[2][column] * m[2][column];
    scale.push_back(d.let("scale", call(Op::kSqrt, square)));
    divisor.push_back(d.let("divisor", choose(call(Op::kNe, scale.back(), like(m, 0)), scale.back(), like(m, 1))));
  }
  std::vector<E> unit;
  for (int k = 0; k < 9; ++k)
    unit.push_back(m[k / 3][k % 3] / divisor[static_cast<std::size_t>(k % 3)]);
  const E r = d.let("r", make(matrix_of(m, 3, 3), unit));
  d.also(d.library("quat_from_matrix", {r}));
  d.also(make(vector_of(m, 3), scale));
  return make(vector_of(m, 3), {m[0][3], m[1][3], m[2][3]});
}

E spatial_cross(LibraryFunctionBuilder& d) {
  const E a = d[0];
  const E b = d[1];
  return spatial(cross(top(a), top(b)), cross(bottom(a), top(b)) + cross(top(a), bottom(b)));
}
E spatial_cross_dual(LibraryFunctionBuilder& d) {
  const E a = d[0];
  const E b = d[1];
  return spatial(cross(top(a), top(b)) + cross(bottom(a), bottom(b)), cross(top(a), bottom(b)));
}
/// ((x, 0), (y, x))
E spatial_adjoint(LibraryFunctionBuilder& d) {
  std::vector<E> all;
  for (int row = 0; row < 6; ++row) {
    for (int column = 0; column < 6; ++column) {
      const bool diagonal = row / 3 == column / 3;
      const E block = diagonal ? d[0] : d[1];
      all.push_back(row < 3 && column >= 3 ? like(d[0], 0) : block[row % 3][column % 3]);
    }
  }
  return make(matrix_of(d[0], 6, 6), all);
}
E twist(LibraryFunctionBuilder& d) {
  const E w = d.let("w", turned(d, d[0], top(d[1])));
  return spatial(w, turned(d, d[0], bottom(d[1])) + cross(translation(d[0]), w));
}
E wrench(LibraryFunctionBuilder& d) {
  const E f = d.let("f", turned(d, d[0], bottom(d[1])));
  return spatial(turned(d, d[0], top(d[1])) + cross(translation(d[0]), f), f);
}

constexpr auto kRotationFunctions = std::to_array<LibraryFunction>({
    {{"normalize", "q", "x / |x|, or the identity if |x| = 0"}, unit_quaternion},
    {{"quat_rotate", "q3", "y (2 w^2 - 1) + 2 a (a . y) + 2 w a x y with x = (a, w)"},
     [](LibraryFunctionBuilder& d) { return rotated(d, false); }},
    {{"quat_rotate_inv", "q3", "y (2 w^2 - 1) + 2 a (a . y) - 2 w a x y with x = (a, w)"},
     [](LibraryFunctionBuilder& d) { return rotated(d, true); }},
    {{"quat_to_matrix", "q", "the rotation matrix of x; its columns are quat_rotate(x, e_i) for the unit vectors e_i"},
     rotation_matrix},
    {{"quat_from_matrix", "r", "the unit quaternion of a rotation matrix"}, from_matrix},
    {{"quat_from_matrix", "4", "the unit quaternion of the upper left 3 x 3 rotation matrix"}, from_matrix},
    {{"quat_from_axis_angle", "3s", "(x sin(y / 2), cos(y / 2))"},
     [](LibraryFunctionBuilder& d) { return from_half_angle(d[0], d.let("half", d[1] * like(d[1], 0.5))); }},
    {{"quat_to_axis_angle", "q", "the axis and angle of the rotation; the angle is at most pi for |x| = 1"},
     axis_and_angle},
    {{"quat_twist", "3q", "the normalized quaternion (x (x . a), w), where y = (a, w)"}, quaternion_twist},
    {{"quat_twist_angle", "3q", "2 atan2(|x . a|, w) with y = (a, w)"},
     [](LibraryFunctionBuilder& d) { return twist_angle(d, call(Op::kAbs, along_axis(d))); }},
    {{"quat_twist_angle_signed", "3q", "2 atan2(x . a, w) with y = (a, w)"},
     [](LibraryFunctionBuilder& d) { return twist_angle(d, along_axis(d)); }},
    {{"quat_rpy", "sss", "the rotation by x about the first axis, then y about the second, then z about the third"},
     from_roll_pitch_yaw},
    {{"quat_to_rpy", "q", "the angles (a, b, c) such that quat_rpy(a, b, c) = x, if |x| = 1"}, to_roll_pitch_yaw},
    {{"quat_from_euler", "3nnn", "the rotation by x[y] about axis y, then x[z] about axis z, then x[u] about axis u"},
     from_euler},
    {{"quat_to_euler", "qnnn", "the angles of the rotation x about the fixed axes y, z and u"}, to_euler},
    {{"quat_slerp", "qqs", "spherical interpolation from x to y by the fraction z"}, slerp},
    {{"transform_multiply", "tt", "the transform that applies y, then x"}, composed},
    {{"mul", "tt", "the transform that applies y, then x"}, composed},
    {{"transform_inverse", "t", "(-quat_rotate(q*, p), q*) with x = (p, q) and the conjugate q* of q"}, inverted},
    {{"transform_point", "t3", "p + quat_rotate(q, y) with x = (p, q)"},
     [](LibraryFunctionBuilder& d) { return translation(d[0]) + turned(d, d[0], d[1]); }},
    {{"transform_vector", "t3", "quat_rotate(q, y) with x = (p, q)"},
     [](LibraryFunctionBuilder& d) { return turned(d, d[0], d[1]); }},
    {{"transform_to_matrix", "t", "the 4 x 4 matrix of the transform x"}, homogeneous},
    {{"transform_from_matrix", "4",
      "the transform with the rotation of the matrix x, and with the last column of x as translation"},
     from_homogeneous},
    {{"transform_compose", "3q3", "the 4 x 4 matrix that scales by z, rotates by y and translates by x"},
     composed_matrix},
    {{"transform_decompose", "4", "translation, rotation and scale of the matrix x"}, decomposed_matrix},
    {{"transform_twist", "t6", "(R w, R v + p x R w) with y = (w, v)"}, twist},
    {{"transform_wrench", "t6", "(R w + p x R v, R v) with y = (w, v)"}, wrench},
    {{"spatial_dot", "66", "x . y"}, [](LibraryFunctionBuilder& d) { return dot(d[0], d[1]); }},
    {{"spatial_cross", "66", "(a x c, b x c + a x d) with x = (a, b), y = (c, d)"}, spatial_cross},
    {{"spatial_cross_dual", "66", "(a x c + b x d, a x d) with x = (a, b), y = (c, d)"}, spatial_cross_dual},
    {{"spatial_adjoint", "rr", "((x, 0), (y, x))"}, spatial_adjoint},
    {{"velocity_at_point", "63", "b + a x y with x = (a, b)"},
     [](LibraryFunctionBuilder& d) { return bottom(d[0]) + cross(top(d[0]), d[1]); }},
});

}  // namespace

std::span<const LibraryFunction> rotation_functions() { return kRotationFunctions; }

}  // namespace assay::ir
