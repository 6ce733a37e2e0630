#include "ir/library.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "ir/algebra.hpp"

namespace assay::ir {
namespace {

using namespace algebra;

constexpr std::string_view kPrefix = "wp_";

/// Builds one library function.
class Definition {
 public:
  Definition(Module& module, Function& function, std::span<const Type> operands)
      : module_(module), builder_(module, function) {
    constexpr std::array<const char*, 4> kNames = {"x", "y", "z", "u"};
    for (std::size_t k = 0; k < operands.size(); ++k)
      operands_.push_back(builder_.parameter(kNames[k], operands[k]));
  }

  /// Operand k.
  E operator[](std::size_t k) { return {&builder_, builder_.var(operands_[k])}; }
  /// The value stored in a variable, for values that the formula uses more than once.
  E let(const char* name, E value) { return {&builder_, builder_.var(builder_.let(name, value.id))}; }
  /// Calls another function of the library.
  E library(std::string_view name, std::initializer_list<E> operands);
  /// Adds a result after the value of the formula.
  void also(E value) { further_.push_back(value); }
  /// The types of the returned values.
  std::vector<Type> give(E value) {
    std::vector<ExprId> ids{value.id};
    std::vector<Type> types{value.type()};
    for (const E result : further_) {
      ids.push_back(result.id);
      types.push_back(result.type());
    }
    builder_.return_(ids);
    return types;
  }
  Builder& builder() { return builder_; }

