#include "harness/judge/candidate_sets.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/judge/draw_sets.hpp"
#include "harness/testing/kernel_text.hpp"

namespace assay::harness {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::Ge;
using ::testing::Gt;
using ::testing::IsSupersetOf;
using ::testing::Lt;
using ::testing::Not;

/// The input sets on which a candidate for a kernel in Python is judged.
class CandidateInputs {
 public:
  explicit CandidateInputs(const std::string& python, ArrayExtents array_extents = ArrayExtents::kExact)
      : source_(testing::kernel_of(python)),
        promoted_(ir::promoted(*source_.module)),
        oracle_(reference::Oracle::make(*source_.module, source_.module->kernels[0]).take()),
        promoted_oracle_(reference::Oracle::make(promoted_, promoted_.kernels[0]).take()),
        space_(InputSpace::make(*source_.module, source_.module->kernels[0], oracle_, array_extents).take()) {
    JudgingPolicy policy = JudgingPolicy::quick();
    policy.float_offset_input_sets = 11;
    reference::ArithmeticProfile profile;
    profile.input_error.unit_roundoffs = 4;
    auto drawn = draw_input_sets({.module = *source_.module,
                                  .kernel = source_.module->kernels[0],
                                  .promoted = promoted_,
                                  .oracle = oracle_,
                                  .promoted_oracle = promoted_oracle_},
                                 space_, policy, profile, 1);
    if (auto* found = std::get_if<std::vector<InputSet>>(&drawn)) sets = std::move(*found);
    else ADD_FAILURE() << std::get<InputDrawFailure>(drawn).message;
  }

  /// The scalars of a parameter in a set.
  std::vector<double> values(const InputSet& set, const std::string& name) const {
    const auto& variables = source_.module->kernels[0].variables;
    const auto number = std::ranges::find(variables, name, &ir::Variable::name) - variables.begin();
    const ir::Argument& argument = launch(set).arguments.at(static_cast<std::size_t>(number));
    const ir::Scalar scalar = argument.type.scalar;
    std::vector<double> result;
    for (std::int64_t e = 0; e < ir::element_count(argument); ++e) {
      const std::byte* at = argument.bytes.data() + ir::element_offset(argument, e);
      result.push_back(ir::is_float(scalar) ? ir::read_float(scalar, at)
                                            : static_cast<double>(ir::read_integer(scalar, at)));
    }
    return result;
  }
  /// The scalars of a parameter in all sets.
  std::vector<double> all_values(const std::string& name) const {
    std::vector<double> result;
    for (const InputSet& set : sets) {
      const std::vector<double> added = values(set, name);
      result.insert(result.end(), added.begin(), added.end());
    }
    return result;
  }
  std::set<std::int64_t> thread_counts() const {
    std::set<std::int64_t> counts;
    for (const InputSet& set : sets)
      counts.insert(launch(set).threads());
    return counts;
  }
  static const ir::Launch& launch(const InputSet& set) { return set.launch_by_precision[Precision::kNative]; }

  std::vector<InputSet> sets;

 private:
  KernelSource source_;
  ir::Module promoted_;
  reference::Oracle oracle_;
  reference::Oracle promoted_oracle_;
  InputSpace space_;
};

constexpr const char* kProducts = R"(
@wp.kernel
def k(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = x[i] * y[i]
)";
constexpr const char* kMeans = R"(
@wp.kernel
def k(a: wp.array(dtype=wp.int32), b: wp.array(dtype=wp.int32), out: wp.array(dtype=wp.int32)):
    i = wp.tid()
    out[i] = (a[i] & b[i]) + ((a[i] ^ b[i]) >> 1)
)";

TEST(CandidateSets, HaveOffsetsOfDifferentSigns) {
  const CandidateInputs inputs(kProducts);
  const auto has_negative_products = [&](const InputSet& set) {
    return std::ranges::min(inputs.values(set, "x")) > 5 && std::ranges::max(inputs.values(set, "y")) < -5;
  };
  EXPECT_TRUE(std::ranges::any_of(inputs.sets, has_negative_products));
}

TEST(CandidateSets, HaveZerosOfBothSigns) {
  const CandidateInputs inputs(kProducts);
  const auto has_both_zeros = [&](const InputSet& set) {
    const std::vector<double> x = inputs.values(set, "x");
    const auto has_zero = [&](bool is_negative) {
      return std::ranges::any_of(x, [&](double value) { return value == 0 && std::signbit(value) == is_negative; });
    };
    return has_zero(false) && has_zero(true);
  };
  EXPECT_TRUE(std::ranges::any_of(inputs.sets, has_both_zeros));
}

