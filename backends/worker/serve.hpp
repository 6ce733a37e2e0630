// The worker's side of the protocol, common to all processes that load and execute generated code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "backends/worker/protocol.hpp"
#include "backends/worker/record_reader.hpp"
#include "support/result.hpp"

namespace assay::worker {

/// The measurements of a launch with timed runs; see backends::Measurement.
struct LaunchMeasurements {
  std::map<std::string, double> measures;  ///< measured values by name, at most kMaxMeasuredValues
  std::string remark;                      ///< what could not be measured; empty if nothing
};

/// How one launch ended.
struct LaunchResult {
  LaunchProgress progress = LaunchProgress::kCompleted;  ///< how the launch ended
  std::int64_t nanoseconds = 0;                          ///< duration of the launch, without copies, if it completed
  std::string message = {};                              ///< why the launch did not complete; empty if it did
  bool process_is_usable = true;                         ///< whether this process can run further launches
  std::optional<LaunchMeasurements> measurements = std::nullopt;  ///< measured values, if the launch has timed runs
};

/// Runs launches in a worker process of a device.
class LaunchExecutor {
 public:
  virtual ~LaunchExecutor() = default;
  virtual LaunchResult run(const LaunchRecordReader& launch) = 0;
};

/// Called after the process has dropped its privileges, with its limits and the buffers.
using MakeExecutor =
    std::function<Result<std::unique_ptr<LaunchExecutor>>(const WorkerLimits&, std::span<std::byte> buffers)>;

/// Serves as a worker if the program was started as one. Must be called first in main() of every program that opens a
/// session with itself as the worker. If the program was started as a worker of this role, it serves its parent until
/// the parent closes the socket, and returns the exit status for main() to return. Before that, the process gives up
/// what generated code does not need: other descriptors, core files, large files, new privileges, address space beyond
/// its limit, and whatever else the parent requests of confinement.hpp.
[[nodiscard]] std::optional<int> serve_if_worker(int argc, const char* const* argv, const char* role_argument,
                                                 const MakeExecutor& make_executor);

}  // namespace assay::worker
