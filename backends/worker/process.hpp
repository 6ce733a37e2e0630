// The parent's handle of a worker process: starts it, sends commands, waits for it and kills it.
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

/// How a round of commands ended. In the last two cases the process has ended, and the launch that was running is the
/// first whose row is not completed.
struct RoundDone {};
/// The process ended, or was killed because it closed its socket.
struct WorkerDied {
  int signal_number = 0;  ///< number of the signal that ended the process; 0: it exited
  int exit_status = 0;    ///< exit status, if signal_number is 0
  bool has_disconnected =
      false;           ///< whether it closed its socket without exiting, so it was killed; then the others are 0
  std::string output;  ///< last part of the process's standard output and error
};
struct WorkerExpired {};
using RoundEnd = std::variant<RoundDone, WorkerDied, WorkerExpired>;

/// A worker process, as its parent sees it.
class WorkerProcess {
 public:
  /// Does not start the process yet. `program` becomes a worker when run with `role_argument` as its argument.
  WorkerProcess(std::filesystem::path program, std::string role_argument, const SharedMemory& memory);
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;
  ~WorkerProcess() { stop(); }

  /// Starts the process and waits until it is ready. Does nothing if it already runs, unless it sent an unexpected
  /// byte, which must come from a kernel; then the process is replaced. The error contains the worker's own reason, if
  /// any.
  Result<void> start();
  [[nodiscard]] bool running() const { return pid_ > 0; }

  /// Runs the commands. limits[i] limits the CPU time of the i-th launch; because of other load on the machine, the
  /// wall-clock limit is kWallClockToCpuLimitRatio times as long. running() must be true.
  RoundEnd run_commands(std::span<const std::chrono::milliseconds> limits);

  /// Kills the process and its child processes.
  void stop();

  /// Ratio of the wall-clock limit of a round to its limit of CPU time.
  static constexpr int kWallClockToCpuLimitRatio = 10;

 private:
  Result<void> spawn();
  [[nodiscard]] bool has_unexpected_message() const;
  [[nodiscard]] std::size_t completed(std::size_t from, std::size_t count) const;  ///< first one that is not
  [[nodiscard]] std::chrono::nanoseconds processor_time() const;                   ///< CPU time used by the process
  [[nodiscard]] std::string output() const;                                        ///< end of the output so far
  WorkerDied reap();                                                               ///< waits for the end of the process

  std::filesystem::path worker_executable_;  ///< program of the worker
  std::string role_argument_;                ///< argument that makes the program a worker
  const SharedMemory& shared_memory_;        ///< memory shared with the process
  FileDescriptor control_socket_;            ///< the parent's end of the socket pair
  FileDescriptor output_file_;               ///< file that receives the output of the process
  pid_t pid_ = -1;                           ///< process ID; -1: not running
};

}  // namespace assay::worker
