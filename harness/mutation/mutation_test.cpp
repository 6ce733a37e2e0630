// The mutations that each mutation operator finds, and the equivalent mutations that it skips.
#include "harness/mutation/mutation.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <gtest/gtest.h>

#include "harness/mutation/exact_values.hpp"
#include "harness/testing/kernel_text.hpp"
#include "ir/text.hpp"
#include "ir/verifier.hpp"

namespace assay::mutation {
namespace {

/// A kernel with its adjoint, from Python.
struct Subject {
  ir::Module module;
  transforms::AdjointModule adjoint;
  explicit Subject(const std::string& python)
      : module(*harness::testing::kernel_of(python).module),
        adjoint(transforms::make_adjoint(module, module.kernels[0]).take()) {}
  MutationContext backward() const { return {adjoint, module.kernels[0]}; }
  MutationContext forward() const { return {module, module.kernels[0]}; }

  /// The text after the first mutation of an operator.
  std::string mutated(MutationOperator op) const {
    const MutationContext context = row(op).changed_part == MutatedKernelPart::kBackward ? backward() : forward();
    const std::vector<Mutation> found = find_mutations(op, context);
    if (found.empty()) return "none found";
    ir::Module changed = context.module;
    FunctionEditor edit(changed, changed.kernels[0]);
    found.front().apply(edit);
    return ir::verify(changed).empty() ? ir::to_text(changed) : "not valid";
  }
};

const char* const kProduct = R"(
# domain: 0 <= n <= 100
@wp.kernel
def k(x: wp.array(dtype=float), n: int, out: wp.array(dtype=float)):
    i = wp.tid()
    p = float(1.5)
    for j in range(n):
        p = p * wp.sin(x[j])
    out[i] = p
)";

TEST(Mutations, EachOperatorChangesExpectedStatementOfAdjoint) {
  const Subject subject(kProduct);
  EXPECT_NE(subject.mutated(MutationOperator::kDropContribution).find("kernel"), std::string::npos);
  EXPECT_EQ(subject.mutated(MutationOperator::kDropContribution).find("atomic_add"), std::string::npos);
  EXPECT_NE(subject.mutated(MutationOperator::kOverwriteGradient).find("grad_x[j_1] = adj_x_j"), std::string::npos);
  EXPECT_EQ(subject.mutated(MutationOperator::kUnclearedOutputAdjoint).find("grad_out[i] = 0.0"), std::string::npos);
  EXPECT_NE(subject.mutated(MutationOperator::kWrongFunction).find("mul(adj_sin, sin("), std::string::npos)
      << subject.mutated(MutationOperator::kWrongFunction);
  EXPECT_NE(subject.mutated(MutationOperator::kLoopRunsForward).find("range(add(-1, 1)"), std::string::npos);
  EXPECT_NE(subject.mutated(MutationOperator::kIndexPlusOne).find("[add(i, 1)]"), std::string::npos);
  EXPECT_NE(subject.mutated(MutationOperator::kUnitCotangent).find("let seed: f32 = 1.0"), std::string::npos);
}

TEST(Mutations, AreNotMadeInDeadCode) {
  const Subject wide(kProduct);
  std::string python = kProduct;
  python.replace(python.find("100"), 3, "12");
  const Subject narrow(python);
  const std::size_t all = find_mutations(MutationOperator::kUnsavedLoopState, wide.backward()).size();
  EXPECT_EQ(all, 2U) << "a short loop's saves and a long one's";
  EXPECT_EQ(find_mutations(MutationOperator::kUnsavedLoopState, narrow.backward()).size(), 1U) << "12 states fit";
}

TEST(Mutations, AreNotMadeInBackwardKernelWithoutDifferentiableOutput) {
  const Subject sign(R"(
@wp.kernel
def k(x: wp.array(dtype=float), out: wp.array(dtype=int)):
    i = wp.tid()
    out[i] = int(x[i])
)");
  ASSERT_TRUE(sign.backward().statements.empty());
  EXPECT_EQ(sign.mutated(MutationOperator::kWriteToInactiveGradient), "none found");
}

TEST(Mutations, DoNotReverseOrderIndependentLoops) {
  const Subject sum(R"(
@wp.kernel
def k(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    s = float(0.0)
    for j in range(5):
        wp.atomic_add(out, 0, x[j] * x[j])
)");
  EXPECT_TRUE(find_mutations(MutationOperator::kLoopRunsForward, sum.backward()).empty());
}

TEST(Mutations, DoNotKeepStaleAdjointsThatAreReplacedBeforeTheyAreRead) {
  const auto stale = [](const std::string& otherwise) {
    const Subject subject(
        "@wp.kernel\ndef k(x: wp.array(dtype=float), n: int, out: wp.array(dtype=float)):\n    i = wp.tid()\n"
        "    s = x[i]\n    t = x[0]\n    for j in range(n):\n        if x[j] > 0.5:\n            s = s * s\n" +
        otherwise + "    out[i] = s * t\n");
    std::vector<std::string> names;
    for (const Mutation& mutation : find_mutations(MutationOperator::kStaleAdjoint, subject.backward()))
      names.push_back(mutation.description);
    return std::ranges::count(names, "'adj_s' keeps its value from the previous iteration");
  };
  EXPECT_EQ(stale(""), 0) << "each branch assigns it";
  EXPECT_EQ(stale("        else:\n            s = t * t\n"), 1) << "it stays zero in one branch";
}

TEST(Mutations, DoNotRoundValuesThatAreExactInLowerPrecision) {
  const auto rounded = [](const std::string& gain) {
    const Subject subject(
        "@wp.kernel\ndef k(x: wp.array(dtype=float), h: wp.float16, w: float, out: "
        "wp.array(dtype=float)):\n    i = wp.tid()\n    g = float(0.0)\n    if i < 2:\n        g = " +
        gain + "\n    out[i] = x[i] * g\n");
    std::vector<std::string> names;
    for (const Mutation& mutation : find_mutations(MutationOperator::kLowerPrecision, subject.backward()))
      names.push_back(mutation.description);
    return std::ranges::count(names, "'g' is rounded to f16");
  };
  EXPECT_EQ(rounded("float(h)"), 0) << "the value has that precision, or is zero";
  EXPECT_EQ(rounded("w"), 1);
  EXPECT_EQ(rounded("wp.where(w > 1.0, -1.0, 0.5)"), 0) << "a sign";
  EXPECT_EQ(rounded("wp.where(w > 1.0, -1.0, 0.1)"), 1);
  EXPECT_EQ(rounded("wp.where(w > 1.0, -1.0, w)"), 1);
  EXPECT_EQ(rounded("0.5 * 0.25"), 0);
  EXPECT_EQ(rounded("0.1 * 0.25"), 1);
}

TEST(HasExactField, FollowsFieldsToTheConstantsThatTheyComeFrom) {
  const auto is_exact = [](const std::string& other_sign, const std::string& parameter = "float") {
    const Subject subject(R"(
@wp.struct
class Side:
    sign: float
    size: float

@wp.func
def sign_of(x: float):
    if x < 0.0:
        return -1.0
    return 1.0

@wp.func
def side_of(x: float):
    side = Side()
    side.size = wp.sin(x)
    if x > 3.0:
        side.sign = )" + other_sign +
                          R"(
        return side
    side.sign = sign_of(x)
    return side

@wp.kernel
def k(x: wp.array(dtype=float), given: wp.array(dtype=)" +
                          parameter + R"(), out: wp.array(dtype=float)):
    i = wp.tid()
    side = side_of(x[i])
    out[i] = side.sign * side.size * x[i]
)");
    const auto field = [&](std::int32_t number) {
      return has_exact_field(subject.module, subject.module.functions[1].results[0], number, ir::Scalar::kF16);
    };
    return std::pair(field(0), field(1));
  };
  EXPECT_EQ(is_exact("0.5"), std::pair(true, false));
  EXPECT_EQ(is_exact("-wp.sign(x)"), std::pair(true, false));
  EXPECT_FALSE(is_exact("0.1").first);
  EXPECT_FALSE(is_exact("x").first);
  EXPECT_FALSE(is_exact("sign_of(x) + 0.1").first);
  EXPECT_FALSE(is_exact("0.5", "Side").first) << "structs of the type come from an array";
}

TEST(TextMutations, ChangeGradientStridesAndThreadBound) {
  backends::EmittedKernel kernel{
      .name = "k",
      .helpers = {},
      .body =
          "extern \"C\" void k_backward(long long begin, long long end, Array<real, 1> x, "
          "Array<real, 1> y, Array<real, 1> grad_x, Array<real, 1> grad_y) {\n  for (long "
          "long thread = begin; thread < end; ++thread) {\n    grad_x[thread] = 1;\n  }\n}\n",
      .entry_points = {{.pass = backends::Pass::kBackward, .symbol = "k_backward"}}};
  const auto strides = find_text_mutations(MutationOperator::kWrongGradientStrides, kernel);
  ASSERT_EQ(strides.size(), 1U) << "grad_y is not used";
  EXPECT_NE(strides[0].kernel.body.find("grad_x.strides[d] = x.strides[d]"), std::string::npos);
  const auto guard = find_text_mutations(MutationOperator::kNoThreadGuard, kernel);
  ASSERT_EQ(guard.size(), 1U);
  EXPECT_NE(guard[0].kernel.body.find("thread <= end"), std::string::npos);
}

}  // namespace
}  // namespace assay::mutation
