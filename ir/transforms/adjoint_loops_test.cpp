// Loops: dynamic trip counts, carried state, while, break, continue, return, nesting, and memory bounds.
#include <string>

#include <gtest/gtest.h>

#include "ir/transforms/testing/against_oracle.hpp"

namespace assay::transforms::testing {
namespace {

constexpr std::string_view kUsual =
    "x: wp.array(dtype=float), y: wp.array(dtype=float), n: int, out: wp.array(dtype=float)";
constexpr std::string_view kTo12 = "# domain: 0 <= n <= 12\n";

const Example kLoops[] = {
    {"dynamic_product", kUsual, R"(
    i = wp.tid()
    p = float(1.5)
    for j in range(n):
        p *= x[j] + y[i]
    out[i] = p
)",
     kTo12},
    {"linear_recurrence", kUsual, R"(
    i = wp.tid()
    h = y[i]
    for j in range(n):
        h = 0.75 * h + x[j] * x[j + 1]
    out[i] = h * h
)",
     kTo12},
    {"norm_after_loop", kUsual, R"(
    i = wp.tid()
    s = float(0.1)
    for j in range(n):
        s += x[j] * x[j]
    length = wp.sqrt(s)
    out[i] = y[i] / length
)",
     kTo12},
    {"nested_dynamic_accumulator", kUsual, R"(
    i = wp.tid()
    total = float(0.0)
    for j in range(n):
        row = y[j]
        for k in range(j + 1):
            row = row * 0.5 + x[k] * total
        total = wp.sin(row) + 0.5 * total
    out[i] = total * y[i]
)",
     kTo12},
    {"inner_trip_count_depends_on_outer_index", kUsual, R"(
    i = wp.tid()
    p = float(1.0)
    for j in range(n):
        for k in range(j, n):
            p = wp.cos(p * x[j] + y[k])
    out[i] = p
)",
     kTo12},
    {"three_nested_loops", kUsual, R"(
    i = wp.tid()
    p = y[i]
    for a in range(n):
        for b in range(a):
            q = p
            for c in range(b):
                q = wp.sin(q * x[c] + p)
            p = 0.5 * p + q * y[b]
        p = p * x[a]
    out[i] = p
)",
     "# domain: 0 <= n <= 7\n"},
    {"while_with_break", kUsual, R"(
    i = wp.tid()
    s = y[i]
    k = int(0)
    while k < n:
        if s * s > 3.0:
            break
        s = s * 0.75 + x[k]
        k += 1
        if x[k] < -1.5:
            break
    out[i] = s * s + float(k) * y[i]
)",
     kTo12},
    {"while_condition_depends_on_data", kUsual, R"(
    i = wp.tid()
    s = y[i] * 8.0
    while s * s > 0.25:
        s = s * 0.5 * wp.cos(x[i])
    out[i] = s
)"},
    {"while_condition_reads_array", kUsual, R"(
    i = wp.tid()
    s = y[i]
    k = int(0)
    while x[k] > -1.0 and k < n:
        s = wp.sin(s * x[k])
        k += 1
    out[i] = s
)",
     kTo12},
    {"continue", kUsual, R"(
    i = wp.tid()
    s = float(0.5)
    for j in range(n):
        if x[j] < 0.0:
            continue
        s = s * x[j] + y[j]
        if s > 1.0:
            s = s * 0.25
            continue
        s = s * s
    out[i] = s
)",
     kTo12},
    {"early_return_before_loop", kUsual, R"(
    i = wp.tid()
    if x[i] < 0.0:
        out[i] = x[i] * y[i]
        return
    s = x[i]
    for j in range(n):
        s = wp.sin(s) * y[j]
    out[i] = s
)",
     kTo12},
    {"return_inside_loop", kUsual, R"(
    i = wp.tid()
    s = y[i]
    for j in range(n):
        s = s * x[j]
        if s < -0.5:
            out[i] = s * s
            return
    out[i] = s + x[i]
)",
     kTo12},
    {"return_inside_nested_loops", kUsual, R"(
    i = wp.tid()
    s = y[i]
    for j in range(n):
        for k in range(j, n):
            s = s * x[k] + 0.25
            if s > 0.9:
                out[i] = s * y[j]
                return
        s = wp.tanh(s) * y[j]
    out[i] = s
)",
     kTo12},
    {"break_in_inner_loop", kUsual, R"(
    i = wp.tid()
    s = y[i]
    for j in range(n):
        k = int(0)
        while True:
            if k > j:
                break
            s = s * 0.5 + x[k] * x[j]
            if s > 1.0:
                break
            k = k + 1
        s = s * y[k]
    out[i] = s
)",
     kTo12},
    {"zero_trips", kUsual, R"(
    i = wp.tid()
    p = y[i]
    for j in range(n):
        p *= x[j]
    for j in range(n, 0):
        p *= x[j]
    for j in range(0, n, -1):
        p *= x[j]
    out[i] = p
)",
     "# domain: 0 <= n <= 0\n"},
    {"constant_steps", kUsual, R"(
    i = wp.tid()
    p = y[i]
    for j in range(1, n, 2):
        p = wp.sin(p + x[j])
    for j in range(n, 0, -1):
        p = wp.sin(p * 2.0 + x[j])
    for j in range(n, -1, -3):
        p = wp.sin(p * 3.0 + x[j])
    out[i] = p
)",
     kTo12},
    {"step_at_run_time", "x: wp.array(dtype=float), first: int, last: int, by: int, out: wp.array(dtype=float)", R"(
    i = wp.tid()
    p = x[i]
    for j in range(first, last, by):
        p = wp.sin(p + x[j + 10])
    for j in range(last, first, -by):
        p = wp.sin(p * x[j + 10])
    out[i] = p
)",
     "# domain: -9 <= first <= 9\n# domain: -9 <= last <= 9\n# domain: 1 <= by <= 4\n"},
    {"step_at_run_time_with_break",
     "x: wp.array(dtype=float), first: int, last: int, by: int, out: wp.array(dtype=float)",
     R"(
    i = wp.tid()
    p = x[i]
    for j in range(first, last, by):
        p = wp.sin(p * 2.0 + x[j + 10])
        if p > 0.9:
            break
    for j in range(last, first, -by):
        p = wp.sin(p * x[j + 10])
        if p < -0.5:
            break
    out[i] = p
)",
     "# domain: -9 <= first <= 9\n# domain: -9 <= last <= 9\n# domain: 1 <= by <= 4\n"},
    {"bound_changed_in_body", "x: wp.array(dtype=float), k: int, out: wp.array(dtype=float)", R"(
    i = wp.tid()
    n = k
    p = x[i]
    for j in range(n):
        p = wp.sin(p * x[j])
        n = n + 1
    out[i] = p * float(n)
)",
     "# domain: 0 <= k <= 12\n"},
    {"values_from_before_the_loop_used_after_it", kUsual, R"(
    i = wp.tid()
    a = x[i] * y[i]
    b = wp.sin(a)
    s = float(0.0)
    for j in range(n):
        s = s * a + x[j]
        b = b * s
    out[i] = a * b + s * wp.cos(a)
)",
     kTo12},
    {"index_as_float", kUsual, R"(
    i = wp.tid()
    s = float(0.0)
    for j in range(n):
        s = 0.5 * s + x[j] * float(j) * wp.sin(float(j) * y[i])
    out[i] = s
)",
     kTo12},
    {"variable_only_overwritten_in_loop", kUsual, R"(
    i = wp.tid()
    s = x[i] * y[i]
    for j in range(n):
        s = wp.sin(float(j))
    out[i] = s
)",
     "# domain: 0 <= n <= 1\n"},
    {"swapped_states", kUsual, R"(
    i = wp.tid()
    a = x[i]
    b = y[i]
    for j in range(n):
        old = a
        a = b
        b = wp.sin(old * x[j])
    out[i] = a * b
)",
     kTo12},
    {"invariant_and_last_value", kUsual, R"(
    i = wp.tid()
    last = y[i]
    best = float(-10.0)
    for j in range(n):
        last = x[j] * x[j]
        best = wp.max(best, last * y[i])
    out[i] = last * best
)",
     kTo12},
    {"index_carried_by_loop", kUsual, R"(
    i = wp.tid()
    where = int(0)
    s = y[i]
    for j in range(n):
        if x[j] > x[where]:
            where = j
        s = s * 0.5 + x[where] * s
    out[i] = s * x[where]
)",
     kTo12},
    {"vectors_in_a_loop", kUsual, R"(
    i = wp.tid()
    v = wp.vec3(x[i], y[i], 1.0)
    for j in range(n):
        v = wp.cross(v, wp.vec3(x[j], 0.5, y[j])) * 0.5
        v[1] = v[1] + x[j]
        v[j % 3] = v[j % 3] * 0.5
    out[i] = wp.dot(v, v)
)",
     kTo12},
    {"doubles_and_floats",
     "x: wp.array(dtype=wp.float64), y: wp.array(dtype=float), n: int, out: wp.array(dtype=wp.float64)", R"(
    i = wp.tid()
    s = x[i]
    for j in range(n):
        s = wp.sin(s) * x[j] + wp.float64(y[j])
    out[i] = s
)",
     kTo12},
    {"struct_carried_by_loop", kUsual, R"(
    i = wp.tid()
    s = State()
    s.a = x[i]
    s.b = y[i]
    s.count = 0
    for j in range(n):
        s = step(s, x[j])
    out[i] = s.a * s.b + float(s.count)
)",
     R"(
