// Expressions: operators, conversions, vectors, constants and types.

#include "frontend/warp/testing/golden.hpp"

namespace assay::frontend::testing {
namespace {

const Golden kCases[] = {
    {.name = "QuaternionAndTransformTypes",
     .parameters = "x: wp.array(dtype=wp.types.quaternion(dtype=wp.float64)), y: "
                   "wp.array(dtype=wp.types.transformation(wp.float16))",
     .body = R"(
x[0] = -x[0]
y[0] = y[0]
)",
     .module = R"(
kernel k(x: array<quat<f64>,1>, y: array<transform<f16>,1>; thread) {
  x[0] = neg(x[0])
  y[0] = y[0]
}
)"},
    {.name = "LongVectorsAndMatrices",
     .parameters = "x: wp.array(dtype=wp.types.vector(length=255, dtype=float)), y: "
                   "wp.array(dtype=wp.types.matrix(shape=(20, 3), dtype=float))",
     .body = R"(
i = wp.tid()
x[i] = 2.0 * x[i]
y[i] = -y[i]
)",
     .module = R"(
kernel k(x: array<vec<f32,255>,1>, y: array<mat<f32,20,3>,1>; i) {
  x[i] = mul(2.0, x[i])
  y[i] = neg(y[i])
}
)"},
    {.name = "Arithmetic",
     .parameters = "x: wp.array(dtype=float), n: int, a: float",
     .body = R"(
i = wp.tid()
x[i] = -a * 2.0 + x[i] / (a - 1.5) - x[i] % a // a
m = (n // 2 - n % 3) * ~n
m = m << 1 | n & 3 ^ m >> 2
)",
     .module = R"(
kernel k(x: array<f32,1>, n: i32, a: f32; i) {
  x[i] = sub(add(mul(neg(a), 2.0), div(x[i], sub(a, 1.5))), floordiv(mod(x[i], a), a))
  let m: i32 = mul(sub(floordiv(n, 2), mod(n, 3)), bit_not(n))
  m = bit_or(shift_left(m, 1), bit_xor(bit_and(n, 3), shift_right(m, 2)))
}
)"},
    {.name = "RandomNumbers",
     .parameters = "x: wp.array(dtype=float), n: int",
     .body = R"(
i = wp.tid()
state = wp.rand_init(n, i)
x[i] = wp.randf(state) - wp.randf(state, 1.0, x[0])
)",
     .module = R"(
func wp_random_step(x: u32) -> u32 {
  let next: u32 = add(mul(x, 747796405:u32), 2891336453:u32)
  let word: u32 = mul(bit_xor(shift_right(next, add(shift_right(next, 28:u32), 4:u32)), next), 277803737:u32)
  return bit_xor(shift_right(word, 22:u32), word)
}

func wp_rand_init(x: i32, y: i32) -> u32 {
  return wp_random_step(add(cast<u32>(x), wp_random_step(cast<u32>(y))))
}

func wp_randf(x: u32) -> f32, u32 {
  let state: u32 = x
  state = wp_random_step(state)
  let drawn: f32 = mul(cast<f32>(shift_right(state, 8:u32)), 5.9604645e-08)
  return drawn, state
}

func wp_randf_1(x: u32, y: f32, z: f32) -> f32, u32 {
  let state: u32 = x
  state = wp_random_step(state)
  let drawn: f32 = mul(cast<f32>(shift_right(state, 8:u32)), 5.9604645e-08)
  return add(mul(sub(z, y), drawn), y), state
}

kernel k(x: array<f32,1>, n: i32; i) {
  let state: u32 = wp_rand_init(n, i)
  let drawn: f32, next_state: u32 = call wp_randf(state)
  state = next_state
  let drawn_1: f32, next_state_1: u32 = call wp_randf_1(state, 1.0, x[0])
  state = next_state_1
  x[i] = sub(drawn, drawn_1)
}
)"},
    {.name = "MathFunctionsOfPython",
     .above = "\nimport math\nimport numpy as np\n",
     .parameters = "x: wp.array(dtype=float), n: int, a: float",
     .body = R"(
x[0] = math.floor(a) + np.sin(x[1]) + math.atan2(a, x[0])
)",
     .module = R"(
