// A file descriptor with an owner.
#pragma once

#include <utility>

#include <unistd.h>

namespace assay::worker {

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) {
      ::close(fd_);
    }
  }

  /// Negative where there is none.
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

}  // namespace assay::worker
