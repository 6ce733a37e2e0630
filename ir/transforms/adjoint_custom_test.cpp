// Custom derivatives and local arrays.
#include <string>

#include <gtest/gtest.h>

#include "ir/transforms/testing/against_oracle.hpp"

namespace assay::transforms::testing {
namespace {

constexpr std::string_view kUsual =
    "x: wp.array(dtype=float), y: wp.array(dtype=float), n: int, out: wp.array(dtype=float)";
constexpr std::string_view kTo12 = "# domain: 0 <= n <= 12\n";

/// A product with a custom gradient that differs from its derivative in every operand.
constexpr std::string_view kBlend = R"(
@wp.func
def blend(x: float, k: int, y: float):
    return x * y * float(k)


@wp.func_grad(blend)
def blend_gradient(x: float, k: int, y: float, adj_ret: float):
    wp.adjoint[x] += 3.0 * y * adj_ret
    if x > y:
        return
    wp.adjoint[x] -= 0.5 * adj_ret
    wp.adjoint[y] += x * adj_ret * float(k)

# domain: 0 <= n <= 12
)";

constexpr std::string_view kVectors = R"(
@wp.func
def polar(v: wp.vec2, s: wp.float64):
    return wp.length(v), v * wp.float32(s), 7


@wp.func_grad(polar)
def polar_gradient(v: wp.vec2, s: wp.float64, adj_length: float, adj_scaled: wp.vec2, adj_seven: int):
    wp.adjoint[v] += wp.vec2(adj_length, 2.0 * adj_length) + adj_scaled
    wp.adjoint[v].y += v[0] * adj_scaled[0]
    wp.adjoint[s] += wp.float64(wp.dot(v, adj_scaled))

# domain: 0 <= n <= 12
)";

constexpr std::string_view kReplay = R"(
@wp.func
def count(counter: wp.array(dtype=int), seen: wp.array(dtype=int), i: int):
    k = wp.atomic_add(counter, i, 2)
    seen[i] = k
    return k


@wp.func_replay(count)
def count_again(counter: wp.array(dtype=int), seen: wp.array(dtype=int), i: int):
    return seen[i]

# domain: 0 <= counter <= 3
)";

/// Gradients that add to adjoints of arrays, and differ from the derivatives.
constexpr std::string_view kArrays = R"(
@wp.func
def weighted(a: wp.array(dtype=float), k: int, y: float):
    return a[k] * a[k + 1] * y


@wp.func_grad(weighted)
def weighted_gradient(a: wp.array(dtype=float), k: int, y: float, adj_ret: float):
    wp.adjoint[a][k] += 3.0 * y * adj_ret
    wp.adjoint[y] += a[k] * adj_ret
    if y > 0.5:
        return
    for j in range(k, k + 3):
        wp.adjoint[a][j] -= float(j + 1) * a[j] * adj_ret


@wp.func
def element(a: wp.array(dtype=float), k: int):
    return a[k]


@wp.func_grad(element)
def element_gradient(a: wp.array(dtype=float), k: int, adj_ret: float):
    wp.adjoint[a][k] += 2.0 * adj_ret


@wp.func
def parts(a: wp.array2d(dtype=wp.vec2), k: int):
    return a[k, 1], a[k, 2][0]


@wp.func_grad(parts)
def parts_gradient(a: wp.array2d(dtype=wp.vec2), k: int, adj_vector: wp.vec2, adj_number: float):
    row = a[k]
    wp.adjoint[row][1] += adj_vector * 0.5 - a[k, 0] * adj_number
    wp.adjoint[a][k, -1].y -= adj_vector.x
    wp.atomic_add(wp.adjoint[a], k, 3, wp.vec2(adj_number, wp.length(row[0]) * adj_number))

# domain: 0 <= n <= 12
)";