kernel k(x: array<f32,1>, n: i32, a: f32; thread) {
  x[0] = add(add(floor(a), sin(x[1])), atan2(a, x[0]))
}
)"},
    {.name = "KeywordArgumentsOfOperators",
     .parameters = "x: wp.array(dtype=float), n: int, a: float",
     .body = R"(
x[0] = wp.add(a=a, b=x[1]) + wp.clamp(high=2.0, low=a, x=x[2])
)",
     .module = R"(
kernel k(x: array<f32,1>, n: i32, a: f32; thread) {
  x[0] = add(add(a, x[1]), clamp(x[2], a, 2.0))
}
)"},
    {.name = "ScalarOverQuaternion",
     .parameters = "x: wp.array(dtype=wp.quat), q: wp.quat, a: float",
     .body = R"(
x[0] = a / q
)",
     .module = R"(
kernel k(x: array<quat<f32>,1>, q: quat<f32>, a: f32; thread) {
  x[0] = make<quat<f32>>(div(a, extract(q, 0)), div(a, extract(q, 1)), div(a, extract(q, 2)), div(a, extract(q, 3)))
}
)"},
    {.name = "LowerBound",
     .parameters = "x: wp.array(dtype=float), k: wp.array(dtype=int), n: int",
     .body = R"(
k[0] = wp.lower_bound(x, 0.5)
k[1] = wp.lower_bound(k, value=n, arr_begin=1, arr_end=4)
)",
     .module = R"(
func lower_bound_f32(array: array<f32,1>, begin: i32, end: i32, value: f32) -> i32 {
  let lower: i32 = begin
  let upper: i32 = sub(end, 1)
  while lt(lower, upper) {
    let middle: i32 = add(lower, div(sub(upper, lower), 2))
    if lt(array[wrap_index(middle, shape(array, 0))], value) {
      lower = add(middle, 1)
    } else {
      upper = middle
    }
  }
  return lower
}

func lower_bound_i32(array: array<i32,1>, begin: i32, end: i32, value: i32) -> i32 {
  let lower: i32 = begin
  let upper: i32 = sub(end, 1)
  while lt(lower, upper) {
    let middle: i32 = add(lower, div(sub(upper, lower), 2))
    if lt(array[wrap_index(middle, shape(array, 0))], value) {
      lower = add(middle, 1)
    } else {
      upper = middle
    }
  }
  return lower
}

kernel k(x: array<f32,1>, k: array<i32,1>, n: i32; thread) {
  k[0] = lower_bound_f32(x, 0, shape(x, 0), 0.5)
  k[1] = lower_bound_i32(k, 1, 4, n)
}
)"},
    {.name = "ConstructorsInTypes",
     .parameters = "x: wp.array(dtype=float), a: float",
     .body = R"(
v = wp.types.vector(length=5, dtype=float)
w = wp.types.vector(a, 2, 3.0, dtype=float)
m = wp.types.matrix(a, shape=(2, 2))
q = wp.types.quaternion(a, a, a, 1.0)
x[0] = v[1] + w[2] + m[0, 1] + q[3]
)",
     .module = R"(
kernel k(x: array<f32,1>, a: f32; thread) {
  let v: vec<f32,5> = splat<vec<f32,5>>(0.0)
  let w: vec<f32,3> = make<vec<f32,3>>(a, 2.0, 3.0)
  let m: mat<f32,2,2> = splat<mat<f32,2,2>>(a)
  let q: quat<f32> = make<quat<f32>>(a, a, a, 1.0)
  x[0] = add(add(add(extract(v, 1), extract(w, 2)), extract(extract(m, 0), 1)), extract(q, 3))
}
)"},
    {.name = "ElementsOfTuplesAndLists",
     .above = "\nTAPS = [0.25, 0.5]\nOFFSETS = ((-1, 0.5), (1, 2.0))\nN = len(OFFSETS)\n",
     .parameters = "x: wp.array(dtype=float), n: int",
     .body = R"(
for k in range(wp.static(len(TAPS))):
    x[N] = wp.static(TAPS[k])
    x[wp.static(OFFSETS[k][0])] = wp.static(OFFSETS[k][-1])
)",
     .module = R"(
