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
  EXPECT_EQ(text.docstring, "For each index `i`, compute `out` from `x` and `factor`. Calls `sin`.");
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
  EXPECT_THAT(text.instruction, HasSubstr("The inputs satisfy this condition: `0 <= n <= 12`."));
  EXPECT_THAT(text.docstring, HasSubstr("Has one range loop, two branches and one conditional return."));
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
              HasSubstr("For each index `i`, compute `a` from `x`; update `total` atomically from `x` and `y`."));
  EXPECT_THAT(text.instruction, HasSubstr("if `x[i] > 0.0`, `atomic_add(total, 0, y[i])`"));
}

/// A custom gradient contains statements that the source does not state: its adjoints are declared and returned.
TEST(Description, QuotesEachStatementOfACustomGradientOnce) {
  const KernelDescription text = described(R"(@wp.func
def square(x: float) -> float:
    return x * x


@wp.func_grad(square)
def square_gradient(x: float, adj_ret: float):
    if x < 0.0:
        return
    wp.adjoint[x] += 2.0 * x * adj_ret


# custom gradients: trusted
@wp.kernel
def k(x: wp.array(dtype=float), m: int, out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = square(x[i])
)");
  EXPECT_THAT(
      text.instruction,
      HasSubstr("The function `square(x)`, where `x` is of type float32, does the following: `return x * x`. "));
  EXPECT_THAT(
      text.instruction,
      HasSubstr("The function `square_gradient(x, adj_ret)` is the custom gradient (`wp.func_grad`) of `square` "
                "and does the following: if `x < 0.0`, `return`; `adjoint[x] += 2.0 * x * adj_ret`. "));
  EXPECT_THAT(text.instruction, HasSubstr("`m` is a value of type int32 (unused)"));
}

TEST(Description, StatesWhatACustomGradientAddsToAnArray) {
  const KernelDescription text = described(R"(@wp.func
def element(a: wp.array(dtype=float), k: int) -> float:
    return a[k]


@wp.func_grad(element)
def element_gradient(a: wp.array(dtype=float), k: int, adj_ret: float):
    wp.adjoint[a][k] += adj_ret


@wp.kernel
def k(x: wp.array(dtype=float), m: int, out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = element(x, i)
)");
  EXPECT_THAT(
      text.instruction,
      HasSubstr("The function `element(a, k)`, where `a` is a 1-dimensional array of type float32 and `k` is of "
                "type int32, does the following: `return a[k]`. "));
  EXPECT_THAT(text.instruction,
              HasSubstr("The function `element_gradient(a, k, adj_ret)` is the custom gradient (`wp.func_grad`) of "
                        "`element` and does the following: `adjoint[a][k] += adj_ret`. "));
}

TEST(Description, StatesTypesAndUnusedParametersAndWhereABodyEnds) {
  const KernelDescription text = described(R"(vec6 = wp.types.vector(length=6, dtype=float)


@wp.kernel
def k(x: wp.array(dtype=vec6), at: wp.array(dtype=int), n: wp.array(dtype=int), out: wp.array(dtype=float)):
    i = wp.tid()
    s = float(0.0)
    for a in range(2):
        for b in range(n.shape[0]):
            s += x[i][a]
    out[i] = s
)");
  EXPECT_THAT(text.instruction, HasSubstr("`vec6` is `types.vector(length=6, dtype=float)`. "));
  EXPECT_THAT(text.instruction,
              HasSubstr("`at` is a 1-dimensional array of type int32 (unused); `n` is a 1-dimensional "
                        "array of type int32; "));
  EXPECT_THAT(
      text.instruction,
      HasSubstr("for `a in range(2)`: (for `b in range(n.shape[0])`: (`s += x[i][a]`)); store `s` in `out[i]`."));
  EXPECT_THAT(text.docstring, HasSubstr("Has two nested range loops."));
}

TEST(Description, WritesPermutationsAndEmptyBranchesAsEnglish) {
  const KernelDescription text = described(R"(# domain: at is a permutation
@wp.kernel
def k(x: wp.array(dtype=float), at: wp.array(dtype=int), out: wp.array(dtype=float)):
    i = wp.tid()
    if x[i] < 0.0:
        pass
    else:
        out[at[i]] = x[i]
)");
  EXPECT_THAT(text.instruction, HasSubstr("if `x[i] < 0.0`, do nothing, otherwise store `x[i]` in `out[at[i]]`."));
  EXPECT_THAT(text.instruction, HasSubstr("The inputs satisfy this condition: `at` is a permutation of its indices."));
}

TEST(Description, NamesAllIndicesOfBlocks) {
  const KernelDescription text = described(R"(@wp.kernel
def k(x: wp.array2d(dtype=float), out: wp.array2d(dtype=float)):
    i, j = wp.tid()
    t = wp.tile_load(x, shape=(2, 4), offset=(i * 2, j * 4))
    wp.tile_store(out, t, offset=(i * 2, j * 4))
)");
  EXPECT_THAT(text.docstring, HasSubstr("For each block (`i`, `j`), compute `out` from `x`."));
  EXPECT_THAT(text.instruction,
              HasSubstr("launched over a 2-dimensional grid of blocks of threads with the indices `i` and "
                        "`j`."));
  EXPECT_THAT(text.instruction, HasSubstr("Each block does the following"));
}

TEST(Description, TellsAtomicOperationsFromStores) {
  const KernelDescription text = described(R"(@wp.kernel
def k(x: wp.array(dtype=float), both: wp.array(dtype=float), total: wp.array(dtype=float), zero: wp.array(dtype=float)):
    i = wp.tid()
    both[i] = x[i]
    wp.atomic_add(both, 0, 1.0)
    wp.atomic_add(total, 0, x[i])
    zero[i] = 0.0
)");
  EXPECT_THAT(text.docstring,
              HasSubstr("For each index `i`, update `both` from `x` with stores and atomic operations; update "
                        "`total` atomically from `x`; set `zero` to constant values."));
  EXPECT_THAT(text.instruction, HasSubstr("`total` is a 1-dimensional array of type float32 (input and output)"));
}

TEST(Description, CallsAnArrayAnInputOnlyIfItsFirstContentMatters) {
  const std::string instruction = described(R"(@wp.kernel
def k(x: wp.array(dtype=float), state: wp.array(dtype=float), work: wp.array(dtype=float)):
    i = wp.tid()
    state[i] = 0.5 * state[i] + x[i]
    work[i] = x[i]
    state[i] = state[i] + work[i]
)")
                                      .instruction;
  EXPECT_THAT(instruction, HasSubstr("`state` is a 1-dimensional array of type float32 (input and output)"));
  EXPECT_THAT(instruction, HasSubstr("`work` is a 1-dimensional array of type float32 (output)"));
}

TEST(Description, MentionsOutputsWithSameInputsInOneSentence) {
  EXPECT_THAT(described(R"(@wp.kernel
def sums(x: wp.array(dtype=float), a: wp.array(dtype=float), b: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(a, 0, x[i])
    wp.atomic_max(b, 0, x[i])
)")
                  .docstring,
              HasSubstr("For each index `i`, update `a` and `b` atomically from `x`."));
}

TEST(Description, StatesTheTypeOfAllLiteralsOnce) {
  const KernelDescription text = described(R"(@wp.kernel
def half(x: wp.array(dtype=wp.float64)):
    i = wp.tid()
    x[i] = wp.float64(-0.5) * wp.exp(x[i] + wp.float64(2.0))
)");
  EXPECT_THAT(text.instruction, HasSubstr("store `-0.5 * exp(x[i] + 2.0)` in `x[i]`"));
  EXPECT_THAT(text.instruction, HasSubstr("All floating-point constants are of type float64."));
}

TEST(Description, KeepsTheTypesOfLiteralsIfThereAreSeveralFloatTypes) {
  const KernelDescription text = described(R"(@wp.kernel
def half(x: wp.array(dtype=wp.float64), y: wp.array(dtype=float)):
    i = wp.tid()
    x[i] = wp.float64(0.5) * x[i]
    y[i] = 0.5 * y[i]
)");
  EXPECT_THAT(text.instruction, HasSubstr("store `float64(0.5) * x[i]` in `x[i]`; store `0.5 * y[i]` in `y[i]`"));
  EXPECT_THAT(text.instruction, Not(HasSubstr("All floating-point constants")));
}

TEST(Description, JoinsTheLinesOfStatement) {
  const KernelDescription text = described(R"(@wp.kernel
def wrapped(x: wp.array(dtype=float)):
    i = wp.tid()
    x[i] = wp.sin(  # the wave
        x[i],
    ) + (
        # half of the offset
        0.5 * x[i]
        - 1.0
    )
    if (
        x[i] > 1.0
    ):
        x[i] = 1.0
)");
  EXPECT_THAT(text.instruction,
              HasSubstr("Each thread does the following: store `sin(x[i]) + (0.5 * x[i] - 1.0)` in `x[i]`; if "
                        "`(x[i] > 1.0)`, store `1.0` in `x[i]`."));
}

TEST(Description, DoesNotQuotePartOfStatement) {
  const KernelDescription text = described(R"(@wp.kernel
def wrapped(x: wp.array(dtype=float)):
    i = wp.tid()
    x[i] = wp.sin(x[i]) \
        + 1.0
)");
  EXPECT_THAT(text.instruction, HasSubstr("Each thread does the following: compute a value."));
}

TEST(Description, StatesLoopOverQueryAsInTheSource) {
  const KernelDescription text = described(R"(@wp.kernel
def count_neighbors(grid: wp.uint64, points: wp.array(dtype=wp.vec3), out: wp.array(dtype=int)):
    i = wp.tid()
    count = int(0)
    for j in wp.hash_grid_query(grid, points[i], 0.5):
        if wp.length(points[j] - points[i]) < 0.5:
            count += 1
    out[i] = count
)");
  EXPECT_THAT(text.instruction,
              HasSubstr("Each thread does the following: set `count` to `int(0)`; for `j in hash_grid_query(grid, "
                        "points[i], 0.5)`: (if `length(points[j] - points[i]) < 0.5`, `count += 1`); store `count` in "
                        "`out[i]`."));
  EXPECT_THAT(text.instruction, Not(HasSubstr("The function")));
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
