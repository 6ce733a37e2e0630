#include "backends/candidate/formula.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::candidate {
namespace {

using ::testing::HasSubstr;

/// n = 1000, threads = 7, and an array x of shape (5, 300).
const FormulaNameLookup kNames{.value_of = [](std::string_view name) -> std::optional<double> {
                                 if (name == "n") return 1000;
                                 if (name == "threads") return 7;
                                 return std::nullopt;
                               },
                               .extent_of = [](std::string_view array, std::size_t dimension) -> std::optional<double> {
                                 if (array != "x" || dimension > 1) return std::nullopt;
                                 return dimension == 0 ? 5 : 300;
                               }};

std::int64_t value(std::string_view formula) {
  const Result<std::int64_t> result = evaluate(formula, kNames);
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().text());
  return result.ok() ? *result : -1;
}
double real(std::string_view formula) {
  const Result<double> result = evaluate_real(formula, kNames);
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().text());
  return result.ok() ? *result : -1;
}
std::string error(std::string_view formula) {
  const Result<std::int64_t> result = evaluate(formula, kNames);
  return result.ok() ? "" : result.error().text();
}

TEST(ContractFormula, EvaluatesArithmeticWithUsualPrecedence) {
  EXPECT_EQ(value("2 + 3 * 4 - -1"), 15);
  EXPECT_EQ(value("(2 + 3) * 4 % 7"), 6);
  EXPECT_EQ(value("12 / 2 / 3"), 2);
}

TEST(ContractFormula, EvaluatesParametersArrayShapesAndThreadCount) {
  EXPECT_EQ(value("n"), 1000);
  EXPECT_EQ(value("x.shape[0] * x.shape[1]"), 1500);
  EXPECT_EQ(value("threads"), 7);
}

TEST(ContractFormula, RequiresCeilOrFloorIfResultIsNotAnInteger) {
  EXPECT_EQ(value("ceil(n / 256)"), 4);
  EXPECT_EQ(value("floor(n / 256) * 256"), 768);
  EXPECT_EQ(value("max(32, min(n, 128))"), 128);
  EXPECT_THAT(error("n / 256"), HasSubstr("must be an integer, got 3.90625; use ceil or floor"));
}

TEST(ContractFormula, AcceptsDecimalNumbersAndExponents) {
  EXPECT_EQ(real("0.00001"), 1e-5);
  EXPECT_EQ(real("1e-5"), 1e-5);
  EXPECT_EQ(real("2.5E+1 / .5"), 50);
  EXPECT_EQ(real("1.0 / x.shape[1]"), 1.0 / 300);
  EXPECT_EQ(real("0"), 0);
  EXPECT_EQ(value("1e3"), 1000);
  EXPECT_EQ(value("ceil(1.5 * n)"), 1500);
  EXPECT_THAT(error("0.5"), HasSubstr("must be an integer, got 0.5"));
  EXPECT_THAT(error("1e"), HasSubstr("position 2: unexpected 'e'"));
  EXPECT_THAT(error("1.2.3"), HasSubstr("position 4: unexpected '.'"));
  EXPECT_THAT(error("1e999"), HasSubstr("too large"));
  EXPECT_THAT(error("x.shape[1e0]"), HasSubstr("expected ']'"));
}

TEST(ContractFormula, FindsDecimalNumbers) {
  EXPECT_TRUE(has_decimal_number("1e-5"));
  EXPECT_TRUE(has_decimal_number("2 * (n + 0.5)"));
  EXPECT_FALSE(has_decimal_number("n / 256 + x.shape[0]"));
}

TEST(ContractFormula, SyntaxCheckIgnoresValues) {
  EXPECT_TRUE(check_syntax("n / (threads - 7)", kNames).ok()) << "divides by zero";
  EXPECT_TRUE(check_syntax("n / 256", kNames).ok()) << "is not an integer";
  EXPECT_FALSE(check_syntax("n / (threads - 7) + m", kNames).ok()) << "m is unknown";
  EXPECT_FALSE(check_syntax("1e--5", kNames).ok());
}

TEST(ContractFormula, MalformedFormulaIsReportedWithPositionOrCause) {
  EXPECT_THAT(error(""), HasSubstr("position 1: expected a number or a name"));
  EXPECT_THAT(error("n +"), HasSubstr("expected a number or a name"));
  EXPECT_THAT(error("n m"), HasSubstr("position 3: unexpected 'm'"));
  EXPECT_THAT(error("ceil(n"), HasSubstr("expected ')'"));
  EXPECT_THAT(error("sqrt(n)"), HasSubstr("unknown function 'sqrt'"));
  EXPECT_THAT(error("m"), HasSubstr("unknown name 'm'"));
  EXPECT_THAT(error("x.shape[2]"), HasSubstr("'x' must be an array that has a dimension 2"));
  EXPECT_THAT(error("x.size"), HasSubstr("expected 'shape'"));
  EXPECT_THAT(error("n / 0"), HasSubstr("division by zero"));
  EXPECT_THAT(error("99999999999999999999"), HasSubstr("too large"));
  EXPECT_THAT(error(std::string(1000, '(')), HasSubstr("the formula is nested too deeply"));
}

}  // namespace
}  // namespace assay::candidate
