#include "harness/judge/inputs/preconditions.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/testing/kernel_text.hpp"

namespace assay::harness {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// A kernel with two thread indices and annotations.
KernelSource kernel_with(const std::string& preconditions) {
  return testing::kernel_of(preconditions + R"(@wp.kernel
def k(x: wp.array(dtype=float), idx: wp.array2d(dtype=int), n: int, s: float, flag: bool, out: wp.array(dtype=float)):
    i, j = wp.tid()
    out[i] = x[idx[i, j]] * s + float(n)
)");
}
enum Parameter : std::size_t { kX, kIdx, kN, kS, kFlag, kOut };

Result<Preconditions> preconditions_of(const KernelSource& source) {
  return parse_preconditions(*source.module, source.module->kernels[0]);
}

std::string error_of(const std::string& precondition) {
  const Result<Preconditions> preconditions = preconditions_of(kernel_with(precondition));
  return preconditions.ok() ? "" : preconditions.error().text();
}

/// Shapes (7), (3, 5), n = 11, s = 0.5.
ir::Launch some_launch(const KernelSource& source) {
  const ir::Module& module = *source.module;
  const ir::Function& kernel = module.kernels[0];
  ir::Launch launch{.extents = {3, 5}, .arguments = {}};
  const std::vector<std::int32_t> shapes[] = {{7}, {3, 5}, {}, {}, {}, {7}};
  for (int p = 0; p < kernel.parameter_count; ++p)
    launch.arguments.push_back(ir::make_argument(module, kernel.var(p).type, shapes[p]));
  ir::write_integer(ir::Scalar::kI32, launch.arguments[kN].bytes.data(), 11);
  ir::write_float(ir::Scalar::kF32, launch.arguments[kS].bytes.data(), 0.5);
  return launch;
}

TEST(Preconditions, AreEmptyWithoutAnnotations) {
  const Result<Preconditions> preconditions = preconditions_of(kernel_with("# a comment about domains\n"));
  ASSERT_TRUE(preconditions.ok()) << preconditions.error().text();
  EXPECT_TRUE(preconditions->launch_extents.empty());
  for (const auto& range : preconditions->range_by_parameter)
    EXPECT_FALSE(range.has_value());
}

struct TermRow {
  const char* term;
  double value;
};

TEST(Preconditions, EvaluatesTermsWithParametersLengthsAndShapes) {
  const TermRow rows[] = {
      {"3", 3},
      {"0.25", 0.25},
      {"1e-3", 1e-3},
      {"-2", -2},
      {"n", 11},
      {"s", 0.5},
      {"len(x)", 7},
      {"len( x )", 7},
      {"len(idx)", 3},
      {"x.shape[0]", 7},
      {"idx.shape[1]", 5},
      {"n + 1", 12},
      {"n-1", 10},
      {"n - 1 - 2", 8},
      {"2 * n + 3", 25},
      {"3 + 2 * n", 25},
      {"(n + 1) * 2", 24},
      {"-n", -11},
      {"-(n - 1)", -10},
      {"n * idx.shape[1] - len(x)", 48},
  };
  for (const TermRow& row : rows) {
    SCOPED_TRACE(row.term);
    const KernelSource source = kernel_with(std::string("# domain: x <= ") + row.term + "\n");
    const Result<Preconditions> preconditions = preconditions_of(source);
    ASSERT_TRUE(preconditions.ok()) << preconditions.error().text();
    ASSERT_TRUE(preconditions->range_by_parameter[kX] && preconditions->range_by_parameter[kX]->high);
    EXPECT_EQ(preconditions->range_by_parameter[kX]->high->evaluate(some_launch(source)), row.value);
  }
}

struct RangeRow {
  const char* precondition;
  Parameter parameter;
  std::optional<double> low, high;
  bool is_low_open = false, is_high_open = false;
};

TEST(Preconditions, ParsesDomainRanges) {
  const RangeRow rows[] = {
      {"0.5 <= x", kX, 0.5, {}},
      {"x >= 0.5", kX, 0.5, {}},
      {"x > 0.5", kX, 0.5, {}, true},
      {"0.5 < x", kX, 0.5, {}, true},
      {"x <= 2", kX, {}, 2},
      {"2 >= x", kX, {}, 2},
      {"x < 2", kX, {}, 2, false, true},
      {"2 > x", kX, {}, 2, false, true},
      {"0.5 <= x <= 2", kX, 0.5, 2},
      {"0.5 < x < 2", kX, 0.5, 2, true, true},
      {"0.5 <= x < 2", kX, 0.5, 2, false, true},
      {"2 > x >= 0.5", kX, 0.5, 2, false, true},
      {"0 <= idx < len(x)", kIdx, 0, 7, false, true},
      {"1 <= n <= len(x)", kN, 1, 7},
      {"n <= len(x)", kN, {}, 7},
      {"n >= 1", kN, 1, {}},
      {"0 <= n < x.shape[0]", kN, 0, 7, false, true},
      {"-1 <= s <= 1", kS, -1, 1},
      {"0<=idx<len(x)", kIdx, 0, 7, false, true},
      {"x in [0.5, 2]", kX, 0.5, 2},
      {"x in (0.5, 2)", kX, 0.5, 2, true, true},
      {"s in (-1, 1]", kS, -1, 1, true, false},
      {"idx in [0, len(x))", kIdx, 0, 7, false, true},
  };
  for (const RangeRow& row : rows) {
    SCOPED_TRACE(row.precondition);
    const KernelSource source = kernel_with(std::string("# domain: ") + row.precondition + "\n");
    const Result<Preconditions> preconditions = preconditions_of(source);
    ASSERT_TRUE(preconditions.ok()) << preconditions.error().text();
    const auto& range = preconditions->range_by_parameter[row.parameter];
    ASSERT_TRUE(range);
    const ir::Launch launch = some_launch(source);
    ASSERT_EQ(range->low.has_value(), row.low.has_value());
    ASSERT_EQ(range->high.has_value(), row.high.has_value());
    EXPECT_EQ(row.low, row.low ? std::optional(range->low->evaluate(launch)) : std::nullopt);
    EXPECT_EQ(row.high, row.high ? std::optional(range->high->evaluate(launch)) : std::nullopt);
    EXPECT_EQ(range->is_low_open, row.is_low_open);
    EXPECT_EQ(range->is_high_open, row.is_high_open);
    for (std::size_t p = kX; p <= kOut; ++p)
      EXPECT_EQ(preconditions->range_by_parameter[p].has_value(), p == row.parameter);
  }
}

TEST(Preconditions, IntersectsRangesOfTwoDomainAnnotations) {
  const KernelSource source = kernel_with("# domain: 0.5 <= x\n# domain: x < 2\n");
  const Result<Preconditions> preconditions = preconditions_of(source);
  ASSERT_TRUE(preconditions.ok()) << preconditions.error().text();
  EXPECT_EQ(preconditions->range_by_parameter[kX]->low->number, 0.5);
  EXPECT_EQ(preconditions->range_by_parameter[kX]->high->number, 2);
}

TEST(Preconditions, ParsesPermutationAnnotations) {
  for (const char* text : {"# domain: idx is a permutation\n", "# domain: idx is permutation\n"}) {
    const Result<Preconditions> preconditions = preconditions_of(kernel_with(text));
    ASSERT_TRUE(preconditions.ok()) << preconditions.error().text();
    EXPECT_TRUE(preconditions->must_be_permutation[kIdx]);
    EXPECT_FALSE(preconditions->must_be_permutation[kX]);
  }
}

TEST(Preconditions, ParsesLaunchAnnotations) {
  for (const char* text :
       {"# launch: (n, idx.shape[1])\n", "# launch: n, idx.shape[1]\n", "# launch:(n,idx.shape[1],)\n"}) {
    SCOPED_TRACE(text);
    const KernelSource source = kernel_with(text);
    const Result<Preconditions> preconditions = preconditions_of(source);
    ASSERT_TRUE(preconditions.ok()) << preconditions.error().text();
    ASSERT_EQ(preconditions->launch_extents.size(), 2U);
    EXPECT_EQ(preconditions->launch_extents[0].evaluate(some_launch(source)), 11);
    EXPECT_EQ(preconditions->launch_extents[1].evaluate(some_launch(source)), 5);
  }
}

TEST(Preconditions, ParsesTriangles) {
  const Result<Preconditions> preconditions = preconditions_of(kernel_with("# domain: idx are triangles\n"));
  ASSERT_TRUE(preconditions.ok()) << preconditions.error().text();
  EXPECT_TRUE(preconditions->must_be_triangles[kIdx]);
  EXPECT_FALSE(preconditions->must_be_triangles[kX]);
  EXPECT_FALSE(preconditions->must_be_separate_triangles[kIdx]);
  const Result<Preconditions> separate = preconditions_of(kernel_with("# domain: idx are separate triangles\n"));
  ASSERT_TRUE(separate.ok()) << separate.error().text();
  EXPECT_TRUE(separate->must_be_triangles[kIdx]);
  EXPECT_TRUE(separate->must_be_separate_triangles[kIdx]);
}

TEST(Preconditions, ParsesComparisonsOfArraysOfFloats) {
  constexpr const char* kKernel = R"(
@wp.kernel
def k(low: wp.array(dtype=wp.vec3), high: wp.array(dtype=wp.vec3), x: wp.array(dtype=float)):
    i = wp.tid()
    x[i] = low[i][0] + high[i][0]
)";
  for (const char* text : {"# domain: low <= high", "# domain: high >= low"}) {
    const Result<Preconditions> preconditions = preconditions_of(testing::kernel_of(std::string(text) + kKernel));
    ASSERT_TRUE(preconditions.ok()) << preconditions.error().text();
    EXPECT_EQ(preconditions->greatest_elements[0], 1);
    EXPECT_EQ(preconditions->greatest_elements[1], ir::kNone);
  }
  for (const char* text : {"# domain: low < high", "# domain: low <= x", "# domain: low <= high + 1"})
    EXPECT_FALSE(preconditions_of(testing::kernel_of(std::string(text) + kKernel)).ok()) << text;
}

