// Assignments, atomics, structs and calls of the file's functions.

#include "frontend/warp/testing/golden.hpp"

namespace assay::frontend::testing {
namespace {

/// Without the backward pass, Warp has *= for components and fields of array elements.
constexpr std::string_view kForwardOnly = "\nwp.set_module_options({\"enable_backward\": False})\n";

const Golden kCases[] = {
    {.name = "VectorsAndMatricesOfTheSameSize",
     .parameters = "v: wp.array(dtype=wp.vec2), m: wp.array(dtype=wp.mat22d)",
     .body = R"(
a = wp.vector(v[0])
m[0] = wp.matrix(wp.matrix(m[1]), dtype=wp.float64)
b = wp.vector(a, dtype=int)
v[0] = a * float(b[0])
)",
     .module = R"(
kernel k(v: array<vec<f32,2>,1>, m: array<mat<f64,2,2>,1>; thread) {
  let a: vec<f32,2> = v[0]
  m[0] = m[1]
  let b: vec<i32,2> = make<vec<i32,2>>(cast<i32>(extract(a, 0)), cast<i32>(extract(a, 1)))
  v[0] = mul(a, cast<f32>(extract(b, 0)))
}
)"},
    {.name = "ResultsInArguments",
     .parameters = "q: wp.array(dtype=wp.quat), v: wp.array(dtype=wp.vec3)",
     .body = R"(
angle = float(0.0)
axis = wp.vec3()
wp.quat_to_axis_angle(q[0], axis, angle)
v[0] = axis * (angle + float(len(q[0])))
)",
     .module = R"(
func wp_quat_to_axis_angle(x: quat<f32>) -> vec<f32,3>, f32 {
  let vector: vec<f32,3> = make<vec<f32,3>>(extract(x, 0), extract(x, 1), extract(x, 2))
  let unit: vec<f32,3> = normalize(vector)
  return conditional(lt(extract(x, 3), 0.0), neg(unit), unit), mul(2.0, atan2(length(vector), abs(extract(x, 3))))
}

kernel k(q: array<quat<f32>,1>, v: array<vec<f32,3>,1>; thread) {
  let angle: f32 = 0.0
  let axis: vec<f32,3>
  let result: vec<f32,3>, result_1: f32 = call wp_quat_to_axis_angle(q[0])
  axis = result
  angle = result_1
  v[0] = mul(axis, add(angle, cast<f32>(4)))
}
)"},
    {.name = "Tuples",
     .parameters = "x: wp.array(dtype=float), n: int, a: float",
     .body = R"(
p, q = a, n
s = x[0]
t = x[1]
s, t = t, s
(u, v) = (s, t)
x[q] = p + u + v
)",
     .module = R"(
kernel k(x: array<f32,1>, n: i32, a: f32; thread) {
  let p: f32 = a
  let q: i32 = n
  let s: f32 = x[0]
  let t: f32 = x[1]
  let value: f32 = t
  let value_1: f32 = s
  s = value
  t = value_1
  let u: f32 = s
  let v: f32 = t
  x[wrap_index(q, shape(x, 0))] = add(add(p, u), v)
}
)"},
    {.name = "AugmentedAssignmentToVariables",
     .parameters = "x: wp.array(dtype=float), n: int, a: float",
     .body = R"(
s = a
s += 1.0
s -= 2.0
s *= 3.0
s /= 4.0
m = n
m //= 2
m %= 3
m <<= 1
m |= 1
)",
     .module = R"(
kernel k(x: array<f32,1>, n: i32, a: f32; thread) {
  let s: f32 = a
  s = add(s, 1.0)
  s = sub(s, 2.0)
  s = mul(s, 3.0)
  s = div(s, 4.0)
  let m: i32 = n
  m = floordiv(m, 2)
  m = mod(m, 3)
  m = shift_left(m, 1)
  m = bit_or(m, 1)
}
)"},
    {.name = "AugmentedAssignmentToComponents",
     .parameters = "x: wp.array(dtype=float), a: float",
     .body = R"(
v = wp.vec3(a)
v[1] += 2.0
v[2] -= a
v[1] *= 2.0
v.x += 3.0
v[0] = v[0] + a
x[0] = v[1]
)",
     .module = R"(
