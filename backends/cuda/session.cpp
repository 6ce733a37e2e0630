#include "backends/cuda/session.hpp"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "backends/cuda/worker.hpp"
#include "backends/worker/session.hpp"

namespace assay::cuda {

using namespace backends;

namespace {

/// The cubin of the architecture, if there is one, and then all PTX: the driver compiles what it can use.
Result<std::string> files_of(const LaunchRequest& launch, const std::string& architecture) {
  const BuiltEntry& entry = *launch.kernel->find(launch.pass, launch.precision);
  if (entry.parameter_count != launch.arguments.size()) {
    return Error{fmt::format("{} arguments given, the entry takes {}", launch.arguments.size(), entry.parameter_count)};
  }
  std::string files;
  const auto add = [&](const Artifact* artifact) {
    if (artifact != nullptr && !artifact->path.empty()) files += artifact->path.native() + "\n";
  };
  add(launch.kernel->artifact(Artifact::Kind::kCubin, launch.precision, architecture));
  add(launch.kernel->artifact(Artifact::Kind::kPtx, launch.precision));
  if (files.empty()) {
    return Error{"the kernel was built for another device"};
  }
  return files;
}

}  // namespace

Result<std::unique_ptr<Session>> open_session(const SessionLimits& limits, const Gpu& gpu, std::size_t device_bytes,
                                              const std::filesystem::path& worker_program) {
  const auto code_of = [architecture = gpu.architecture()](const LaunchRequest& launch) {
    return files_of(launch, architecture);
  };
  // The driver maps more address space than any limit would leave.
  auto session = worker::WorkerSession::open(
      {.buffer_bytes = limits.buffer_bytes, .process_bytes = 0, .device_bytes = device_bytes, .device = gpu.ordinal},
      {.program = worker_program, .role = kWorkerRole, .code_of = code_of, .target = gpu.architecture()});
  if (!session) {
    return session.error();
  }
  return std::unique_ptr<Session>(session.take());
}

}  // namespace assay::cuda
