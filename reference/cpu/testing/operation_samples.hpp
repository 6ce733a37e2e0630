// For tests: a small kernel for every operation of the table and library function on floats, and points in its domain.
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

/// An application of an operation or library function: its operand types and the expression built from loaded operands.
struct Usage {
  ir::Op op;                       ///< the operation; unused for a library function
  std::string variant;             ///< distinguishing variant, such as "vector"; empty: none
  std::vector<ir::Type> operands;  ///< element types of the input arrays x0, x1, ...
  std::function<ir::ExprId(OracleFixture&, const std::vector<ir::ExprId>&)> build;  ///< builds the expression
  const ir::LibraryFunctionInfo* function = nullptr;  ///< the library function; null: an operation

  std::string name() const;
};

/// All usages of operations with float operands and results, for component type `scalar`. At least one for each such
/// row of the table.
std::vector<Usage> usages(ir::Scalar scalar);

/// All library functions that return floats, for component type `scalar`.
std::vector<Usage> library_usages(ir::Scalar scalar);

/// All of usages() and library_usages().
std::vector<Usage> all_usages(ir::Scalar scalar);

/// A random point in the domain of the operation: the components of each operand.
std::vector<std::vector<double>> sample(const Usage& usage, Rng& rng);

/// The kernel out[0] = op(x0[0], x1[0], ...) at a point; the last parameter is the output.
struct SampleKernel {
  OracleFixture fixture;  ///< the kernel and its arguments
  ir::VarId out;          ///< parameter for the result
};
SampleKernel kernel_at(const Usage& usage, const std::vector<std::vector<double>>& point);

}  // namespace assay::reference::testing