kernel k(x: array<f32,1>, n: i32; thread) {
  if true {
    let k: i32 = 0
    x[2] = 0.25
    x[wrap_index(-1, shape(x, 0))] = 0.5
  }
  if true {
    let k_1: i32 = 1
    x[2] = 0.5
    x[1] = 2.0
  }
}
)"},
    {.name = "ConstantsOfMultipleAssignments",
     .above = "\nWIDTH, HEIGHT = 640, 480.0\nMASK = ~5 & 0xFF\nHALF, WHOLE = round(7.5), round(2.5)\n",
     .parameters = "x: wp.array(dtype=float), m: wp.array2d(dtype=float)",
     .body = R"(
x[WIDTH] = HEIGHT
x[MASK] = float(m.ndim)
x[HALF] = float(m[0].ndim)
x[WHOLE] = 1.0
)",
     .module = R"(
kernel k(x: array<f32,1>, m: array<f32,2>; thread) {
  x[640] = 480.0
  x[250] = cast<f32>(2)
  x[8] = cast<f32>(1)
  x[2] = 1.0
}
)"},
    {.name = "VectorOfBool",
     .above = "\nvec2b = wp.types.vector(length=2, dtype=wp.bool)\n",
     .parameters = "x: wp.array(dtype=wp.bool), f: wp.array(dtype=vec2b), a: float, n: int",
     .body = R"(
v = vec2b(a > 0.0, True)
v[n] = x[0]
f[0] = v
f[1] = vec2b(True)
x[1] = f[1][1]
)",
     .module = R"(
kernel k(x: array<bool,1>, f: array<vec<bool,2>,1>, a: f32, n: i32; thread) {
  let v: vec<bool,2> = make<vec<bool,2>>(gt(a, 0.0), true)
  v = insert(v, wrap_index(n, 2), x[0])
  f[0] = v
  f[1] = splat<vec<bool,2>>(true)
  x[1] = extract(f[1], 1)
}
)"},
    {.name = "Power",
     .parameters = "x: wp.array(dtype=float), n: int, a: float",
     .body = R"(
x[0] = a ** 2.0 + wp.pow(a, 0.5)
)",
     .module = R"(
kernel k(x: array<f32,1>, n: i32, a: f32; thread) {
  x[0] = add(pow(a, 2.0), pow(a, 0.5))
}
)"},
    {.name = "Literals",
     .parameters = "x: wp.array(dtype=float), n: int, a: float",
     .body = R"(
p = 0x10
q = 1_000
r = 1e-3
s = True
t = -2
u = wp.int64(-3000000000)
v = wp.float64(0.1)
w = wp.uint8(255)
y = float(3)
z = int(-2.7)
b = bool(1)
d = wp.inf
e = -wp.inf
f = wp.float64(wp.pi)
g = -float(0.5)
h = wp.float64(float(0.5))
)",
     .module = R"(
kernel k(x: array<f32,1>, n: i32, a: f32; thread) {
  let p: i32 = 16
  let q: i32 = 1000
  let r: f32 = 0.001
  let s: bool = true
  let t: i32 = -2
  let u: i64 = -3000000000:i64
  let v: f64 = 0.1:f64
  let w: u8 = 255:u8
  let y: f32 = 3.0
  let z: i32 = -2
  let b: bool = true
  let d: f32 = inf
  let e: f32 = -inf
  let f: f64 = 3.141592653589793:f64
  let g: f32 = neg(0.5)
  let h: f64 = cast<f64>(0.5)
}
)"},
    {.name = "Casts",
     .parameters = "x: wp.array(dtype=float), n: int, a: float",
     .body = R"(
m = int(a) + n
d = wp.float64(m)
b = bool(a)
x[0] = float(d) + wp.float32(b)
)",
     .module = R"(
