// The memory that a session shares with its worker processes, as the parent sees it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "backends/worker/protocol.hpp"
#include "support/result.hpp"

namespace assay::worker {

/// An anonymous file of fixed size and its mapping in the parent. It outlives the workers that map it too.
class SharedMemory {
 public:
  /// Copies the worker limits into the control block, with buffers rounded up to pages. Memory is committed on first
  /// access.
  static Result<std::unique_ptr<SharedMemory>> create(WorkerLimits worker_limits);

  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory();

  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] ControlBlock& control() const { return *reinterpret_cast<ControlBlock*>(mapping_start_); }
  [[nodiscard]] std::span<std::byte> commands() const { return {mapping_start_ + kCommandsOffset, kCommandAreaBytes}; }
  /// Returns the part that contains the kernels' data.
  [[nodiscard]] std::span<std::byte> buffers() const {
    return {mapping_start_ + kBuffersOffset, mapping_bytes_ - kBuffersOffset};
  }
  /// Returns the first `bytes` of the buffers to the system; they read as zeros afterwards.
  void discard_buffers(std::size_t bytes);

 private:
  SharedMemory(int fd, std::byte* base, std::size_t size) : fd_(fd), mapping_start_(base), mapping_bytes_(size) {}

  int fd_;                     ///< descriptor of the anonymous file
  std::byte* mapping_start_;   ///< start of the mapping
  std::size_t mapping_bytes_;  ///< size of the mapping
};

}  // namespace assay::worker
