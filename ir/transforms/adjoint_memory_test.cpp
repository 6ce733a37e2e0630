// Memory and by-value parameters: stores, overwrites, read-modify-write, atomics, structs, vectors.
#include <string>

#include <gtest/gtest.h>

#include "ir/transforms/testing/against_oracle.hpp"

namespace assay::transforms::testing {
namespace {

constexpr std::string_view kUsual =
    "x: wp.array(dtype=float), y: wp.array(dtype=float), n: int, out: wp.array(dtype=float)";
constexpr std::string_view kTo12 = "# domain: 0 <= n <= 12\n";

const Example kKernels[] = {
    {"stores_in_branches", kUsual, R"(
    i = wp.tid()
    if x[i] > 0.0:
        out[i] = x[i] * y[i]
    else:
        out[i] = wp.sin(x[i])
        if y[i] > 0.0:
            out[i] = y[i] * y[i]
)"},
    {"element_written_twice", kUsual, R"(
    i = wp.tid()
    out[i] = x[i] * x[i]
    out[i] = y[i] * x[i]
)"},
    {"element_written_and_read", kUsual, R"(
    i = wp.tid()
    out[i] = x[i] * y[i]
    t = out[i]
    out[i] = t * t + x[i]
    out[i + 5] = out[i] * t
)"},
    {"read_modify_write", kUsual, R"(
    i = wp.tid()
    out[i] = out[i] * x[i]
    out[i] += y[i] * out[i]
    y[i] = wp.sin(out[i])
)"},
    {"in_place", "x: wp.array(dtype=float)", R"(
    i = wp.tid()
    x[i] = wp.exp(x[i]) * x[i]
)"},
    {"two_elements_of_one_array", kUsual, R"(
    i = wp.tid()
    a = out[3 * i]
    b = out[3 * i + 1]
    out[3 * i] = b * x[i]
    out[3 * i + 1] = a * out[3 * i]
    out[3 * i + 2] = out[3 * i] * out[3 * i + 1]
)"},
    {"local_array_of_many_vectors", kUsual, R"(
    i = wp.tid()
    a = wp.zeros(shape=20, dtype=wp.vec3)
    for j in range(20):
        a[j] = wp.vec3(x[j] * y[i], float(j), wp.sin(x[i]))
    a[int(a[3][1])] = a[4] * y[i]
    for j in range(n):
        out[i] += wp.length_sq(a[j]) * float(len(a))
)",
     kTo12},
    {"local_array_of_matrices", kUsual, R"(
    i = wp.tid()
    a = wp.zeros(shape=3, dtype=wp.mat22)
    a[0] = wp.mat22(x[i], y[i], 1.0, x[i] * y[i])
    for j in range(1, 3):
        a[j] = a[j - 1] * a[0] + a[j]
    a[1] = wp.transpose(a[1])
    out[i] = wp.ddot(a[1], a[2]) + a[0][1, 1]
)"},
    {"accumulate_in_loop", kUsual, R"(
    i = wp.tid()
    for j in range(n):
        out[i] += x[j] * y[i]
)",
     kTo12},
    {"accumulate_then_scale", kUsual, R"(
    i = wp.tid()
    for j in range(n):
        out[i] += x[j] * y[j]
    out[i] = out[i] * out[i]
)",
     kTo12},
    {"matrix_row_in_place",
     "a: wp.array2d(dtype=float), b: wp.array2d(dtype=float), n: int, c: wp.array2d(dtype=float)", R"(
    i = wp.tid()
    for j in range(n):
        c[i, j] = wp.sin(a[i, j]) * b[j, i]
    for j in range(n):
        for k in range(n):
            c[i, j] += a[i, k] * b[k, j]
)",
     "# domain: 0 <= n <= 5\n"},
    {"element_overwritten_in_loop", kUsual, R"(
    i = wp.tid()
    for j in range(n):
        out[i] = x[j] * y[i]
)",
     kTo12},
    {"stores_in_loop_to_other_array", kUsual, R"(
    i = wp.tid()
    s = y[i]
    for j in range(n):
        s = wp.sin(s * x[j])
        out[i * 8 + (j % 8)] = s * s
)",
     "# domain: 0 <= n <= 7\n"},
    {"element_written_before_loop_that_reads_it", kUsual, R"(
    i = wp.tid()
    out[i] = x[i] * y[i]
    s = y[i]
    for j in range(n):
        s = wp.sin(s * out[i] + x[j])
    y[i] = s
)",
     kTo12},
    {"linear_use_in_loop_before_store", kUsual, R"(
    i = wp.tid()
    s = y[i]
    for j in range(n):
        s = 0.5 * s + out[i] * 2.0
    out[i] = s * x[i]
)",
     kTo12},
    {"while_condition_reads_overwritten_array", kUsual, R"(
    i = wp.tid()
    s = y[i]
    k = int(0)
    while k < n and out[i] > -1.5:
        s = s * x[k]
        k += 1
    out[i] = s
)",
     kTo12},
    {"integer_array_counted_in_place",
     "x: wp.array(dtype=float), count: wp.array(dtype=int), out: wp.array(dtype=float)", R"(
    i = wp.tid()
    count[i] = count[i] + 1
    count[i] = count[i] * 2
    out[i] = x[count[i]] * float(count[i])
)",
     "# domain: 0 <= count <= 9\n"},
    {"atomics", kUsual, R"(
    i = wp.tid()
    wp.atomic_add(out, 0, x[i] * y[i])
    wp.atomic_sub(out, 1, wp.sin(x[i]))
    for j in range(n):
        wp.atomic_add(out, 2, x[j] * x[j + 1] * y[i])
)",
     kTo12},
    {"atomic_into_private_input_elements", kUsual, R"(
    i = wp.tid()
    y[i] = x[i] * x[i]
    wp.atomic_add(y, i, wp.cos(x[i]))
)"},
    {"gather", "x: wp.array(dtype=float), index: wp.array(dtype=int), out: wp.array(dtype=float)", R"(
    i = wp.tid()
    out[i] = x[index[i]] * x[index[i + 1]]
)",
     "# domain: 0 <= index <= 29\n"},
    {"unselected_branch_overflows", kUsual, R"(
    i = wp.tid()
    a = y[i] * 1.0e30
    b = (x[i] - x[i]) * y[i]
    huge = a * a * a * a * a * a * a * a * a * a * a * a * a * a * a * a
    huge = huge * huge * huge * huge * huge * huge * huge * huge * huge * huge
    huge = huge * huge
    p = wp.where(x[i] > 5.0, huge * y[i], x[i])
    q = wp.where(x[i] > 5.0, wp.exp(huge), y[i])
    r = wp.where(x[i] > 5.0, y[i] / b, x[i] * y[i])
    s = wp.where(x[i] > 5.0, wp.sin(huge * y[i]), x[i])
    t = wp.where(x[i] > 5.0, wp.lerp(huge, y[i], x[i]), x[i])
    out[i] = p * q + r + s * t
)"},
    {"unselected_vector_overflows", kUsual, R"(
    i = wp.tid()
    huge = wp.exp(y[i] + 20000.0)
    u = wp.vec3(huge, y[i], x[i])
    v = wp.vec3(x[i], huge, y[i])
    p = wp.where(x[i] > 5.0, wp.dot(u, v), x[i])
    q = wp.where(x[i] > 5.0, wp.length(u), y[i])
    r = wp.where(x[i] > 5.0, wp.cross(u, v)[1], y[i] * x[i])
    s = wp.where(x[i] > 5.0, wp.length_sq(u * y[i]), x[i])
    w = wp.where(x[i] > 5.0, wp.cw_mul(u, v), wp.vec3(x[i], y[i], 1.0))
    out[i] = p * q + r + s + wp.dot(w, w)
)"},
    {"extrema", kUsual, R"(
    i = wp.tid()
    a = wp.min(x[i], y[i])
    b = wp.max(x[i] * y[i], a)
    c = wp.clamp(b, -0.5, y[i])
    out[i] = wp.abs(c) * wp.where(a > b, x[i], y[i]) + wp.sign(a)
)"},
    {"constant_output", kUsual, R"(
    i = wp.tid()
    out[i] = 2.0
    y[i] = float(n) * x[i]
)",
     "# domain: 3 <= n <= 4\n"},
    {"unused_inputs", kUsual, R"(
    i = wp.tid()
    out[i] = wp.sin(x[i])
)"},
    {"value_parameters", "x: wp.array(dtype=float), a: float, b: wp.float64, v: wp.vec3, out: wp.array(dtype=float)",
     R"(
    i = wp.tid()
    t = x[i] * a + float(b)
    for j in range(3):
        t = wp.sin(t * v[j])
    out[i] = t + wp.dot(v, v) * a
)"},
    {"struct_parameter", "x: wp.array(dtype=float), s: Outer, out: wp.array(dtype=float)", R"(
    i = wp.tid()
    t = x[i] * s.inner.k + s.a
    u = s.inner
    if x[i] > 0.0:
        t = t * u.k * wp.length(u.v)
    for j in range(s.count):
        t = wp.sin(t + s.a * s.inner.v[1])
    out[i] = t
)",
     R"(
