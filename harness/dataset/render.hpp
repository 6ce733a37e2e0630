// Renders a kernel in Python to the texts of its row. Shared by the generator and the validator of rows: the same
// Python gives the same texts.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "harness/dataset/row.hpp"
#include "harness/suite/run/run.hpp"
#include "ir/transforms/adjoint.hpp"
#include "support/result.hpp"

namespace assay::dataset {

/// A kernel and its row, which has no evidence and metadata yet.
struct RenderedKernel {
  harness::KernelSource source;  ///< the kernel, with its module
  DatasetRow row;                ///< the texts and the signature
  std::string canonical_ir;      ///< canonical text of the kernel's IR; its hash is the row's id
  bool has_gradients = false;    ///< whether a parameter has a gradient
  /// Whether the kernel has atomics on floats, whose order affects the last bits.
  bool has_order_dependent_forward_pass = false;
  bool has_order_dependent_backward_pass = false;  ///< whether the backward kernel has such atomics
};

/// Prints the sources for both devices; rows with the code of another emitter use no_printer(). Fails if the kernel has
/// float parameters but no derivative, or if a target does not support it.
Result<RenderedKernel> render(harness::KernelSource source, const harness::PairPrinter& printer);

/// The texts of the two entry points, each from its first line to the start of the next one or the end of the body.
struct EntryTexts {
  std::string forward;   ///< text of the forward entry point
  std::string backward;  ///< text of the backward entry point; empty if there is none
};
EntryTexts entry_texts(const backends::EmittedKernel& kernel);

/// Parses the only kernel in a row's Python text. `name`, such as "loop/r2_42", is the name of the kernel in the
/// dataset. `file` is the name of the text in messages and in comments of the code (file_of). Fails if the text cannot
/// be parsed or does not define exactly one kernel.
Result<harness::KernelSource> read_kernel(const std::string& python, std::string_view name, const std::string& file);

/// The name of a row's Python text: "sin_and_accumulate.py" for a kernel that was named; "user/wave.step.py" for a
/// user's kernel; and "loop/r2_42.py" for a kernel under its number, as in rows of schema 1.2 and older.
std::string file_of(std::string_view name, std::string_view kernel_name);

/// The kernel of a row under another name: writes it as Warp Python, parses the text again and renders it. The result
/// is that of producing the row with this name.
Result<RenderedKernel> renamed_kernel(const DatasetRow& row, std::string_view kernel_name,
                                      const harness::PairPrinter& printer);

/// Extracts a kernel from its module: writes it as Warp Python and parses the text again, so that it does not depend on
/// the rest of the user's file.
Result<harness::KernelSource> isolated_kernel(const harness::KernelSource& source);

}  // namespace assay::dataset
