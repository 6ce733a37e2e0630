// Tests the semantics of printed statements by compiling and running them on the CPU.
#include <csignal>
#include <cstdint>
#include <limits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/source/testing/printing.hpp"

namespace assay::source {
namespace {

using backends::SourceTarget;
using testing::Array;
using ::testing::Each;
using ::testing::ElementsAre;
using testing::Library;
using testing::view;

constexpr std::string_view kPrograms = R"(
struct Ball {
  place: vec<f32,3>
  count: i32
}

struct World {
  ball: Ball
  data: array<f32,1>
}

func divide(a: i32, b: i32) -> i32, i32 {
  return div(a, b), mod(a, b)
}

kernel ranges(starts: array<i32,1>, stops: array<i32,1>, steps: array<i32,1>, out: array<i32,1>; i) {
  let n: i32 = 0
  for j: i32 in range(starts[i], stops[i], steps[i]) {
    n = add(mul(n, 10), add(j, 1))
    stops[i] = 0
    steps[i] = 0
  }
  out[i] = n
}

kernel bounds(out: array<i32,1>, n: i32, few: bool; i) {
  let steps: i32 = 0
  for j: i32 in range(0, where(few, 1, 2), 1) {
    steps = add(steps, 1)
  }
  for k: i32 in range(0, bit_and(n, 3), 1) {
    steps = add(steps, 10)
  }
  for l: i32 in range(shift_left(n, 1), bit_or(n, 1), -1) {
    steps = add(steps, 100)
  }
  out[i] = steps
}

kernel nested_return(x: array<i32,1>, out: array<i32,1>, n: i32; i) {
  out[i] = -1
  let after: i32 = 5
  for j: i32 in range(0, n, 1) {
    let k: i32 = 0
    while lt(k, n) {
      k = add(k, 1)
      if eq(mod(k, 2), 0) {
        continue
      }
      if eq(mul(j, k), x[i]) {
        out[i] = add(mul(j, 100), k)
        return
      }
      if gt(k, 6) {
        break
      }
    }
  }
  out[i] = add(out[i], after)
}

kernel grid(out: array<i32,3>; i, j, k) {
  out[i, j, k] = add(mul(i, 100), add(mul(j, 10), k))
}

kernel several(a: array<i32,1>, b: array<i32,1>; i) {
  let q: i32, r: i32 = call divide(a[i], b[i])
  a[i] = q
  b[i] = r
}

kernel optional(x: array<f32,1>, nullable grad: array<f32,1>, nullable total: array<f32,1>; i) {
  x[i] = add(grad[i], 1.0)
  grad[i] = 5.0
  let old: f32 = atomic_add(total[0], 2.0)
  x[i] = add(x[i], old)
}

kernel structs(world: World, balls: array<Ball,1>; i) {
  let ball: Ball = balls[i]
  ball = with_field(ball, place, insert(ball.place, 1, world.data[i]))
  ball = with_field(ball, count, add(ball.count, world.ball.count))
  balls[i] = ball
  balls[i] = with_field(balls[i], place, insert(balls[i].place, 2, 9.0))
  let memory: local<Ball,4>
  memory[2] = ball
  world.data[i] = add(extract(memory[2].place, 0), extract(memory[1].place, 0))
}

kernel lazy(index: array<i32,1>, x: array<f32,1>, out: array<f32,1>; i) {
  let k: i32 = index[i]
  if and(ge(k, 0), gt(x[k], 0.0)) {
    out[i] = 1.0
  }
  if or(lt(k, 0), gt(x[k], 5.0)) {
    out[i] = add(out[i], 2.0)
  }
  out[i] = add(out[i], conditional(lt(k, 0), 10.0, x[k]))
}

kernel constants(out: array<f32,1>, wide: array<f64,1>; i) {
  out[0] = mul(0.1, 0.2)
  out[1] = 1e-45
  out[2] = -inf
  out[3] = 3.4028235e+38
  out[4] = nan
  out[5] = -0.0
  wide[0] = 0.1:f64
  wide[1] = cast<f64>(0.1)
  wide[2] = 1.7976931348623157e+308:f64
  wide[3] = -5e-324:f64
}

kernel hash(h: array<i32,1>; i) {
  let s: i32 = h[i]
  for j: i32 in range(0, 40, 1) {
    s = add(mul(s, 1664525), 1013904223)
  }
  h[i] = s
}
)";

const Library& native() {
  static const Library library(testing::joined(testing::print_all(testing::parse(kPrograms), SourceTarget::kCpp)),
                               "-O2 -Wall -Werror -Wno-unused");
  return library;
}
const Library& promoted() {
  static const Library library(testing::joined(testing::print_all(testing::parse(kPrograms), SourceTarget::kCpp)),
                               "-O2 -DASSAY_REAL=double");
  return library;
}

template <typename... Arguments>
void run(const Library& library, const std::string& kernel, std::int64_t threads, Arguments... arguments) {
  library.function<void(long long, long long, Arguments...)>(kernel + "_forward")(0, threads, arguments...);
}

TEST(EmittedStatements, RangeLoopEvaluatesBoundsOnceAndSupportsNegativeStep) {
  std::vector<int> starts{0, 3, 0, 5, 2, 1};
  std::vector<int> stops{3, 0, 5, 0, 2, 9};
  std::vector<int> steps{1, -1, 2, -2, 1, -1};
  std::vector<int> out(6);
  run(native(), "ranges", 6, view(starts), view(stops), view(steps), view(out));
  EXPECT_THAT(out, ElementsAre(123, 432, 135, 642, 0, 0));
}

TEST(EmittedStatements, RangeLoopEndsAtBoundWhoseOperatorBindsLessTightlyThanAComparison) {
  std::vector<int> out(1);
  run(native(), "bounds", 1, view(out), 6, true);
  EXPECT_EQ(out[0], 1 + 2 * 10 + (12 - 7) * 100);
  run(native(), "bounds", 1, view(out), 4, false);
  EXPECT_EQ(out[0], 2 + 0 * 10 + (8 - 5) * 100);
}

TEST(EmittedStatements, CheckedTextOfHelpersEndsProcessAtIndexAfterLastComponent) {
  constexpr std::string_view kProgram = R"(
kernel components(out: array<f32,1>, component: i32, row: i32; i) {
  let v: vec<f32,3> = make<vec<f32,3>>(1.0, 2.0, 3.0)
  let m: mat<f32,2,2> = make<mat<f32,2,2>>(10.0, 20.0, 30.0, 40.0)
  out[0] = add(extract(v, component), extract(extract(m, row), 1))
}
)";
  const auto kernels = testing::print_all(testing::parse(kProgram), SourceTarget::kCpp);
  const Library checked(testing::joined(kernels, true), "-O0 -Wall -Werror -Wno-unused");
  std::vector<float> out(1);
  run(checked, "components", 1, view(out), 2, 1);
  EXPECT_EQ(out[0], 43.0F);
  const ::testing::KilledBySignal ended(SIGILL);
  EXPECT_EXIT(run(checked, "components", 1, view(out), 3, 1), ended, "");
  EXPECT_EXIT(run(checked, "components", 1, view(out), 2, 2), ended, "");
  EXPECT_EXIT(run(checked, "components", 1, view(out), -1, 1), ended, "");
}

