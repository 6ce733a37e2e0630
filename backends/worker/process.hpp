// A worker process, as its parent sees it: started, told to run its commands, waited for, killed.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <variant>

#include <sys/types.h>

#include "backends/worker/descriptor.hpp"
#include "backends/worker/shared_memory.hpp"
#include "support/result.hpp"

namespace assay::worker {

/// How a round of commands ended. In the latter two the process is gone, and the launch that was at work is the first
/// whose row is not completed.
struct RoundDone {};
struct WorkerDied {
  int signal = 0;        ///< 0: it exited by itself
  int exit_status = 0;   ///< when signal is 0
  bool cut_off = false;  ///< it closed its socket, lived on and was killed; the other two say nothing
  std::string output;    ///< the end of what it printed
};
struct WorkerExpired {};
using RoundEnd = std::variant<RoundDone, WorkerDied, WorkerExpired>;

class WorkerProcess {
 public:
  /// Nothing is started yet. `program` becomes a worker when run with `role` as its argument.
  WorkerProcess(std::filesystem::path program, std::string role, const SharedMemory& memory);
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;
  ~WorkerProcess() { stop(); }

  /// Starts the process and waits until it is ready; nothing to do when it runs already and has said nothing unasked,
  /// which a kernel has then said for it. The error is the reason that the worker left, if it left one.
  Result<void> start();
  [[nodiscard]] bool running() const { return pid_ > 0; }

  /// Has the commands run. limits[i] bounds the processor time of the i-th launch; on the clock, which other work on
  /// the machine may slow, it has kClockAllowance times as much. running() must hold.
  RoundEnd run_commands(std::span<const std::chrono::milliseconds> limits);

  /// Kills the process and what it may have started.
  void stop();

  static constexpr int kClockAllowance = 10;

 private:
  Result<void> spawn();
  [[nodiscard]] bool spoke_unasked() const;
  [[nodiscard]] std::size_t completed(std::size_t from, std::size_t count) const;
  [[nodiscard]] std::chrono::nanoseconds processor_time() const;
  [[nodiscard]] std::string output() const;
  WorkerDied reap();

  std::filesystem::path program_;
  std::string role_;
  const SharedMemory& memory_;
  Descriptor control_;  ///< the parent's end of the pair of sockets
  Descriptor log_;      ///< what the process prints
  pid_t pid_ = -1;
};

}  // namespace assay::worker
