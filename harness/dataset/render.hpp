// From a kernel in Python to the texts of its row. What a generator and a validator of rows share: the same Python
// gives the same texts.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "harness/dataset/row.hpp"
#include "harness/suite/run/run.hpp"
#include "ir/transforms/adjoint.hpp"
#include "support/result.hpp"

namespace assay::dataset {

/// A kernel with all that a row says of it but evidence and metadata.
struct Rendered {
  harness::KernelSource source;  ///< with its module
  Row row;
  std::string canonical;                  ///< the IR's canonical text, whose hash is the row's id
  bool order_dependent_forward = false;   ///< it has atomics on floats, whose order decides the last bits
  bool order_dependent_backward = false;  ///< its derivative has
};

/// Prints both devices' sources. Fails, with the reason, for a kernel that has float parameters but no derivative, and
/// for one that a target cannot express.
Result<Rendered> render(harness::KernelSource source, const harness::PairPrinter& printer);

/// The kernel that a row's Python text defines, alone; `name` is "loop/r1_42", by which messages and comments in the
/// code call it. Fails where the text is no readable Python, or defines another number of kernels than one.
Result<harness::KernelSource> read_kernel(const std::string& python, std::string_view name);

/// A kernel of a module as a file of its own, written as Warp Python and read back, so that it depends on nothing else
/// of the user's file.
Result<harness::KernelSource> alone(const harness::KernelSource& source);

}  // namespace assay::dataset