@wp.struct
class State:
    a: float
    b: float
    count: int


@wp.func
def step(s: State, x: float) -> State:
    t = State()
    t.a = s.b * x
    t.b = wp.sin(s.a) + 0.5 * s.b
    t.count = s.count + 1
    return t


# domain: 0 <= n <= 12
)"},
    {"function_with_loop_and_return", kUsual, R"(
    i = wp.tid()
    s = y[i]
    for j in range(n):
        s = walk(x, j, s) * 0.75 + walk(y, 3, s * 0.5)
    out[i] = s
)",
     R"(
@wp.func
def walk(x: wp.array(dtype=float), n: int, start: float) -> float:
    s = start
    for j in range(n):
        if s > 0.8:
            return s * x[j]
        s = wp.sin(s + x[j])
        if s < -0.9:
            break
    return s


# domain: 0 <= n <= 8
)"},
};

class AdjointOfLoop : public ::testing::TestWithParam<Example> {};

TEST_P(AdjointOfLoop, MatchesOracle) {
  std::int64_t changed = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const OracleComparison result = compare(GetParam(), seed);
    ASSERT_EQ(result.kind, OracleComparison::Kind::kAgrees) << "seed " << seed << ": " << result.message;
    changed += result.changed;
  }
  EXPECT_GE(changed, 12);
}

