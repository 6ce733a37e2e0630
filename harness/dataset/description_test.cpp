#include "harness/dataset/description.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generators/generator.hpp"
#include "harness/dataset/render.hpp"
#include "harness/suite/select/random_kernels.hpp"

namespace assay::dataset {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

KernelDescription described(const std::string& kernel) {
  const Result<harness::KernelSource> read = read_kernel("import warp as wp\n\n\n" + kernel, "user/file.k", "file.py");
  EXPECT_TRUE(read.ok()) << read.error().text();
  return read.ok() ? describe(*read->module, read->module->kernels[0]) : KernelDescription{};
}

TEST(Description, QuotesEachStepOfStraightLineKernel) {
  const KernelDescription text = described(R"(@wp.kernel
def scale(x: wp.array(dtype=float), factor: float, out: wp.array(dtype=float)):
    i = wp.tid()
    t = wp.sin(x[i])
    out[i] = factor * t
)");
  EXPECT_EQ(text.docstring, "Compute `out` from `x` and `factor` for each index `i`. Calls `sin`.");
  EXPECT_EQ(text.instruction,
            "Write a kernel `scale(x, factor, out)` in NVIDIA Warp. It is launched over one dimension with the index "
            "`i`. `x` is a 1-dimensional array of type float32; `factor` is a value of type float32; `out` is a "
            "1-dimensional array of type float32 (output). Each thread does the following: set `t` to `sin(x[i])`; "
            "store `factor * t` in `out[i]`.");
}

TEST(Description, NestsStepsOfLoopsAndBranches) {
  const KernelDescription text = described(R"(# domain: 0 <= n <= 12
@wp.kernel
def walk(x: wp.array2d(dtype=float), n: int, out: wp.array(dtype=float)):
    i = wp.tid()
    if i >= out.shape[0]:
        return
    s = float(0.5)
    for j in range(n):
        if x[i, j] < 0.0:
            s += x[i, j]
        elif x[i, j] > 1.0:
            break
        else:
            s = 0.25
    out[i] = s
)");
  EXPECT_THAT(text.instruction,
              HasSubstr("if `i >= out.shape[0]`, return; set `s` to `float(0.5)`; for `j in range(n)`: "
                        "(if `x[i, j] < 0.0`, `s += x[i, j]`, otherwise (if `x[i, j] > 1.0`, leave "
                        "the loop, otherwise set `s` to `0.25`)); store `s` in `out[i]`."));
  EXPECT_THAT(text.instruction, HasSubstr("The inputs satisfy `0 <= n <= 12`."));
  EXPECT_THAT(text.docstring, HasSubstr("Has one range loop and 2 branches."));
}

TEST(Description, StatesWhichInputsEachOutputDependsOn) {
  const KernelDescription text = described(R"(@wp.kernel
def two(x: wp.array(dtype=float), y: wp.array(dtype=float), a: wp.array(dtype=float), total: wp.array(dtype=float)):
    i = wp.tid()
    a[i] = 2.0 * x[i]
    if x[i] > 0.0:
        wp.atomic_add(total, 0, y[i])
)");
  EXPECT_THAT(text.docstring,
              HasSubstr("Compute `a` from `x`; update `total` atomically from `x` and `y` for each index `i`."));
  EXPECT_THAT(text.instruction, HasSubstr("if `x[i] > 0.0`, `atomic_add(total, 0, y[i])`"));
}

TEST(Description, MentionsOutputsWithSameInputsInOneSentence) {
  EXPECT_THAT(described(R"(@wp.kernel
def sums(x: wp.array(dtype=float), a: wp.array(dtype=float), b: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(a, 0, x[i])
    wp.atomic_max(b, 0, x[i])
)")
                  .docstring,
              HasSubstr("Update `a` and `b` atomically from `x` for each index `i`."));
}

TEST(Description, WritesFloat64LiteralsWithoutConversion) {
  const KernelDescription text = described(R"(@wp.kernel
def half(x: wp.array(dtype=wp.float64)):
    i = wp.tid()
    x[i] = wp.float64(-0.5) * wp.exp(x[i] + wp.float64(2.0))
)");
  EXPECT_THAT(text.instruction, HasSubstr("store `-0.5 * exp(x[i] + 2.0)` in `x[i]`"));
}

/// A statement on several lines cannot be quoted from one of them.
TEST(Description, DoesNotQuotePartOfStatement) {
  const KernelDescription text = described(R"(@wp.kernel
def wrapped(x: wp.array(dtype=float)):
    i = wp.tid()
    x[i] = wp.sin(
        x[i]
    )
)");
  EXPECT_THAT(text.instruction, HasSubstr("Each thread does the following: compute a value."));
  EXPECT_THAT(text.instruction, Not(HasSubstr("wp.sin(`")));
}

TEST(Description, QuotesEveryStatementOfRandomKernels) {
  for (const generators::KernelFamilyDefinition& family : generators::families()) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const Result<harness::KernelSource> source = harness::random_kernel(family.family, seed);
      ASSERT_TRUE(source.ok());
      const KernelDescription text = describe(*source->module, source->module->kernels[0]);
      for (const char* const vague : {"compute a value", "a condition holds", "each index of a range",
                                      "update an array", "call a function", "return a value", "do nothing"}) {
        EXPECT_THAT(text.instruction + text.docstring, Not(HasSubstr(vague))) << source->python;
      }
    }
  }
}

}  // namespace
}  // namespace assay::dataset
