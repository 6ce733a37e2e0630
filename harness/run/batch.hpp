// A batch: kernels that are prepared, built together, and judged one by one. Private to run.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/judge/judge.hpp"
#include "harness/run/run.hpp"

namespace assay::harness {

/// A kernel on its way through the stages.
struct Prepared {
  const KernelSource* source = nullptr;
  std::shared_ptr<const ir::Module> lifted;  ///< stays where it is: the oracle refers to it
  std::optional<reference::Oracle> oracle;
  std::optional<reference::Oracle> lifted_oracle;
  std::optional<passes::Adjoint> adjoint;
  std::optional<Error> refused;  ///< why there is no adjoint
  std::optional<backends::EmittedKernel> emitted;
  std::optional<CaseRecord> stopped;  ///< outcome, kind and message if a stage could not go on
  StageTimes times;

  const ir::Function& kernel() const { return source->module->kernels[source->kernel_index]; }
};

/// Reads, differentiates and prints one kernel; never fails, see Prepared::stopped.
Prepared prepare(const KernelSource& source, const Printer& printer, backends::SourceTarget target,
                 const RunOptions& options);

/// The passes that the options ask for and the kernel has: one without a float parameter has no backward pass.
std::vector<backends::Pass> passes_of(const KernelSource& source, const RunOptions& options);

/// The name of a case.
std::string case_name(const KernelSource& source, std::string_view device, backends::Pass pass, const Mode& mode);

/// Prepares, builds and judges the sources; one record for each planned case, in order.
std::vector<CaseRecord> run_batch(std::span<const KernelSource> sources, backends::Device& device,
                                  const Printer& printer, const RunOptions& options);

/// The records of sources on a device that cannot run here.
std::vector<CaseRecord> unsupported_batch(std::span<const KernelSource> sources, const backends::Device& device,
                                          const RunOptions& options);

}  // namespace assay::harness
