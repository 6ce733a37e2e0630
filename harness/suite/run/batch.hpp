// A batch: kernels that are prepared, built together, and judged one by one. Private to run.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/judge/judge.hpp"
#include "harness/suite/run/run.hpp"

namespace assay::harness {

/// A kernel on its way through the stages.
struct Prepared {
  const KernelSource* source = nullptr;
  std::shared_ptr<const ir::Module> promoted;  ///< stays where it is: the oracle refers to it
  std::optional<reference::Oracle> oracle;
  std::optional<reference::Oracle> promoted_oracle;
  std::optional<transforms::Adjoint> adjoint;
  std::optional<Error> rejected;  ///< why there is no adjoint
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

/// The math library and the rounding that code of the language has with these flags.
reference::Profile profile_of(backends::SourceTarget target, const backends::BuildFlags& flags);

/// The name of a case.
std::string case_name(const KernelSource& source, std::string_view device, backends::Pass pass, const Mode& mode);

/// The names of a source's cases, in the order of the plan.
std::vector<std::string> cases_of(const KernelSource& source, const backends::Device& device,
                                  const RunOptions& options);

/// Takes one record; called in the order of the plan.
using TakeRecord = std::function<void(CaseRecord)>;

/// Prepares and builds the sources, then judges them one by one; one record for each planned case, as soon as it is
/// known.
void run_batch(std::span<const KernelSource> sources, backends::Device& device, const Printer& printer,
               const RunOptions& options, const TakeRecord& take);

/// The records of sources on a device that cannot run here.
void unsupported_batch(std::span<const KernelSource> sources, const backends::Device& device, const RunOptions& options,
                       const TakeRecord& take);

}  // namespace assay::harness