std::string name_of(const ::testing::TestParamInfo<Example>& info) { return std::string(info.param.name); }

INSTANTIATE_TEST_SUITE_P(Adjoint, AdjointOfLoop, ::testing::ValuesIn(kLoops), name_of);

/// A contraction, so that states stay distinct and nonzero for any number of iterations.
Example long_loop(const std::string& domain) {
  return {.name = "long_loop",
          .parameters = kUsual,
          .body = R"(
    i = wp.tid()
    s = y[i]
    t = float(0.5)
    for j in range(n):
        s = 0.5 * wp.sin(s + x[j % 29]) + 0.25 * t
        t = t * s * 0.5 + 0.5
    out[i] = s * t
)",
          .before = domain,
          .sizes = {.threads = 1}};
}

class AdjointOfLongLoop : public ::testing::TestWithParam<int> {};

TEST_P(AdjointOfLongLoop, MatchesOracleWithBoundedMemory) {
  const std::string n = std::to_string(GetParam());
  const std::string domain = "# domain: " + n + " <= n <= " + n + "\n";
  const OracleComparison result = compare(long_loop(domain), 5);
  EXPECT_EQ(result.kind, OracleComparison::Kind::kAgrees) << result.message;
  EXPECT_GE(result.changed, std::min(GetParam(), 29));
  EXPECT_LE(result.local_elements, 3 * 64);
  EXPECT_LE(result.backward_steps, 40 * result.forward_steps + 2000);
}

INSTANTIATE_TEST_SUITE_P(Adjoint, AdjointOfLongLoop,
                         ::testing::Values(0, 1, 2, 63, 64, 65, 66, 127, 1000, 2145, 2146, 100'000));

class AdjointOfConstantRange : public ::testing::TestWithParam<std::string_view> {};

TEST_P(AdjointOfConstantRange, MatchesOracle) {
  const std::string body = fmt::format(R"(
    i = wp.tid()
    s = y[i]
    for j in range({}):
        s = 0.5 * wp.sin(s + x[i]) + 0.0625 * float(j) * s
        for k in range({}):
            s = s * 0.75 + wp.cos(s)
    out[i] = s + x[i]
)",
                                       GetParam(), GetParam());
  const OracleComparison result = compare({.name = "constant_range", .parameters = kUsual, .body = body}, 5);
  EXPECT_EQ(result.kind, OracleComparison::Kind::kAgrees) << result.message;
  EXPECT_GE(result.changed, 6);
}

INSTANTIATE_TEST_SUITE_P(Adjoint, AdjointOfConstantRange,
                         ::testing::Values("0", "1", "5", "32", "33", "2, 9, 3", "7, -2, -4", "5, 5", "3, 9, -1"));

TEST(AdjointOfNestedLongLoops, MatchesOracle) {
  const Example example = {.name = "long_loop_in_long_loop",
                           .parameters = kUsual,
                           .body = R"(
    i = wp.tid()
    s = y[i]
    for j in range(n):
        for k in range(j + 30):
            s = 0.5 * wp.sin(s + x[k % 29]) + 0.25 * y[j % 29]
    out[i] = s
)",
                           .before = "# domain: 70 <= n <= 80\n",
                           .sizes = {.threads = 1}};
  const OracleComparison result = compare(example, 3);
  EXPECT_EQ(result.kind, OracleComparison::Kind::kAgrees) << result.message;
  EXPECT_GE(result.changed, 29);
}

}  // namespace
}  // namespace assay::transforms::testing