@wp.struct
class Inner:
    flag: bool
    v: wp.vec3
    k: float


@wp.struct
class Outer:
    a: float
    count: int
    inner: Inner


# domain: 0 <= s <= 4
)"},
    {"struct_chosen_by_branch", "x: wp.array(dtype=float), s: Pair, t: Pair, out: wp.array(dtype=float)", R"(
    i = wp.tid()
    u = s
    if x[i] > 0.0:
        u = t
    u.a = u.a * x[i]
    out[i] = u.a * u.b
)",
     R"(
@wp.struct
class Pair:
    a: float
    b: float


)"},
    {"vector_arrays", "p: wp.array(dtype=wp.vec3), q: wp.array(dtype=wp.vec2), out: wp.array(dtype=wp.vec3)", R"(
    i = wp.tid()
    u = p[i] + p[i + 1] * q[i][0]
    out[i] = wp.normalize(u) * q[i][1]
    out[i] = out[i] + wp.cw_mul(u, out[i])
)"},
    {"thread_private_element_multiplied_in_loop", kUsual, R"(
    i = wp.tid()
    for j in range(n):
        out[i] = out[i] * x[j] * 0.75 + y[i]
        out[i] *= out[i] * 0.25
    y[i] = out[i] * x[i]
)",
     kTo12},
    {"thread_private_element_accessed_by_few_threads", kUsual, R"(
    i = wp.tid()
    if i < 2:
        for j in range(n):
            y[i] = wp.sin(y[i]) * x[j]
    out[i] = x[i] * x[i]
)",
     kTo12},
    {"index_from_counter_in_loop",
     "x: wp.array2d(dtype=float), used: wp.array(dtype=int), n: int, out: wp.array2d(dtype=float)", R"(
    i = wp.tid()
    for j in range(n):
        if x[i, j] > 0.0:
            slot = wp.atomic_add(used, i, 2)
            out[i, slot] = x[i, j] * x[i, j] * float(slot)
)",
     "# domain: 0 <= n <= 8\n# domain: 0 <= used <= 5\n"},
    {"atomic_max_of_a_few_values", kUsual, R"(
    i = wp.tid()
    wp.atomic_max(out, 0, x[i])
    wp.atomic_max(out, i % 2 + 1, y[i])
)"},
    {"atomic_min_with_a_constant", kUsual, R"(
    i = wp.tid()
    wp.atomic_min(out, i, x[i])
    wp.atomic_min(out, i, 0.25)
    y[i] = x[i] * y[i]
)"},
    {"short_circuited_conditions", kUsual, R"(
    i = wp.tid()
    t = y[i] if x[i] > 0.0 and y[i] > 0.0 else x[i] * x[i]
    if x[i] > 1.0 or (y[i] > 0.5 and t > 0.0):
        t = t * y[i]
    out[i] = t
)"},
};

class AdjointOfMemoryAccess : public ::testing::TestWithParam<Example> {};

TEST_P(AdjointOfMemoryAccess, MatchesOracle) {
  std::int64_t changed = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const OracleComparison result = compare(GetParam(), seed);
    ASSERT_EQ(result.kind, OracleComparison::Kind::kAgrees) << "seed " << seed << ": " << result.message;
    changed += result.changed;
  }
  EXPECT_GE(changed, 8);
}

std::string name_of(const ::testing::TestParamInfo<Example>& info) { return std::string(info.param.name); }

INSTANTIATE_TEST_SUITE_P(Adjoint, AdjointOfMemoryAccess, ::testing::ValuesIn(kKernels), name_of);

}  // namespace
}  // namespace assay::transforms::testing
