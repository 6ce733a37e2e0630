// Mutations of text in the form that Warp generates.
#include "harness/mutation/warp_code.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::mutation {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* kForwardText = R"(extern "C" __global__ void f_cuda_kernel_forward(
    wp::launch_bounds_t<1> dim,
    wp::array_t<wp::float32> var_x,
    wp::array_t<wp::float32> var_y,
    wp::int32 var_n)
{
    //---------
    // primal vars
    wp::int32 var_0;
    const wp::float32 var_1 = 0.5;
    const wp::int32 var_2 = 4;
    wp::float32* var_3;
    wp::float32 var_4;
    wp::float32 var_5;
    bool var_6;
    //---------
    // forward
    var_0 = builtin_tid1d();
    var_6 = (var_n < var_2);
    var_3 = wp::address(var_x, var_0);
    var_4 = wp::load(var_3);
    var_5 = wp::mul(var_4, var_1);
    // y[i] = wp.mul(x[i], 0.5)
    wp::array_store(var_y, var_0, var_5);
}
)";

constexpr const char* kBackwardText = R"(extern "C" __global__ void f_cuda_kernel_backward(
    wp::launch_bounds_t<1> dim,
    wp::array_t<wp::float32> var_x,
    wp::array_t<wp::float32> var_y,
    wp::int32 var_n,
    wp::array_t<wp::float32> adj_x,
    wp::array_t<wp::float32> adj_y,
    wp::int32 adj_n)
{
    for (size_t _idx = 0; _idx < dim.size; ++_idx)
    {
        //---------
        // primal vars
        wp::int32 var_0;
        const wp::float32 var_1 = 0.5;
        wp::float32 var_4;
        wp::float32 var_5;
        wp::range_t var_7;
        //---------
        // dual vars
        wp::int32 adj_0 = {};
        wp::float32 adj_1 = {};
        wp::float32 adj_3 = {};
        wp::float32 adj_5 = {};
        //---------
        // forward
        var_5 = wp::mul(var_4, var_1);
        var_7 = wp::range(var_n);
        // wp::array_store(var_y, var_0, var_5);
        //---------
        // reverse
        wp::adj_array_store(var_y, var_0, var_5, adj_y, adj_0, adj_5);
        var_7 = wp::iter_reverse(var_7);
        adj_3 = {};
        if (var_6) {
            wp::adj_mul(var_4, var_1, adj_3, adj_1, adj_5);
        }
        wp::adj_address(var_x, var_0, adj_x, adj_0, adj_3);
        // adj: y[i] = wp.mul(x[i], 0.5)
        continue;
    }
}
)";

WarpCode code() {
  return {.source = std::string("// before\n\n") + kForwardText + "\n" + kBackwardText + "// after\n",
          .forward = kForwardText,
          .backward = kBackwardText};
}

/// The only mutation by the operator.
std::string only(MutationOperator op) {
  const auto found = find_warp_mutations(op, code());
  EXPECT_THAT(found, SizeIs(1)) << row(op).name;
  if (found.empty()) return "";
  EXPECT_NE(found[0].source, code().source) << row(op).name;
  EXPECT_THAT(found[0].source, HasSubstr("// after\n"));
  return found[0].source;
}

TEST(WarpMutations, ChangeOnlyOneLineOfTheBackwardFunction) {
  EXPECT_THAT(only(MutationOperator::kWrongOperand), HasSubstr("wp::adj_mul(var_1, var_4, adj_3, adj_1, adj_5);"));
  EXPECT_THAT(only(MutationOperator::kResultInsteadOfOperand),
              HasSubstr("wp::adj_mul(var_5, var_1, adj_3, adj_1, adj_5);"));
  EXPECT_THAT(only(MutationOperator::kMissingChainRuleFactor),
              HasSubstr("wp::adj_add(var_4, var_1, adj_3, adj_1, adj_5);"));
  EXPECT_THAT(only(MutationOperator::kCotangentOfOtherArray),
              HasSubstr("wp::adj_array_store(var_y, var_0, var_5, adj_x, adj_0, adj_5);"));
  EXPECT_THAT(only(MutationOperator::kClearAdjointBeforeRead),
              HasSubstr("{ auto cleared = adj_5; wp::adj_array_store(var_y, var_0, var_5, adj_y, adj_0, cleared); } "
                        "wp::adj_array_store("));
  EXPECT_THAT(only(MutationOperator::kLoopRunsForward), Not(HasSubstr("iter_reverse")));
  EXPECT_THAT(only(MutationOperator::kOneIterationMore), HasSubstr("wp::range(var_n + 1);"));
  EXPECT_THAT(only(MutationOperator::kStaleAdjoint), Not(HasSubstr("        adj_3 = {};")));
  EXPECT_THAT(only(MutationOperator::kBranchNegated), HasSubstr("if (!var_6) {"));
  EXPECT_THAT(only(MutationOperator::kSkippedBranchReversal), HasSubstr("if (false) {"));
  EXPECT_THAT(only(MutationOperator::kNoThreadGuard), HasSubstr("_idx <= dim.size"));
}

