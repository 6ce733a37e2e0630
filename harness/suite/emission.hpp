// One kernel, its adjoint and its sources: what `emit`, `diff` and `run` print.
#pragma once

#include <optional>
#include <string>

#include "backends/device/emitted_kernel.hpp"
#include "backends/source/print.hpp"
#include "harness/suite/run/run.hpp"
#include "ir/transforms/adjoint.hpp"
#include "support/result.hpp"

namespace assay::harness {

/// A kernel on its own, read and perhaps differentiated.
struct LoadedKernel {
  KernelSource source;
  std::optional<transforms::Adjoint> adjoint;

  [[nodiscard]] const ir::Function& kernel() const { return source.module->kernels[source.kernel_index]; }
};

/// The one kernel that the selector names: FILE.py:KERNEL, FILE.py with a single kernel, or a name as "loop/r1_42".
/// Fails where it names none or several, and where the kernel cannot be read or, with `backward`, not differentiated.
Result<LoadedKernel> load_kernel(const std::string& selector, bool backward);

/// Its source for a target, backward included where there is an adjoint.
Result<backends::EmittedKernel> emit_source(const LoadedKernel& subject, backends::SourceTarget target,
                                            const source::Options& options = {});

/// The printers of backends/source as the harness takes them.
Printer printer();
PairPrinter pair_printer();

}  // namespace assay::harness
