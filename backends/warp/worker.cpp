#include "backends/warp/worker.hpp"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include <sys/mman.h>
#include <unistd.h>

#include "backends/worker/limits.hpp"
#include "backends/worker/protocol.hpp"
#include "backends/worker/restrictions.hpp"

namespace assay::warp {

namespace {

constexpr int kSetupFailed = 70;

void write_reason(worker::ControlBlock& control, const std::string& reason) {
  const std::size_t size = std::min(reason.size(), worker::kMessageBufferBytes - 1);
  std::memcpy(control.message, reason.data(), size);
  control.message[size] = '\0';
}

int become_python() {
  void* const mapped =
      ::mmap(nullptr, sizeof(worker::ControlBlock), PROT_READ | PROT_WRITE, MAP_SHARED, worker::kSharedMemoryFd, 0);
  if (mapped == MAP_FAILED) {
    std::perror("assay warp worker: cannot map the shared memory");
    return kSetupFailed;
  }
  auto& control = *static_cast<worker::ControlBlock*>(mapped);
  const std::string folder = control.code_folder;
  std::ifstream file(folder + "/" + kInterpreterPathFileName);
  const std::string python{std::istreambuf_iterator<char>(file), {}};

  worker::WorkerLimits worker_limits = control.worker_limits;
  // The buffers are mapped after the limit is set.
  if (worker_limits.process_memory_limit_bytes != 0)
    worker_limits.process_memory_limit_bytes += worker_limits.buffer_bytes;
  worker::drop_unneeded_privileges(worker::kSharedMemoryFd + 1, worker_limits);
  worker::Confinement confinement;
  if (worker_limits.restrict_file_access)
    confinement.file_restriction_error = worker::forbid_writing(confinement.landlock_version);
  control.confinement = confinement;

  const std::string script = folder + "/host.py";
  ::execl(python.c_str(), python.c_str(), "-B", script.c_str(), "serve", folder.c_str(), nullptr);
  write_reason(control, "cannot execute " + python + ": " + std::strerror(errno));
  return kSetupFailed;
}

}  // namespace

std::optional<int> run_if_worker(int argc, const char* const* argv) {
  if (argc != 2 || std::string_view(argv[1]) != kWorkerRoleArgument) return std::nullopt;
  return become_python();
}

}  // namespace assay::warp
