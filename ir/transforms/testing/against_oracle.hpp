// For the tests of the adjoint: one launch of a kernel, and what the oracle says of its backward kernel there.
//
// The backward kernel is itself a kernel, so the oracle evaluates it forward, with the gradients as its arrays; what
// they hold then must be what the oracle's own reverse sweep of the primal gives. The two share no derivative.
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

/// A launch with the cotangents of its arrays' final contents.
struct OracleTrial {
  ir::Launch launch;
  reference::ComponentValues seeds;
};

struct Sizes {
  std::int32_t threads = 3;
  std::int32_t extent = 30;  ///< of every dimension of every array
};

/// Values drawn from the kernel's comments "domain: low <= name <= high" (floats from [-2, 2] where there is none),
/// and for each float of each array a seed of size about 1.
OracleTrial draw(const ir::Module& module, const ir::Function& kernel, std::uint64_t seed, Sizes sizes = {});

struct Comparison {
  enum class Kind { kAgrees, kDisagrees, kRejected, kUndefined };
  Kind kind = Kind::kAgrees;
  std::string message = {};         ///< why, unless it agrees
  std::int64_t compared = 0;        ///< gradients that are finite
  std::int64_t changed = 0;         ///< gradients that are not what their buffer held before
  std::int64_t local_elements = 0;  ///< sum of the extents of the backward kernel's local arrays
  std::int64_t backward_steps = 0;  ///< instructions that the oracle ran for the backward kernel
  std::int64_t forward_steps = 0;   ///< and for the primal
};
void PrintTo(Comparison::Kind kind, std::ostream* out);

/// Makes the backward kernel, verifies it and compares all gradients.
Comparison compare(const ir::Module& module, const ir::Function& kernel, const OracleTrial& trial);

/// A kernel in Python: its parameters and its body.
struct Example {
  std::string_view name;
  std::string_view parameters;
  std::string_view body;
  std::string_view before = {};  ///< comments "# domain: ..." and what else stands above the kernel
  Sizes sizes = {};

  std::string source() const;
};
void PrintTo(const Example& example, std::ostream* out);

/// Reads the example and compares on one draw.
Comparison compare(const Example& example, std::uint64_t seed);

/// The first kernel of a Python text; fails the test if it cannot be read.
ir::Module read(std::string_view python);

/// Sum of the extents of a kernel's local arrays.
std::int64_t local_elements(const ir::Function& kernel);

}  // namespace assay::transforms::testing
