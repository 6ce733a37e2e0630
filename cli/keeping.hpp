// Failed cases kept as folders (harness/reduce/failure_folder.hpp), reduced and judged again.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backends/device/backend.hpp"
#include "cli/judging.hpp"
#include "harness/reduce/failure.hpp"
#include "harness/reduce/reducer.hpp"
#include "harness/suite/run/run.hpp"
#include "support/result.hpp"

namespace assay::cli {

/// What was kept in a folder.
struct Kept {
  std::filesystem::path folder;
  reduce::Failure failure;
};

/// The conditions under which a run with these options judged the record's case.
reduce::Conditions conditions_of(const JudgeOptions& options, const harness::CaseRecord& record);
/// The same for the harness. `jobs` as --jobs.
harness::RunOptions run_options(const reduce::Conditions& conditions, int jobs);
std::unique_ptr<backends::Device> device_of(const reduce::Conditions& conditions);

/// The failure that a record of the source tells of.
reduce::Failure failure_of(const harness::CaseRecord& record, const harness::KernelSource& source,
                           reduce::Conditions conditions);

/// Writes the failure's folder, reduces the kernel within the time, if any, and writes the folder again with what is
/// left of it. A kernel that fails otherwise when it is judged again is kept as it is. Fails if nothing can be written.
Result<Kept> archive_failure(const harness::KernelSource& source, reduce::Failure failure, backends::Device& device,
                             const std::filesystem::path& folder, std::chrono::milliseconds time, int jobs,
                             const reduce::Report& report = nullptr);

/// Where the folders of a run lie.
std::filesystem::path failures_folder(const std::filesystem::path& output);
/// Removes the folders that an earlier run left there.
void forget_failures(const std::filesystem::path& output);

/// Keeps the failures of a run, a few of each kind.
class FailureArchiver {
 public:
  /// `options` must outlive it.
  explicit FailureArchiver(const JudgeOptions& options) : options_(options) {}

  /// Notes a record of a kernel of the groups, if it tells of a failure; never from two threads at once. Sources that
  /// are kept are copied.
  void note(const harness::CaseRecord& record, const std::vector<harness::Group>& groups);

  /// Writes the folders, and reduces one of each kind as far as the time of the options goes. Says on standard output
  /// what was kept, and on standard error what could not be.
  void keep(backends::Device& device);

 private:
  struct Noted {
    harness::CaseRecord record;
    harness::KernelSource source;
    bool is_first = false;  ///< of its kind
  };

  const JudgeOptions& options_;
  std::vector<Noted> noted_;
  std::map<std::string, std::size_t> of_kind_;
  std::size_t failures_ = 0;
};

/// "out/failures/loop.horner.f32.cpu.backward/reproduce.sh  (reduced from 18 statements to 1)".
std::string line_of(const Kept& kept);

}  // namespace assay::cli