TEST(WarpMutations, CoverEachAdjointCallOfTheReverseSweep) {
  EXPECT_THAT(find_warp_mutations(MutationOperator::kDropContribution, code()), SizeIs(3));
  EXPECT_THAT(find_warp_mutations(MutationOperator::kCountContributionTwice, code()), SizeIs(2))
      << "a store's adjoint is not repeated";
  const auto scaled = find_warp_mutations(MutationOperator::kDerivativeOffByOnePercent, code());
  ASSERT_THAT(scaled, SizeIs(2)) << "a store's adjoint has no incoming adjoint";
  EXPECT_THAT(scaled[0].source,
              HasSubstr("adj_5 = adj_5 * wp::float32(1.01); wp::adj_mul(var_4, var_1, adj_3, adj_1, adj_5);"));
  const auto shifted = find_warp_mutations(MutationOperator::kIndexPlusOne, code());
  ASSERT_THAT(shifted, SizeIs(2));
  EXPECT_THAT(shifted[0].source, HasSubstr("wp::adj_array_store(var_y, var_0 + 1, var_5, adj_y, adj_0, adj_5);"));
  EXPECT_THAT(shifted[1].source, HasSubstr("wp::adj_address(var_x, var_0 + 1, adj_x, adj_0, adj_3);"));
  EXPECT_EQ(shifted[1].description,
            "'wp::adj_address(var_x, var_0, adj_x, adj_0, adj_3);' becomes "
            "'wp::adj_address(var_x, var_0 + 1, adj_x, adj_0, adj_3);'");
}

TEST(WarpForwardMutations, ChangeOnlyTheForwardFunction) {
  EXPECT_THAT(only(MutationOperator::kWrongOperator), AllOf(HasSubstr("\n    var_5 = wp::add(var_4, var_1);"),
                                                            HasSubstr("        var_5 = wp::mul(var_4, var_1);")));
  EXPECT_THAT(only(MutationOperator::kWrongComparison), HasSubstr("(var_n <= var_2)"));
  EXPECT_THAT(only(MutationOperator::kGuardOffByOne), HasSubstr("const wp::int32 var_2 = 4 + 1;"));
  EXPECT_THAT(only(MutationOperator::kFloatConstantOffByThousandth),
              HasSubstr("\n    const wp::float32 var_1 = 0.5 * 1.001;"));
  EXPECT_THAT(only(MutationOperator::kDroppedStatement), Not(HasSubstr("\n    wp::array_store(")));
  const auto arrays = find_warp_mutations(MutationOperator::kReadOfOtherArray, code());
  ASSERT_THAT(arrays, SizeIs(2));
  EXPECT_THAT(arrays[0].source, HasSubstr("wp::address(var_y, var_0);"));
}

TEST(WarpMutations, AreTheSameInBothPrecisions) {
  WarpCode promoted = code();
  for (std::string* text : {&promoted.source, &promoted.forward, &promoted.backward}) {
    for (std::size_t at = 0; (at = text->find("float32", at)) != std::string::npos;)
      text->replace(at, 7, "float64");
  }
  for (const MutationOperatorEntry& one : kOperators)
    EXPECT_EQ(find_warp_mutations(one.op, promoted).size(), find_warp_mutations(one.op, code()).size()) << one.name;
}

TEST(WarpMutations, RepeatStoreOnlyIfTheSameArrayIsReadAndWritten) {
  EXPECT_THAT(find_warp_mutations(MutationOperator::kReplayedStore, code()), SizeIs(0));
  WarpCode in_place = code();
  for (std::string* text : {&in_place.source, &in_place.backward})
    text->replace(text->find("        var_5 = wp::mul("), 0, "        var_3 = wp::address(var_y, var_0);\n");
  const auto found = find_warp_mutations(MutationOperator::kReplayedStore, in_place);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].source, HasSubstr("\n        wp::array_store(var_y, var_0, var_5);"));
}

TEST(WarpMutations, ChangeAdjointCallsOnlyIfABackwardFunctionExists) {
  WarpCode forward = code();
  forward.source = forward.forward;
  forward.backward.clear();
  EXPECT_THAT(find_warp_mutations(MutationOperator::kDropContribution, forward), SizeIs(0));
  EXPECT_THAT(find_warp_mutations(MutationOperator::kFloatConstantOffByThousandth, forward), SizeIs(1));
}

}  // namespace
}  // namespace assay::mutation
