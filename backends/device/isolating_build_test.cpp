#include "backends/device/isolating_build.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::backends {
namespace {

using ::testing::ElementsAre;

/// A compiler that rejects every unit with a bad kernel and blames the kernels that the test specifies.
class FakeBuilder {
 public:
  using Blame = std::function<std::set<std::size_t>(std::span<const EmittedKernel* const>)>;
  FakeBuilder(std::set<std::string> bad, Blame blame) : bad_(std::move(bad)), blame_(std::move(blame)) {}

  std::vector<std::string> failures_among(const std::string& names) {
    std::vector<EmittedKernel> kernels;
    for (const char name : names)
      kernels.push_back({.name = std::string(1, name)});
    std::vector<const EmittedKernel*> pointers;
    for (const EmittedKernel& kernel : kernels)
      pointers.push_back(&kernel);
    std::vector<std::string> failed;
    const auto outcomes = build_isolating_failures(pointers, [&](auto unit) { return build(unit); });
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      if (std::holds_alternative<BuildFailed>(outcomes[i])) {
        failed.push_back(kernels[i].name);
      } else {
        EXPECT_EQ(std::get<BuiltKernel>(outcomes[i]).name, kernels[i].name);
      }
    }
    return failed;
  }

  std::vector<std::string> units;  ///< the units built, in order: "abc"
  BuildFailed::Kind kind = BuildFailed::Kind::kRejected;

 private:
  BatchOutcome build(std::span<const EmittedKernel* const> kernels) {
    units.emplace_back();
    bool good = true;
    for (const EmittedKernel* kernel : kernels) {
      units.back() += kernel->name;
      good = good && !bad_.contains(kernel->name);
    }
    if (good) {
      BuiltBatch unit;
      for (const EmittedKernel* kernel : kernels)
        unit.kernels.push_back({.name = kernel->name});
      return unit;
    }
    return FailedBatch{{kind, "bad"}, blame_(kernels)};
  }

  std::set<std::string> bad_;
  Blame blame_;
};

std::set<std::size_t> nobody(std::span<const EmittedKernel* const>) { return {}; }

TEST(IsolatingBuild, BuildsValidBatchInOneCompilation) {
  FakeBuilder builder({}, nobody);
  EXPECT_THAT(builder.failures_among("abcd"), ElementsAre());
  EXPECT_THAT(builder.units, ElementsAre("abcd"));
}

TEST(IsolatingBuild, KernelBlamedByCompilerLogIsBuiltSeparately) {
  FakeBuilder builder(
      {"c"}, [](auto kernels) { return kernels.size() == 1 ? std::set<std::size_t>{0} : std::set<std::size_t>{2}; });
  EXPECT_THAT(builder.failures_among("abcd"), ElementsAre("c"));
  EXPECT_THAT(builder.units, ElementsAre("abcd", "c", "abd"));
}

TEST(IsolatingBuild, FindsInvalidKernelEvenIfLogBlamesValidKernel) {
  FakeBuilder builder(
      {"b"}, [](auto kernels) { return kernels.size() == 4 ? std::set<std::size_t>{2} : std::set<std::size_t>{}; });
  EXPECT_THAT(builder.failures_among("abcd"), ElementsAre("b"));
}

TEST(IsolatingBuild, BisectsBatchIfLogBlamesNoKernel) {
  FakeBuilder builder({"a", "d"}, nobody);
  EXPECT_THAT(builder.failures_among("abcd"), ElementsAre("a", "d"));
  EXPECT_THAT(builder.units, ElementsAre("abcd", "ab", "a", "b", "cd", "c", "d"));
}

TEST(IsolatingBuild, IgnoresLogEntryWithKernelNumberOutsideBatch) {
  FakeBuilder builder({"a"}, [](auto) { return std::set<std::size_t>{99}; });
  EXPECT_THAT(builder.failures_among("ab"), ElementsAre("a"));
}

TEST(IsolatingBuild, DoesNotBisectBatchAfterResourceError) {
  FakeBuilder builder({"a"}, nobody);
  builder.kind = BuildFailed::Kind::kResourceFailure;
  EXPECT_THAT(builder.failures_among("abc"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(builder.units, ElementsAre("abc"));
}

}  // namespace
}  // namespace assay::backends