kernel k(x: array<f32,1>, n: i32, a: f32; thread) {
  let m: i32 = add(cast<i32>(a), n)
  let d: f64 = cast<f64>(m)
  let b: bool = cast<bool>(a)
  x[0] = add(cast<f32>(d), cast<f32>(b))
}
)"},
    {.name = "Comparisons",
     .parameters = "x: wp.array(dtype=float), n: int, a: float",
     .body = R"(
p = a < 1.0
q = n == 2 or p
r = not (p and q)
s = a != 0.0 and n >= 3
)",
     .module = R"(
kernel k(x: array<f32,1>, n: i32, a: f32; thread) {
  let p: bool = lt(a, 1.0)
  let q: bool = or(eq(n, 2), p)
  let r: bool = not(and(p, q))
  let s: bool = and(ne(a, 0.0), ge(n, 3))
}
)"},
    {.name = "ChainedComparison",
     .parameters = "x: wp.array(dtype=float), n: int, a: float",
     .body = R"(
if 0 < n <= 5 < 9:
    x[0] = 1.0
)",
     .module = R"(
kernel k(x: array<f32,1>, n: i32, a: f32; thread) {
  if and(and(lt(0, n), le(n, 5)), lt(5, 9)) {
    x[0] = 1.0
  }
}
)"},
    {.name = "ComparisonOfDifferentTypes",
     .parameters = "x: wp.array(dtype=float), n: int, a: float",
     .body = R"(
if a < 1:
    x[0] = 1.0
if n < wp.int64(3):
    x[0] = 2.0
if n < wp.uint32(3):
    x[0] = 3.0
if wp.uint8(1) < n:
    x[0] = 4.0
)",
     .module = R"(
kernel k(x: array<f32,1>, n: i32, a: f32; thread) {
  if lt(a, cast<f32>(1)) {
    x[0] = 1.0
  }
  if lt(cast<i64>(n), 3:i64) {
    x[0] = 2.0
  }
  if lt(cast<u32>(n), 3:u32) {
    x[0] = 3.0
  }
  if lt(cast<i32>(1:u8), n) {
    x[0] = 4.0
  }
}
)"},
    {.name = "NumbersAsConditions",
     .parameters = "x: wp.array(dtype=float), n: int, a: float",
     .body = R"(
if n:
    x[0] = 1.0
if a and not n:
    x[1] = 1.0
)",
     .module = R"(
kernel k(x: array<f32,1>, n: i32, a: f32; thread) {
  if ne(n, 0) {
    x[0] = 1.0
  }
  if and(ne(a, 0.0), not(ne(n, 0))) {
    x[1] = 1.0
  }
}
)"},
    {.name = "ArraysAsConditions",
     .parameters = "x: wp.array(dtype=float), mask: wp.array2d(dtype=bool), n: int",
     .body = R"(
i = wp.tid()
if mask and not mask[i, 0]:
    return
if not x or n > 2:
    n = 1
row = mask[i]
if (row):
    n = 3
)",
     .module = R"(
kernel k(x: array<f32,1>, mask: array<bool,2>, n: i32; i) {
  let n_1: i32 = n
  if and(and(gt(shape(mask, 0), 0), gt(shape(mask, 1), 0)), not(mask[i, 0])) {
    return
  }
  if or(not(gt(shape(x, 0), 0)), gt(n_1, 2)) {
    n_1 = 1
  }
  if and(gt(shape(mask, 0), 0), gt(shape(mask, 1), 0)) {
    n_1 = 3
  }
}
)"},
    {.name = "ConditionalExpression",
     .parameters = "x: wp.array(dtype=float), n: int, a: float",
     .body = R"(
x[0] = a if n > 0 else -a
x[1] = wp.where(n > 0, a, x[0])
)",
     .module = R"(
