// Features of the Warp language, each with a kernel that uses it: the parser must support the feature or reject it with
// a reason. A feature's share is the percentage of public kernels that this feature and those of smaller shares suffice
// for. Generates the table in docs/design/frontend.md.
#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "frontend/warp/testing/parse.hpp"

namespace assay::frontend::testing {
namespace {

struct Feature {
  int share;  ///< per cent of kernels that need no feature of a greater share
  std::string_view name;
  std::string_view body;           ///< statements of the kernel below, or a whole file from "import" on
  std::string_view rejected = {};  ///< part of the reason; empty for supported features
};

void PrintTo(const Feature& feature, std::ostream* out) { *out << feature.name; }

/// What each kernel has: one or two arrays of each kind.
constexpr std::string_view kParameters =
    "x: wp.array(dtype=float), y: wp.array(dtype=float), d: wp.array(dtype=wp.float64), k: wp.array(dtype=int), "
    "v: wp.array(dtype=wp.vec3), m: wp.array(dtype=wp.mat33), q: wp.array(dtype=wp.quat), "
    "t: wp.array(dtype=wp.transform), s: wp.array(dtype=wp.spatial_vector), a2: wp.array2d(dtype=float), "
    "a3: wp.array3d(dtype=float), a4: wp.array4d(dtype=float), n: int, w: float, h: wp.float16";

constexpr Feature kFeatures[] = {
    {60, "tid with 1 to 4 values", "i, j, l, o = wp.tid()\na4[i, j, l, o] = w"},
    {60, "arithmetic", "i = wp.tid()\nx[i] = x[i] * y[i] + w / 2.0 - 1.0"},
    {60, "vectors", "i = wp.tid()\nv[i] = wp.vec3(1.0, w, 0.0) * 2.0"},
    {60, "closures over constants", R"(import warp as wp
def make(n: int, scale: float):
    half = 0.5 * scale
    @wp.kernel
    def k(x: wp.array(dtype=float)):
        i = wp.tid()
        for j in range(n):
            x[i] = x[i] * half
    return k
k3 = make(3, scale=1.5)
)"},
    {60, "closures over values known only at run time", R"(import warp as wp
import sys
def make(n):
    @wp.kernel
    def k(x: wp.array(dtype=float)):
        x[wp.tid()] = float(n)
    return k
k3 = make(len(sys.argv))
)",
     "known only when Python runs"},
    {60, "atomic_add", "i = wp.tid()\nwp.atomic_add(x, k[i], y[i])"},
    {60, "if", "i = wp.tid()\nif x[i] > 0.0:\n    y[i] = x[i]\nelse:\n    y[i] = w"},
    {60, "early return", "i = wp.tid()\nif i >= n:\n    return\nx[i] = w"},
    {60, "generics (Any)", R"(import warp as wp
from typing import Any
@wp.func
def square(a: Any):
    return a * a
@wp.kernel
def k(x: wp.array(dtype=Any), scale: Any, y: wp.array(dtype=float)):
    i = wp.tid()
    x[i] = square(x[i]) * scale
    y[i] = square(y[i])
wp.overload(k, [wp.array(dtype=wp.float64), wp.float64, wp.array(dtype=float)])
k_float = wp.overload(k, {"x": wp.array(dtype=float), "scale": float})
)"},
    {60, "generic kernels without an overload, with inferred types", R"(import warp as wp
from typing import Any
@wp.kernel
def k(x: wp.array(dtype=Any)):
    x[wp.tid()] = x[0]
)"},
    {60, "functions as kernel arguments", R"(import warp as wp
@wp.kernel
def k(x: wp.array(dtype=float), f: Callable):
    x[wp.tid()] = f(x[0])
)",
     "generic kernel has no wp.overload(k, ...) call"},
    {60, "calls of wp.func", R"(import warp as wp
@wp.func
def f(a: float, b: float = 2.0):
    return a * b, a + b
@wp.kernel
def k(x: wp.array(dtype=float)):
    i = wp.tid()
    p, s = f(x[i], b=3.0)
    x[i] = p - s
)"},
    {60, "structs", R"(import warp as wp
@wp.struct
class Inner:
    x: wp.array(dtype=float)
    scale: float
@wp.struct
class Outer:
    inner: Inner
    n: int
@wp.func
def at(s: Inner, i: int):
    return s.x[i] * s.scale
@wp.kernel
def k(o: Outer, y: wp.array(dtype=float)):
    i = wp.tid()
    if i < o.n:
        y[i] = at(o.inner, i) + o.inner.x[i]
)"},
    {60, "attributes .x .y .z .w, fields, .shape", "i = wp.tid()\nif i < a2.shape[1]:\n    x[i] = v[i].x + q[i].w"},
    {60, "tuple assignment", "i = wp.tid()\na, b = x[i], y[i]\nx[i] = a - b"},
    {60, "multiple indices", "i, j = wp.tid()\na2[i, j] = a2[j][i]"},
    {60, "2-D arrays", "i, j = wp.tid()\na2[i, j] = w"},
    {60, "matrices", "i = wp.tid()\nv[i] = m[i] * v[i] + wp.vec3(m[i][0, 1], m[i][1][2], 0.0)"},
    {60, "float()", "i = wp.tid()\nx[i] = float(i) + float(d[i])"},
    {60, "unary minus", "i = wp.tid()\nx[i] = -x[i]"},
    {60, "and, or", "i = wp.tid()\nif i < n and (x[i] > 0.0 or y[i] > 0.0):\n    x[i] = w"},
    {60, "augmented assignment to names, subscripts, attributes",
     "i = wp.tid()\na = w\na += 1.0\nx[i] += a\nx[i] *= 2.0\nu = v[i]\nu.x -= a\nv[i] = u"},
    {60, "sized integers", "i = wp.tid()\nx[i] = float(wp.uint8(i) + wp.uint8(3)) + float(wp.int64(n))"},
    {60, "range, with dynamic bounds", "i = wp.tid()\nfor j in range(0, n, 2):\n    x[i] += y[j]"},
    {60, "3-D arrays", "i, j, l = wp.tid()\na3[i, j, l] = w"},
    {60, "%", "i = wp.tid()\nx[i] = y[i % n] + x[i] % 2.0"},
    {60, "quaternions", "i = wp.tid()\nq[i] = q[i] * wp.quat(0.0, 0.0, 0.0, 1.0)"},
    {60, "transforms", "i = wp.tid()\nt[i] = t[i] * wp.transform(v[i], q[i])"},
    {60, "bit operations", "i = wp.tid()\nk[i] = (k[i] << 2) ^ (k[i] & 7) | (k[i] >> 1)"},
    {60, "spatial vectors", "i = wp.tid()\ns[i] = wp.spatial_vector(v[i], v[i]) + s[i]"},
    {60, "not", "i = wp.tid()\nif not (i < n):\n    x[i] = w"},
    {60, "float64", "i = wp.tid()\nd[i] = d[i] * wp.float64(2.0)"},
    {60, "int()", "i = wp.tid()\nk[i] = int(x[i])"},
    {60, "//", "i = wp.tid()\nk[i] = k[i] // 2"},
    {60, "wp.static of constants in the file", R"(import warp as wp
import math
SIDE = 3
DEEP = True
@wp.func
def f(a: float):
    return a * 2.0
@wp.kernel
def k(x: wp.array(dtype=float)):
    i = wp.tid()
    if wp.static(DEEP and SIDE > 2):
        x[i] = wp.static(f)(x[i]) + wp.static(math.sqrt(float(SIDE * SIDE)))
    else:
        x[i] = undefined_name
)"},
    {60, "wp.static of values known only at run time", "i = wp.tid()\nx[i] = wp.static(read_configuration())",
     "wp.static argument must be a compile-time constant"},
    {60, "for with constant bounds", "i = wp.tid()\nfor j in range(4):\n    x[i] += w"},
    {60, "native functions (wp.func_native)", R"(import warp as wp
@wp.func_native("return a;")
def f(a: float) -> float: ...
@wp.kernel
def k(x: wp.array(dtype=float)):
    x[wp.tid()] = f(1.0)
)"},
    {60, "max, min, clamp", "i = wp.tid()\nx[i] = wp.clamp(max(x[i], wp.min(y[i], w)), 0.0, 1.0)"},
    {60, "4-D arrays", "i, j, l, o = wp.tid()\na4[i, j, l, o] = a4[o, l, j, i]"},
    {60, "slices",
     "i = wp.tid()\nrow = a2[i]\npart = a2[1:, i]\nu = v[i]\nw2 = u[0:2]\nx[i] = row[0] + part[1] + w2[1]"},
    {60, "float16 and bfloat16", "i = wp.tid()\nx[i] = float(h * wp.float16(2.0)) + float(wp.bfloat16(w))"},
    {60, "sqrt", "i = wp.tid()\nx[i] = wp.sqrt(x[i])"},
    {60, "where", "i = wp.tid()\nx[i] = wp.where(i < n, x[i], w)"},
    {60, "conditional expressions", "i = wp.tid()\nx[i] = x[i] if i < n else w"},
    {60, "while", "i = wp.tid()\na = x[i]\nwhile a > 1.0:\n    a = a * 0.5\nx[i] = a"},
    {60, "abs", "i = wp.tid()\nx[i] = abs(x[i]) + wp.abs(y[i])"},
    {60, "cross, dot, length, normalize",
     "i = wp.tid()\nx[i] = wp.dot(wp.cross(v[i], v[0]), wp.normalize(v[1])) + wp.length(v[i])"},
    {60, "break", "i = wp.tid()\nfor j in range(n):\n    if x[j] > 1.0:\n        break\n    y[i] += x[j]"},
    {80, "pass", "i = wp.tid()\nif i < n:\n    pass\nelse:\n    x[i] = w"},
    {80, "transform_point", "i = wp.tid()\nv[i] = wp.transform_point(t[i], v[i])"},
    {80, "**", "i = wp.tid()\nx[i] = x[i] ** 2.0"},
    {80, "indexed arrays", R"(import warp as wp
@wp.kernel
def k(x: wp.indexedarray(dtype=float)):
    x[wp.tid()] = 1.0
)"},
    {80, "fabric arrays", R"(import warp as wp
@wp.kernel
def k(x: wp.fabricarray(dtype=float), y: wp.fabricarray[wp.vec3], z: wp.indexedfabricarray(dtype=int),
      rows: wp.fabricarrayarray(dtype=float)):
    i = wp.tid()
    x[i] = y[i][0] + float(z[i]) + float(z.shape[0]) + rows[i][0]
)"},
    {80, "atomic_sub, atomic_max, atomic_min",
     "i = wp.tid()\nwp.atomic_sub(x, 0, w)\nwp.atomic_max(y, 0, x[i])\nwp.atomic_min(a2[i], 0, w)"},
    {80, "continue", "i = wp.tid()\nfor j in range(n):\n    if x[j] > 1.0:\n        continue\n    y[i] += x[j]"},
    {80, "functions as arguments", R"(import warp as wp
from typing import Callable
@wp.func
def square(a: float):
    return a * a
@wp.func
def twice(f: Callable, a: float):
    return f(f(a))
def make(f):
    @wp.kernel
    def k(x: wp.array(dtype=float)):
        i = wp.tid()
        x[i] = f(x[i]) + twice(square, x[i]) + twice(wp.sin, x[i])
    return k
squares = make(square)
)"},
    {80, "keyword arguments", "i = wp.tid()\nx[i] = wp.clamp(x[i], low=0.0, high=1.0) + wp.dot(b=v[0], a=v[i])"},
    {80, "types.vector and types.matrix", R"(import warp as wp
vec5 = wp.types.vector(length=5, dtype=float)
mat23 = wp.types.matrix(shape=(2, 3), dtype=wp.float64)
@wp.kernel
def k(x: wp.array(dtype=vec5), y: wp.array(dtype=mat23)):
    i = wp.tid()
    x[i] = vec5(1.0) + x[i]
    y[i] = y[i] * wp.float64(2.0)
)"},
    {80, "starred arguments", "i = wp.tid()\nq[i] = wp.quat(*v[i], 1.0)"},
    {80, "len", "i = wp.tid()\nx[i] = float(len(x) + len(v[i]) + len(a2[i]))"},
    {80, "type(), .dtype", "i = wp.tid()\na = type(x[i])(2.0)\nd[i] = d.dtype(a) * type(d[i])(0.5)"},
    {80, "printf, print, expect_eq, expect_near (ignored with a note)",
     "i = wp.tid()\nwp.printf(\"%d\\n\", i)\nprint(x[i])\nwp.expect_eq(x[i], w)\nwp.expect_near(x[i], w, 0.1)\nx[i] = "
     "w"},
    {80, "@", "i = wp.tid()\nv[i] = m[i] @ v[i]"},
    {80, "zeros (thread-local arrays)",
     "i = wp.tid()\nb = wp.zeros(shape=(4,), dtype=float)\nb[i % 4] = w\nb[1] += 2.0\nx[i] = b[n]"},
    {80, "length_sq", "i = wp.tid()\nx[i] = wp.length_sq(v[i])"},
    {80, "assert (ignored with a note)", "i = wp.tid()\nassert i < n\nx[i] = w"},
    {80, "pow", "i = wp.tid()\nx[i] = wp.pow(x[i], 3.0)"},
    {80, "~", "i = wp.tid()\nk[i] = ~k[i]"},
    {80, "quat_rotate, quat_rotate_inv", "i = wp.tid()\nv[i] = wp.quat_rotate(q[i], wp.quat_rotate_inv(q[0], v[i]))"},
    {80, "spatial_top, spatial_bottom", "i = wp.tid()\nv[i] = wp.spatial_top(s[i]) + wp.spatial_bottom(s[i])"},
    {80, "transform_get_rotation, transform_get_translation",
     "i = wp.tid()\nq[i] = wp.transform_get_rotation(t[i])\nv[i] = wp.transform_get_translation(t[i])"},
    {80, "cw_mul", "i = wp.tid()\nv[i] = wp.cw_mul(v[i], v[0])"},
    {80, "sign", "i = wp.tid()\nx[i] = wp.sign(x[i])"},
    {80, "transpose", "i = wp.tid()\nm[i] = wp.transpose(m[i])"},
    {80, "sin, cos", "i = wp.tid()\nx[i] = wp.sin(x[i]) * wp.cos(x[i])"},
    {80, "quat_to_matrix", "i = wp.tid()\nm[i] = wp.quat_to_matrix(q[i])"},
    {80, "atomic_cas", "i = wp.tid()\nold = wp.atomic_cas(k, 0, 0, i)"},
    {90, "floor", "i = wp.tid()\nx[i] = wp.floor(x[i])"},
    {90, "mul", "i = wp.tid()\nx[i] = wp.mul(x[i], w)\nt[i] = wp.mul(t[i], t[0])"},
    {90, "quat_from_axis_angle", "i = wp.tid()\nq[i] = wp.quat_from_axis_angle(v[i], w)"},
    {90, "identity", "i = wp.tid()\nm[i] = wp.identity(n=3, dtype=float)"},
    {90, "outer", "i = wp.tid()\nm[i] = wp.outer(v[i], v[0])"},
    {90, "skew", "i = wp.tid()\nm[i] = wp.skew(v[i])"},
    {90, "transform_identity", "i = wp.tid()\nt[i] = wp.transform_identity()"},
    {90, "transform_vector, transform_multiply, transform_inverse",
     "i = wp.tid()\nv[i] = wp.transform_vector(wp.transform_multiply(t[i], wp.transform_inverse(t[0])), v[i])"},
    {90, "atan2", "i = wp.tid()\nx[i] = wp.atan2(x[i], w)"},
    {90, "matrix_from_rows, matrix_from_cols",
     "i = wp.tid()\nm[i] = wp.matrix_from_rows(v[i], v[0], v[1]) * wp.matrix_from_cols(v[i], v[0], v[1])"},
    {90, "quat_identity", "i = wp.tid()\nq[i] = wp.quat_identity()"},
    {90, "quat_inverse", "i = wp.tid()\nq[i] = wp.quat_inverse(q[i])"},
    {90, "atomic_and, atomic_or", "i = wp.tid()\nwp.atomic_and(k, 0, i)\nwp.atomic_or(k, 1, i)"},
    {90, "velocity_at_point", "i = wp.tid()\nv[i] = wp.velocity_at_point(s[i], v[i])"},
    {90, "exp", "i = wp.tid()\nx[i] = wp.exp(x[i])"},
    {90, "chained comparison", "i = wp.tid()\nif 0.0 < x[i] < 1.0:\n    x[i] = w"},
    {90, "inverse", "i = wp.tid()\nm[i] = wp.inverse(m[i])"},
    {90, "cw_div", "i = wp.tid()\nv[i] = wp.cw_div(v[i], v[0])"},
    {90, "norm_l2", "i = wp.tid()\nx[i] = wp.norm_l2(v[i])"},
    {90, "bool()", "i = wp.tid()\nif bool(k[i]):\n    x[i] = w"},
    {90, "address_of", "i = wp.tid()\np = wp.address_of(x[i])", "unknown or unsupported function"},
    {95, "custom gradients (func_grad, func_replay, wp.adjoint)", R"(import warp as wp
@wp.func
def f(a: float):
    return a * a
@wp.func_grad(f)
def f_gradient(a: float, adj_ret: float):
    wp.adjoint[a] += 2.0 * a * adj_ret
@wp.func_replay(f)
def f_again(a: float):
    return a * a
@wp.kernel
def k(x: wp.array(dtype=float)):
    i = wp.tid()
    x[i] = f(x[i])
)"},
    {95, "grad", "i = wp.tid()\nx[i] = wp.grad(f)(x[i])",
     "only Warp functions and functions decorated with @wp.func can be called"},
    {95, "atomic_exch", "i = wp.tid()\nold = wp.atomic_exch(k, 0, i)"},
    {95, "isnan, isfinite", "i = wp.tid()\nif wp.isnan(x[i]) or not wp.isfinite(y[i]):\n    x[i] = 0.0"},
    {95, "rand_init, randf, randn",
     "i = wp.tid()\nstate = wp.rand_init(42, i)\nx[i] = wp.randf(state) + wp.randn(state)"},
    {95, "curlnoise", "i = wp.tid()\nstate = wp.rand_init(42)\nv[i] = wp.curlnoise(state, v[i])"},
    {95, "closest_point_edge_edge", "i = wp.tid()\nv[i] = wp.closest_point_edge_edge(v[0], v[1], v[2], v[3], 1.0e-6)"},
    {95, "quat_to_axis_angle", "i = wp.tid()\naxis, angle = wp.quat_to_axis_angle(q[i])\nx[i] = angle"},
    {95, "trace, determinant", "i = wp.tid()\nx[i] = wp.trace(m[i]) + wp.determinant(m[i])"},
    {95, "tan, acos", "i = wp.tid()\nx[i] = wp.tan(x[i]) + wp.acos(y[i])"},
    {95, "transform_twist", "i = wp.tid()\ns[i] = wp.transform_twist(t[i], s[i])"},
    {95, "block_dim", "i = wp.tid()\nk[i] = wp.block_dim()"},
    {95, "the operators `in` and `is not`", "i = wp.tid()\nif i is not None:\n    x[i] = w",
     "None is not supported in kernels"},
};

