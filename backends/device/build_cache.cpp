#include "backends/device/build_cache.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "support/hash.hpp"

namespace assay::backends {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kTemporaryFolder = "incomplete";
/// Length of the SHA-256 at the end of the entries of write().
constexpr std::size_t kChecksumLength = 64;
constexpr auto kStaleAfter = std::chrono::hours{1};

struct Entry {
  fs::path path;
  std::uint64_t bytes = 0;
  fs::file_time_type used;
};

/// The regular files below `directory`, without files that are deleted meanwhile.
std::vector<Entry> list_files(const fs::path& directory) {
  std::vector<Entry> entries;
  std::error_code error;
  for (fs::recursive_directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    std::error_code gone;
    const Entry entry{it->path(), it->file_size(gone), it->last_write_time(gone)};
    if (!gone && it->is_regular_file(gone)) {
      entries.push_back(entry);
    }
  }
  return entries;
}

std::uint64_t total_bytes(const std::vector<Entry>& entries) {
  std::uint64_t sum = 0;
  for (const Entry& entry : entries) {
    sum += entry.bytes;
  }
  return sum;
}

/// Links the file, or copies it if the file system does not support links.
bool link_or_copy(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::remove(to, error);
  fs::create_hard_link(from, to, error);
  if (!error) {
    return true;
  }
  error.clear();
  return fs::copy_file(from, to, fs::copy_options::overwrite_existing, error) && !error;
}

/// Writes the content to disk before the file is renamed, so that a power failure leaves no truncated entry. Returns
/// false if the disk rejects it.
bool flush_to_disk(const fs::path& file) {
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool flushed = ::fdatasync(fd) == 0;
  ::close(fd);
  return flushed;
}

}  // namespace

fs::path default_cache_directory() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && fs::path(cache).is_absolute()) {
    return fs::path(cache) / "assay";
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && fs::path(home).is_absolute()) {
    return fs::path(home) / ".cache" / "assay";
  }
  std::error_code error;
  const fs::path temporary = fs::temp_directory_path(error);
  return (error ? fs::path("/tmp") : temporary) / fmt::format("assay-cache-{}", ::getuid());
}

Result<std::unique_ptr<BuildCache>> BuildCache::open(const fs::path& directory, std::uint64_t max_bytes) {
  std::error_code error;
  fs::create_directories(directory / "builds" / kTemporaryFolder, error);
  if (error || ::access(directory.c_str(), W_OK) != 0) {
    return Error{fmt::format("cannot write to the build cache: {}",
                             error ? error.message() : std::system_category().message(errno)),
                 directory.string()};
  }
  return std::unique_ptr<BuildCache>(new BuildCache(directory / "builds", max_bytes));
}

std::string file_identity(const fs::path& file) {
  std::error_code error;
  const auto size = fs::file_size(file, error);
  const auto time = fs::last_write_time(file, error);
  return error ? file.string() : fmt::format("{} {} {}", file.string(), size, time.time_since_epoch().count());
}

BuildCache::BuildCache(fs::path directory, std::uint64_t max_bytes)
    : directory_(std::move(directory)), max_bytes_(max_bytes) {}

fs::path BuildCache::path_of(std::string_view key) const {
  assert(key.size() > 2);
  return directory_ / key.substr(0, 2) / key.substr(2);
}

bool BuildCache::fetch(std::string_view key, const fs::path& target) {
  const fs::path entry = path_of(key);
  std::error_code error;
  if (!fs::exists(entry, error) || !link_or_copy(entry, target)) {
    return false;
  }
  fs::last_write_time(entry, fs::file_time_type::clock::now(), error);
  return true;
}

