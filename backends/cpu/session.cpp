#include "backends/cpu/session.hpp"

#include "backends/cpu/worker.hpp"

namespace assay::cpu {

using namespace backends;

namespace {

Result<std::string> library_of(const LaunchRequest& launch) {
  const Artifact* const library = launch.kernel->artifact(Artifact::Kind::kSharedLibrary, launch.precision);
  if (library == nullptr) {
    return Error{"the kernel was built for a different device"};
  }
  return library->path.native();
}

}  // namespace

Result<std::unique_ptr<worker::WorkerSession>> open_session(const SessionLimits& limits, const WorkerOptions& workers) {
  return worker::WorkerSession::open({.buffer_bytes = limits.buffer_bytes,
                                      .process_memory_limit_bytes = limits.process_memory_limit_bytes,
                                      .filter_system_calls = workers.filter_system_calls,
                                      .restrict_file_access = workers.restrict_file_access},
                                     {.program = workers.program,
                                      .role_argument = kWorkerRoleArgument,
                                      .code_folder = workers.library_folder,
                                      .code_of = library_of});
}

}  // namespace assay::cpu
