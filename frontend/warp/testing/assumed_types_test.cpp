// Generic kernels whose types the file does not specify.
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frontend/warp/testing/parse.hpp"

namespace assay::frontend::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

struct Assumption {
  std::string_view name;
  std::string_view parameters;
  std::string_view body;
  std::string_view types;  ///< the types that are assumed
};

void PrintTo(const Assumption& assumption, std::ostream* stream) { *stream << assumption.name; }

constexpr Assumption kAssumptions[] = {
    {"FloatsByDefault", "x: wp.array(dtype=Any), s: Any", "x[wp.tid()] *= s", "wp.array(dtype=float), float"},
    {"VectorsForArgumentOfWpLength", "x: wp.array(dtype=Any), y: wp.array(dtype=Any), r: wp.array(dtype=float)",
     "i = wp.tid()\nr[i] = wp.length(x[i] - y[i])",
     "wp.array(dtype=wp.vec3), wp.array(dtype=wp.vec3), wp.array(dtype=float)"},
    {"VectorParameterPassedByValue", "x: wp.array(dtype=Any), s: Any", "i = wp.tid()\nx[i] = x[i] * wp.dot(x[i], s)",
     "wp.array(dtype=wp.vec3), wp.vec3"},
    {"VectorParameterWithFloatArray", "x: wp.array(dtype=Any), s: Any",
     "i = wp.tid()\nx[i] = wp.sqrt(x[i]) * wp.dot(s, s)", "wp.array(dtype=float), wp.vec3"},
    {"MatricesForArgumentOfWpTrace", "x: wp.array(dtype=Any), s: Any",
     "i = wp.tid()\nx[i] = x[i] * (wp.trace(x[i]) * s)", "wp.array(dtype=wp.mat33), float"},
    {"IntegersAsLoopBounds", "x: wp.array(dtype=Any), n: Any",
     "i = wp.tid()\ns = x[i]\nfor j in range(n):\n    s = s * wp.sin(x[j])\nx[i] = s", "wp.array(dtype=float), int"},
    {"IntegersForShifts", "x: wp.array(dtype=Any), n: Any", "x[wp.tid()] = x[0] << n", "wp.array(dtype=int), int"},
    {"WarpScalarTypeClasses", "x: wp.array(dtype=wp.Float), n: wp.Int, s: wp.Scalar", "if n > 0:\n    x[wp.tid()] = s",
     "wp.array(dtype=float), int, float"},
    {"VectorsOfAnyLength", "x: wp.array2d(dtype=wp.types.vector(length=Any, dtype=wp.Float))",
     "i, j = wp.tid()\nx[i, j] *= x[i, j][0]", "wp.array2d(dtype=wp.types.vector(length=3, dtype=float))"},
    {"MatricesOfAnyShape", "m: wp.types.matrix((Any, Any), wp.Float), x: wp.array(dtype=wp.Float)",
     "x[wp.tid()] = m[0, 1]", "wp.types.matrix((3, 3), float), wp.array(dtype=float)"},
    {"ArraysInferredFromIndices", "x: Any, y: wp.array[Any]", "i, j = wp.tid()\ny[i] = x[i, j]",
     "wp.array(dtype=float, ndim=2), wp.array[float]"},
    {"VectorWithGenericComponentType", "x: wp.array(dtype=wp.types.vector(Any, wp.Scalar))",
     "i = wp.tid()\na = x[i]\nx[i] = a * a.dtype(2.0) * x.dtype.dtype(0.5)",
     "wp.array(dtype=wp.types.vector(3, float))"},
};

class AssumedType : public ::testing::TestWithParam<Assumption> {};

TEST_P(AssumedType, IsFirstCandidateTypeThatKernelBodySupports) {
  const Assumption& expected = GetParam();
  const std::string source = kernel(expected.parameters, expected.body);
  const ParsedFile file = read(source);
  EXPECT_EQ(messages(file),
            fmt::format(
                "test.py:3:1: note: in k: def k: generic kernel has no wp.overload(k, ...) call; assuming types [{}]\n",
                expected.types));
  ASSERT_EQ(file.declarations.size(), 1U);
  EXPECT_EQ(file.declarations[0].name, "k");
  EXPECT_TRUE(file.declarations[0].is_parsed);
  EXPECT_EQ(file.declarations[0].suggested_overload, fmt::format("k = wp.overload(k, [{}])", expected.types));

  const ParsedFile said = read(source + file.declarations[0].suggested_overload + "\n");
  EXPECT_EQ(messages(said), "");
  EXPECT_EQ(to_text(said.module), to_text(file.module)) << "the statement specifies the assumed types";
}

