// Archives failed cases as folders (harness/reduce/failure_folder.hpp), reduces them and judges them again.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backends/device/backend.hpp"
#include "harness/reduce/failure.hpp"
#include "harness/reduce/reducer.hpp"
#include "harness/suite/options.hpp"
#include "harness/suite/run/run.hpp"
#include "support/result.hpp"

namespace assay::reduce {

/// A failure in its folder.
struct ArchivedFailure {
  std::filesystem::path folder;  ///< path of the failure folder
  Failure failure;               ///< the failure
  std::string failing_arrays;    ///< see JudgedFailure::failing_arrays
};

/// The conditions under which a run with these options judged the record's case, on a device with these options.
JudgingConditions make_judging_conditions(const harness::SuiteOptions& options,
                                          const backends::DeviceOptions& device_options,
                                          const harness::CaseRecord& record);
/// The conditions as options of a run. `jobs` as for --jobs.
harness::RunOptions run_options(const JudgingConditions& conditions, int jobs);
/// Fails if the conditions name a device that does not exist.
Result<std::unique_ptr<backends::Device>> device_of(const JudgingConditions& conditions);

/// The failure in a record of the source.
Failure make_failure(const harness::CaseRecord& record, const harness::KernelSource& source,
                     JudgingConditions conditions);

/// Writes the failure folder, reduces the kernel within `time` (0: does not reduce), and writes the folder again with
/// the reduced kernel. A kernel that fails differently when it is judged again is not reduced; `on_message` gets the
/// reason. Fails if the folder cannot be written.
Result<ArchivedFailure> archive_failure(const harness::KernelSource& source, Failure failure, backends::Device& device,
                                        const std::filesystem::path& folder, std::chrono::milliseconds time, int jobs,
                                        const ProgressCallback& on_progress = nullptr,
                                        const std::function<void(const std::string&)>& on_message = nullptr);

/// The device on which a case failed.
struct DeviceWithOptions {
  backends::Device& device;         ///< the device
  backends::DeviceOptions options;  ///< the options with which a copy of the device is made
};

/// The parent folder of the failure folders of a run.
std::filesystem::path failures_folder(const std::filesystem::path& output);
/// Removes the failure folders of an earlier run.
void remove_archived_failures(const std::filesystem::path& output);

/// Archives the failures of a run, a few of each kind.
class FailureArchiver {
 public:
  /// `options` must outlive it; `seconds` is the time for reducing, 0: none.
  FailureArchiver(const harness::SuiteOptions& options, double seconds)
      : options_(options), reduction_seconds_(seconds) {}

  /// Stores a record of a kernel of the groups if it is a failure. Copies the source. Not thread-safe.
  void add_failure(const harness::CaseRecord& record, const std::vector<harness::KernelGroup>& groups);

  /// Writes the folders and reduces one failure of each kind as far as time allows. `on_message` gets a line for each
  /// reduction and for each folder that cannot be written. Returns a summary for the user; empty if nothing failed.
  /// `device_of` finds the device of a record.
  std::string archive(const std::function<DeviceWithOptions(const harness::CaseRecord&)>& device_of,
                      const std::function<void(const std::string&)>& on_message);

 private:
  /// A failed case that will be archived.
  struct ObservedFailure {
    harness::CaseRecord record;    ///< record of the case
    harness::KernelSource source;  ///< the kernel
    /// Whether it is the first with its pass and failure class. Only the first is reduced.
    bool is_first_of_kind = false;
  };

  const harness::SuiteOptions& options_;            ///< options of the run
  double reduction_seconds_;                        ///< wall time for reducing; 0: nothing is reduced
  std::vector<ObservedFailure> observed_failures_;  ///< failures to archive
  /// Number of failures to archive, by pass and failure class.
  std::map<std::string, std::size_t> failure_count_by_kind_;
  std::size_t failure_count_ = 0;  ///< number of all failures of the run
};

/// "out/failures/loop.horner.f32.cpu.backward/reproduce.sh  (reduced from 18 statements to 1)".
std::string line_of(const ArchivedFailure& kept);

}  // namespace assay::reduce
