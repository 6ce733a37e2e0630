// A content-addressed store of built files, shared by all runs of a user.
//
// A key is the SHA-256 of everything that a file was made from. Entries appear whole or not at all (written aside and
// renamed), so any number of runs may use one directory at once. The store is bounded: when it outgrows its size, the
// entries that were not used for longest go, down to 90 % of the size. An entry may vanish at any time; what fetch()
// handed out does not, because it is a link of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "support/result.hpp"

namespace assay::backends {

/// $XDG_CACHE_HOME/assay, or ~/.cache/assay, or assay-cache in the folder for temporary files.
[[nodiscard]] std::filesystem::path default_cache_directory();

/// Thread-safe.
class BuildCache {
 public:
  /// Creates the directory where it is missing; fails when it cannot be written. `max_bytes` bounds the sum of the
  /// files' sizes; one file larger than that is never kept.
  static Result<std::unique_ptr<BuildCache>> open(const std::filesystem::path& directory, std::uint64_t max_bytes);

  /// Gives the entry's file the further name `target`, on the cache's file system or another. False when there is no
  /// such entry. The file is shared: replace it, never write into it.
  [[nodiscard]] bool fetch(std::string_view key, const std::filesystem::path& target);

  /// Keeps a copy of the file under the key; an existing entry is replaced.
  Result<void> store(std::string_view key, const std::filesystem::path& file);

  /// The same for small contents that need no file of their own.
  [[nodiscard]] std::optional<std::string> read(std::string_view key);
  Result<void> write(std::string_view key, std::string_view content);

  /// The bytes in the store, counted now.
  [[nodiscard]] std::uint64_t measure() const;
  [[nodiscard]] const std::filesystem::path& directory() const { return directory_; }

 private:
  BuildCache(std::filesystem::path directory, std::uint64_t max_bytes);

  [[nodiscard]] std::filesystem::path new_temporary();
  Result<void> publish(const std::filesystem::path& temporary, std::string_view key, std::uint64_t bytes);
  [[nodiscard]] std::filesystem::path path_of(std::string_view key) const;
  void evict();

  std::filesystem::path directory_;
  std::uint64_t max_bytes_;
  std::atomic<std::uint64_t> next_temporary_ = 0;
  std::once_flag counted_;
  std::atomic<std::uint64_t> estimated_bytes_ = 0;  ///< once counted: what this run knows of; others add to it too
  std::mutex evicting_;
};

}  // namespace assay::backends
