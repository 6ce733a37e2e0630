// For tests: every operation of the table and function of the library on floats as a small kernel, and points of its
// domain.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "ir/library.hpp"
#include "ir/operations/operations.hpp"
#include "reference/cpu/testing/workbench.hpp"
#include "support/rng.hpp"

namespace assay::reference::testing {

/// How an operation or function is applied: its operand types, and the expression from loaded operands.
struct Usage {
  ir::Op op;                       ///< without meaning for a function
  std::string variant;             ///< empty, or what sets this usage apart: "vector"
  std::vector<ir::Type> operands;  ///< element types of the input arrays x0, x1, ...
  std::function<ir::ExprId(OracleFixture&, const std::vector<ir::ExprId>&)> build;
  const ir::LibraryRow* function = nullptr;  ///< for a function of the library

  std::string name() const;
};

/// All usages of operations that take floats and give floats, over scalars of `scalar`. At least one for each
/// row of the table that has floats as operands and result.
std::vector<Usage> usages(ir::Scalar scalar);

/// All functions of the library that give floats, over scalars of `scalar`.
std::vector<Usage> library_usages(ir::Scalar scalar);

/// Both.
std::vector<Usage> all_usages(ir::Scalar scalar);

/// A random point of the operation's domain: one leaf list per operand.
std::vector<std::vector<double>> sample(const Usage& usage, Rng& rng);

/// The kernel out[0] = op(x0[0], x1[0], ...) at a point; the last parameter is the output.
struct SampleKernel {
  OracleFixture bench;
  ir::VarId out;
};
SampleKernel kernel_at(const Usage& usage, const std::vector<std::vector<double>>& point);

}  // namespace assay::reference::testing
