// Runs kernels of the CPU device in worker processes.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "backends/backend.hpp"
#include "backends/cpu/shared_memory.hpp"
#include "backends/cpu/worker_process.hpp"

namespace assay::cpu {

/// One worker process at a time, started when first needed and again after each crash or time-out. A round of commands
/// holds as many launches as fit; after a crash the launches behind the culprit go into the next round.
class CpuSession final : public backends::Session {
 public:
  /// Fails when there is no worker to be had: it is started once, at once.
  static Result<std::unique_ptr<CpuSession>> open(const backends::SessionLimits& limits,
                                                  const std::filesystem::path& worker_program);

  Result<backends::BufferId> allocate(std::size_t size) override;
  std::span<std::byte> bytes(backends::BufferId buffer) override;
  void reset() override;
  std::vector<backends::RunOutcome> run(std::span<const backends::LaunchRequest> launches) override;

  /// Loads a library and calls nothing. Completed, LaunchFailed with the loader's message, or what its static
  /// initialisers did to the worker.
  backends::RunOutcome load(const std::filesystem::path& library, std::chrono::milliseconds limit);

 private:
  struct Buffer {
    std::size_t offset;
    std::size_t size;
  };

  CpuSession(std::unique_ptr<SharedMemory> memory, const std::filesystem::path& worker_program);

  std::vector<std::chrono::milliseconds> write_round(std::span<const backends::LaunchRequest> launches);
  std::vector<backends::RunOutcome> run_round(std::span<const std::chrono::milliseconds> limits);
  backends::RunOutcome outcome_of_culprit(const RoundEnd& end, std::chrono::milliseconds limit) const;

  std::unique_ptr<SharedMemory> memory_;
  WorkerProcess worker_;
  std::vector<Buffer> buffers_;
  std::size_t used_bytes_ = 0;
};

}  // namespace assay::cpu