std::string assumption_name(const ::testing::TestParamInfo<Assumption>& each) { return std::string(each.param.name); }

INSTANTIATE_TEST_SUITE_P(Reader, AssumedType, ::testing::ValuesIn(kAssumptions), assumption_name);

TEST(AssumedTypes, AreReportedWithTheNameUnderWhichFileImportsWarp) {
  const ParsedFile file = read(
      "import warp\n@warp.kernel\ndef k(x: warp.array(dtype=Any), r: warp.array(dtype=float)):\n"
      "    i = warp.tid()\n    r[i] = warp.length(x[i])\n");
  EXPECT_THAT(messages(file), EndsWith("assuming types [warp.array(dtype=warp.vec3), warp.array(dtype=float)]\n"));
}

TEST(AssumedTypes, AreReportedWithoutSuggestedOverloadIfWarpIsNotImportedAsModule) {
  const ParsedFile file = read(
      "from warp import array, kernel, tid\n@kernel\ndef k(x: array(dtype=Any)):\n    i = tid()\n    x[i] = 2.0 * "
      "x[i]\n");
  ASSERT_EQ(file.module.kernels.size(), 1U) << messages(file);
  EXPECT_EQ(file.declarations[0].suggested_overload, "");
}

TEST(AssumedTypes, NoOverloadIsSuggestedForKernelInsideFunction) {
  const ParsedFile file = read(
      "import warp as wp\ndef make():\n    @wp.kernel\n    def k(x: wp.array(dtype=Any)):\n"
      "        x[wp.tid()] *= 2.0\n    return k\nmade = make()\n");
  ASSERT_EQ(file.module.kernels.size(), 1U) << messages(file);
  EXPECT_EQ(file.declarations[0].name, "made");
  EXPECT_EQ(file.declarations[0].suggested_overload, "");
}

TEST(AssumedTypes, AreNotUsedForKernelWithOverload) {
  const ParsedFile file = read(
      "import warp as wp\n@wp.kernel\ndef length(x: wp.array(dtype=Any), r: wp.array(dtype=float)):\n    i = wp.tid()\n"
      "    r[i] = wp.length(x[i])\n\n"
      "@wp.kernel\ndef square(x: wp.array(dtype=Any), f: Any):\n    x[wp.tid()] *= f\n"
      "square_64 = wp.overload(square, [wp.array(dtype=wp.float64), wp.float64])\n");
  std::vector<std::string> names;
  for (const FunctionDeclaration& declaration : file.declarations)
    names.push_back(declaration.name);
  EXPECT_THAT(names, ElementsAre("length", "square_64")) << "the overload in the file is sufficient";
  EXPECT_EQ(file.diagnostics.size(), 1U) << messages(file);
}

TEST(AssumedTypes, ErrorReportsWhyKernelBodyRejectsAssumedTypes) {
  const ParsedFile file = read(kernel("x: wp.array(dtype=Any)", "x[wp.tid()] = wp.nonsense(x[0])"));
  EXPECT_TRUE(file.module.kernels.empty());
  EXPECT_EQ(messages(file),
            "test.py:3:1: error: in k: def k: generic kernel has no wp.overload(k, ...) call; assuming types "
            "[wp.array(dtype=float)]: test.py:4:19: wp.nonsense(...): unknown or unsupported function\n");
}

TEST(AssumedTypes, AreNotChosenForCallableParameters) {
  const ParsedFile file = read(kernel("x: wp.array(dtype=float), f: Callable", "x[wp.tid()] = f(x[0])"));
  EXPECT_THAT(messages(file), EndsWith("error: in k: def k: generic kernel has no wp.overload(k, ...) call\n"));
}

}  // namespace
}  // namespace assay::frontend::testing
