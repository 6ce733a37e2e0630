// A complete run: selects, plans, judges, records. Start reading here.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/device/backend.hpp"
#include "backends/device/registry.hpp"
#include "harness/records/record.hpp"
#include "harness/records/record_writer.hpp"
#include "harness/suite/events.hpp"
#include "harness/suite/options.hpp"
#include "harness/suite/plan.hpp"
#include "harness/suite/run/run.hpp"
#include "harness/suite/run/verdict_cache.hpp"
#include "support/result.hpp"

namespace assay::harness {

/// A run of the suite.
class SuiteRun {
 public:
  /// Selects the kernels, creates the devices and opens the records. Unsupported kernels are reported to `events`.
  /// Fails if an option, a selector or a file is invalid; nothing is judged then.
  static Result<SuiteRun> prepare(SuiteOptions options, RunObserver& events);

  /// Whether there is nothing to judge, because no case failed in the run of --failed-in.
  [[nodiscard]] bool is_empty() const { return device_runs_.empty(); }

  /// Judges and records every planned case. Fails if the device cannot be measured or the records cannot be written.
  Result<RunEnd> judge(RunObserver& events);

  [[nodiscard]] const SuiteOptions& options() const { return options_; }
  /// The devices of the run, one for each build, in the order in which they judge.
  [[nodiscard]] std::vector<backends::Device*> devices();
  /// The device that judged the case.
  [[nodiscard]] backends::Device& device_of(const CaseRecord& record);
  /// The options of the device that judged the case.
  [[nodiscard]] backends::DeviceOptions options_of(const CaseRecord& record) const;

 private:
  SuiteRun() = default;

  /// A device with one of its compilers and architectures.
  struct DeviceBuild {
    backends::NamedBuild named_build;          ///< the options of the build, and its name in the names of modes
    std::unique_ptr<backends::Device> device;  ///< the device with these options
    std::unique_ptr<VerdictCache> verdict_cache = nullptr;  ///< verdicts of earlier runs; null: not used
  };
  /// The part of the run that one device judges.
  struct DeviceRun {
    SuiteOptions options;                                  ///< options of the run, with this device
    std::vector<KernelGroup> groups;                       ///< the kernels to judge
    std::vector<DeviceBuild> builds;                       ///< the builds of the kernels; empty: nothing to judge
    std::unique_ptr<backends::Device> cross_check_device;  ///< device whose results must agree; null: none
  };
  static Result<DeviceRun> part_of(SuiteOptions options, RunSelection& run_selection, RunObserver& events);
  [[nodiscard]] const DeviceBuild& build_of(const CaseRecord& record) const;

  SuiteOptions options_;                  ///< options of the run
  std::vector<DeviceRun> device_runs_;    ///< one for each device, in the order in which they judge
  std::unique_ptr<RecordWriter> writer_;  ///< writes the records of all devices
  RunStart start_;                        ///< first line of the records
};

/// Describes the system, the compilers and every device. Fails only if an option is invalid.
Result<RunEnvironment> find_environment(const backends::DeviceOptions& options);
/// The same for a run with these devices. Leaves out the other devices that run Warp, because it takes longer to find
/// Warp than to judge a small kernel.
Result<RunEnvironment> find_environment(const backends::DeviceOptions& options,
                                        std::span<backends::Device* const> devices);

}  // namespace assay::harness
