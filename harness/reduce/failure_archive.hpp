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
struct Archived {
  std::filesystem::path folder;
  Failure failure;
};

/// The conditions under which a run with these options judged the record's case.
Conditions conditions_of(const harness::SuiteOptions& options, const harness::CaseRecord& record);
/// The same for the harness. `jobs` as --jobs.
harness::RunOptions run_options(const Conditions& conditions, int jobs);
/// Fails if the conditions name a device that does not exist.
Result<std::unique_ptr<backends::Device>> device_of(const Conditions& conditions);

/// The failure that a record of the source tells of.
Failure failure_of(const harness::CaseRecord& record, const harness::KernelSource& source, Conditions conditions);

/// Writes the failure's folder, reduces the kernel within the time, if any, and writes the folder again with what is
/// left of it. A kernel that fails differently when it is judged again is archived as it is; `tell` gets the reason.
/// Fails if nothing can be written.
Result<Archived> archive_failure(const harness::KernelSource& source, Failure failure, backends::Device& device,
                                 const std::filesystem::path& folder, std::chrono::milliseconds time, int jobs,
                                 const Report& report = nullptr,
                                 const std::function<void(const std::string&)>& tell = nullptr);

/// Where the folders of a run lie.
std::filesystem::path failures_folder(const std::filesystem::path& output);
/// Removes the folders that an earlier run left there.
void forget_failures(const std::filesystem::path& output);

/// Archives the failures of a run, a few of each kind.
class FailureArchiver {
 public:
  /// `options` must outlive it; `seconds` are for reducing, 0: none.
  FailureArchiver(const harness::SuiteOptions& options, double seconds) : options_(options), seconds_(seconds) {}

  /// Notes a record of a kernel of the groups if it is a failure; never from two threads at once. Copies the source.
  void note(const harness::CaseRecord& record, const std::vector<harness::Group>& groups);

  /// Writes the folders and reduces one failure of each kind as far as the time allows. `tell` gets one line for each
  /// that takes time or cannot be written. Returns what a person should see; empty if nothing failed.
  std::string archive(backends::Device& device, const std::function<void(const std::string&)>& tell);

 private:
  struct Noted {
    harness::CaseRecord record;
    harness::KernelSource source;
    bool is_first = false;  ///< of its kind
  };

  const harness::SuiteOptions& options_;
  double seconds_;
  std::vector<Noted> noted_;
  std::map<std::string, std::size_t> of_kind_;
  std::size_t failures_ = 0;
};

/// "out/failures/loop.horner.f32.cpu.backward/reproduce.sh  (reduced from 18 statements to 1)".
std::string line_of(const Archived& kept);

}  // namespace assay::reduce