 private:
  Module& module_;
  Builder builder_;
  std::vector<VarId> operands_;
  std::vector<E> further_;
};

// ---- shorthand

Type vector_of(E like, int length) { return vector_type(like.type().scalar, length); }
Type matrix_of(E like, int rows, int cols) { return matrix_type(like.type().scalar, rows, cols); }
/// Only one branch is evaluated.
E choose(E condition, E yes, E no) { return apply(yes, Op::kConditional, {condition.id, yes.id, no.id}); }
E cross(E a, E b) { return call(Op::kCross, a, b); }
E dot(E a, E b) { return call(Op::kDot, a, b); }
E conjugate(E q) { return call(Op::kQuatInverse, q); }
Type quaternion_of(E like) { return quaternion_type(like.type().scalar); }
/// Components `first` to `first` + 2 as a vector.
E three(E a, int first) { return make(vector_of(a, 3), components(a, first, 3)); }

/// f applied to each component, or to each pair of components.
template <class F>
E mapped(E a, F f) {
  std::vector<E> results;
  for (const E component : components(a))
    results.push_back(f(component));
  return make(a.type(), results);
}
E paired(Op op, E a, E b) {
  std::vector<E> results;
  for (int k = 0; k < a.type().components(); ++k)
    results.push_back(call(op, component(a, k), component(b, k)));
  return make(a.type(), results);
}
E folded(Op op, E a) {
  E result = component(a, 0);
  for (int k = 1; k < a.type().components(); ++k)
    result = call(op, result, component(a, k));
  return result;
}

// ---- vectors

/// The index of the first component that `precedes` all others. NaNs are ignored.
E extreme_index(Definition& d, Op precedes) {
  const Type number = scalar_type(Scalar::kU32);
  const auto index = [&](int k) { return E{d[0].b, d[0].b->literal(number, std::int64_t{k})}; };
  E best = d.let("best", d[0][0]);
  E at = d.let("at", index(0));
  for (int k = 1; k < d[0].type().rows; ++k) {
    E closer = call(precedes, d[0][k], best);
    if (d[0].type().has_float_components()) {
      const E found_none = call(Op::kNe, best, best);
      const E is_number = call(Op::kEq, d[0][k], d[0][k]);
      closer = either(closer, call(Op::kAnd, found_none, is_number));
    }
    closer = d.let("closer", closer);
    best = d.let("best", where(closer, d[0][k], best));
    at = d.let("at", where(closer, index(k), at));
  }
  return at;
}

E one_norm(Definition& d) {
  std::vector<E> terms;
  for (const E x : components(d[0]))
    terms.push_back(call(Op::kAbs, x));
  return sum(terms);
}
/// |x|^2 / 2 for |x| <= delta, otherwise delta (|x| - delta / 2).
E huber(Definition& d, E delta) {
  const E square = d.let("square", dot(d[0], d[0]));
  const E far = delta * (call(Op::kSqrt, square) - 0.5 * delta);
  return choose(call(Op::kLe, square, delta * delta), 0.5 * square, far);
}
/// delta sqrt(1 + |x|^2 / delta^2)
E pseudo_huber(Definition& d, E delta) { return delta * call(Op::kSqrt, 1.0 + dot(d[0], d[0]) / (delta * delta)); }

E interpolated(Definition& d) { return d[0] * (1.0 - d[2]) + d[1] * d[2]; }

// ---- matrices

E skew(Definition& d) {
  const E x = d[0];
  const E minus = d.let("minus", -x);  // unlike the negative of a scalar, it has the other sign for a zero
  const E none = like(x, 0);
  return make(matrix_of(x, 3, 3), {none, minus[2], x[1], x[2], none, minus[0], minus[1], x[0], none});
}
std::vector<E> diagonal(E m) {
  std::vector<E> found;
  for (int k = 0; k < m.type().rows; ++k)
    found.push_back(m[k][k]);
  return found;
}
E diagonal_matrix(Definition& d) {
  const int n = d[0].type().rows;
  std::vector<E> all;
  for (int k = 0; k < n * n; ++k)
    all.push_back(k % (n + 1) == 0 ? d[0][k / n] : like(d[0], 0));
  return make(matrix_of(d[0], n, n), all);
}

E determinant(Definition& d) {
  const E m = d[0];
  if (m.type().rows == 2) return m[0][0] * m[1][1] - m[1][0] * m[0][1];
  if (m.type().rows == 3) return dot(m[0], cross(m[1], m[2]));
  // 2 x 2 minors of two rows each: s and t of the first three columns, u and v of a column with the last one.
  const E a = d.let("a", three(m[0], 0));
  const E b = d.let("b", three(m[1], 0));
  const E s = cross(a, b);
  const E u = a * m[1][3] - b * m[0][3];
  const E c = d.let("c", three(m[2], 0));
  const E e = d.let("e", three(m[3], 0));
  const E t = cross(c, e);
  const E v = c * m[3][3] - e * m[2][3];
  return dot(s, v) + dot(t, u);
}

/// The first three components of the matrix times (y, last).
E transformed(Definition& d, double last) {
  const E y = d[1];
  const E homogeneous = make(vector_of(y, 4), {y[0], y[1], y[2], like(y, last)});
  return three(d.let("transformed", d[0] * homogeneous), 0);
}

// ---- quaternions; x, y, z, w are the components of the first operand

/// v (2 w^2 - 1) + a 2 (a . v) +- 2 w (a x v) with the axis a = (x, y, z): the rotation for a quaternion of length 1.
E rotated(Definition& d, bool inverse) {
  const E q = d[0];
  const E axis = d.let("axis", three(q, 0));
  const E scale = d.let("scale", 2.0 * q[3] * q[3] - 1.0);
  const E along = d.let("along", 2.0 * dot(axis, d[1]));
  const E kept = d[1] * scale + axis * along;
  const E turned = 2.0 * (cross(axis, d[1]) * q[3]);
  return inverse ? kept - turned : kept + turned;
}

/// The matrix whose columns are the rotated unit vectors.
E rotation_matrix(Definition& d) {
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

E from_roll_pitch_yaw(Definition& d) {
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

E slerp(Definition& d) {
  const E turn = d.let("turn", conjugate(d[0]) * d[1]);
  const E vector = d.let("vector", three(turn, 0));
  const E angle = 2.0 * call(Op::kAtan2, call(Op::kLength, vector), call(Op::kAbs, turn[3]));
  const E half = d.let("half", (d[2] * angle) * like(d[2], 0.5));
  const E unit = d.let("unit", call(Op::kNormalize, vector));
  const E axis = d.let("axis", choose(turn[3] < like(turn, 0), -unit, unit));
  return d[0] * from_half_angle(axis, half);
}

/// The axis of the shorter rotation, and the angle from 0 to pi.
E axis_and_angle(Definition& d) {
  const E vector = d.let("vector", three(d[0], 0));
  const E unit = d.let("unit", call(Op::kNormalize, vector));
  d.also(2.0 * call(Op::kAtan2, call(Op::kLength, vector), call(Op::kAbs, d[0][3])));
  return choose(d[0][3] < like(d[0][3], 0), -unit, unit);
}

/// The component of the rotation axis of d[1] along d[0].
E along_axis(Definition& d) { return dot(d[0], three(d[1], 0)); }
E quaternion_twist(Definition& d) {
  const E part = d.let("part", d[0] * along_axis(d));
  return d.library("normalize", {make(d[1].type(), {part, d[1][3]})});
}
E twist_angle(Definition& d, E sine) { return 2.0 * call(Op::kAtan2, sine, d[1][3]); }

E unit_quaternion(Definition& d) {
  const E length = d.let("length", call(Op::kLength, d[0]));
  const E none = like(length, 0);
  const E identity = make(d[0].type(), {none, none, none, like(length, 1)});
  return choose(length > none, d[0] * (like(length, 1) / length), identity);
}

/// Computed from the greatest of the trace and the diagonal elements, whose square root is far from zero.
E from_matrix(Definition& d) {
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

// ---- transforms and spatial vectors

E translation(E t) { return call(Op::kTranslation, t); }
E rotation(E t) { return call(Op::kRotation, t); }
E top(E v) { return call(Op::kSpatialTop, v); }
E bottom(E v) { return call(Op::kSpatialBottom, v); }
Type transform_of(E like) { return transform_type(like.type().scalar); }
E spatial(E w, E v) { return make(vector_of(w, 6), {w, v}); }

E turned(Definition& d, E t, E v) { return d.library("quat_rotate", {rotation(t), v}); }
E composed(Definition& d) {
  return make(d[0].type(), {turned(d, d[0], translation(d[1])) + translation(d[0]), rotation(d[0]) * rotation(d[1])});
}
E inverted(Definition& d) {
  const E back = d.let("back", conjugate(rotation(d[0])));
  return make(d[0].type(), {-d.library("quat_rotate", {back, translation(d[0])}), back});
}
E homogeneous(Definition& d) {
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
E from_homogeneous(Definition& d) {
  const E m = d[0];
  return make(transform_of(m),
              {make(vector_of(m, 3), {m[0][3], m[1][3], m[2][3]}), d.library("quat_from_matrix", {m})});
}

E spatial_cross(Definition& d) {
  const E a = d[0];
  const E b = d[1];
  return spatial(cross(top(a), top(b)), cross(bottom(a), top(b)) + cross(top(a), bottom(b)));
}
E spatial_cross_dual(Definition& d) {
  const E a = d[0];
  const E b = d[1];
  return spatial(cross(top(a), top(b)) + cross(bottom(a), bottom(b)), cross(top(a), bottom(b)));
}
/// ((x, 0), (y, x))
E spatial_adjoint(Definition& d) {
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
E twist(Definition& d) {
  const E w = d.let("w", turned(d, d[0], top(d[1])));
  return spatial(w, turned(d, d[0], bottom(d[1])) + cross(translation(d[0]), w));
}
E wrench(Definition& d) {
  const E f = d.let("f", turned(d, d[0], bottom(d[1])));
  return spatial(turned(d, d[0], top(d[1])) + cross(translation(d[0]), f), f);
}

struct Row {
  LibraryRow row;
  E (*define)(Definition& d);
};

constexpr auto kLibrary = std::to_array<Row>({
    {{"min", "v", "the smallest component"}, [](Definition& d) { return folded(Op::kMin, d[0]); }},
    {{"max", "v", "the largest component"}, [](Definition& d) { return folded(Op::kMax, d[0]); }},
    {{"min", "vv", "component-wise min"}, [](Definition& d) { return paired(Op::kMin, d[0], d[1]); }},
    {{"max", "vv", "component-wise max"}, [](Definition& d) { return paired(Op::kMax, d[0], d[1]); }},
    {{"argmin", "v", "index of the first smallest component"}, [](Definition& d) { return extreme_index(d, Op::kLt); }},
    {{"argmax", "v", "index of the first largest component"}, [](Definition& d) { return extreme_index(d, Op::kGt); }},
    {{"abs", "v", "component-wise abs"},
     [](Definition& d) { return mapped(d[0], [](E x) { return call(Op::kAbs, x); }); }},
    {{"sign", "v", "component-wise sign"},
     [](Definition& d) { return mapped(d[0], [](E x) { return call(Op::kSign, x); }); }},
    {{"norm_l1", "f", "sum |x_i|"}, one_norm},
    {{"norm_l2", "f", "|x|"}, [](Definition& d) { return call(Op::kLength, d[0]); }},
    {{"norm_huber", "f", "|x|^2 / 2 where |x| <= 1, else |x| - 1/2"},
     [](Definition& d) { return huber(d, like(d[0], 1)); }},
    {{"norm_huber", "fs", "|x|^2 / 2 where |x| <= y, else y (|x| - y/2)"},
     [](Definition& d) { return huber(d, d[1]); }},
    {{"norm_pseudo_huber", "f", "sqrt(1 + |x|^2)"}, [](Definition& d) { return pseudo_huber(d, like(d[0], 1)); }},
    {{"norm_pseudo_huber", "fs", "y sqrt(1 + |x|^2 / y^2)"}, [](Definition& d) { return pseudo_huber(d, d[1]); }},
    {{"smooth_normalize", "f", "x / sqrt(1 + |x|^2)"},
     [](Definition& d) { return d[0] / pseudo_huber(d, like(d[0], 1)); }},
    {{"smooth_normalize", "fs", "x / (y sqrt(1 + |x|^2 / y^2))"},
     [](Definition& d) { return d[0] / pseudo_huber(d, d[1]); }},
    {{"lerp", "ffs", "x (1 - z) + y z"}, interpolated},
    {{"lerp", "mms", "x (1 - z) + y z"}, interpolated},
    {{"lerp", "qqs", "x (1 - z) + y z"}, interpolated},
    {{"lerp", "tts", "x (1 - z) + y z"}, interpolated},
    {{"skew", "3", "the matrix with skew(x) y = cross(x, y)"}, skew},
    {{"trace", "d", "sum x_ii"}, [](Definition& d) { return sum(diagonal(d[0])); }},
    {{"diag", "v", "the matrix with x on its diagonal, zero elsewhere"}, diagonal_matrix},
    {{"get_diag", "d", "the diagonal"},
     [](Definition& d) { return make(vector_of(d[0], d[0].type().rows), diagonal(d[0])); }},
    {{"determinant", "i", "det x"}, determinant},
    {{"transform_point", "43", "the first three components of x (y, 1)"},
     [](Definition& d) { return transformed(d, 1); }},
    {{"transform_vector", "43", "the first three components of x (y, 0)"},
     [](Definition& d) { return transformed(d, 0); }},
    {{"normalize", "q", "x / |x|, and the identity for |x| = 0"}, unit_quaternion},
    {{"quat_rotate", "q3", "y (2 w^2 - 1) + 2 a (a . y) + 2 w a x y with x = (a, w)"},
     [](Definition& d) { return rotated(d, false); }},
    {{"quat_rotate_inv", "q3", "y (2 w^2 - 1) + 2 a (a . y) - 2 w a x y with x = (a, w)"},
     [](Definition& d) { return rotated(d, true); }},
    {{"quat_to_matrix", "q", "the matrix with columns quat_rotate(x, e_i)"}, rotation_matrix},
    {{"quat_from_matrix", "r", "the unit quaternion of a rotation matrix"}, from_matrix},
    {{"quat_from_matrix", "4", "the unit quaternion of the upper left 3 x 3 rotation matrix"}, from_matrix},
    {{"quat_from_axis_angle", "3s", "(x sin(y / 2), cos(y / 2))"},
     [](Definition& d) { return from_half_angle(d[0], d.let("half", d[1] * like(d[1], 0.5))); }},
    {{"quat_to_axis_angle", "q", "the axis and angle of the rotation; the angle is at most pi for |x| = 1"},
     axis_and_angle},
    {{"quat_twist", "3q", "the unit quaternion along (x (x . a), w) with y = (a, w)"}, quaternion_twist},
    {{"quat_twist_angle", "3q", "2 atan2(|x . a|, w) with y = (a, w)"},
     [](Definition& d) { return twist_angle(d, call(Op::kAbs, along_axis(d))); }},
    {{"quat_twist_angle_signed", "3q", "2 atan2(x . a, w) with y = (a, w)"},
     [](Definition& d) { return twist_angle(d, along_axis(d)); }},
    {{"quat_rpy", "sss", "the rotation by x about the first axis, then y about the second, then z about the third"},
     from_roll_pitch_yaw},
    {{"quat_slerp", "qqs", "spherical interpolation from x to y by the fraction z"}, slerp},
    {{"transform_multiply", "tt", "the transform that applies y, then x"}, composed},
    {{"mul", "tt", "the transform that applies y, then x"}, composed},
    {{"transform_inverse", "t", "(-quat_rotate(q*, p), q*) with x = (p, q)"}, inverted},
    {{"transform_point", "t3", "p + quat_rotate(q, y) with x = (p, q)"},
     [](Definition& d) { return translation(d[0]) + turned(d, d[0], d[1]); }},
    {{"transform_vector", "t3", "quat_rotate(q, y) with x = (p, q)"},
     [](Definition& d) { return turned(d, d[0], d[1]); }},
    {{"transform_to_matrix", "t", "the 4 x 4 matrix of the transform x"}, homogeneous},
    {{"transform_from_matrix", "4",
      "the transform with the rotation of the matrix x and its last column as translation"},
     from_homogeneous},
    {{"transform_twist", "t6", "(R w, R v + p x R w) with y = (w, v)"}, twist},
    {{"transform_wrench", "t6", "(R w + p x R v, R v) with y = (w, v)"}, wrench},
    {{"spatial_dot", "66", "x . y"}, [](Definition& d) { return dot(d[0], d[1]); }},
    {{"spatial_cross", "66", "(a x c, b x c + a x d) with x = (a, b), y = (c, d)"}, spatial_cross},
    {{"spatial_cross_dual", "66", "(a x c + b x d, a x d) with x = (a, b), y = (c, d)"}, spatial_cross_dual},
    {{"spatial_adjoint", "rr", "((x, 0), (y, x))"}, spatial_adjoint},
    {{"velocity_at_point", "63", "b + a x y with x = (a, b)"},
     [](Definition& d) { return bottom(d[0]) + cross(top(d[0]), d[1]); }},
});

bool is_kind(char letter, Type type) {
  const bool real = type.is_value() && !type.is_struct() && is_float(type.scalar);
  const bool square = type.is_matrix() && type.rows == type.cols;
  switch (letter) {
    case 's': return type.is_float_scalar();
    case 'v': return type.is_vector() && type.scalar != Scalar::kBool;
    case 'f': return type.is_vector() && real;
    case '3': return type.is_vector() && real && type.rows == 3;
    case 'm': return type.is_matrix() && real;
    case 'd': return square;
    case 'i': return square && real && type.rows >= 2 && type.rows <= 4;
    case 'r': return square && real && type.rows == 3;
    case '4': return square && real && type.rows == 4;
    case '6': return type.is_vector() && real && type.rows == 6;
    case 'q': return type.is_quaternion();
    case 't': return type.is_transform();
    default: return false;
  }
}

bool takes(const LibraryRow& row, std::span<const Type> operands) {
  if (row.operands.size() != operands.size()) return false;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const std::size_t first = row.operands.find(row.operands[k]);
    const bool fits = is_kind(row.operands[k], operands[k]) && operands[k].scalar == operands[0].scalar;
    if (!fits || operands[k] != operands[first]) return false;
  }
  return true;
}

std::string expectation(std::string_view name) {
  std::string text;
  for (const Row& entry : kLibrary) {
    if (entry.row.name != name) continue;
    std::string operands;
    for (const char letter : entry.row.operands) {
      const auto* const kind = std::ranges::find(kOperandKinds, letter, &OperandKind::letter);
      operands += fmt::format("{}a {}", operands.empty() ? "" : " and ", kind->text);
    }
    text += (text.empty() ? "" : ", or ") + operands;
  }
  return text;
}

bool same_operands(const Function& function, std::span<const Type> operands) {
  return std::equal(operands.begin(), operands.end(), function.variables.begin(),
                    function.variables.begin() + function.parameter_count,
                    [](Type type, const Variable& parameter) { return type == parameter.type; });
}

}  // namespace

std::span<const LibraryRow> library() {
  static const std::vector<LibraryRow> rows = [] {
    std::vector<LibraryRow> made;
    for (const Row& entry : kLibrary)
      made.push_back(entry.row);
    return made;
  }();
  return rows;
}

bool is_in_library(std::string_view name) {
  return std::ranges::any_of(kLibrary, [&](const Row& entry) { return entry.row.name == name; });
}

namespace {

E Definition::library(std::string_view name, std::initializer_list<E> operands) {
  std::vector<Type> types;
  std::vector<ExprId> ids;
  for (const E operand : operands) {
    types.push_back(operand.type());
    ids.push_back(operand.id);
  }
  return {&builder_, builder_.call(library_function(module_, name, types).value(), ids)};
}

}  // namespace

Result<int> library_function(Module& module, std::string_view name, std::span<const Type> operands) {
  const auto* const found = std::ranges::find_if(
      kLibrary, [&](const Row& entry) { return entry.row.name == name && takes(entry.row, operands); });
  if (found == kLibrary.end()) return Error{fmt::format("{} takes {}", name, expectation(name))};
  for (std::size_t k = 0; k < module.functions.size(); ++k) {
    const Function& function = module.functions[k];
    if (library_name(function) == name && same_operands(function, operands)) return static_cast<int>(k);
  }
  Function function{.name = fmt::format("{}{}", kPrefix, name)};
  Definition definition(module, function, operands);
  const E value = found->define(definition);
  std::vector<Type> results = definition.give(value);
  function.results = std::move(results);
  module.functions.push_back(std::move(function));
  return static_cast<int>(module.functions.size()) - 1;
}

std::optional<std::string_view> library_name(const Function& function) {
  const std::string_view name = function.name;
  if (function.loc.line > 0 || !name.starts_with(kPrefix)) return std::nullopt;
  const std::string_view rest = name.substr(kPrefix.size());
  return is_in_library(rest) ? std::optional(rest) : std::nullopt;
}

}  // namespace assay::ir
