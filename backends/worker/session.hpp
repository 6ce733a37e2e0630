// A session of a device that runs kernels in worker processes. Start reading here.
//
// The session writes launches to shared memory (command_writer, shared_memory) for a worker (process in the parent,
// serve in the worker; protocol between them).
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backends/device/backend.hpp"
#include "backends/worker/command_writer.hpp"
#include "backends/worker/process.hpp"
#include "backends/worker/shared_memory.hpp"

namespace assay::worker {

/// How to start the workers of a device.
struct WorkerConfig {
  std::filesystem::path program;  ///< program of the worker; its main() calls serve_if_worker()
  std::string role_argument;      ///< argument that makes the program a worker
  std::filesystem::path
      code_folder;  ///< folder of all code files; the only readable folder if file access is restricted
  /// The code files of a launch, one per line in order of preference, or why there are none. The kernel has the entry.
  std::function<Result<std::string>(const backends::LaunchRequest&)> code_of;
  std::string target = {};  ///< architecture of the code to measure: "sm_90"; empty: launches are not measured
};

/// Runs launches in one worker process at a time, which is restarted after each crash or time-out. A round of commands
/// contains as many launches as fit. After a crash, the launches that follow the failed one are part of the next round.
class WorkerSession final : public backends::DeviceSession {
 public:
  /// Starts a worker at once, and fails if that is not possible.
  static Result<std::unique_ptr<WorkerSession>> open(const WorkerLimits& worker_limits, WorkerConfig kind);

  Result<backends::BufferId> allocate(std::size_t size) override;
  std::span<std::byte> bytes(backends::BufferId buffer) override;
  void reset() override;
  std::vector<backends::RunOutcome> run(std::span<const backends::LaunchRequest> launches) override;

  /// How its workers are confined.
  [[nodiscard]] const Confinement& confinement() const { return confinement_; }

  /// Loads code without calling it. Returns Completed, LaunchFailed with the loader's message, or the failure that a
  /// static initializer caused in the worker.
  backends::RunOutcome load(const std::string& code, std::chrono::milliseconds limit);

 private:
  WorkerSession(std::unique_ptr<SharedMemory> memory, WorkerConfig kind);

  std::vector<std::chrono::milliseconds> write_round(std::span<const backends::LaunchRequest> launches);
  std::vector<backends::RunOutcome> run_round(std::span<const std::chrono::milliseconds> limits);
  void read_measurement(const backends::LaunchRequest& launch, backends::RunOutcome& outcome) const;
  /// Returns the outcome of the launch at which the worker stopped. `limit` is its time limit.
  backends::RunOutcome outcome_of_failed_launch(LaunchProgress progress, const RoundEnd& end,
                                                std::chrono::milliseconds limit) const;

  std::unique_ptr<SharedMemory> shared_memory_;  ///< memory shared with the worker
  WorkerConfig config_;                          ///< program and files of the worker
  WorkerProcess worker_;                         ///< worker process, which may not be running
  Confinement confinement_;                      ///< how the worker is confined
  std::vector<BufferExtent> buffers_;            ///< position of each buffer, by BufferId::index
  std::size_t used_bytes_ = 0;                   ///< total size of the buffers, with their alignment
};

}  // namespace assay::worker