kernel k(x: array<f32,1>, a: f32; thread) {
  let v: vec<f32,3> = splat<vec<f32,3>>(a)
  augment v = insert(v, 1, add(extract(v, 1), 2.0))
  augment v = insert(v, 2, sub(extract(v, 2), a))
  v = insert(v, 1, mul(extract(v, 1), 2.0))
  v = insert(v, 0, add(extract(v, 0), 3.0))
  v = insert(v, 0, add(extract(v, 0), a))
  x[0] = extract(v, 1)
}
)"},
    {.name = "AugmentedAssignmentToElements",
     .above = kForwardOnly,
     .parameters = "x: wp.array(dtype=float), m: wp.array2d(dtype=int), "
                   "b: wp.array(dtype=wp.uint8), v: wp.array(dtype=wp.vec3)",
     .body = R"(
i = wp.tid()
x[i] += 1.0
x[i] -= 2.0
x[i] *= 3.0
m[i, 0] |= 1
m[i][1] ^= 2
m[i, 2] //= 2
b[i] += wp.uint8(1)
v[i] += wp.vec3(1.0)
v[i].y += 2.0
v[i][2] *= 2.0
)",
     .module = R"(
kernel k(x: array<f32,1>, m: array<i32,2>, b: array<u8,1>, v: array<vec<f32,3>,1>; i) {
  atomic_add(x[i], 1.0)
  atomic_sub(x[i], 2.0)
  x[i] = mul(x[i], 3.0)
  atomic_or(m[i, 0], 1)
  atomic_xor(m[i, 1], 2)
  m[i, 2] = floordiv(m[i, 2], 2)
  b[i] = add(b[i], 1:u8)
  atomic_add(v[i], splat<vec<f32,3>>(1.0))
  atomic_add(v[i], insert(splat<vec<f32,3>>(0.0), 1, 2.0))
  v[i] = insert(v[i], 2, mul(extract(v[i], 2), 2.0))
}
)"},
    {.name = "AugmentedAssignmentToFieldsOfElements",
     .above = R"(
wp.set_module_options({"enable_backward": False})

@wp.struct
class Inner:
    v: wp.vec3
    c: wp.uint8

@wp.struct
class Outer:
    a: float
    n: int
    inner: Inner
)",
     .parameters = "t: wp.array(dtype=Outer)",
     .body = R"(
i = wp.tid()
t[i].a += 1.0
t[i].a *= 2.0
t[i].n |= 4
t[i].inner.v -= wp.vec3(1.0)
t[i].inner.v[2] += 3.0
t[i].inner.c += wp.uint8(1)
)",
     .module = R"(
struct Inner {
  v: vec<f32,3>
  c: u8
}

struct Outer {
  a: f32
  n: i32
  inner: Inner
}

kernel k(t: array<Outer,1>; i) {
  atomic_add(t[i].a, 1.0)
  t[i] = with_field(t[i], a, mul(t[i].a, 2.0))
  atomic_or(t[i].n, 4)
  atomic_sub(t[i].inner.v, splat<vec<f32,3>>(1.0))
  atomic_add(t[i].inner.v, insert(splat<vec<f32,3>>(0.0), 2, 3.0))
  t[i] = with_field(t[i], inner, with_field(t[i].inner, c, add(t[i].inner.c, 1:u8)))
}
)"},
    {.name = "ComponentAssignment",
     .parameters = "v: wp.array(dtype=wp.vec3), n: int, a: wp.vec3",
     .body = R"(
p = v[0]
p[0] = 1.0
p[n] = 2.0
p.z += 3.0
v[1].y = 4.0
v[n][2] = 5.0
a.x = 6.0
v[2] = a
)",
     .module = R"(
kernel k(v: array<vec<f32,3>,1>, n: i32, a: vec<f32,3>; thread) {
  let a_1: vec<f32,3> = a
  let p: vec<f32,3> = v[0]
  p = insert(p, 0, 1.0)
  p = insert(p, wrap_index(n, 3), 2.0)
  p = insert(p, 2, add(extract(p, 2), 3.0))
  v[1] = insert(v[1], 1, 4.0)
  v[wrap_index(n, shape(v, 0))] = insert(v[wrap_index(n, shape(v, 0))], 2, 5.0)
  a_1 = insert(a_1, 0, 6.0)
  v[2] = a_1
}
)"},
    {.name = "ComponentAssignmentWithCallInIndex",
     .above = R"(
@wp.func
def f(i: int):
    return i
)",
     .parameters = "v: wp.array(dtype=wp.vec3)",
     .body = R"(
i = wp.tid()
v[f(i)].y = 4.0
)",
     .module = R"(
func f(i: i32) -> i32 {
  return i
}

