#include "harness/judge/unrounded.hpp"

#include <cmath>
#include <cstring>
#include <limits>

#include <gtest/gtest.h>

#include "backends/device/backend.hpp"
#include "harness/testing/kernel_text.hpp"

namespace assay::harness {
namespace {

using backends::UnroundedArrayHeader;
using backends::UnroundedElement;

/// What a device wrote about an array of float32 with one element, which is 1 without rounding.
class OneElement {
 public:
  OneElement()
      : source_(testing::kernel_of("@wp.kernel\ndef k(x: wp.array(dtype=float)):\n    x[wp.tid()] = 1.0\n")),
        layout_(ir::make_argument(*source_.module, source_.module->kernels[0].variables[0].type, {1})) {
    exact_.scalars = {{.value = 1, .bound = 0x1p-50}};
    rounded_.scalars = {{.value = 1, .bound = 0x1p-20}};
    with_library_errors_.scalars = {{.value = 1, .bound = 0x1p-22}};
    with_constant_errors_.scalars = {{.value = 1, .bound = 0}};
    exact_.is_written = rounded_.is_written = with_library_errors_.is_written =
        with_constant_errors_.is_written = {true};
  }

  /// The allowed error of the element; nullopt: no verdict.
  std::optional<double> allowed_error() const {
    const auto comparison = compare(1);
    return comparison ? std::optional(comparison->expected[0].bound) : std::nullopt;
  }
  std::optional<UnroundedComparison> compare(double value) const {
    UnroundedElement element = element_;
    element.value = value;
    std::vector<std::byte> bytes(backends::unrounded_array_bytes(1));
    std::memcpy(bytes.data(), &header_, sizeof(header_));
    std::memcpy(bytes.data() + sizeof(header_), &element, sizeof(element));
    return compare_unrounded_values(bytes, *source_.module, layout_,
                                    {.exact = exact_,
                                     .rounded = rounded_,
                                     .with_library_errors = [&] { return with_library_errors_; },
                                     .with_constant_errors =
                                         [&] {
                                           ++evaluations_with_constant_errors_;
                                           return with_constant_errors_;
                                         }});
  }

  UnroundedArrayHeader header_;
  UnroundedElement element_;
  ExpectedArray exact_, rounded_, with_library_errors_, with_constant_errors_;
  mutable int evaluations_with_constant_errors_ = 0;

 private:
  KernelSource source_;
  ir::Argument layout_;
};

TEST(UnroundedComparison, AllowsAboutATrillionthOfTheInfluencesOfTheInputs) {
  const OneElement one;
  EXPECT_EQ(one.allowed_error(), 0x1p-37);
  EXPECT_TRUE(one.compare(1 + 0x1p-38)->result.agrees());
  EXPECT_FALSE(one.compare(1 + 0x1p-36)->result.agrees());
  EXPECT_EQ(one.compare(1)->result.checked_scalars, 1);
}

TEST(UnroundedComparison, AllowsConstantsToBeRounded) {
  OneElement one;
  one.element_.error = 0x1p-24;
  EXPECT_EQ(one.allowed_error(), 0x1p-37 + 0x1p-23);
}

TEST(UnroundedComparison, AllowsConstantsOfTheKernelToBeRoundedIfValuesDifferWithoutThat) {
  OneElement one;
  one.with_constant_errors_.scalars[0].bound = 0x1p-24;
  EXPECT_TRUE(one.compare(1 + 0x1p-38)->is_correct());
  EXPECT_EQ(one.evaluations_with_constant_errors_, 0);
  EXPECT_TRUE(one.compare(1 + 0x1p-24)->is_correct());
  EXPECT_EQ(one.evaluations_with_constant_errors_, 1);
  EXPECT_FALSE(one.compare(1 + 0x1p-23)->is_correct());
  EXPECT_FALSE(one.compare(1.00001)->is_correct());
  one.with_constant_errors_.scalars[0].value = 2;
  EXPECT_FALSE(one.compare(1 + 0x1p-24)->is_correct()) << "the bound of another path";
}

TEST(UnroundedComparison, AllowsErrorsOfTheLibraryAndPartOfTheBoundOfRoundedValuesIfCodeApproximates) {
  // Without the rounding of the value.
  const double additional = kPolynomialErrorFactor * (0x1p-20 - 0x1p-24) + 0x1p-22;
  OneElement one;
  one.header_.evaluates_polynomials = 1;
  EXPECT_EQ(one.allowed_error(), 0x1p-37 + additional);
  one.header_ = {.lost_value_count = 3};
  EXPECT_EQ(one.allowed_error(), 0x1p-37 + additional);
}

TEST(UnroundedComparison, AllowsTheWholeBoundOfRoundedValuesIfTheHostComputes) {
  OneElement one;
  one.header_.host_value_count = 1;
  EXPECT_EQ(one.allowed_error(), 0x1p-37 + (0x1p-20 - 0x1p-24) + 0x1p-22);
}

TEST(UnroundedComparison, GivesNoVerdictIfRoundingChangesDecisionsOrNothingWasWritten) {
  OneElement one;
  one.header_.ambiguous_decision_count = 1;
  EXPECT_FALSE(one.allowed_error());
  one.header_.ambiguous_decision_count = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(one.allowed_error());
}

TEST(UnroundedComparison, LeavesOutElementsThatAreNotWrittenOrInfinite) {
  OneElement one;
  EXPECT_EQ(one.compare(std::numeric_limits<double>::infinity())->result.checked_scalars, 0);
  EXPECT_TRUE(one.compare(1)->is_correct());
  EXPECT_FALSE(one.compare(2)->is_correct());
  for (const double value : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
    EXPECT_FALSE(one.compare(value)->is_correct()) << "rounding is not the cause";
  one.header_.overflows = 1;
  EXPECT_TRUE(one.compare(std::numeric_limits<double>::quiet_NaN())->is_correct());
  one.header_.overflows = 0;
  one.exact_.is_written = {false};
  EXPECT_EQ(one.compare(7)->result.checked_scalars, 0);
  EXPECT_TRUE(one.compare(std::numeric_limits<double>::quiet_NaN())->is_correct()) << "the kernel does not write it";
}

}  // namespace
}  // namespace assay::harness