std::optional<std::string> BuildCache::read(std::string_view key) {
  const fs::path entry = path_of(key);
  std::error_code ignored;
  if (!fs::is_regular_file(entry, ignored)) {
    return std::nullopt;
  }
  std::ifstream file(entry, std::ios::binary);
  std::string content(std::istreambuf_iterator<char>(file), {});
  const std::size_t checksum_start = content.size() < kChecksumLength ? 0 : content.size() - kChecksumLength;
  if (!file || sha256_hex(std::string_view(content).substr(0, checksum_start)) != content.substr(checksum_start)) {
    return std::nullopt;
  }
  content.resize(checksum_start);
  fs::last_write_time(entry, fs::file_time_type::clock::now(), ignored);
  return content;
}

Result<void> BuildCache::store(std::string_view key, const fs::path& file) {
  std::error_code error;
  const std::uint64_t bytes = fs::file_size(file, error);
  if (error) {
    return Error{"cannot read the built file: " + error.message(), file.string()};
  }
  if (bytes > max_bytes_) {
    return {};
  }
  const fs::path temporary = new_temporary();
  if (!link_or_copy(file, temporary)) {
    return Error{"cannot write to the build cache; is the disk full?", directory_.string()};
  }
  return publish(temporary, key, bytes);
}

Result<void> BuildCache::write(std::string_view key, std::string_view content) {
  if (content.size() + kChecksumLength > max_bytes_) {
    return {};
  }
  const fs::path temporary = new_temporary();
  std::ofstream file(temporary, std::ios::binary);
  file << content << sha256_hex(content);
  file.close();
  if (!file) {
    std::error_code ignored;
    fs::remove(temporary, ignored);
    return Error{"cannot write to the build cache; is the disk full?", directory_.string()};
  }
  return publish(temporary, key, content.size() + kChecksumLength);
}

fs::path BuildCache::new_temporary() {
  // Unique in the process, which may have several caches in one directory.
  static std::atomic<std::uint64_t> next = 0;
  return directory_ / kTemporaryFolder / fmt::format("{}-{}", ::getpid(), next.fetch_add(1));
}

/// Moves a finished file into the store and evicts entries if necessary.
Result<void> BuildCache::publish(const fs::path& temporary, std::string_view key, std::uint64_t bytes) {
  // Counting the entries of a full store takes half a second, so only runs that write do it. The count includes the new
  // file.
  std::call_once(count_bytes_once_, [&] { estimated_bytes_ = measure() - bytes; });
  std::error_code ignored;
  if (!flush_to_disk(temporary)) {
    fs::remove(temporary, ignored);
    return Error{"cannot write to the build cache; is the disk full or faulty?", directory_.string()};
  }
  const fs::path entry = path_of(key);
  std::error_code error;
  fs::create_directories(entry.parent_path(), error);
  fs::last_write_time(temporary, fs::file_time_type::clock::now(), error);
  error.clear();
  fs::rename(temporary, entry, error);
  // Remove it even after success: rename(2) between two links to the same file does nothing and keeps both.
  fs::remove(temporary, ignored);
  if (error) {
    return Error{"cannot write to the build cache: " + error.message(), entry.string()};
  }
  if (estimated_bytes_.fetch_add(bytes) + bytes > max_bytes_) {
    evict();
  }
  return {};
}

std::uint64_t BuildCache::measure() const { return total_bytes(list_files(directory_)); }

void BuildCache::evict() {
  const std::lock_guard lock(eviction_mutex_);
  std::vector<Entry> entries = list_files(directory_);
  std::uint64_t bytes = total_bytes(entries);
  std::ranges::sort(entries, {}, &Entry::used);
  const std::uint64_t goal = max_bytes_ / 10 * 9;
  const auto stale_before = fs::file_time_type::clock::now() - kStaleAfter;
  for (const Entry& entry : entries) {
    const bool incomplete = entry.path.parent_path().filename() == kTemporaryFolder;
    // An incomplete file belongs to a running process, unless it is so old that the process must have died.
    const bool removable = incomplete ? entry.used < stale_before : bytes > goal;
    if (removable) {
      std::error_code gone;
      fs::remove(entry.path, gone);
      bytes -= entry.bytes;
    }
  }
  estimated_bytes_ = bytes;
}

}  // namespace assay::backends
