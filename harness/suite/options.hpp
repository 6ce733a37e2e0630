// The options of a run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends/device/registry.hpp"
#include "harness/measure/measure.hpp"
#include "harness/suite/select/exported_kernel.hpp"

namespace assay::harness {

struct SuiteOptions {
  std::vector<std::string> selectors;
  std::string failed_run_folder;  ///< judge the cases that failed in this folder's run instead of the selectors; empty:
                                  ///< use the selectors
  std::string launches_folder;    ///< folder of recorded launches, the inputs of their kernels; empty: inputs are drawn
  std::optional<std::vector<ExportedKernel>> exported_kernels;  ///< judge these instead of the selectors
  std::string export_options;  ///< of the import, for the reproducing command: " --import"
  std::string device = "cpu";
  std::vector<std::string> more_devices = {};   ///< that judge the same selection after `device`, in the same run
  backends::DeviceOptions device_options = {};  ///< device_options.cross_check is set from `cross_check` below
  std::string cross_check;     ///< device to compare a GPU with, "both" or "none"; empty: depends on the mode
  std::string pass = "both";   ///< "forward", "backward" or "both"
  std::string mode;            ///< one of kModeNames (modes.hpp); empty: the device's default
  int optimization_level = 0;  ///< -O level of a device that has several
  int random = 8;              ///< random kernels for each family that a pattern matches
  std::uint64_t seed = 1;
  bool quick = false;
  bool thorough = false;
  bool trust_custom_gradients = false;  ///< custom gradients may differ from the derivatives of their functions
  int repeat = 1;
  int jobs = 0;
  std::string shard;  ///< "2/4"; empty: all
  std::string output = "out";
  bool resume = false;                                   ///< continue the run whose records are in `output`
  bool ignore_cached_verdicts = false;                   ///< judge again what an earlier run verified
  std::string expectations_file;                         ///< the file of expected failures; empty: none
  std::optional<MeasureOptions> measure = std::nullopt;  ///< how to time passing kernels; empty: no timing
  std::vector<std::string> command_line;                 ///< as given, for the record
};

}  // namespace assay::harness
