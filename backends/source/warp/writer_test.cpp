#include "backends/source/warp/writer.hpp"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/device/emitted_kernel.hpp"
#include "frontend/warp/parse/reader.hpp"
#include "ir/builder.hpp"

namespace assay::source::warp {
namespace {

using ir::AtomicOp;
using ir::Builder;
using ir::ExprId;
using ir::kF32;
using ir::kF64;
using ir::kI32;
using ir::Op;
using ir::VarId;
using ::testing::HasSubstr;

/// A module with one kernel `k` over an output array `out` and a float parameter `a`, whose body is `body`.
class OneKernel {
 public:
  OneKernel() {
    module.kernels.push_back({.name = "k", .is_kernel = true});
    builder.emplace(module, module.kernels[0]);
    out = builder->parameter("out", kF32.array_of(1));
    a = builder->parameter("a", kF32);
    i = builder->thread_index("i");
  }
  ExprId index() { return builder->var(i); }
  /// The text after the `tid` line, without the indentation of the first line.
  std::string body() const {
    const auto text = write_python(module);
    if (!text.ok()) return text.error().text();
    const std::string tid = "wp.tid()\n    ";
    return text.value().substr(text.value().find(tid) + tid.size());
  }
  /// The spelling of an expression of type f32.
  std::string spelled(ExprId value) {
    builder->store(out, {index()}, value);
    const std::string text = body();
    const std::string place = "out[i] = ";
    const auto start = text.rfind(place);
    return start == std::string::npos ? text
                                      : text.substr(start + place.size(), text.size() - start - place.size() - 1);
  }

