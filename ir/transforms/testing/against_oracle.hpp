// For tests of the adjoint: compares a backward kernel with the oracle on one launch.
//
// The backward kernel is itself a kernel, so the oracle evaluates it forward with the gradients as arrays. The
// gradients must match the oracle's own reverse sweep of the primal. The two share no derivative rules.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "ir/launch.hpp"
#include "ir/module.hpp"
#include "ir/transforms/adjoint.hpp"
#include "reference/cpu/reference.hpp"

namespace assay::transforms::testing {

/// A launch and the cotangents of the final array contents.
struct OracleInput {
  ir::Launch launch;                      ///< arguments of the launch
  reference::ComponentValues cotangents;  ///< cotangents of the final array contents
};

struct Sizes {
  std::int32_t threads = 3;  ///< number of threads
  std::int32_t extent = 30;  ///< extent of every dimension of every array
};

/// Draws values in the domains of the comments "domain: low <= name <= high" (floats in [-2, 2] by default), and a
/// cotangent of magnitude about 1 for each float of each array.
OracleInput draw(const ir::Module& module, const ir::Function& kernel, std::uint64_t seed, Sizes sizes = {});

struct OracleComparison {
  enum class Kind { kAgrees, kDisagrees, kRejected, kUndefined };
  Kind kind = Kind::kAgrees;
  std::string message = {};         ///< the reason, unless the kernels agree
  std::int64_t compared = 0;        ///< number of finite gradients
  std::int64_t changed = 0;         ///< number of gradients that differ from the initial content of their buffer
  std::int64_t local_elements = 0;  ///< sum of the extents of the backward kernel's local arrays
  std::int64_t backward_steps = 0;  ///< oracle instructions for the backward kernel
  std::int64_t forward_steps = 0;   ///< oracle instructions for the primal
};
void PrintTo(OracleComparison::Kind kind, std::ostream* out);

/// Makes the backward kernel, verifies it and compares all gradients.
OracleComparison compare(const ir::Module& module, const ir::Function& kernel, const OracleInput& input);

/// A Python kernel, given by its parameters and body.
struct Example {
  std::string_view name;         ///< name of the test
  std::string_view parameters;   ///< parameter list of the kernel
  std::string_view body;         ///< body of the kernel
  std::string_view before = {};  ///< comments such as "# domain: ..." and other text above the kernel
  Sizes sizes = {};              ///< sizes of the launch

  std::string source() const;
};
void PrintTo(const Example& example, std::ostream* out);

/// Parses the example and compares on one random launch.
OracleComparison compare(const Example& example, std::uint64_t seed);

/// The module of a Python text; fails the test if it cannot be parsed.
ir::Module read(std::string_view python);

/// Sum of the extents of a kernel's local arrays.
std::int64_t local_elements(const ir::Function& kernel);

}  // namespace assay::transforms::testing
