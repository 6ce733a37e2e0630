// One kernel, its adjoint and its sources, as printed by `emit`, `diff` and `run`.
#pragma once

#include <optional>
#include <string>

#include "backends/device/emitted_kernel.hpp"
#include "backends/source/print.hpp"
#include "harness/suite/run/run.hpp"
#include "ir/transforms/adjoint.hpp"
#include "support/result.hpp"

namespace assay::harness {

/// A parsed kernel and, if requested, its adjoint.
struct LoadedKernel {
  KernelSource source;                               ///< the kernel and its module
  std::optional<transforms::AdjointModule> adjoint;  ///< the backward kernel; empty if not requested

  [[nodiscard]] const ir::Function& kernel() const { return source.module->kernels[source.kernel_index]; }
};

/// Loads the kernel that the selector matches: FILE.py:KERNEL, FILE.py with a single kernel, or a name such as
/// "loop/r2_42". Fails if it matches no kernel or several, if the kernel cannot be parsed, or, with `backward`, if it
/// cannot be differentiated.
Result<LoadedKernel> load_kernel(const std::string& selector, bool backward);

/// The kernel's source for a target, with the backward pass if there is an adjoint.
Result<backends::EmittedKernel> emit_source(const LoadedKernel& subject, backends::SourceTarget target,
                                            const source::PrintOptions& options = {});

/// The printers of backends/source, as functions for the harness.
Printer printer();
PairPrinter pair_printer();

}  // namespace assay::harness