TEST(EmittedStatements, ReturnInsideLoopEndsOnlyCurrentThread) {
  std::vector<int> x{6, 4, 35, 1000, 0};
  std::vector<int> out(5);
  run(native(), "nested_return", 5, view(x), view(out), 8);
  EXPECT_THAT(out, ElementsAre(203, 401, 507, 4, 1));
}

TEST(EmittedStatements, LastLaunchDimensionVariesFastest) {
  std::vector<int> out(2 * 3 * 4, -1);
  const Array<int, 3> array{out.data(), {2, 3, 4}, {48, 16, 4}};
  native().function<void(long long, long long, int, int, Array<int, 3>)>("grid_forward")(5, 24, 3, 4, array);
  EXPECT_THAT(std::vector<int>(out.begin(), out.begin() + 5), Each(-1)) << "the range starts at thread 5";
  EXPECT_EQ(out[5], 11);
  EXPECT_EQ(out[23], 123);
}

TEST(EmittedStatements, FunctionsCanReturnSeveralResults) {
  std::vector<int> a{7, -7};
  std::vector<int> b{3, 3};
  run(native(), "several", 2, view(a), view(b));
  EXPECT_THAT(a, ElementsAre(2, -2));
  EXPECT_THAT(b, ElementsAre(1, -1));
}