TEST(Preconditions, ParsesOpenLaunchExtent) {
  const Result<Preconditions> preconditions = preconditions_of(kernel_with("# launch: (_, n)\n"));
  ASSERT_TRUE(preconditions.ok()) << preconditions.error().text();
  ASSERT_EQ(preconditions->launch_extents.size(), 2U);
  EXPECT_EQ(preconditions->launch_extents[0].kind, PreconditionTerm::Kind::kOpen);
  EXPECT_EQ(preconditions->launch_extents[1].kind, PreconditionTerm::Kind::kParameter);
  EXPECT_FALSE(preconditions->launch_extents[0].mentions(kN));
}

TEST(Preconditions, TermReportsWhichParametersItMentions) {
  const Result<Preconditions> preconditions = preconditions_of(kernel_with("# domain: x < 2 * (n - idx.shape[1])\n"));
  ASSERT_TRUE(preconditions.ok()) << preconditions.error().text();
  const PreconditionTerm& high = *preconditions->range_by_parameter[kX]->high;
  EXPECT_TRUE(high.mentions(kN));
  EXPECT_TRUE(high.mentions(kIdx));
  EXPECT_FALSE(high.mentions(kS));
}

struct BadRow {
  const char* precondition;
  const char* expected;
};

TEST(Preconditions, ReportsInvalidAnnotation) {
  const BadRow rows[] = {
      {"# domain: y < 2", "a parameter name"},
      {"# domain: x", "<, <=, >, >= or 'in'"},
      {"# domain: x < _", "a parameter name"},
      {"# domain: idx are squares", "'triangles'"},
      {"# launch: (_ + 1, n)", "')'"},
      {"# domain: 0 <= x <=", "a parameter name"},
      {"# domain: x = 3", "<, <=, >, >= or 'in', as in '-1 <= x < 1' or 'x in [-1, 1)'"},
      {"# domain: x in 0, 1", "'[' or '('"},
      {"# domain: x in [0 1]", "','"},
      {"# domain: x in [0, 1", "']'"},
      {"# domain: x in [0, 1] 2", "the end of the comment"},
      {"# domain: x < 2 3", "the end of the comment"},
      {"# domain: 0 < x < 2 < 3", "the end of the comment"},
      {"# domain: x < len(y)", "a parameter name"},
      {"# domain: x < len(n)", "a valid array dimension"},
      {"# domain: x < idx", "a scalar parameter"},
      {"# domain: x < idx.shape[2]", "a valid array dimension"},
      {"# domain: x < idx.shape[-1]", "a valid array dimension"},
      {"# domain: x < idx.size", "'shape'"},
      {"# domain: x < (2", "')'"},
      {"# domain: x is sorted", "'permutation'"},
      {"# domain:", "a parameter name"},
      {"# launch: (n, m)", "a parameter name"},
      {"# launch: (n, 2", "')'"},
      {"# launch:", "a parameter name"},
  };
  for (const BadRow& row : rows) {
    SCOPED_TRACE(row.precondition);
    EXPECT_THAT(error_of(std::string(row.precondition) + "\n"),
                AllOf(HasSubstr(std::string(row.precondition).substr(2)), HasSubstr("invalid comment"),
                      HasSubstr(std::string("expected ") + row.expected), HasSubstr("kernel.py:")));
  }
}