/// How many values of a set are exactly this number.
std::int64_t count_of(const std::vector<double>& values, double number) { return std::ranges::count(values, number); }

TEST(CandidateSets, HaveFloatsAtBothClosedEndsOfTheirRange) {
  const CandidateInputs inputs("# domain: -1 <= x <= 3\n" + std::string(kProducts).substr(1));
  const auto has_ends = [&](const InputSet& set) {
    const std::vector<double> x = inputs.values(set, "x");
    return set.request.at_ends_of_range == DrawRequest::AtEndsOfRange::kMany && count_of(x, -1) > 0 &&
           count_of(x, 3) > 0 && std::ranges::min(x) == -1 && std::ranges::max(x) == 3;
  };
  EXPECT_TRUE(std::ranges::any_of(inputs.sets, has_ends));
}

constexpr const char* kHistogram = R"(@wp.kernel
def k(x: wp.array(dtype=float), counts: wp.array(dtype=wp.int32)):
    i = wp.tid()
    bin = wp.min(int(x[i] * 16.0), 15)
    wp.atomic_add(counts, bin, 1)
)";

// A correct candidate may compute 15.999999 instead of 16, so there are two paths for each such input.
TEST(CandidateSets, HaveFewFloatsAtTheEndOfTheirRangeIfItIsAlsoTheLimitOfADecision) {
  const CandidateInputs inputs("# domain: 0 <= x <= 1\n" + std::string(kHistogram));
  const auto at_end = std::ranges::find(inputs.sets, DrawRequest::AtEndsOfRange::kFew,
                                        [](const InputSet& set) { return set.request.at_ends_of_range; });
  ASSERT_NE(at_end, inputs.sets.end());
  EXPECT_EQ(count_of(inputs.values(*at_end, "x"), 1), 1);
  EXPECT_EQ(at_end->references(Precision::kNative).size(), 2U);
  EXPECT_TRUE(at_end->is_conclusive(Precision::kPromoted));
}

TEST(CandidateSets, HaveNoFloatsAtOpenEndsOfTheirRange) {
  const CandidateInputs inputs("# domain: 0 < x < 1\n" + std::string(kHistogram));
  for (const InputSet& set : inputs.sets) {
    EXPECT_EQ(set.request.at_ends_of_range, DrawRequest::AtEndsOfRange::kNone);
    EXPECT_EQ(count_of(inputs.values(set, "x"), 1), 0);
  }
}

TEST(CandidateSets, HaveZeroRowsWhoseQuotientsAreCompared) {
  const CandidateInputs inputs(R"(
@wp.kernel
def k(x: wp.array2d(dtype=float), out: wp.array2d(dtype=float)):
    i = wp.tid()
    greatest = float(0.0)
    for j in range(x.shape[1]):
        greatest = wp.max(greatest, wp.abs(x[i, j]))
    scale = wp.max(greatest, 1.0e-5) / 127.0
    for j in range(x.shape[1]):
        if x[i, j] / scale >= 0.0:
            out[i, j] = wp.floor(x[i, j] / scale + 0.5)
        else:
            out[i, j] = wp.ceil(x[i, j] / scale - 0.5)
)");
  EXPECT_TRUE(std::ranges::any_of(inputs.sets, [](const InputSet& set) { return set.request.has_zero_rows; }));
}

TEST(CandidateSets, HaveBlocksWithOneElement) {
  const CandidateInputs inputs(kProducts);
  EXPECT_THAT(inputs.thread_counts(), IsSupersetOf({std::int64_t{129}, std::int64_t{257}, std::int64_t{1025}}));
}

TEST(CandidateSets, HaveValuesAsSmallAsUsualEpsilons) {
  const CandidateInputs inputs(kProducts);
  const auto are_small = [&](const InputSet& set) {
    std::vector<double> x = inputs.values(set, "x");
    for (double& value : x)
      value = std::abs(value);
    return std::ranges::max(x) < 1e-7 && std::ranges::max(x) > 1e-10;
  };
  EXPECT_TRUE(std::ranges::any_of(inputs.sets, are_small));
}