kernel k(v: array<vec<f32,3>,1>; i) {
  let index: i32 = f(i)
  v[wrap_index(index, shape(v, 0))] = insert(v[wrap_index(index, shape(v, 0))], 1, 4.0)
}
)"},
    {.name = "SlicesOfVectorsAndMatrices",
     .parameters = "v: wp.vec4, m: wp.mat22, n: int, x: wp.array(dtype=wp.vec2), y: wp.array(dtype=wp.mat22)",
     .body = R"(
p = v
p[::-2] = p[1:3]
p[-1:] *= 2.0
q = m
q[:, n] = x[0]
y[0] = q[::-1]
)",
     .module = R"(
kernel k(v: vec<f32,4>, m: mat<f32,2,2>, n: i32, x: array<vec<f32,2>,1>, y: array<mat<f32,2,2>,1>; thread) {
  let p: vec<f32,4> = v
  let value: vec<f32,2> = make<vec<f32,2>>(extract(p, 1), extract(p, 2))
  p = insert(p, 3, extract(value, 0))
  p = insert(p, 1, extract(value, 1))
  let value_1: vec<f32,1> = mul(splat<vec<f32,1>>(extract(p, 3)), 2.0)
  p = insert(p, 3, extract(value_1, 0))
  let q: mat<f32,2,2> = m
  let value_2: vec<f32,2> = x[0]
  q = insert(q, 0, insert(extract(q, 0), wrap_index(n, 2), extract(value_2, 0)))
  q = insert(q, 1, insert(extract(q, 1), wrap_index(n, 2), extract(value_2, 1)))
  y[0] = make<mat<f32,2,2>>(extract(extract(q, 1), 0), extract(extract(q, 1), 1), extract(extract(q, 0), 0), extract(extract(q, 0), 1))
}
)"},
    {.name = "Structs",
     .above = R"(
@wp.struct
class Q:
    k: int
@wp.struct
class S:
    """doc"""
    m: float
    p: wp.vec3
    q: Q
)",
     .parameters = "s: S, t: wp.array(dtype=S), a: float",
     .body = R"(
i = wp.tid()
u = t[i]
u.m = a + s.p.x
u.p[1] = 2.0
u.p.z += 3.0
t[i] = u
t[i].q.k = 4
v = S()
w = Q(i)
v.q = w
s.m *= 2.0
t[0] = s
t[1] = v
)",
     .module = R"(
struct Q {
  k: i32
}

struct S {
  m: f32
  p: vec<f32,3>
  q: Q
}

kernel k(s: S, t: array<S,1>, a: f32; i) {
  let s_1: S = s
  let u: S = t[i]
  u = with_field(u, m, add(a, extract(s_1.p, 0)))
  u = with_field(u, p, insert(u.p, 1, 2.0))
  u = with_field(u, p, insert(u.p, 2, add(extract(u.p, 2), 3.0)))
  t[i] = u
  t[i] = with_field(t[i], q, with_field(t[i].q, k, 4))
  let v: S
  let made: Q
  made = with_field(made, k, i)
  let w: Q = made
  v = with_field(v, q, w)
  s_1 = with_field(s_1, m, mul(s_1.m, 2.0))
  t[0] = s_1
  t[1] = v
}
)"},
    {.name = "Atomics",
     .parameters = "x: wp.array(dtype=float), c: wp.array(dtype=int), "
                   "m: wp.array2d(dtype=float), n: int",
     .body = R"(
i = wp.tid()
wp.atomic_add(x, i, 1.0)
wp.atomic_sub(m, i, n, 2.0)
old = wp.atomic_add(c, 0, 1)
wp.atomic_max(m[i], n, 3.0)
x[wp.atomic_min(c, 1, n)] = x[i]
p = float(wp.atomic_add(c, 2, old)) + x[0]
q = wp.atomic_cas(c, 3, 0, 1)
wp.atomic_exch(c, 4, q)
wp.atomic_xor(c, 5, 1)
)",
     .module = R"(
kernel k(x: array<f32,1>, c: array<i32,1>, m: array<f32,2>, n: i32; i) {
  atomic_add(x[i], 1.0)
  atomic_sub(m[i, wrap_index(n, shape(m, 1))], 2.0)
  let old: i32 = atomic_add(c[0], 1)
  atomic_max(m[i, wrap_index(n, shape(m, 1))], 3.0)
  let value: f32 = x[i]
  let old_1: i32 = atomic_min(c[1], n)
  x[wrap_index(old_1, shape(x, 0))] = value
  let old_2: i32 = atomic_add(c[2], old)
  let p: f32 = add(cast<f32>(old_2), x[0])
  let q: i32 = atomic_cas(c[3], 0, 1)
  atomic_exchange(c[4], q)
  atomic_xor(c[5], 1)
}
)"},
    {.name = "AtomicsOnVectors",
     .parameters = "v: wp.array(dtype=wp.vec3), m: wp.array(dtype=wp.mat22)",
     .body = R"(
i = wp.tid()
wp.atomic_max(v, 0, v[i])
wp.atomic_add(m, i, wp.mat22(1.0))
low = wp.atomic_min(v, 1, wp.vec3(2.0))
)",
     .module = R"(
