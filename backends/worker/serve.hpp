// The worker's side of the protocol: what every process that loads and executes generated code does alike.
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

/// What a launch with samples showed, as backends::Measurement has it.
struct Measured {
  std::map<std::string, double> measures;  ///< at most kMaxMeasures
  std::string remark;
};

/// How one launch ended.
struct LaunchEnd {
  Progress progress = Progress::kCompleted;
  std::int64_t nanoseconds = 0;  ///< of the launch alone, where it completed
  std::string message = {};      ///< why it did not
  bool can_go_on = true;         ///< false: nothing can be launched in this process any more
  std::optional<Measured> measured = std::nullopt;
};

/// What a device does in its worker.
class Executor {
 public:
  virtual ~Executor() = default;
  virtual LaunchEnd run(const RecordReader& launch) = 0;
};

/// Called once the process has given up what it has no need of, with what it may use and the buffers.
using MakeExecutor = std::function<Result<std::unique_ptr<Executor>>(const Allowance&, std::span<std::byte> buffers)>;

/// To be called first in main() of every program that opens a session with itself as the worker: when it was started
/// as a worker of the role it serves its parent until that closes the socket, and the result is the exit status to
/// return. Before anything else the process gives up what generated code has no need of: other descriptors, core
/// files, large files, new privileges, address space beyond its share, and what its parent asks for of confinement.hpp.
[[nodiscard]] std::optional<int> serve_if_worker(int argc, const char* const* argv, const char* role,
                                                 const MakeExecutor& make_executor);

}  // namespace assay::worker