kernel k(x: array<f32,1>, n: i32, a: f32; thread) {
  x[0] = conditional(gt(n, 0), a, neg(a))
  x[1] = where(gt(n, 0), a, x[0])
}
)"},
    {.name = "Vectors",
     .parameters = "v: wp.array(dtype=wp.vec3), a: float",
     .body = R"(
i = wp.tid()
p = wp.vec3(a, 0.0, 1)
q = wp.vec3(2.0)
z = wp.vec3()
d = wp.vec3d(0.1, 1, wp.float64(a)) if i > 0 else wp.vec3d(0.1)
r = p * a + a * q - p / 2.0 + 1.0 / q
s = wp.dot(p, q) + wp.length(r) + r.x + r[1] + r[-1] + r[i]
v[i] = wp.cross(p, wp.normalize(-q)) * s + z
)",
     .module = R"(
kernel k(v: array<vec<f32,3>,1>, a: f32; i) {
  let p: vec<f32,3> = make<vec<f32,3>>(a, 0.0, 1.0)
  let q: vec<f32,3> = splat<vec<f32,3>>(2.0)
  let z: vec<f32,3>
  let d: vec<f64,3> = conditional(gt(i, 0), make<vec<f64,3>>(0.1:f64, 1.0:f64, cast<f64>(a)), splat<vec<f64,3>>(0.1:f64))
  let r: vec<f32,3> = add(sub(add(mul(p, a), mul(a, q)), div(p, 2.0)), cw_div(splat<vec<f32,3>>(1.0), q))
  let s: f32 = add(add(add(add(add(dot(p, q), length(r)), extract(r, 0)), extract(r, 1)), extract(r, 2)), extract(r, i))
  v[i] = add(mul(cross(p, normalize(neg(q))), s), z)
}
)"},
    {.name = "VectorConversion",
     .parameters = "v: wp.array(dtype=wp.vec3), w: wp.array(dtype=wp.vec3d)",
     .body = R"(
i = wp.tid()
w[i] = wp.vec3d(v[i])
u = wp.vector(1.0, 2.0)
)",
     .module = R"(
kernel k(v: array<vec<f32,3>,1>, w: array<vec<f64,3>,1>; i) {
  w[i] = make<vec<f64,3>>(cast<f64>(extract(v[i], 0)), cast<f64>(extract(v[i], 1)), cast<f64>(extract(v[i], 2)))
  let u: vec<f32,2> = make<vec<f32,2>>(1.0, 2.0)
}
)"},
    {.name = "Shapes",
     .parameters = "x: wp.array3d(dtype=float), v: wp.vec4",
     .body = R"(
m = x.shape[0] + x.shape[2] + len(x) + len(v)
)",
     .module = R"(
kernel k(x: array<f32,3>, v: vec<f32,4>; thread) {
  let m: i32 = add(add(add(shape(x, 0), shape(x, 2)), shape(x, 0)), 4)
}
)"},
    {.name = "Constants",
     .above = R"(
import math
import numpy as np
N = 4
K = N ** 2 - 3 // 2
F = 2.5
HALF = F / 2
P = math.pi
G = wp.constant(3.0)
TWO = wp.float32(2)
D = wp.vec3(1.0, 2.0, 3.0)
W = X = 1.0
TINY = wp.constant(wp.float32(np.finfo(np.float32).eps))
)",
     .parameters = "x: wp.array(dtype=float), n: int, a: float",
     .body = R"(
m = N * K
x[0] = F + HALF * P + G + TWO * D.x + wp.static(N + 1.5)
for i in range(N):
    x[i] = W + TINY
)",
     .module = R"(
kernel k(x: array<f32,1>, n: i32, a: f32; thread) {
  let m: i32 = mul(4, 15)
  x[0] = add(add(add(add(2.5, mul(1.25, 3.1415927)), 3.0), mul(2.0, extract(make<vec<f32,3>>(1.0, 2.0, 3.0), 0))), 5.5)
  for i: i32 in range(0, 4, 1) {
    x[i] = add(1.0, 1.1920929e-07)
  }
}
)"},
    {.name = "TypeAliases",
     .above = R"(
vec5 = wp.types.vector(length=5, dtype=float)
Real = wp.float32
)",
     .parameters = "v: wp.array(dtype=vec5), r: Real",
     .body = R"(
