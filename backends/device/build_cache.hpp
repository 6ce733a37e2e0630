// A content-addressed store of built files, shared by all runs of a user.
//
// A key is the SHA-256 of everything that a file was made from. Entries are written to a temporary file and renamed, so
// they are always complete and any number of runs may share a directory. The store has a size limit: when it exceeds
// the limit, the least recently used entries are evicted until it is at 90 % of the limit. An entry may disappear at
// any time; a file returned by fetch() does not, because it is a separate link.
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

/// $XDG_CACHE_HOME/assay, or ~/.cache/assay, or assay-cache in the directory for temporary files.
[[nodiscard]] std::filesystem::path default_cache_directory();

/// Identifies a file in cache keys by its path, size and time, because versions that a compiler states may lack the
/// number of the build.
[[nodiscard]] std::string file_identity(const std::filesystem::path& file);

/// The store of built files. Thread-safe.
class BuildCache {
 public:
  /// Creates the directory if it is missing; fails if it is not writable. `max_bytes` limits the total size of the
  /// files; a single larger file is not stored.
  static Result<std::unique_ptr<BuildCache>> open(const std::filesystem::path& directory, std::uint64_t max_bytes);

  /// Links or copies the entry's file to `target`, which may be on another file system. Returns false if the key has no
  /// entry. The file may be shared: replace it, but never write into it.
  [[nodiscard]] bool fetch(std::string_view key, const std::filesystem::path& target);

  /// Stores a copy of the file under the key, replacing an existing entry.
  Result<void> store(std::string_view key, const std::filesystem::path& file);

  /// The same for small contents, without a separate file. The entry has a checksum: one that was changed counts as
  /// missing.
  [[nodiscard]] std::optional<std::string> read(std::string_view key);
  Result<void> write(std::string_view key, std::string_view content);

  /// Counts the bytes in the store.
  [[nodiscard]] std::uint64_t measure() const;
  [[nodiscard]] const std::filesystem::path& directory() const { return directory_; }

 private:
  BuildCache(std::filesystem::path directory, std::uint64_t max_bytes);

  [[nodiscard]] std::filesystem::path new_temporary();
  Result<void> publish(const std::filesystem::path& temporary, std::string_view key, std::uint64_t bytes);
  [[nodiscard]] std::filesystem::path path_of(std::string_view key) const;
  void evict();

  std::filesystem::path directory_;  ///< directory of the store
  std::uint64_t max_bytes_;          ///< size limit of the store in bytes
  std::once_flag count_bytes_once_;  ///< ensures that only the first store() counts the bytes in the directory
  /// Bytes in the store, after they were counted; does not include what other runs add later.
  std::atomic<std::uint64_t> estimated_bytes_ = 0;
  std::mutex eviction_mutex_;  ///< held while entries are evicted
};

}  // namespace assay::backends
