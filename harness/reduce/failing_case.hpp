// Reduces a kernel whose case failed on a device.
//
//     const Result<ReducedCase> reduced = reduce_case({.source = source, .pass = pass, .ending = ending_of(record)},
//                                                     device, printer, options, {.time = std::chrono::seconds(60)});
#pragma once

#include <memory>
#include <string>

#include "backends/device/backend.hpp"
#include "harness/reduce/failure_class.hpp"
#include "harness/reduce/reducer.hpp"
#include "harness/suite/run/run.hpp"
#include "support/result.hpp"

namespace assay::reduce {

struct FailingCase {
  harness::KernelSource source;  ///< that could be read
  backends::Pass pass = backends::Pass::kForward;
  Ending ending;
};

struct ReducedCase {
  Reduction reduction;
  harness::KernelSource source;  ///< as it is read from its Python text
  harness::RunOptions options;   ///< under which it ends so
  harness::CaseRecord record;    ///< of the reduced kernel
};

/// The source that a reader of the module's Python text gets: its first kernel, of the family "user". Fails where
/// Python cannot say it.
Result<harness::KernelSource> through_python(const ir::Module& module, const std::string& file);

/// Judges one case of the kernel.
harness::CaseRecord judge_case(const harness::KernelSource& source, backends::Pass pass, backends::Device& device,
                               const harness::Printer& printer, const harness::RunOptions& options);

/// Judges candidates as Python texts, several batches at once. Few inputs do if the case fails on them too; otherwise
/// `options` say how many. Fails if the case does not end so any more.
Result<ReducedCase> reduce_case(const FailingCase& failing, backends::Device& device, const harness::Printer& printer,
                                const harness::RunOptions& options, Budget budget = {}, const Report& report = nullptr);

}  // namespace assay::reduce