  ir::Module module;
  std::optional<Builder> builder;
  VarId out, a, i;
};

/// What write_python makes of a kernel with this body.
std::string rewritten(const std::string& body) {
  const std::string header =
      "import warp as wp\n\n\n@wp.kernel\ndef k(x: wp.array(dtype=float), n: int, a: float):\n    j = wp.tid()\n";
  const auto read = frontend::parse_python(header + body, "k.py");
  if (!read.ok()) return read.error().text();
  if (!read->diagnostics.empty()) return read->diagnostics.front().text();
  const auto written = write_python(read->module);
  if (!written.ok()) return written.error().text();
  return written->substr(0, header.size()) == header ? written->substr(header.size()) : *written;
}

TEST(PythonWriter, LeavesOutWhatFrontendAddedForUnassignedVariables) {
  for (const std::string body : {
           "    if n > 0:\n        s = a\n    x[0] = s\n",
           "    t = float(0.0)\n    for i in range(n):\n        if i % 2 == 0:\n            s = x[i] * a\n        t += "
           "s\n    x[0] = "
           "t\n",
           "    for i in range(n):\n        if i == 0:\n            v = wp.vec2(a, a)\n        else:\n            x[i] "
           "= v[1]\n",
       })
    EXPECT_EQ(rewritten(body), body);
  // The variable is assigned before the loop, and may be unassigned after it.
  EXPECT_EQ(rewritten("    m = int(5)\n    x[m] = a\n    for m in range(n):\n        pass\n    x[m] = a\n"),
            "    m = int(5)\n    x[m] = a\n    for m_2 in range(n):\n        m = m_2\n    x[m] = a\n");
}

TEST(PythonWriter, KeepsInPlaceUpdatesOfComponentsApartFromAssignments) {
  const auto body_of = [](bool is_augmented, Op op) {
    OneKernel k;
    Builder& b = *k.builder;
    const VarId v = b.let_zero("v", ir::vector_type(ir::Scalar::kF32, 3));
    const auto component = [&] { return b.op(Op::kExtract, {b.var(v), b.i32(1)}); };
    b.assign(v, b.op(Op::kInsert, {b.var(v), b.i32(1), b.op(op, {component(), b.var(k.a)})}));
    if (is_augmented) b.mark_as_augmented();
    return k.body();
  };
  EXPECT_THAT(body_of(true, Op::kAdd), HasSubstr("v[1] += a\n"));
  EXPECT_THAT(body_of(true, Op::kSub), HasSubstr("v[1] -= a\n"));
  EXPECT_THAT(body_of(false, Op::kAdd), HasSubstr("v[1] = v[1] + a\n"));
  // What a reduction or a mutation left of an update.
  EXPECT_THAT(body_of(true, Op::kMin), HasSubstr("v[1] = wp.min(v[1], a)\n"));
}

// Warp does not accept a bare number here in a kernel with a gradient.
TEST(PythonWriter, WrapsLiteralArgumentsOfTileMapInCallsOfFloat) {
  const std::string python =
      "import warp as wp\n\n\n@wp.func\ndef bend(x: float, a: float) -> float:\n    return x * a\n\n\n"
      "@wp.kernel\ndef k(x: wp.array(dtype=float)):\n    i = wp.tid()\n"
      "    t = wp.tile_load(x, shape=4, offset=i * 4)\n"
      "    wp.tile_store(x, wp.tile_map(bend, t, float(0.75)), offset=i * 4)\n";
  const Result<frontend::ParsedFile> read = frontend::parse_python(python, "k.py");
  ASSERT_TRUE(read.ok()) << read.error().text();
  ASSERT_EQ(read->module.kernels.size(), 1U);
  const Result<std::string> written = write_python(read->module);
  ASSERT_TRUE(written.ok()) << written.error().text();
  EXPECT_EQ(*written, python);
}

TEST(PythonWriter, WritesStructsFunctionsAndKernelsInWarpSyntax) {
  ir::Module module;
  module.structs.push_back(
      {.name = "Spring", .fields = {{"rest", kF32}, {"axis", ir::vector_type(ir::Scalar::kF32, 3)}}});
  const ir::Type vec5 = ir::vector_type(ir::Scalar::kF32, 5);
  module.functions.push_back({.name = "bend", .results = {kF32}});
  {
    Builder b(module, module.functions[0]);
    const VarId x = b.parameter("x", kF32);
    b.return_({b.op(Op::kMul, {b.var(x), b.var(x)})});
  }
  module.kernels.push_back(
      {.name = "step", .is_kernel = true, .annotations = {"launch: (n, m)", "domain: 0 <= n <= 9"}});
  Builder b(module, module.kernels[0]);
  const VarId out = b.parameter("out", vec5.array_of(2));
  const VarId spring = b.parameter("spring", ir::struct_type(0));
  const VarId n = b.parameter("n", ir::kI64);
  const VarId i = b.thread_index("i");
  const VarId j = b.thread_index("j");
  const VarId s = b.let("s", b.f32(0));
  b.for_("k", b.i32(0), b.cast(kI32, b.var(n)), b.i32(1), [&](VarId k) {
    b.if_(
        b.op(Op::kGt, {b.var(s), b.f32(2.5)}), [&] { b.break_(); },
        [&] {
          b.if_(b.op(Op::kEq, {b.var(k), b.var(i)}), [&] { b.continue_(); });
        });
    b.assign(s, b.op(Op::kAdd, {b.var(s), b.call(0, {b.field(b.var(spring), 0)})}));
  });
  const VarId v = b.let_zero("v", vec5);
  b.assign(v, b.op(Op::kInsert, {b.var(v), b.i32(2), b.var(s)}));
  b.store(out, {b.var(i), b.var(j)}, b.var(v));
  EXPECT_EQ(write_python(module).value(), R"(import warp as wp

vec5 = wp.types.vector(length=5, dtype=float)


@wp.struct
class Spring:
    rest: float
    axis: wp.vec3


@wp.func
def bend(x: float) -> float:
    return x * x


# launch: (n, m)
# domain: 0 <= n <= 9
@wp.kernel
def step(out: wp.array2d(dtype=vec5), spring: Spring, n: wp.int64):
    i, j = wp.tid()
    s = float(0.0)
    for k in range(int(n)):
        if s > 2.5:
            break
        elif k == i:
            continue
        s += bend(spring.rest)
    v = vec5()
    v[2] = s
    out[i, j] = v
)");
}

TEST(PythonWriter, WritesOnlyParenthesesThatPythonPrecedenceRequires) {
  OneKernel k;
  Builder& b = *k.builder;
  const auto a = [&] { return b.var(k.a); };
  const auto sum = [&] { return b.op(Op::kAdd, {a(), b.f32(1)}); };
  const auto less = [&] { return b.op(Op::kLt, {a(), b.f32(1)}); };
  EXPECT_EQ(k.spelled(b.op(Op::kMul, {sum(), a()})), "(a + 1.0) * a");
  EXPECT_EQ(k.spelled(b.op(Op::kAdd, {sum(), a()})), "a + 1.0 + a");
  EXPECT_EQ(k.spelled(b.op(Op::kSub, {a(), sum()})), "a - (a + 1.0)");
  EXPECT_EQ(k.spelled(b.op(Op::kNeg, {sum()})), "-(a + 1.0)");
  EXPECT_EQ(k.spelled(b.op(Op::kMul, {b.op(Op::kNeg, {a()}), a()})), "-a * a");
  EXPECT_EQ(k.spelled(b.op(Op::kFloorDiv, {a(), b.op(Op::kMod, {a(), a()})})), "a // (a % a)");
  EXPECT_EQ(k.spelled(b.op(Op::kSin, {sum()})), "wp.sin(a + 1.0)");
  EXPECT_EQ(k.spelled(b.op(Op::kConditional, {less(), a(), sum()})), "a if a < 1.0 else a + 1.0");
  EXPECT_EQ(k.spelled(b.op(Op::kAdd, {b.op(Op::kConditional, {less(), a(), a()}), a()})), "(a if a < 1.0 else a) + a");
  EXPECT_EQ(k.spelled(b.op(Op::kWhere, {b.op(Op::kEq, {less(), less()}), a(), a()})),
            "wp.where((a < 1.0) == (a < 1.0), a, a)");
  EXPECT_EQ(k.spelled(b.op(Op::kWhere,
                           {b.op(Op::kNot, {b.op(Op::kAnd, {less(), b.op(Op::kOr, {less(), less()})})}), a(), a()})),
            "wp.where(not (a < 1.0 and (a < 1.0 or a < 1.0)), a, a)");
}

TEST(PythonWriter, LiteralsRoundTripThroughPython) {
  OneKernel k;
  Builder& b = *k.builder;
  const auto f64 = [&](double value) { return b.cast(kF32, b.literal(kF64, value)); };
  EXPECT_EQ(k.spelled(b.f32(0.1)), "0.1");
  EXPECT_EQ(k.spelled(b.f32(3)), "3.0");
  EXPECT_EQ(k.spelled(b.f32(-2e-10)), "-2e-10");
  EXPECT_EQ(k.spelled(b.f32(HUGE_VAL)), "wp.inf");
  EXPECT_EQ(k.spelled(b.f32(-HUGE_VAL)), "-wp.inf");
  EXPECT_EQ(k.spelled(b.f32(std::nan(""))), "wp.nan");
  EXPECT_EQ(k.spelled(b.op(Op::kNeg, {b.f32(2)})), "-float(2.0)");
  EXPECT_EQ(k.spelled(b.op(Op::kMul, {b.var(k.a), b.f32(-2)})), "a * -2.0");
  EXPECT_EQ(k.spelled(f64(0.1)), "float(wp.float64(0.1))");
  EXPECT_EQ(k.spelled(b.cast(kF32, b.i32(-3))), "float(int(-3))");
  EXPECT_EQ(k.spelled(b.cast(kF32, b.literal(ir::scalar_type(ir::Scalar::kU64), std::int64_t{-1}))),
            "float(wp.uint64(18446744073709551615))");
}

TEST(PythonWriter, WritesZeroQuaternionWithoutArguments) {
  OneKernel k;
  k.builder->let("q", k.builder->zero(ir::quaternion_type(ir::Scalar::kF32)));
  EXPECT_THAT(k.body(), HasSubstr("q = wp.quat()\n"));
}

TEST(PythonWriter, WritesUpdateOfComponentAsAssignment) {
  ir::Module module;
  const ir::Type vec3 = ir::vector_type(ir::Scalar::kF32, 3);
  module.structs.push_back({.name = "Body", .fields = {{"mass", kF32}, {"position", vec3}}});
  module.kernels.push_back({.name = "k", .is_kernel = true});
  Builder b(module, module.kernels[0]);
  const VarId bodies = b.parameter("bodies", ir::struct_type(0).array_of(1));
  const VarId i = b.thread_index("i");
  const auto cell = [&] { return b.load(bodies, {b.var(i)}); };
  const VarId body = b.let("body", cell());
  const auto moved = [&](ExprId of) { return b.op(Op::kInsert, {b.field(of, 1), b.i32(0), b.f32(4)}); };
  b.assign(body, b.op(Op::kWithField, {b.var(body), moved(b.var(body))}, ir::kVoid, 1));
  b.store(bodies, {b.var(i)}, b.op(Op::kWithField, {cell(), moved(cell())}, ir::kVoid, 1));
  const std::string text = write_python(module).value();
  EXPECT_THAT(text, HasSubstr("    body.position[0] = 4.0\n    bodies[i].position[0] = 4.0\n"));
}

TEST(PythonWriter, RejectsOperationsUnsupportedInWarp) {
  OneKernel k;
  Builder& b = *k.builder;
  b.at({12, 5});
  k.module.source_name = "model.py";
  EXPECT_EQ(k.spelled(b.op(Op::kLog1p, {b.var(k.a)})), "model.py:12:5: operation log1p is not supported in Warp");
}

TEST(PythonWriter, WritesLocalArraysAsCallsOfWpZeros) {
  OneKernel local;
  local.builder->let_zero("scratch", ir::vector_type(ir::Scalar::kF32, 2).local_array_of(8));
  EXPECT_THAT(local.body(), HasSubstr("scratch = wp.zeros(shape=8, dtype=wp.vec2)\n"));
}

TEST(PythonWriter, CustomDerivativesRoundTripThroughPython) {
  const std::string source = R"(import warp as wp


@wp.func
def f(x: float, v: wp.vec2) -> float:
    return x * v[0]


@wp.func_grad(f)
def f_gradient(x: float, v: wp.vec2, adj_ret: float):
    wp.adjoint[x] += adj_ret * 2.0
    if x > 1.0:
        return
    wp.adjoint[v][1] += x * adj_ret
    wp.adjoint[v][0] -= x * adj_ret


@wp.func_replay(f)
def f_again(x: float, v: wp.vec2):
    return x * v[0]


@wp.kernel
def k(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = f(x[i], wp.vec2(x[i], 1.0))
)";
  const auto file = frontend::parse_python(source, "f.py");
  ASSERT_TRUE(file.ok() && file->diagnostics.empty());
  const auto written = write_python(file->module);
  ASSERT_TRUE(written.ok()) << written.error().text();
  EXPECT_EQ(*written, source);
}

TEST(PythonWriter, WritesAdjointArraysOfAGradientAsWpAdjoint) {
  const std::string source = R"(import warp as wp


@wp.func
def f(a: wp.array2d(dtype=wp.vec2), i: int, s: float) -> float:
    return a[i, 0][1] * s


@wp.func_grad(f)
def f_gradient(a: wp.array2d(dtype=wp.vec2), i: int, s: float, adj_ret: float):
    wp.adjoint[a][i, 0][1] += s * adj_ret
    wp.adjoint[s] += a[i, 0][1] * adj_ret
    if s > 1.0:
        return
    wp.atomic_sub(wp.adjoint[a], i, 1, a[i, 0] * adj_ret)


@wp.func
def g(a: wp.array(dtype=float), i: int) -> float:
    return a[i]


@wp.func_grad(g)
def g_gradient(a: wp.array(dtype=float), i: int, adj_ret: float):
    wp.atomic_add(wp.adjoint[a], i, adj_ret)


@wp.kernel
def k(a: wp.array2d(dtype=wp.vec2), x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = f(a, i, g(x, i))
)";
  const auto file = frontend::parse_python(source, "f.py");
  ASSERT_TRUE(file.ok() && file->diagnostics.empty());
  const auto written = write_python(file->module);
  ASSERT_TRUE(written.ok()) << written.error().text();
  EXPECT_EQ(*written, source);
}

TEST(PythonWriter, RenamesDuplicateVariablesAndVariablesNamedLikeKeywords) {
  OneKernel k;
  Builder& b = *k.builder;
  b.let("a", b.f32(1));
  b.let("lambda", b.f32(2));
  EXPECT_EQ(k.body(), "a_2 = 1.0\n    lambda_ = 2.0\n");
}

TEST(PythonWriter, WritesAtomicsFunctionCallsAndReturnsInWarpSyntax) {
  ir::Module module;
  module.functions.push_back({.name = "unused", .results = {kF32}});
  Builder(module, module.functions[0]).return_({Builder(module, module.functions[0]).f32(1)});
  module.functions.push_back({.name = "split", .results = {kF32, kF32}});
  {
    Builder b(module, module.functions[1]);
    const VarId x = b.parameter("x", kF32);
    b.return_({b.var(x), b.op(Op::kNeg, {b.var(x)})});
  }
  module.kernels.push_back({.name = "k", .is_kernel = true});
  Builder b(module, module.kernels[0]);
  const VarId out = b.parameter("out", kF32.array_of(1));
  const VarId i = b.thread_index("i");
  b.if_(b.op(Op::kGe, {b.var(i), b.shape_of(out, 0)}), [&] { b.return_(); });
  const auto parts = b.call_statement(1, {b.f32(2)}, {"p", "q"});
  b.atomic(AtomicOp::kAdd, out, {b.var(i)}, b.var(parts[0]));
  b.atomic_result("old", AtomicOp::kCompareAndSwap, out, {b.var(i)}, b.var(parts[1]), b.f32(0));
  EXPECT_EQ(write_kernel(module, 0).value(), R"(import warp as wp


@wp.func
def split(x: float):
    return x, -x


@wp.kernel
def k(out: wp.array(dtype=float)):
    i = wp.tid()
    if i >= out.shape[0]:
        return
    p, q = split(2.0)
    wp.atomic_add(out, i, p)
    old = wp.atomic_cas(out, i, 0.0, q)
)");
}

TEST(ThreadsPerTileBlock, IsOneIfThreadsHaveValuesUpdatesOrAtomicsOfTheirOwn) {
  const auto threads_of = [](const std::string& statements) {
    const std::string source =
        "import warp as wp\n\n\n@wp.kernel\ndef k(x: wp.array(dtype=float), n: "
        "wp.array(dtype=int)):\n    i = wp.tid()\n" +
        statements;
    const auto file = frontend::parse_python(source, "k.py");
    if (!file.ok() || file->module.kernels.size() != 1) return -1;
    return threads_per_tile_block(file->module.kernels[0]);
  };
  EXPECT_EQ(threads_of("    x[i] = 2.0 * x[i]\n"), 0);
  EXPECT_EQ(threads_of("    wp.tile_store(x, wp.tile_load(x, shape=4, offset=4 * i), offset=4 * i)\n"),
            backends::kThreadsPerTileBlock);
  EXPECT_EQ(threads_of("    wp.atomic_max(n, 0, wp.untile(wp.tile(i)))\n"), 1);
  EXPECT_EQ(threads_of("    t = wp.tile_zeros(shape=4, dtype=float)\n"
                       "    wp.tile_scatter_add(t, n[i], x[i], True)\n"
                       "    wp.tile_store(x, t)\n"),
            1);
  EXPECT_EQ(threads_of("    wp.tile_atomic_add(x, wp.tile(x[i]), offset=i)\n"), 1);
}

// wp.tile_full and wp.tile_from_thread have no gradient in Warp, so a number must not be stored or added through them.
TEST(WriteKernel, KeepsTheGradientsOfNumbersInKernelsWithTiles) {
  const std::string source =
      "import warp as wp\n"
      "\n"
      "\n"
      "@wp.kernel\n"
      "def k(x: wp.array(dtype=float), y: wp.array2d(dtype=float), v: wp.array(dtype=wp.vec2)):\n"
      "    i = wp.tid()\n"
      "    s = wp.tile_extract(wp.tile_sum(wp.tile_load(x, shape=4, offset=4 * i)), 0)\n"
      "    y[i, 1] = s * s\n"
      "    wp.tile_atomic_add(y[i], wp.tile(s + 1.0), offset=0, bounds_check=False)\n"
      "    wp.tile_atomic_add(v, wp.tile(+v[i], preserve_type=True), offset=0, bounds_check=False)\n";
  const auto file = frontend::parse_python(source, "k.py");
  ASSERT_TRUE(file.ok()) << file.error().message;
  ASSERT_EQ(file->module.kernels.size(), 1U);
  const auto written = write_kernel(file->module, 0);
  ASSERT_TRUE(written.ok()) << written.error().message;
  EXPECT_EQ(*written, source);
}

}  // namespace
}  // namespace assay::source::warp
