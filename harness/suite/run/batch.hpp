// Processes a batch of kernels: prepares them, builds them together, and judges them one by one. Private to run.
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

/// A kernel and the results of the stages before judging.
struct PreparedKernel {
  const KernelSource* source = nullptr;                   ///< the kernel; not owned
  std::shared_ptr<const ir::Module> promoted;             ///< module with f64 promotion; `promoted_oracle` refers to it
  std::optional<reference::Oracle> oracle;                ///< the oracle for the kernel's own types
  std::optional<reference::Oracle> promoted_oracle;       ///< the oracle for `promoted`
  std::optional<transforms::AdjointModule> adjoint;       ///< the backward kernel, if there is one
  std::optional<Error> adjoint_rejection;                 ///< why the kernel cannot be differentiated; empty if it can
  std::optional<backends::EmittedKernel> emitted_kernel;  ///< the printed source; empty if a stage failed
  /// If a stage failed: the outcome, kind and message of its cases.
  std::optional<CaseRecord> early_result;
  /// Why a device that gives the kernel to Warp does not get the user's own text; empty if it does.
  std::string own_text_obstacle = {};
  StageTimes stage_times;  ///< time of each stage so far

  const ir::Function& kernel() const { return source->module->kernels[source->kernel_index]; }
};

/// Verifies, differentiates and prints one kernel; failures are in PreparedKernel::early_result.
PreparedKernel prepare_kernel(const KernelSource& source, const Printer& printer, backends::SourceTarget target,
                              const RunOptions& options);

/// The requested passes that the kernel has: kernels without a float parameter have no backward pass.
std::vector<backends::Pass> passes_of(const KernelSource& source, const RunOptions& options);

/// The math library and rounding of a device's code with these flags; see Device::uses_cuda_math.
reference::ArithmeticProfile profile_of(bool uses_cuda_math, const backends::BuildFlags& flags);

/// The name of a case.
std::string case_name(const KernelSource& source, std::string_view device, backends::Pass pass, const Mode& mode);

/// The names of a source's cases, in the order of the plan.
std::vector<std::string> list_case_names(const KernelSource& source, const backends::Device& device,
                                         const RunOptions& options);

/// Receives one record; called in the order of the plan.
using TakeRecord = std::function<void(CaseRecord)>;

/// Prepares and builds the sources, then judges them one by one. Passes one record for each planned case to `take`, as
/// soon as the case is decided.
void run_batch(std::span<const KernelSource> sources, backends::Device& device, const Printer& printer,
               const RunOptions& options, const TakeRecord& take);

/// Passes `unsupported` records to `take`, for a device that cannot run on this machine.
void record_unsupported_batch(std::span<const KernelSource> sources, const backends::Device& device,
                              const RunOptions& options, const TakeRecord& take);

}  // namespace assay::harness
