// The examples of docs/design/semantics.md, value by value, in Warp and in the oracle.
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cpu/process.hpp"
#include "harness/suite/select/kernel_file.hpp"
#include "harness/warp_differences/signatures.hpp"
#include "harness/warp_differences/subject.hpp"

namespace assay::warp {
namespace {

constexpr std::chrono::seconds kLimit{120};

constexpr const char* kKernels = R"(import warp as wp

ROOT = 1.4142135623730951


@wp.kernel
def reciprocal_of_negative(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = 1.0 / -x[i]


@wp.kernel
def element_before(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = x[i - 1]


@wp.kernel
def double_constant(x: wp.array(dtype=wp.float64), out: wp.array(dtype=wp.float64)):
    i = wp.tid()
    out[i] = x[i] * wp.float64(ROOT)


@wp.kernel
def greater_after_sum(x: wp.array(dtype=int), out: wp.array(dtype=int)):
    i = wp.tid()
    if x[i] + 5 > x[i]:
        out[i] = 1
)";

constexpr const char* kLaunches = R"(

def show(kernel, dtype, values):
    x = wp.array(values, dtype=dtype, device="cpu")
    out = wp.zeros(len(values), dtype=dtype, device="cpu")
    wp.launch(kernel, dim=len(values), inputs=[x, out], device="cpu")
    print("result", kernel.key, *(repr(value.item()) for value in out.numpy()))


wp.config.quiet = True
show(reciprocal_of_negative, float, [0.0, 2.0])
show(element_before, float, [1.0, 2.0, 4.0])
show(double_constant, wp.float64, [1.0])
show(greater_after_sum, int, [1, 2147483647])


@wp.kernel
def search_in_column(x: wp.array2d(dtype=float), out: wp.array(dtype=int)):
    out[0] = wp.lower_bound(x[:, 1], 1.7)


rows = [[0.0, 1.0, 2.0, 3.0, 4.0], [0.5, 1.5, 2.5, 3.5, 4.5], [7.0, 8.0, 9.0, 10.0, 11.0]]
found = wp.zeros(1, dtype=int, device="cpu")
wp.launch(search_in_column, dim=1, inputs=[wp.array(rows, dtype=float, device="cpu"), found], device="cpu")
print("result", search_in_column.key, *found.numpy())
)";

/// The results that Warp prints for each kernel.
using Results = std::map<std::string, std::vector<double>>;

Result<Results> results_of_warp(const WarpInterpreter& interpreter) {
  const std::filesystem::path file = std::filesystem::path(::testing::TempDir()) / "assay_semantics_examples.py";
  std::ofstream(file) << kKernels << kLaunches;
  const cpu::ProcessResult ran = cpu::run_process(interpreter.program, {file.string()}, kLimit);
  std::filesystem::remove(file);
  if (!ran.succeeded()) return Error{ran.output};
  Results results;
  std::istringstream lines(ran.output);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word;
    if (!(words >> word) || word != "result" || !(words >> word)) continue;
    std::vector<double>& values = results[word];
    for (std::string value; words >> value;)
      values.push_back(std::strtod(value.c_str(), nullptr));
  }
  return results;
}

class SemanticsExamples : public ::testing::Test {
 protected:
  void SetUp() override {
    const Result<WarpInterpreter> interpreter = find_interpreter();
    if (!interpreter.ok()) GTEST_SKIP() << interpreter.error().text();
    Result<Results> results = results_of_warp(*interpreter);
    ASSERT_TRUE(results.ok()) << results.error().text();
    warp_ = results.take();
    ASSERT_EQ(warp_.size(), 5U);
  }

  /// The kernel with `values` as its input.
  template <class T>
  static Result<ComparedKernel> assay(const std::string& kernel, const std::vector<T>& values) {
    Result<harness::KernelSet> set = harness::read_text(kKernels, "examples.py");
    if (!set.ok()) return set.error();
    for (harness::KernelSource& source : set->kernels) {
      if (source.kernel != kernel) continue;
      const ir::Module& module = *source.module;
      const ir::Function& function = module.kernels[source.kernel_index];
      const auto count = static_cast<std::int32_t>(values.size());
      ir::Launch launch{.extents = {count}, .arguments = {}};
      for (ir::VarId p = 0; p < function.parameter_count; ++p)
        launch.arguments.push_back(ir::make_argument(module, function.var(p).type, {count}));
      std::memcpy(launch.arguments[0].bytes.data(), values.data(), values.size() * sizeof(T));
      return ComparedKernel::with_launch(std::move(source), std::move(launch));
    }
    return Error{"no such kernel", kernel};
  }

  /// Expects that Warp's results are `expected`, and that they lie within the bounds of the oracle.
  template <class T>
  void expect_results(const std::string& kernel, const std::vector<T>& values, const std::vector<double>& expected) {
    EXPECT_EQ(warp_[kernel], expected);
    const Result<ComparedKernel> compared = assay(kernel, values);
    ASSERT_TRUE(compared.ok()) << compared.error().text();
    const auto& elements = compared->sets()[0].reference.outputs[1]->elements;
    ASSERT_EQ(elements.size(), expected.size());
    for (std::size_t k = 0; k < expected.size(); ++k) {
      const auto value = static_cast<double>(elements[k].value);
      const double bound = elements[k].bound[reference::kNative];
      const bool is_same = value == expected[k] || std::abs(value - expected[k]) <= bound;
      EXPECT_TRUE(is_same) << kernel << ' ' << k << ": " << value << " within " << bound;
      EXPECT_LT(bound, 1e-12) << kernel << ' ' << k;
    }
  }

  Results warp_;
};

TEST_F(SemanticsExamples, NegatingZeroGivesPositiveZero) {
  expect_results<float>("reciprocal_of_negative", {0.0F, 2.0F}, {HUGE_VAL, -0.5});
}

TEST_F(SemanticsExamples, NegativeIndexCountsFromEnd) { expect_results<float>("element_before", {1, 2, 4}, {4, 1, 2}); }

TEST_F(SemanticsExamples, DoubleConstantIsNotRoundedToFloat) {
  expect_results<double>("double_constant", {1}, {1.4142135623730951});
}

TEST_F(SemanticsExamples, SignedOverflowIsRejectedAsUndefined) {
  EXPECT_EQ(warp_["greater_after_sum"], (std::vector<double>{1, 1}));
  const Result<ComparedKernel> inside = assay<std::int32_t>("greater_after_sum", {1});
  EXPECT_TRUE(inside.ok()) << inside.error().text();
  const Result<ComparedKernel> overflowing = assay<std::int32_t>("greater_after_sum", {2147483647});
  ASSERT_FALSE(overflowing.ok());
  EXPECT_NE(overflowing.error().text().find("signed integer overflow"), std::string::npos)
      << overflowing.error().text();
}

/// The column is 1, 1.5, 8, so that the first element that is not less than 1.7 has the index 2.
TEST_F(SemanticsExamples, LowerBoundFunctionOfWarpIgnoresArrayStrides) {
  EXPECT_EQ(warp_["search_in_column"], std::vector<double>{1});
}

}  // namespace
}  // namespace assay::warp