TEST(CandidateSets, HaveTwoBlocksThoughEachThreadLoopsOverAllElements) {
  const CandidateInputs inputs(R"(
@wp.kernel
def k(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    s = float(0.0)
    for j in range(x.shape[0]):
        d = x[i] - x[j]
        s += d * d
    out[i] = s
)");
  EXPECT_THAT(inputs.thread_counts(), Contains(Gt(256)));
}

TEST(CandidateSets, HaveIntegersWhoseSumOverflows) {
  const CandidateInputs inputs(kMeans);
  EXPECT_THAT(inputs.all_values("a"), Contains(Ge(0x1p30)));
  EXPECT_THAT(inputs.all_values("a"), Contains(Lt(-0x1p30)));
  const auto overflows = [&](const InputSet& set) {
    const std::vector<double> a = inputs.values(set, "a"), b = inputs.values(set, "b");
    for (std::size_t i = 0; i < a.size(); ++i)
      if (std::abs(a[i] + b[i]) >= 0x1p31) return true;
    return false;
  };
  EXPECT_TRUE(std::ranges::any_of(inputs.sets, overflows));
}

TEST(CandidateSets, HaveLongArraysOfLargeIntegers) {
  const CandidateInputs inputs(R"(
# launch: (1)
@wp.kernel
def k(x: wp.array(dtype=wp.int32), total: wp.array(dtype=wp.int64)):
    i = wp.tid()
    t = wp.int64(0)
    for j in range(x.shape[0]):
        t += wp.int64(x[j])
    total[i] = t
)");
  const auto overflows = [&](const InputSet& set) {
    const std::vector<double> x = inputs.values(set, "x");
    double sum = 0;
    for (const double value : x)
      sum += value;
    return x.size() > 100 && std::abs(sum) > 0x1p32;
  };
  EXPECT_TRUE(std::ranges::any_of(inputs.sets, overflows));
}

TEST(CandidateSets, HaveIntegersOfBothSignsInRoundExtents) {
  const CandidateInputs inputs(kMeans);
  const auto is_signed = [&](const InputSet& set) {
    return set.request.has_round_extents && std::ranges::min(inputs.values(set, "a")) < 0;
  };
  EXPECT_TRUE(std::ranges::any_of(inputs.sets, is_signed));
  const auto is_unsigned = [&](const InputSet& set) {
    return set.request.has_round_extents && std::ranges::min(inputs.values(set, "a")) >= 0;
  };
  EXPECT_TRUE(std::ranges::any_of(inputs.sets, is_unsigned));
}

// A code of another algorithm may need several blocks, whether or not the kernel reads the last element.
TEST(CandidateSets, HaveSmallWindowsAndLargeImages) {
  const CandidateInputs inputs(R"(
# launch: (x.shape[0], weight.shape[0], x.shape[2] - weight.shape[2] + 1, x.shape[3] - weight.shape[3] + 1)
@wp.kernel
def conv2d(x: wp.array4d(dtype=float), weight: wp.array4d(dtype=float), out: wp.array4d(dtype=float)):
    n, o, i, j = wp.tid()
    total = float(0.0)
    for c in range(weight.shape[1]):
        for u in range(weight.shape[2]):
            for v in range(weight.shape[3]):
                total += x[n, c, i + u, j + v] * weight[o, c, u, v]
    out[n, o, i, j] = total
)");
  for (const std::int32_t window : {1, 3, 5}) {
    EXPECT_TRUE(std::ranges::any_of(inputs.sets, [&](const InputSet& set) {
      const std::vector<std::int32_t>& shape = inputs.launch(set).arguments[1].shape;
      const std::vector<std::int32_t>& extents = inputs.launch(set).extents;
      return shape[2] == window && shape[3] == window && extents[2] >= 15 && extents[3] >= 33;
    })) << window;
  }
  for (const auto& [window, channels] : {std::pair{3, 5}, {1, 7}}) {
    EXPECT_TRUE(std::ranges::any_of(inputs.sets, [&](const InputSet& set) {
      const std::vector<std::int32_t>& shape = inputs.launch(set).arguments[1].shape;
      return shape[1] == channels && shape[2] == window && shape[3] == window;
    })) << channels;
  }
}

// A block may copy several elements at a time, in one step or in several.
TEST(CandidateSets, HaveOneLongDimensionWhileAllExtentsAreMultiplesOfFour) {
  const CandidateInputs inputs(R"(
# launch: (table.shape[0], table.shape[1] * cache.shape[1], cache.shape[2])
# domain: 0 <= table < cache.shape[0]
@wp.kernel
def pages(cache: wp.array3d(dtype=float), table: wp.array2d(dtype=int), out: wp.array3d(dtype=float)):
    n, t, d = wp.tid()
    out[n, t, d] = cache[table[n, t // cache.shape[1]], t % cache.shape[1], d]
)");
  const auto is_round = [](std::int32_t extent) { return extent % 4 == 0; };
  for (const auto& [parameter, rank] : {std::pair{0, 3}, {1, 2}}) {
    for (int d = 0; d < rank; ++d) {
      EXPECT_TRUE(std::ranges::any_of(inputs.sets,
                                      [&](const InputSet& set) {
                                        const std::vector<ir::Argument>& arguments = inputs.launch(set).arguments;
                                        return arguments[parameter].shape[d] >= 260 &&
                                               std::ranges::all_of(arguments[0].shape, is_round) &&
                                               std::ranges::all_of(arguments[1].shape, is_round);
                                      }))
          << parameter << ' ' << d;
    }
  }
}

TEST(CandidateSets, HaveLongDimensionsOfTheLaunch) {
  const CandidateInputs inputs(R"(
@wp.kernel
def prefix_norms(x: wp.array4d(dtype=float), out: wp.array3d(dtype=float)):
    n, h, i = wp.tid()
    total = float(0.0)
    for j in range(i + 1):
        for d in range(x.shape[3]):
            total += x[n, h, j, d] * x[n, h, j, d]
    out[n, h, i] = total
)");
  EXPECT_TRUE(
      std::ranges::any_of(inputs.sets, [&](const InputSet& set) { return inputs.launch(set).extents[1] > 64; }));
  EXPECT_TRUE(
      std::ranges::any_of(inputs.sets, [&](const InputSet& set) { return inputs.launch(set).extents[2] > 64; }));
}

TEST(CandidateSets, AreDrawnIfKernelIgnoresLastElementOfAnnotatedExtent) {
  const CandidateInputs inputs(R"(
# launch: (len(x))
@wp.kernel
def k(x: wp.array(dtype=wp.int32), out: wp.array(dtype=wp.int32)):
    i = wp.tid()
    total = int(0)
    for j in range(i):
        total += x[j]
    out[i] = total
)");
  EXPECT_THAT(inputs.thread_counts(), Contains(Gt(250)));
  for (const InputSet& set : inputs.sets) {
    const auto& arguments = CandidateInputs::launch(set).arguments;
    EXPECT_EQ(arguments[0].shape, arguments[1].shape);
  }
}

TEST(NegativeParameters, AreDrawnIfTheyAreDisplacements) {
  const CandidateInputs inputs(R"(
# launch: (len(x))
@wp.kernel
def k(x: wp.array(dtype=float), shift: int, out: wp.array(dtype=float)):
    i = wp.tid()
    n = x.shape[0]
    source = (i - shift) % n
    if source < 0:
        source += n
    out[i] = x[source]
)");
  EXPECT_THAT(inputs.all_values("shift"), AllOf(Contains(Lt(0)), Contains(Gt(0))));
}

// A candidate for these kernels may launch `n` blocks, or loop over `n` elements.
TEST(NegativeParameters, AreNotDrawnIfTheyAreCounts) {
  for (const char* statement :
       {"for j in range(n):\n        s += x[i]", "s = x[i] * float(i % n)", "if i < n:\n        s = x[i]",
        "s = x[i] / float(n + 1)", "s = x[i] * wp.pow(0.5, float(n))", "for j in range(n + 1):\n        s += x[i]"}) {
    const CandidateInputs inputs(
        "@wp.kernel\ndef k(x: wp.array(dtype=float), n: int, out: wp.array(dtype=float)):\n    i = wp.tid()\n"
        "    s = float(0.0)\n    " +
        std::string(statement) + "\n    out[i] = s\n");
    EXPECT_THAT(inputs.all_values("n"), Each(Ge(0))) << statement;
  }
}

TEST(SetsWithManyBlocks, HaveTheMostThreadsAndTheLargestArrays) {
  const CandidateInputs inputs(kProducts);
  const std::vector<std::size_t> chosen = sets_with_many_blocks(inputs.sets);
  ASSERT_EQ(chosen.size(), 2U);
  std::set<std::int64_t> threads;
  for (const std::size_t set : chosen)
    threads.insert(CandidateInputs::launch(inputs.sets.at(set)).threads());
  EXPECT_EQ(threads, (std::set<std::int64_t>{1031, 1040}));
  EXPECT_TRUE(sets_with_many_blocks({}).empty());
}

}  // namespace
}  // namespace assay::harness