struct MessageRow {
  const char* precondition;
  const char* message;
};

TEST(Preconditions, RejectsDomainsThatHoldForNoValue) {
  const MessageRow rows[] = {
      {"domain: 2 <= x <= 1", "no number is in the range of 'x'"},
      {"domain: 1 > x > 2", "no number is in the range of 'x'"},
      {"domain: x in [1, 1)", "no number is in the range of 'x'"},
      {"domain: 1 <= x < 1", "no number is in the range of 'x'"},
      {"domain: 5 <= n <= 2 * 2", "no integer is in the range of 'n'"},
      {"domain: 2 < n < 3", "no integer is in the range of 'n'"},
      {"domain: 0.25 <= idx <= 0.75", "no integer is in the range of 'idx'"},
      {"domain: nan <= x", "no number is in the range of 'x'"},
      {"domain: s <= s", "the bound of 's' must not depend on 's' itself"},
      {"domain: 0 <= n < 2 * n - 1", "the bound of 'n' must not depend on 'n' itself"},
      {"domain: x <= x", "'x' is compared with itself"},
      {"domain: x is a permutation", "'x' must be an array of integers"},
      {"domain: n is a permutation", "'n' must be an array of integers"},
      {"domain: out are triangles", "'out' must be an array of integers"},
  };
  for (const MessageRow& row : rows) {
    EXPECT_EQ(error_of("# " + std::string(row.precondition) + "\n"),
              "kernel.py:2:1: invalid comment '" + std::string(row.precondition) + "': " + row.message);
  }
  for (const char* text : {"1 <= x <= 1", "1 < x < 2", "2 <= n <= 2", "2 < n <= 3", "0 <= n < len(x)", "5 <= n <= s"})
    EXPECT_EQ(error_of("# domain: " + std::string(text) + "\n"), "") << text;
}

