#include "backends/cuda/worker.hpp"

#include <memory>

#include "backends/cuda/executor.hpp"

namespace assay::cuda {

namespace {

Result<std::unique_ptr<worker::LaunchExecutor>> make_executor(const worker::WorkerLimits& worker_limits,
                                                              std::span<std::byte> buffers) {
  const Result<Driver> driver = Driver::load();
  if (!driver) {
    return driver.error();
  }
  try {
    return std::unique_ptr<worker::LaunchExecutor>(std::make_unique<GpuExecutor>(*driver, worker_limits, buffers));
  } catch (const CallError& error) {
    return Error{error.what()};
  }
}

}  // namespace

std::optional<int> run_if_worker(int argc, const char* const* argv) {
  return worker::serve_if_worker(argc, argv, kWorkerRoleArgument, make_executor);
}

}  // namespace assay::cuda
