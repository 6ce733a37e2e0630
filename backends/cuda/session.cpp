#include "backends/worker/session.hpp"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "backends/cuda/device.hpp"
#include "backends/cuda/worker.hpp"

namespace assay::cuda {

using namespace backends;

namespace {

/// The cubin of the architecture, if any, followed by all PTX; the driver uses the first file that it accepts.
Result<std::string> files_of(const LaunchRequest& launch, const std::string& architecture) {
  const BuiltEntryPoint& entry = *launch.kernel->find(launch.pass, launch.precision);
  if (entry.parameter_count != launch.arguments.size()) {
    return Error{fmt::format("the kernel takes {} arguments, got {}", entry.parameter_count, launch.arguments.size())};
  }
  std::string files;
  const auto add = [&](const Artifact* artifact) {
    if (artifact != nullptr && !artifact->path.empty()) files += artifact->path.native() + "\n";
  };
  add(launch.kernel->artifact(Artifact::Kind::kCubin, launch.precision, architecture));
  add(launch.kernel->artifact(Artifact::Kind::kPtx, launch.precision));
  if (files.empty()) {
    return Error{"the kernel was built for a different device"};
  }
  return files;
}

}  // namespace

Result<std::unique_ptr<DeviceSession>> open_session(const SessionLimits& limits, const GpuProperties& gpu,
                                                    std::size_t device_memory_limit_bytes,
                                                    const std::filesystem::path& worker_program) {
  const auto code_of = [architecture = gpu.architecture()](const LaunchRequest& launch) {
    return files_of(launch, architecture);
  };
  // The driver maps more address space than any useful limit allows.
  auto session = worker::WorkerSession::open({.buffer_bytes = limits.buffer_bytes,
                                              .process_memory_limit_bytes = 0,
                                              .device_memory_limit_bytes = device_memory_limit_bytes,
                                              .device_ordinal = gpu.gpu_ordinal},
                                             {.program = worker_program,
                                              .role_argument = kWorkerRoleArgument,
                                              .code_of = code_of,
                                              .target = gpu.architecture()});
  if (!session) {
    return session.error();
  }
  return std::unique_ptr<DeviceSession>(session.take());
}

}  // namespace assay::cuda
