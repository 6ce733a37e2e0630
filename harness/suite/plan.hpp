// Plans a run: groups the selected kernels by mode and passes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/records/record_writer.hpp"
#include "harness/suite/modes.hpp"
#include "harness/suite/options.hpp"
#include "harness/suite/run/run.hpp"
#include "harness/suite/select/select.hpp"
#include "support/result.hpp"

namespace assay::harness {

/// The kernels that a run judges.
struct RunSelection {
  Selection selection;      ///< the kernels of the shard
  Shard shard;              ///< the part of the whole selection
  std::string inputs_hash;  ///< hash of the whole selection, for RunStart::inputs_hash
};

/// The mode as a run with these modes judges the kernel in it; nullopt if it does not. A selector that names a mode
/// selects its cases regardless of the sample.
std::optional<Mode> judged_mode(const Mode& mode, const SelectedKernel& kernel, const std::vector<Mode>& modes,
                                KernelSampleSize sample);

/// Selects by SuiteOptions::selectors or SuiteOptions::failed_run_folder. Fails on a selector that matches nothing.
Result<RunSelection> select_run(const SuiteOptions& options, const std::vector<Mode>& modes,
                                const std::vector<backends::NamedBuild>& builds);

/// The options of a build of the run: its device options are those of the build.
SuiteOptions make_options_for_build(const SuiteOptions& options, const std::vector<backends::NamedBuild>& builds,
                                    std::string_view build);

/// Groups the selection by mode and passes. Most runs have one group for each mode, and on the CPU one for the sample
/// that is also judged with optimization. `builds` are those that the modes name.
std::vector<KernelGroup> make_kernel_groups(const RunSelection& run_selection, const std::vector<Mode>& modes,
                                            const SuiteOptions& options,
                                            const std::vector<backends::NamedBuild>& builds);

}  // namespace assay::harness
