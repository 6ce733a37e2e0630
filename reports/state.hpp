// CUDA_STATE.md: the last verified results by device. It is generated from conformance/state.json, a small summary of
// run records that is committed with it, so that a test can detect a stale page without running anything.
//
//   assay state --update DIR    read_state, update_state from DIR's records, write_state, write_state_page
//   assay state                 read_state, write_state_page
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "reports/model/summary.hpp"
#include "support/result.hpp"

namespace assay::reports {

/// The result of the last recorded run that ran a family's cases in one pass on one device.
struct LatestRunResult {
  std::string family;             ///< family of the cases
  std::string pass;               ///< pass of the cases
  std::string device;             ///< device of the cases
  std::string run_date;           ///< date of the run: "2026-11-21"
  std::string toolkit;            ///< compiler of the kernels: "NVRTC 12.8"
  std::string run_id;             ///< id of the run; later runs have greater ids
  std::int64_t supported = 0;     ///< number of supported cases of that run
  std::int64_t passed = 0;        ///< of these, cases that passed
  std::int64_t inconclusive = 0;  ///< of these, cases without a verdict
  friend bool operator==(const LatestRunResult&, const LatestRunResult&) = default;
};

/// A recorded run on one device.
struct StateLogEntry {
  std::string run_date;        ///< date of the run: "2026-11-21"
  std::string run_id;          ///< id of the run
  std::string device;          ///< name of the device
  std::string result_summary;  ///< result of the run, one line
  friend bool operator==(const StateLogEntry&, const StateLogEntry&) = default;
};

/// The content of conformance/state.json.
struct ProjectState {
  std::string phase;                            ///< current phase of the project; edited by people, like the next two
  std::string next_action;                      ///< next step of the project
  std::vector<std::string> blockers;            ///< what blocks the project
  std::vector<LatestRunResult> latest_results;  ///< last results, sorted by family, pass (forward first) and device
  std::vector<StateLogEntry> run_log;           ///< recorded runs, the oldest first, at most kMaxStateLogEntries
  friend bool operator==(const ProjectState&, const ProjectState&) = default;
};

/// Maximum number of entries in ProjectState::run_log; older ones are dropped.
inline constexpr std::size_t kMaxStateLogEntries = 60;

/// Reads conformance/state.json. Fails with the JSON pointer if it violates its schema.
Result<ProjectState> read_state(const std::filesystem::path& file);
Result<void> write_state(const std::filesystem::path& file, const ProjectState& state);

/// Records a run in the state: each combination that ran replaces an older one, and the log gains a line for each
/// device that ran. Recording the same run again changes nothing. Rejects a run that did not finish, or in which
/// nothing ran.
Result<void> update_state(ProjectState& state, const Run& run, const RunSummary& summary);

/// The text of the page; depends only on the state.
std::string state_page(const ProjectState& state);
Result<void> write_state_page(const std::filesystem::path& file, const ProjectState& state);

}  // namespace assay::reports