w = vec5(1.0, 2.0, 3.0, 4.0, Real(5))
v[0] = w * r
)",
     .module = R"(
kernel k(v: array<vec<f32,5>,1>, r: f32; thread) {
  let w: vec<f32,5> = make<vec<f32,5>>(1.0, 2.0, 3.0, 4.0, 5.0)
  v[0] = mul(w, r)
}
)"},
    {.name = "ParameterAnnotations",
     .parameters =
         "a: wp.array(dtype=float, ndim=2), b: wp.array2d[wp.vec3], c: wp.array[float], d: 'wp.array(dtype=wp.int64)', "
         "e: wp.float64, f: wp.mat33, g: wp.quat, h: wp.transform, l: bool = True",
     .body = R"(
pass
)",
     .module = R"(
kernel k(a: array<f32,2>, b: array<vec<f32,3>,2>, c: array<f32,1>, d: array<i64,1>, e: f64, f: mat<f32,3,3>, g: quat<f32>, h: transform<f32>, l: bool; thread) {
}
)"},
    {.name = "BuiltinsWithoutModulePrefix",
     .parameters = "x: wp.array(dtype=float), n: int, a: float",
     .body = R"(
x[0] = min(a, 1.0) + max(a, 2.0) + abs(a) + sin(a) + round(a)
)",
     .module = R"(
kernel k(x: array<f32,1>, n: i32, a: f32; thread) {
  x[0] = add(add(add(add(min(a, 1.0), max(a, 2.0)), abs(a)), sin(a)), round(a))
}
)"},
    {.name = "WarpMathFunctions",
     .parameters = "x: wp.array(dtype=float), n: int, a: float",
     .body = R"(
x[0] = wp.clamp(a, 0.0, 1.0) + wp.atan2(a, 2.0) + wp.exp(wp.sqrt(wp.abs(a))) + wp.lerp(a, 1.0, 0.5)
m = wp.min(n, 3) + wp.sign(n) + wp.mul(n, 2)
)",
     .module = R"(
kernel k(x: array<f32,1>, n: i32, a: f32; thread) {
  x[0] = add(add(add(clamp(a, 0.0, 1.0), atan2(a, 2.0)), exp(sqrt(abs(a)))), lerp(a, 1.0, 0.5))
  let m: i32 = add(add(min(n, 3), sign(n)), mul(n, 2))
}
)"},
    {.name = "UnusedParametersNamedInTuple",
     .parameters = "x: wp.array(dtype=float), n: int, a: float",
     .body = "\n_ = (n, a)\nx[0] = a\n",
     .module = R"(
kernel k(x: array<f32,1>, n: i32, a: f32; thread) {
  x[0] = a
}
)"},
    {.name = "IdentityOfTypeByPosition",
     .parameters = "q: wp.array(dtype=wp.quatd), x: wp.array(dtype=wp.float64)",
     .body = "\nq[0] = wp.quat_identity(wp.float64)\nx[0] = wp.transform_identity(wp.float64)[6]\n",
     .module = R"(
kernel k(q: array<quat<f64>,1>, x: array<f64,1>; thread) {
  q[0] = make<quat<f64>>(0.0:f64, 0.0:f64, 0.0:f64, 1.0:f64)
  x[0] = extract(make<transform<f64>>(0.0:f64, 0.0:f64, 0.0:f64, 0.0:f64, 0.0:f64, 0.0:f64, 1.0:f64), 6)
}
)"},
    {.name = "StaticLengthOfVector",
     .parameters = "x: wp.array(dtype=float), v: wp.vec4",
     .body = "\nfor j in range(wp.static(len(v))):\n    x[j] = v[j]\n",
     .module = R"(
kernel k(x: array<f32,1>, v: vec<f32,4>; thread) {
  for j: i32 in range(0, 4, 1) {
    x[j] = extract(v, j)
  }
}
)"},
};

INSTANTIATE_TEST_SUITE_P(Expressions, GoldenKernelTest, ::testing::ValuesIn(kCases), golden_name);

}  // namespace
}  // namespace assay::frontend::testing