std::string source_of(const Feature& feature) {
  if (feature.body.starts_with("import")) return std::string(feature.body);
  return kernel(kParameters, feature.body);
}

class LanguageFeatures : public ::testing::TestWithParam<Feature> {};

TEST_P(LanguageFeatures, AreParsedOrRejectedAsListedInTable) {
  const ParsedFile file = read(source_of(GetParam()));
  const bool has_errors = std::ranges::any_of(
      file.diagnostics, [](const Diagnostic& diagnostic) { return diagnostic.severity == Severity::kError; });
  if (GetParam().rejected.empty()) {
    EXPECT_FALSE(has_errors) << messages(file);
    EXPECT_FALSE(file.module.kernels.empty()) << messages(file);
  } else {
    EXPECT_TRUE(has_errors);
    EXPECT_NE(messages(file).find(GetParam().rejected), std::string::npos) << messages(file);
  }
}

std::string feature_name(const ::testing::TestParamInfo<Feature>& info) {
  std::string name = fmt::format("of{}_", info.param.share);
  for (const char c : info.param.name)
    name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return fmt::format("{}_{}", name, info.index);
}

INSTANTIATE_TEST_SUITE_P(Reader, LanguageFeatures, ::testing::ValuesIn(kFeatures), feature_name);

/// The table of features in docs/design/frontend.md.
std::string feature_table() {
  std::string text = "| kernels | supported features | rejected features |\n|---|---|---|\n";
  for (const int share : {60, 80, 90, 95}) {
    std::vector<std::string> supported, rejected;
    for (const Feature& feature : kFeatures) {
      if (feature.share != share) continue;
      if (feature.rejected.empty()) supported.emplace_back(feature.name);
      else rejected.push_back(fmt::format("{} (\"{}\")", feature.name, feature.rejected));
    }
    text += fmt::format("| {} % | {}: {} | {}{}{} |\n", share, supported.size(), fmt::join(supported, "; "),
                        rejected.size(), rejected.empty() ? "" : ": ", fmt::join(rejected, "; "));
  }
  return text;
}

TEST(LanguageFeatures, MatchDocumentedTable) {
  std::ifstream file(ASSAY_SOURCE_DIR "/docs/design/frontend.md");
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_NE(text.str().find(feature_table()), std::string::npos) << "put this table into docs/design/frontend.md:\n"
                                                                 << feature_table();
}

}  // namespace
}  // namespace assay::frontend::testing