kernel k(v: array<vec<f32,3>,1>, m: array<mat<f32,2,2>,1>; i) {
  atomic_max(v[0], v[i])
  atomic_add(m[i], splat<mat<f32,2,2>>(1.0))
  let low: vec<f32,3> = atomic_min(v[1], splat<vec<f32,3>>(2.0))
}
)"},
    {.name = "LocalArray",
     .above = R"(
N = 3
)",
     .parameters = "x: wp.array(dtype=float), n: int, a: float",
     .body = R"(
w = wp.zeros(shape=N, dtype=float)
for i in range(N):
    w[i] = a
w[1] += 1.0
x[0] = w[2] + float(len(w))
)",
     .module = R"(
kernel k(x: array<f32,1>, n: i32, a: f32; thread) {
  let w: local<f32,3>
  for i: i32 in range(0, 3, 1) {
    w[i] = a
  }
  augment w[1] = add(w[1], 1.0)
  x[0] = add(w[2], cast<f32>(3))
}
)"},
    {.name = "Functions",
     .above = R"(
@wp.func
def e(x: wp.array(dtype=float)) -> float:
    return x[0]
@wp.func
def f(x: float, y: float) -> float:
    if x > y:
        return x
    return late(y)
@wp.func
def late(x: float):
    x = x * 2.0
    return x
@wp.func
def g(x: wp.array(dtype=float), i: int):
    x[i] = 1.0
@wp.func
def h(x: float):
    return x, x + 1.0
)",
     .parameters = "x: wp.array(dtype=float), n: int, a: float",
     .body = R"(
x[0] = f(a, y=2.0) + f(y=a, x=1.0)
g(x, n)
p, q = h(a)
x[1] = p
q, r = h(p)
x[2] = e(x) + r
)",
     .module = R"(
func e(x: array<f32,1>) -> f32 {
  return x[0]
}

func late(x: f32) -> f32 {
  let x_1: f32 = x
  x_1 = mul(x_1, 2.0)
  return x_1
}

func f(x: f32, y: f32) -> f32 {
  if gt(x, y) {
    return x
  }
  return late(y)
}

func g(x: array<f32,1>, i: i32) {
  x[wrap_index(i, shape(x, 0))] = 1.0
}

func h(x: f32) -> f32, f32 {
  return x, add(x, 1.0)
}

kernel k(x: array<f32,1>, n: i32, a: f32; thread) {
  x[0] = add(f(a, 2.0), f(1.0, a))
  call g(x, n)
  let p: f32, q: f32 = call h(a)
  x[1] = p
  let q_1: f32, r: f32 = call h(p)
  q = q_1
  x[2] = add(e(x), r)
}
)"},
    {.name = "FunctionWithSideEffect",
     .above = R"(
@wp.func
def g(x: wp.array(dtype=float), i: int):
    x[i] = 1.0
    return 2.0
@wp.func
def g2(x: wp.array(dtype=float)):
    x[0] += 1.0
    return 2
)",
     .parameters = "x: wp.array(dtype=float), n: int, a: float",
     .body = R"(
old = g(x, n)
x[0] = g(x, 1) + old
x[g2(x)] = a
)",
     .module = R"(
func g(x: array<f32,1>, i: i32) -> f32 {
  x[wrap_index(i, shape(x, 0))] = 1.0
  return 2.0
}

func g2(x: array<f32,1>) -> i32 {
  atomic_add(x[0], 1.0)
  return 2
}

kernel k(x: array<f32,1>, n: i32, a: f32; thread) {
  let old: f32 = g(x, n)
  let result: f32 = g(x, 1)
  x[0] = add(result, old)
  let value: f32 = a
  let result_1: i32 = g2(x)
  x[wrap_index(result_1, shape(x, 0))] = value
}
)"},
    {.name = "Overloads",
     .above = R"(
@wp.func
def f(x: float):
    return x
@wp.func
def f(x: int):
    return x + 1
)",
     .parameters = "x: wp.array(dtype=float), n: int, a: float",
     .body = R"(
x[0] = f(a) + float(f(n))
)",
     .module = R"(
func f(x: f32) -> f32 {
  return x
}