const Example kKernels[] = {
    {"custom_derivative", kUsual, R"(
    i = wp.tid()
    out[i] = blend(x[i], i, y[i]) * y[i] + x[i]
)",
     kBlend},
    {"custom_derivative_with_one_value_passed_twice", kUsual, R"(
    i = wp.tid()
    a = wp.sin(x[i])
    out[i] = blend(a, 2, a) * blend(a, 3, blend(y[i], 1, a))
)",
     kBlend},
    {"custom_derivative_in_loop", kUsual, R"(
    i = wp.tid()
    s = float(0.5)
    for j in range(n):
        s = blend(s, 1, x[j]) * 0.5 + y[j]
    out[i] = s * s
)",
     kBlend},
    {"custom_derivative_in_branch", kUsual, R"(
    i = wp.tid()
    s = x[i]
    if s > 0.0:
        s = blend(s, i, y[i])
    else:
        s = blend(y[i], 2, s) + s
    out[i] = s
)",
     kBlend},
    {"custom_derivative_of_unused_result", kUsual, R"(
    i = wp.tid()
    unused = blend(x[i], i, y[i])
    out[i] = x[i]
)",
     kBlend},
    {"custom_derivative_of_vectors", kUsual, R"(
    i = wp.tid()
    length, scaled, seven = polar(wp.vec2(x[i], y[i]), wp.float64(x[i + 1]))
    out[i] = length * scaled[1] + float(seven) * x[i]
)",
     kVectors},
    {"custom_derivative_with_one_result_used", kUsual, R"(
    i = wp.tid()
    length, scaled, seven = polar(wp.vec2(x[i], y[i]), wp.float64(x[i + 1]))
    out[i + seven] = scaled[0] * y[i]
)",
     kVectors},
    {"gradient_of_array", kUsual, R"(
    i = wp.tid()
    out[i] = weighted(x, i, y[i]) * y[i] + x[i]
)",
     kArrays},
    {"gradient_of_array_in_loop", kUsual, R"(
    i = wp.tid()
    s = float(0.5)
    for j in range(n):
        s = weighted(x, j, wp.sin(s)) * 0.5 + y[j]
    out[i] = s * s
)",
     kArrays},
    {"gradient_of_array_in_branch", kUsual, R"(
    i = wp.tid()
    s = element(x, i + 1)
    if s > 0.0:
        s = weighted(y, i, s)
    else:
        s = element(y, 0) + s
    out[i] = s
)",
     kArrays},
    {"gradient_of_array_that_is_passed_twice", kUsual, R"(
    i = wp.tid()
    out[i] = element(x, 3) * element(x, 3) + element(x, i)
)",
     kArrays},
    {"gradient_of_array_that_the_thread_stores", kUsual, R"(
    i = wp.tid()
    y[i] = x[i] * x[i]
    s = element(y, i)
    y[i] = s * x[i + 1]
    out[i] = element(y, i) * s
)",
     kArrays},
    {"gradient_of_array_of_vectors", "a: wp.array2d(dtype=wp.vec2), out: wp.array(dtype=float)", R"(
    i = wp.tid()
    v, s = parts(a, i)
    out[i] = v[0] * s + wp.dot(v, a[0, 1])
)",
     kArrays},
    {"custom_replay_function",
     "x: wp.array(dtype=float), counter: wp.array(dtype=int), seen: wp.array(dtype=int), "
     "out: wp.array(dtype=float)",
     R"(
    i = wp.tid()
    k = count(counter, seen, i)
    out[5 * i + k] = x[i + k] * x[i]
)",
     kReplay},
    {"local_array", kUsual, R"(
    i = wp.tid()
    a = wp.zeros(shape=(4,), dtype=float)
    for j in range(4):
        a[j] = x[i + j] * float(j + 1)
    a[i] = a[i] * y[i]
    out[i] = a[3 - i] * a[i] + a[1]
)"},
    {"local_array_in_dynamic_loop", kUsual, R"(
    i = wp.tid()
    a = wp.zeros(shape=5, dtype=float)
    for j in range(n):
        a[j % 5] += x[j] * a[(j + 1) % 5] + y[j]
    out[i] = a[0] * a[1] + a[4]
)",
     kTo12},
    {"long_local_array", kUsual, R"(
    i = wp.tid()
    a = wp.zeros(shape=40, dtype=float)
    for j in range(12):
        a[3 * j] = x[j] * x[j]
        a[3 * j + 1] = a[3 * j] * y[j]
    out[i] = a[i * 7] * a[33] + a[34]
)"},
    {"local_array_of_vectors", kUsual, R"(
    i = wp.tid()
    a = wp.zeros(shape=3, dtype=wp.vec2)
    for j in range(3):
        a[j] = wp.vec2(x[i + j], y[j])
    a[1][0] = a[0][1] * a[2][0]
    out[i] = wp.dot(a[i], a[1])
)"},
    {"local_array_of_integers", kUsual, R"(
    i = wp.tid()
    order = wp.zeros(shape=4, dtype=int)
    for j in range(4):
        order[j] = 3 - j
    out[i] = x[order[i]] * y[order[i + 1]]
)"},
    {"local_array_in_function", kUsual, R"(
    i = wp.tid()
    out[i] = smooth(x, i) * y[i]
)",
     R"(
@wp.func
def smooth(x: wp.array(dtype=float), i: int):
    a = wp.zeros(shape=3, dtype=float)
    for j in range(3):
        a[j] = x[i + j] * x[i + j]
    return a[0] * 0.25 + a[1] * 0.5 + a[2] * a[0]

)"},
};

class AdjointOfCustomDerivative : public ::testing::TestWithParam<Example> {};

TEST_P(AdjointOfCustomDerivative, MatchesOracle) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const OracleComparison result = compare(GetParam(), seed);
    ASSERT_EQ(result.kind, OracleComparison::Kind::kAgrees) << result.message << "\n" << GetParam().source();
    EXPECT_GT(result.changed, 0);
  }
}

std::string name_of(const ::testing::TestParamInfo<Example>& info) { return std::string(info.param.name); }

INSTANTIATE_TEST_SUITE_P(Adjoint, AdjointOfCustomDerivative, ::testing::ValuesIn(kKernels), name_of);

}  // namespace
}  // namespace assay::transforms::testing