TEST(Preconditions, RejectsRangesThatContradictEachOther) {
  EXPECT_EQ(error_of("# domain: 3 <= x\n# another comment\n#   domain: x < 2\n"),
            "kernel.py:4:1: invalid comment 'domain: x < 2': no number is in the range of 'x'");
}

TEST(Preconditions, RejectsLaunchExtentsOfNoLaunch) {
  const MessageRow rows[] = {
      {"launch: (0, n)", "the extent of a launch must be a positive integer, got 0"},
      {"launch: (n, -5)", "the extent of a launch must be a positive integer, got -5"},
      {"launch: (n, 2.5)", "the extent of a launch must be a positive integer, got 2.5"},
      {"launch: (n, 3 - 3)", "the extent of a launch must be a positive integer, got 0"},
      {"launch: (n, 2 * s)", "the extent of a launch must not depend on a float parameter"},
  };
  for (const MessageRow& row : rows) {
    EXPECT_EQ(error_of("# " + std::string(row.precondition) + "\n"),
              "kernel.py:2:1: invalid comment '" + std::string(row.precondition) + "': " + row.message);
  }
}

TEST(Preconditions, MessageNamesTheCause) {
  constexpr const char* kLengths =
      "lengths of arrays cannot be restricted, only values of parameters and of array elements";
  const MessageRow rows[] = {
      {"domain: 1 <= len(x)", kLengths},
      {"domain: x.shape[0] >= 1", kLengths},
      {"domain: 1 <= x.shape[0]", kLengths},
      {"domain: x < idx", "expected a scalar parameter, got the array 'idx'"},
      {"domain: 0 <= idx[i] < 3",
       "the range of an array holds for all its elements; write the name of the array without an index"},
      {"launch: (m, n)", "expected a parameter name, got 'm'; the parameters are x, idx, n, s, flag, out"},
      {"launch: (n, ",
       "expected a parameter name, got the end of the comment; the parameters are x, idx, n, s, flag, "
       "out"},
      {"domain: 0 <= ?", "expected a parameter name, got '?'; the parameters are x, idx, n, s, flag, out"},
  };
  for (const MessageRow& row : rows)
    EXPECT_THAT(error_of("# " + std::string(row.precondition) + "\n"), HasSubstr(row.message)) << row.precondition;
}

