// A session of a device that runs kernels in worker processes. Start reading here.
//
// The session lays launches out in shared memory (command_writer, shared_memory) for a worker (process in this process,
// serve in that one; protocol between them).
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

/// The workers of a device.
struct WorkerKind {
  std::filesystem::path program;  ///< whose main() calls serve_if_worker()
  std::string role;               ///< its argument
  std::filesystem::path folder;   ///< of all files of code; read where the allowance limits files
  /// The files of a launch's code, one a line in the order of preference, or why it has none; its kernel has the entry.
  std::function<Result<std::string>(const backends::LaunchRequest&)> code_of;
  std::string target = {};  ///< what measured code runs on: "sm_90"; empty: launches are not measured
};

/// One worker process at a time, started when first needed and again after each crash or time-out. A round of commands
/// holds as many launches as fit; after a crash the launches behind the culprit go into the next round.
class WorkerSession final : public backends::Session {
 public:
  /// Fails when there is no worker to be had: it is started once, at once.
  static Result<std::unique_ptr<WorkerSession>> open(const Allowance& allowance, WorkerKind kind);

  Result<backends::BufferId> allocate(std::size_t size) override;
  std::span<std::byte> bytes(backends::BufferId buffer) override;
  void reset() override;
  std::vector<backends::RunOutcome> run(std::span<const backends::LaunchRequest> launches) override;

  /// What its workers are held by.
  [[nodiscard]] const Confinement& confinement() const { return confinement_; }

  /// Loads code and calls nothing. Completed, LaunchFailed with the loader's message, or what its static initialisers
  /// did to the worker.
  backends::RunOutcome load(const std::string& code, std::chrono::milliseconds limit);

 private:
  WorkerSession(std::unique_ptr<SharedMemory> memory, WorkerKind kind);

  std::vector<std::chrono::milliseconds> write_round(std::span<const backends::LaunchRequest> launches);
  std::vector<backends::RunOutcome> run_round(std::span<const std::chrono::milliseconds> limits);
  void take_measured(const backends::LaunchRequest& launch, backends::RunOutcome& outcome) const;
  backends::RunOutcome outcome_of_culprit(Progress progress, const RoundEnd& end,
                                          std::chrono::milliseconds limit) const;

  std::unique_ptr<SharedMemory> memory_;
  WorkerKind kind_;
  WorkerProcess worker_;
  Confinement confinement_;
  std::vector<BufferPlace> buffers_;
  std::size_t used_bytes_ = 0;
};

}  // namespace assay::worker
