// The options of a run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends/device/registry.hpp"
#include "harness/judge/fixed_extents.hpp"
#include "harness/measure/measure.hpp"
#include "harness/suite/select/exported_kernel.hpp"

namespace assay::harness {

/// The options of a run.
struct SuiteOptions {
  std::vector<std::string> selectors;  ///< patterns, files and folders that select the kernels
  /// Folder of a run whose failed cases are judged instead of the selectors; empty: use the selectors.
  std::string failed_run_folder;
  /// Folder of recorded launches that are the inputs of their kernels; empty: inputs are drawn.
  std::string launches_folder;
  /// Kernels to judge instead of the selectors; empty: use the selectors.
  std::optional<std::vector<ExportedKernel>> exported_kernels;
  std::string reproduce_import_options;  ///< import options to repeat in the reproducing command: " --import"
  std::string device = "cpu";            ///< device that judges first
  /// Devices that judge the same selection after `device`, in the same run.
  std::vector<std::string> additional_devices = {};
  /// Whether another device of the same run, which can run the emitted code, judges the same kernels before `device`.
  bool follows_another_device = false;
  backends::DeviceOptions device_options =
      {};                              ///< device_options.cross_check_device is set from `cross_check_device` below
  backends::BuildChoices builds = {};  ///< the compilers and architectures; empty: those of `device_options`
  /// Device with which a GPU is compared, "both" or "none"; empty: depends on the mode.
  std::string cross_check_device;
  std::string pass = "both";  ///< pass to judge: "forward", "backward" or "both"
  std::string mode;           ///< numeric modes: one of kModeNames (modes.hpp); empty: the device's default
  /// Levels of -O, for a device that has several.
  std::vector<int> optimization_levels{0};
  int random_kernels_per_family = 8;  ///< number of random kernels for each family that a pattern matches
  std::uint64_t seed = 1;             ///< seed of the inputs and of the first random kernel
  bool quick = false;                 ///< whether to judge on fewer inputs (JudgingPolicy::quick)
  bool thorough = false;              ///< whether to judge on more inputs (JudgingPolicy::thorough)
  /// Whether custom gradients may differ from the derivatives of their functions.
  bool trusts_custom_gradients = false;
  FixedExtents fixed_extents = {};       ///< extents of all launches of every kernel; empty: chosen by the judge
  int repetition_count = 1;              ///< number of times that each case is judged
  int jobs = 0;                          ///< number of batches processed concurrently; 0: one per core
  std::string shard;                     ///< part of the selection to judge: "2/4"; empty: all
  std::string output = "out";            ///< folder of the records and reports
  bool resumes_interrupted_run = false;  ///< whether to continue the run whose records are in `output`
  bool ignores_cached_verdicts = false;  ///< whether to judge kernels again that an earlier run verified
  /// Maximum number of failing cases for which the origin of the failure is sought.
  int max_failures_to_examine = 3;
  std::string expectations_file;                                 ///< path of the file of expected failures; empty: none
  std::optional<MeasureOptions> measure_options = std::nullopt;  ///< how to time passing kernels; empty: no timing
  std::vector<std::string> command_line;                         ///< command line as given, for the record
};

}  // namespace assay::harness
