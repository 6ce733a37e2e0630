#include "backends/candidate/contract.hpp"

#include <gtest/gtest.h>

namespace assay::candidate {
namespace {

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

TEST(LaunchContract, RoundedInputsHaveErrorOfTheirType) {
  LaunchContract rounding;
  EXPECT_EQ(rounding.input_error(), 4);
  rounding.input_bits = 11;
  EXPECT_EQ(rounding.input_error(), 4 + 2 * 8192) << "two unit roundoffs of tf32, 2^-11, in those of float32, 2^-24";
}

}  // namespace
}  // namespace assay::candidate