TEST(Preconditions, RejectsRangesOfStructFields) {
  const auto parsed = [](const std::string& domain) {
    return preconditions_of(testing::kernel_of(
        "@wp.struct\nclass Node:\n    left: int\n\n# domain: " + domain +
        "\n@wp.kernel\ndef k(nodes: wp.array(dtype=Node), node: Node, n: int, y: wp.array(dtype=int)):\n"
        "    y[wp.tid()] = nodes[0].left + node.left + n\n"));
  };
  for (const char* text : {"0 <= nodes.left < 3", "nodes.left >= 0", "node.left < 3", "0 <= n < node.left"}) {
    const Result<Preconditions> preconditions = parsed(text);
    ASSERT_FALSE(preconditions.ok()) << text;
    EXPECT_THAT(preconditions.error().text(), AllOf(HasSubstr("kernel.py:6:1: invalid comment"),
                                                    HasSubstr("ranges of struct fields are not supported")));
  }
  EXPECT_TRUE(parsed("0 <= n < nodes.shape[0]").ok());
}

TEST(Preconditions, RejectsLaunchAnnotationWithIncorrectNumberOfExtents) {
  EXPECT_THAT(error_of("# launch: n\n"),
              HasSubstr("kernel.py:2:1: the launch comment has 1 extents, but the kernel has 2 thread indices"));
  EXPECT_THAT(error_of("# launch: (n, n, n)\n"), HasSubstr("3 extents, but the kernel has 2 thread indices"));
}

TEST(Preconditions, RejectsDeeplyNestedBracketsAndManyOperators) {
  EXPECT_THAT(error_of("# domain: x < " + std::string(100'000, '(') + "\n"), HasSubstr("expected ')'"));
  EXPECT_NE(error_of("# domain: x < " + std::string(100'000, '-') + "1\n"), "");
  std::string sum = "n";
  for (int i = 0; i < 100'000; ++i)
    sum += " + n * 2";
  EXPECT_THAT(error_of("# domain: x < " + sum + "\n"), HasSubstr("more than 200 operators"));
}

}  // namespace
}  // namespace assay::harness
