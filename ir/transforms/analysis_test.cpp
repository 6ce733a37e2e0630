// Tests of activity and liveness analysis.
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/text.hpp"
#include "ir/transforms/activity.hpp"
#include "ir/transforms/liveness.hpp"
#include "ir/transforms/ssa.hpp"

namespace assay::transforms {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

/// A kernel and the results of both analyses.
struct Analyzed {
  explicit Analyzed(const std::string& text)
      : module(parse(text)),
        ssa(to_ssa(module, kernel()).take()),
        activity(find_activity(module, kernel(), ssa)),
        part_updates(find_part_updates(ssa)),
        liveness(module, kernel(), ssa, activity, part_updates) {}

  static ir::Module parse(const std::string& text) {
    auto module = ir::parse_text(text);
    EXPECT_TRUE(module.ok()) << module.error().text();
    return module.take();
  }
  const ir::Function& kernel() const { return module.kernels[0]; }

  std::vector<std::string> names(const ValueSet& set) const {
    std::vector<std::string> result;
    for (std::size_t v = 0; v < set.size(); ++v) {
      if (set[v]) result.push_back(ssa.values[v].name);
    }
    return result;
  }
  const Loop& loop() const {
    for (const SsaNode& node : ssa.body.nodes) {
      if (const auto* found = std::get_if<Loop>(&node.node)) return *found;
    }
    std::abort();
  }
  std::vector<std::string> state() {
    std::vector<std::string> result;
    for (const std::size_t i : liveness.needs(loop()).restored_carried_values)
      result.push_back(ssa.values[static_cast<std::size_t>(loop().carried_values[i].argument)].name);
    return result;
  }

  ir::Module module;
  SsaKernel ssa;
  Activity activity;
  PartUpdates part_updates;
  Liveness liveness;
};

TEST(ActivityAnalysis, ActiveValuesDependOnFloatInputAndAffectOutput) {
  const Analyzed a(
      R"(kernel k(x: array<f32,1>, scale: f32, spare: f32, n: i32, out: array<f32,1>, flags: array<i32,1>; i) {
  let used: f32 = mul(x[i], scale)
  let unused: f32 = mul(used, 2.0)
  let constant: f32 = mul(cast<f32>(n), 3.0)
  let decides: f32 = mul(spare, 2.0)
  if gt(decides, 0.0) {
    flags[i] = 1
  }
  out[i] = add(used, constant)
}
)");
  EXPECT_THAT(a.names(a.activity.active_values), UnorderedElementsAre("scale", "x_i", "used", "add"));
}

TEST(ActivityAnalysis, PropagatesActivityThroughLoopsButNotThroughIntegers) {
  const Analyzed a(R"(kernel k(x: array<f32,1>, n: i32, out: array<f32,1>; i) {
  let first: f32 = x[i]
  let second: f32 = 0.0
  let count: i32 = 0
  for j: i32 in range(0, n, 1) {
    second = first
    first = floor(first)
    count = add(count, cast<i32>(first))
  }
  out[i] = add(second, cast<f32>(count))
}
)");
  // `first` reaches the output through `second` of the next iteration; its floor has no derivative.
  EXPECT_TRUE(a.activity.is_active(a.loop().carried_values[1].initial_value));
  for (const std::string& name : a.names(a.activity.active_values))
    EXPECT_TRUE(name == "first" || name == "second" || name == "add") << name;
}

TEST(ActivityAnalysis, MarksOperandsOfSelectionsAsPossiblyUnused) {
  const Analyzed a(R"(kernel k(x: array<f32,1>, out: array<f32,1>; i) {
  let plain: f32 = sin(x[i])
  let product: f32 = mul(plain, plain)
  let chosen: f32 = where(gt(plain, 0.0), product, 1.0)
  out[i] = mul(chosen, 2.0)
}
)");
  EXPECT_THAT(a.names(a.activity.possibly_unused_values), UnorderedElementsAre("x_i", "plain", "product"));
}

std::string loop_with(const std::string& update) {
  return "kernel k(x: array<f32,1>, n: i32, out: array<f32,1>; i) {\n  let s: f32 = x[i]\n  let t: f32 = 1.0\n"
         "  for j: i32 in range(0, n, 1) {\n    " +
         update + "\n  }\n  out[i] = mul(s, t)\n}\n";
}

TEST(SavedLoopState, IsEmptyIfLoopOnlyAddsToVariable) {
  EXPECT_THAT(Analyzed(loop_with("s = add(s, x[j])")).state(), ElementsAre());
}
TEST(SavedLoopState, IsEmptyIfUpdateIsLinearInVariable) {
  EXPECT_THAT(Analyzed(loop_with("s = sub(mul(s, 0.5), x[j])")).state(), ElementsAre());
}
TEST(SavedLoopState, IncludesVariableMultipliedInEachIteration) {
  EXPECT_THAT(Analyzed(loop_with("s = mul(s, x[j])")).state(), ElementsAre("s"));
}
TEST(SavedLoopState, IncludesVariablesThatDetermineOtherSavedVariables) {
  // The derivative of s needs t alone, but t is made from s.
  EXPECT_THAT(Analyzed(loop_with("s = mul(s, t)\n    t = floor(s)")).state(), UnorderedElementsAre("s", "t"));
}
TEST(ReverseSweep, OmitsLoopsWithoutDerivatives) {
  Analyzed a(R"(kernel k(x: array<f32,1>, n: i32, out: array<f32,1>; i) {
  let k: i32 = 0
  for j: i32 in range(0, n, 1) {
    k = add(k, j)
  }
  out[i] = mul(x[k], x[i])
}
)");
  EXPECT_FALSE(a.liveness.needs(a.loop()).has_reverse_sweep);
}
TEST(ReverseSweep, RepeatsOnlyStoresWhoseValuesTheKernelReads) {
  const Analyzed a(R"(kernel k(x: array<f32,1>, both: array<f32,1>, out: array<f32,1>; i) {
  both[i] = mul(both[i], x[i])
  out[i] = both[i]
}
)");
  EXPECT_FALSE(a.liveness.replays_stores(0));
  EXPECT_TRUE(a.liveness.replays_stores(1));
  EXPECT_FALSE(a.liveness.replays_stores(2));
}
TEST(ReverseSweep, OmitsStoresThatOnlyOtherOmittedStoresNeed) {
  const Analyzed a(R"(kernel k(x: array<f32,1>, counts: array<i32,1>, places: array<i32,1>, out: array<f32,1>; i) {
  counts[i] = add(counts[i], 1)
  places[i] = add(counts[i], 2)
  out[i] = mul(x[places[i]], x[i])
  counts[i] = counts[add(i, 1)]
}
)");
  EXPECT_TRUE(a.liveness.replays_stores(1));
  EXPECT_TRUE(a.liveness.replays_stores(2));
  const Analyzed b(R"(kernel k(x: array<f32,1>, counts: array<i32,1>, places: array<i32,1>, out: array<f32,1>; i) {
  counts[i] = add(counts[i], 1)
  places[i] = add(counts[i], places[i])
  out[i] = mul(x[i], x[i])
}
)");
  EXPECT_FALSE(b.liveness.replays_stores(1));
  EXPECT_FALSE(b.liveness.replays_stores(2));
}

}  // namespace
}  // namespace assay::transforms
