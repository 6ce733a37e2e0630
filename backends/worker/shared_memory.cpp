#include "backends/worker/shared_memory.hpp"

#include <cerrno>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

namespace assay::worker {

namespace {

Error system_error(const char* what, std::size_t bytes) {
  return Error{fmt::format("cannot {} of {} MiB for the buffers of a worker: {}", what, bytes >> 20U,
                           std::system_category().message(errno))};
}

}  // namespace

Result<std::unique_ptr<SharedMemory>> SharedMemory::create(WorkerLimits worker_limits) {
  worker_limits.buffer_bytes = round_up(worker_limits.buffer_bytes, kPageBytes);
  const std::size_t size = kBuffersOffset + worker_limits.buffer_bytes;
  const int fd = ::memfd_create("assay-buffers", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) {
    return system_error("create a file", size);
  }
  // Sealed, so that a worker cannot shrink the file that the parent has mapped.
  if (::ftruncate(fd, static_cast<off_t>(size)) != 0 ||
      ::fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    const Error error = system_error("resize a file", size);
    ::close(fd);
    return error;
  }
  void* const base = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (base == MAP_FAILED) {
    const Error error = system_error("map a file", size);
    ::close(fd);
    return error;
  }
  std::unique_ptr<SharedMemory> memory(new SharedMemory(fd, static_cast<std::byte*>(base), size));
  memory->control().worker_limits = worker_limits;
  return memory;
}

SharedMemory::~SharedMemory() {
  ::munmap(mapping_start_, mapping_bytes_);
  ::close(fd_);
}

void SharedMemory::discard_buffers(std::size_t bytes) {
  ::madvise(mapping_start_ + kBuffersOffset, round_up(bytes, kPageBytes), MADV_REMOVE);
}

}  // namespace assay::worker
