// Reduces a kernel with a failing case on a device.
//
//     const Result<ReducedCase> reduced = reduce_case({.source = source, .pass = pass, .ending = ending_of(record)},
//                                                     device, printer, options, {.time_limit =
//                                                     std::chrono::seconds(60)});
#pragma once

#include <memory>
#include <string>

#include "backends/device/backend.hpp"
#include "harness/reduce/failure_class.hpp"
#include "harness/reduce/reducer.hpp"
#include "harness/suite/run/run.hpp"
#include "support/result.hpp"

namespace assay::reduce {

/// A case to reduce.
struct FailingCase {
  harness::KernelSource source;                    ///< the failing kernel; must be parsed
  backends::Pass pass = backends::Pass::kForward;  ///< the pass that fails
  FailureClass failure_class;                      ///< the failure that the reduced kernel must reproduce
};

/// The result of reducing a case.
struct ReducedCase {
  Reduction reduction;           ///< the reduced module and statistics
  harness::KernelSource source;  ///< the reduced kernel, parsed from its Python text
  harness::RunOptions options;   ///< options under which the reduced kernel fails
  harness::CaseRecord record;    ///< record of the reduced kernel's failing case
};

/// Writes the module as Python and parses it again; gives its first kernel, in the family "user". Fails if the module
/// cannot be written as Python.
Result<harness::KernelSource> reparse_as_python(const ir::Module& module, const std::string& file);

/// Judges one case of the kernel.
harness::CaseRecord judge_case(const harness::KernelSource& source, backends::Pass pass, backends::Device& device,
                               const harness::Printer& printer, const harness::RunOptions& options);

/// Judges candidates as Python texts, several batches concurrently. Uses few inputs if the case fails on them too, else
/// those of `options`. Fails if the failure is not reproducible.
Result<ReducedCase> reduce_case(const FailingCase& failing, backends::Device& device, const harness::Printer& printer,
                                const harness::RunOptions& options, ReductionBudget budget = {},
                                const ProgressCallback& on_progress = nullptr);

}  // namespace assay::reduce
