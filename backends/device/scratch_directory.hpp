// A temporary directory for the files of one run.
#pragma once

#include <filesystem>

#include "support/result.hpp"

namespace assay::backends {

/// Removes the directory and its content when destroyed. The directory is locked while its owner lives; create() also
/// removes unlocked directories that killed runs left behind below the same parent.
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

  std::filesystem::path path_;
  int lock_descriptor_ = -1;  ///< file descriptor of the directory, which holds the lock; -1 after a move
};

}  // namespace assay::backends
