// A temporary directory for the files of one run.
#pragma once

#include <filesystem>

#include "support/result.hpp"

namespace assay::backends {

/// A temporary directory that is removed with its content when this object is destroyed. The directory is locked while
/// its owner lives; create() also removes unlocked directories that killed runs left behind below the same parent.
class ScratchDirectory {
 public:
  static Result<ScratchDirectory> create(const std::filesystem::path& parent);

  ScratchDirectory(ScratchDirectory&& other) noexcept;
  ScratchDirectory& operator=(ScratchDirectory&& other) noexcept;
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  ~ScratchDirectory();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  ScratchDirectory(std::filesystem::path path, int lock) : path_(std::move(path)), lock_descriptor_(lock) {}
  void remove() noexcept;

  std::filesystem::path path_;  ///< path of the directory
  int lock_descriptor_ = -1;    ///< file descriptor that holds the lock of the directory; -1 after a move
};

}  // namespace assay::backends
