#include "backends/candidate/contract.hpp"

#include <array>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/candidate/contract_check.hpp"

namespace assay::candidate {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

LaunchContract contract(std::vector<std::string> arguments, std::vector<std::string> grid) {
  LaunchContract result;
  result.argument_formulas = std::move(arguments);
  result.grid_formulas = std::move(grid);
  return result;
}

TEST(LaunchContract, DerivesWorkFromExtentsUnlessItUsesThreads) {
  EXPECT_TRUE(contract({"x", "out", "x.shape[0]"}, {"ceil(x.shape[0] / 256)"}).derives_work_from_extents());
  EXPECT_TRUE(contract({"x", "out", "x.shape[0]"}, {"64"}).derives_work_from_extents());
  EXPECT_FALSE(contract({"x", "out", "x.shape[1]"}, {"threads"}).derives_work_from_extents());
  EXPECT_FALSE(contract({"x", "out", "x.shape[1]"}, {"threads.shape[0]"}).derives_work_from_extents());
  EXPECT_FALSE(contract({"x", "out", "n"}, {"ceil(n / 256)"}).derives_work_from_extents()) << "uses no extent";
  EXPECT_FALSE(contract({"x", "out", "x.shape[0]"}, {}).derives_work_from_extents()) << "the blocks cover the threads";
}

std::string syntax_error(const CandidateContract& candidate) {
  const Result<void> valid = check_syntax(candidate);
  return valid.ok() ? "" : valid.error().text();
}
/// The error for a specification with the parameters x (two dimensions), n (an integer) and eps (a float).
std::string name_error(const CandidateContract& candidate) {
  const std::array parameters{FormulaParameter{.name = "x", .rank = 2},
                              FormulaParameter{.name = "n", .is_integer = true}, FormulaParameter{.name = "eps"}};
  const Result<void> valid = check_names(candidate, parameters, 1);
  return valid.ok() ? "" : valid.error().text();
}

TEST(ContractCheck, MalformedFormulaIsReportedWithItsPlaceInTheContract) {
  CandidateContract candidate{.forward = contract({"x", "x.grad", "1e-5"}, {"ceil(n / 256)", "m"})};
  EXPECT_EQ(syntax_error(candidate), "");
  candidate.forward.argument_formulas.back() = "1e--5";
  EXPECT_THAT(syntax_error(candidate), AllOf(HasSubstr("invalid contract: /arguments/2: formula '1e--5', position 2"),
                                             HasSubstr("unexpected 'e'; a formula consists of numbers")));
  candidate.forward.argument_formulas.pop_back();
  candidate.saved_arrays.push_back({.name = "r", .type = "float32", .shape_formulas = {"n", "sqrt(n)"}});
  EXPECT_THAT(syntax_error(candidate), HasSubstr("/saved/r/shape/1: formula 'sqrt(n)'"));
  candidate.saved_arrays.clear();
  candidate.backward.emplace().launch = contract({"x"}, {"n +"});
  EXPECT_THAT(syntax_error(candidate), HasSubstr("/backward/grid/0: formula 'n +'"));
}

TEST(ContractCheck, NamesMustBeThoseOfTheSpecification) {
  CandidateContract candidate{.forward = contract({"x", "eps", "r", "2 * n", "1.0 / x.shape[1]"}, {"threads / BLOCK"})};
  candidate.forward.constexpr_json = R"({"BLOCK": 64})";
  candidate.saved_arrays.push_back({.name = "r", .type = "float32", .shape_formulas = {"threads.shape[0]"}});
  EXPECT_EQ(name_error(candidate), "");
  candidate.forward.argument_formulas.back() = "x.shape[2]";
  EXPECT_THAT(name_error(candidate), HasSubstr("/arguments/4: formula 'x.shape[2]'"));
  candidate.forward.argument_formulas.back() = "x.grad";
  EXPECT_THAT(name_error(candidate), HasSubstr("'x.grad' must be in 'arguments' of 'backward'"));
  candidate.forward.argument_formulas.back() = "m + 1";
  EXPECT_THAT(name_error(candidate), AllOf(HasSubstr("/arguments/4: formula 'm + 1'"), HasSubstr("unknown name 'm'"),
                                           HasSubstr("the parameters of the specification are x, n, eps")));
  candidate.forward.argument_formulas.pop_back();
  candidate.forward.grid_formulas = {"threads.shape[1]"};
  EXPECT_THAT(name_error(candidate), HasSubstr("/grid/0")) << "the launch has one dimension";
}

TEST(ContractCheck, BackwardPassMayNameGradientsAndResultsOfForwardPass) {
  CandidateContract candidate;
  candidate.forward.result_names = {"out", "mean"};
  candidate.backward.emplace().launch = contract({"x.grad", "mean", "x", "n"}, {});
  EXPECT_EQ(name_error(candidate), "");
  candidate.backward->launch = contract({"n.grad"}, {});
  EXPECT_THAT(name_error(candidate), HasSubstr("'n.grad' in the contract must be the gradient of an array"));
  candidate.backward->launch = contract({"rstd"}, {});
  EXPECT_THAT(name_error(candidate), HasSubstr("/backward/arguments/0: 'rstd' in 'arguments'"));
}

TEST(LaunchContract, RoundedInputsHaveErrorOfTheirType) {
  LaunchContract rounding;
  EXPECT_EQ(rounding.input_error(), 4);
  rounding.input_bits = 11;
  EXPECT_EQ(rounding.input_error(), 4 + 2 * 8192) << "two unit roundoffs of tf32, 2^-11, in those of float32, 2^-24";
}

}  // namespace
}  // namespace assay::candidate
