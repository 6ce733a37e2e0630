#include "backends/worker/confinement.hpp"

#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "backends/worker/restrictions.hpp"

namespace assay::worker {

namespace {

std::string reason(std::int32_t error) {
  return error == Confinement::kNotRequested ? "disabled" : std::system_category().message(error);
}

std::string_view limited_by(std::int32_t landlock_version) {
  if (landlock_version >= kMinLandlockVersionForSignals) return "files, network and signals";
  return landlock_version >= kMinLandlockVersionForNetwork ? "files and network" : "files";
}

}  // namespace

Confinement confine(const WorkerLimits& worker_limits, const char* code_folder) {
  Confinement confinement;
  if (worker_limits.restrict_file_access) {
    confinement.file_restriction_error = restrict_file_access(code_folder, confinement.landlock_version);
  }
  // The filter comes last, because it blocks the system calls needed for confinement.
  if (worker_limits.filter_system_calls) {
    confinement.system_call_filter_error = filter_system_calls();
  }
  return confinement;
}

Confinement confine_program(const char* writable_folder) {
  Confinement confinement;
  confinement.file_restriction_error = restrict_writing(writable_folder, confinement.landlock_version);
  const bool limits_signals =
      confinement.file_restriction_error == 0 && confinement.landlock_version >= kMinLandlockVersionForSignals;
  confinement.system_call_filter_error = deny_system_changes(!limits_signals);
  return confinement;
}

std::string describe(const Confinement& confinement) {
  if (confinement.system_call_filter_error == Confinement::kNotRequested &&
      confinement.file_restriction_error == Confinement::kNotRequested) {
    return "the process is limited only in time, memory and file size";
  }
  return fmt::format(
      "{}; {}",
      confinement.system_call_filter_error == 0
          ? "system calls are filtered"
          : fmt::format("system calls are not filtered ({})", reason(confinement.system_call_filter_error)),
      confinement.file_restriction_error == 0
          ? fmt::format("{} are limited by Landlock {}", limited_by(confinement.landlock_version),
                        confinement.landlock_version)
          : fmt::format("access to files is not limited (Landlock: {})", reason(confinement.file_restriction_error)));
}

}  // namespace assay::worker
