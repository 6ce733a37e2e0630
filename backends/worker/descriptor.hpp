// A file descriptor that is closed by its owner.
#pragma once

#include <utility>

#include <unistd.h>

namespace assay::worker {

/// Owns a file descriptor and closes it.
class FileDescriptor {
 public:
  explicit FileDescriptor(int fd = -1) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() {
    if (fd_ >= 0) {
      ::close(fd_);
    }
  }

  /// Negative if empty.
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;  ///< the descriptor; negative if there is none
};

}  // namespace assay::worker