func f_1(x: i32) -> i32 {
  return add(x, 1)
}

kernel k(x: array<f32,1>, n: i32, a: f32; thread) {
  x[0] = add(f(a), cast<f32>(f_1(n)))
}
)"},
    {.name = "StarredArguments",
     .above = R"(
@wp.func
def f(a: float, b: float, c: float = 1.0):
    return a * b + c
@wp.func
def g(a: wp.vec2, b: wp.vec2):
    return wp.dot(a, b)
)",
     .parameters = "x: wp.array(dtype=float), v: wp.vec3, m: wp.mat22",
     .body = R"(
x[0] = f(*v)
x[1] = f(*v[0:2]) + wp.atan2(*v[1:])
x[2] = g(*m)
)",
     .module = R"(
func f(a: f32, b: f32, c: f32) -> f32 {
  return add(mul(a, b), c)
}

func g(a: vec<f32,2>, b: vec<f32,2>) -> f32 {
  return dot(a, b)
}

kernel k(x: array<f32,1>, v: vec<f32,3>, m: mat<f32,2,2>; thread) {
  x[0] = f(extract(v, 0), extract(v, 1), extract(v, 2))
  x[1] = add(f(extract(make<vec<f32,2>>(extract(v, 0), extract(v, 1)), 0), extract(make<vec<f32,2>>(extract(v, 0), extract(v, 1)), 1), 1.0), atan2(extract(make<vec<f32,2>>(extract(v, 1), extract(v, 2)), 0), extract(make<vec<f32,2>>(extract(v, 1), extract(v, 2)), 1)))
  x[2] = g(extract(m, 0), extract(m, 1))
}
)"},
    {.name = "KeywordArgumentsOfConstructorsAndAtomics",
     .above = R"(
@wp.struct
class Q:
    a: float
    b: int
)",
     .parameters =
         "x: wp.array2d(dtype=float), q: wp.array(dtype=wp.quat), t: wp.array(dtype=wp.transform), v: wp.vec3",
     .body = R"(
s = Q(b=2, a=0.5)
x[0, 1] = s.a
q[0] = wp.quat(1.0, w=4.0, z=3.0, y=2.0)
t[0] = wp.transform(q=q[0], p=v)
t[1] = wp.transform(v)
wp.atomic_add(x, value=3.0, j=1, i=0)
wp.atomic_cas(x, 0, 1, compare=0.0, value=1.0)
)",
     .module = R"(
struct Q {
  a: f32
  b: i32
}

kernel k(x: array<f32,2>, q: array<quat<f32>,1>, t: array<transform<f32>,1>, v: vec<f32,3>; thread) {
  let made: Q
  made = with_field(made, a, 0.5)
  made = with_field(made, b, 2)
  let s: Q = made
  x[0, 1] = s.a
  q[0] = make<quat<f32>>(1.0, 2.0, 3.0, 4.0)
  t[0] = make<transform<f32>>(v, q[0])
  t[1] = make<transform<f32>>(v, make<quat<f32>>(0.0, 0.0, 0.0, 1.0))
  atomic_add(x[0, 1], 3.0)
  let old: f32 = atomic_cas(x[0, 1], 0.0, 1.0)
}
)"},
    {.name = "ParenthesizedCallWithTwoResults",
     .above = R"(
@wp.func
def f(x: float):
    return x, 2.0 * x
)",
     .parameters = "x: wp.array(dtype=float), n: int, a: float",
     .body = R"(
p, q = (
    f(a)
)
x[0] = p + q
)",
     .module = R"(
func f(x: f32) -> f32, f32 {
  return x, mul(2.0, x)
}

kernel k(x: array<f32,1>, n: i32, a: f32; thread) {
  let p: f32, q: f32 = call f(a)
  x[0] = add(p, q)
}
)"},
    {.name = "DefaultArgument",
     .above = R"(
@wp.func
def f(x: float, y: float = 2.5):
    return x + y
)",
     .parameters = "x: wp.array(dtype=float), n: int, a: float",
     .body = R"(
x[0] = f(a) + f(a, 1.0)
)",
     .module = R"(
func f(x: f32, y: f32) -> f32 {
  return add(x, y)
}

kernel k(x: array<f32,1>, n: i32, a: f32; thread) {
  x[0] = add(f(a, 2.5), f(a, 1.0))
}
)"},
};

INSTANTIATE_TEST_SUITE_P(Assignments, GoldenKernelTest, ::testing::ValuesIn(kCases), golden_name);

}  // namespace
}  // namespace assay::frontend::testing