TEST(EmittedStatements, ReadsOfNullArraysGiveZeroAndWritesAreSkipped) {
  std::vector<float> x{7, 7};
  std::vector<float> grad{3, 4};
  std::vector<float> total{10};
  run(native(), "optional", 2, view(x), view(grad), view(total));
  EXPECT_THAT(x, ElementsAre(14, 17));
  EXPECT_THAT(grad, ElementsAre(5, 5));
  EXPECT_THAT(total, ElementsAre(14));
  run(native(), "optional", 2, view(x), Array<float>{}, Array<float>{});
  EXPECT_THAT(x, ElementsAre(1, 1));
}

template <typename Real>
struct Ball {
  Real place[3];
  int count;
};
template <typename Real>
struct World {
  Ball<Real> ball;
  Array<Real> data;
};

template <typename Real>
void expect_structs(const Library& library) {
  std::vector<Ball<Real>> balls{{{1, 2, 3}, 4}, {{5, 6, 7}, 8}};
  std::vector<Real> data{20, 30};
  run(library, "structs", 2, World<Real>{{{0, 0, 0}, 100}, view(data)}, view(balls));
  EXPECT_THAT(balls[0].place, ElementsAre(1, 20, 9));
  EXPECT_THAT(balls[1].place, ElementsAre(5, 30, 9));
  EXPECT_EQ(balls[0].count, 104);
  EXPECT_EQ(balls[1].count, 108);
  EXPECT_THAT(data, ElementsAre(1, 5));
}

TEST(EmittedStatements, StructsHaveCLayoutAndSupportPartialUpdates) {
  expect_structs<float>(native());
  expect_structs<double>(promoted());
}

TEST(EmittedStatements, LogicalOperatorsShortCircuit) {
  std::vector<int> index{-1000000000, 0, 1};
  std::vector<float> x{-1, 6};
  std::vector<float> out(3);
  run(native(), "lazy", 3, view(index), view(x), view(out));
  EXPECT_THAT(out, ElementsAre(12, -1, 9));
}

template <typename Real>
void expect_constants(const Library& library) {
  std::vector<Real> out(6);
  std::vector<double> wide(4);
  run(library, "constants", 1, view(out), view(wide));
  EXPECT_EQ(out[0], Real(0.1f) * Real(0.2f));
  EXPECT_EQ(out[1], Real(std::numeric_limits<float>::denorm_min()));
  EXPECT_EQ(out[2], -std::numeric_limits<Real>::infinity());
  EXPECT_EQ(out[3], Real(std::numeric_limits<float>::max()));
  EXPECT_NE(out[4], out[4]);
  EXPECT_TRUE(std::signbit(out[5]));
  EXPECT_THAT(wide, ElementsAre(0.1, double(0.1f), std::numeric_limits<double>::max(), -5e-324));
}

TEST(EmittedStatements, F64PromotionPreservesValuesOfConstants) {
  expect_constants<float>(native());
  expect_constants<double>(promoted());
}

TEST(EmittedStatements, SignedIntegerArithmeticWrapsAround) {
  std::vector<int> h{1, -5};
  run(native(), "hash", 2, view(h));
  for (std::uint32_t i = 0; i < 2; ++i) {
    std::uint32_t expected = i == 0 ? 1U : static_cast<std::uint32_t>(-5);
    for (int j = 0; j < 40; ++j)
      expected = expected * 1664525U + 1013904223U;
    EXPECT_EQ(static_cast<std::uint32_t>(h[i]), expected);
  }
}

}  // namespace
}  // namespace assay::source
