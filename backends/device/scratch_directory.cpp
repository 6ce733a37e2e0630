#include "backends/device/scratch_directory.hpp"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace assay::backends {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kPrefix = "run-";
/// A younger directory may not be locked by its owner yet.
constexpr auto kUnlockedGrace = std::chrono::minutes{1};

int open_directory(const fs::path& path) { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }

void remove_if_orphaned(const fs::path& path) {
  std::error_code error;
  const auto modified = fs::last_write_time(path, error);
  if (error || modified > fs::file_time_type::clock::now() - kUnlockedGrace) {
    return;
  }
  const int fd = open_directory(path);
  if (fd < 0) {
    return;
  }
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0) {
    fs::remove_all(path, error);
  }
  ::close(fd);
}

void remove_orphans(const fs::path& parent) {
  std::error_code error;
  for (fs::directory_iterator it(parent, error), end; !error && it != end; it.increment(error)) {
    if (it->path().filename().string().starts_with(kPrefix)) {
      remove_if_orphaned(it->path());
    }
  }
}

}  // namespace

Result<ScratchDirectory> ScratchDirectory::create(const fs::path& parent) {
  std::error_code error;
  fs::create_directories(parent, error);
  remove_orphans(parent);
  std::string name = (parent / kPrefix).string() + "XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) {
    return Error{"cannot create a directory for temporary files: " + std::system_category().message(errno),
                 parent.string()};
  }
  const int fd = open_directory(name);
  if (fd < 0 || ::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    return Error{"cannot lock the directory for temporary files: " + std::system_category().message(errno), name};
  }
  return ScratchDirectory(name, fd);
}

ScratchDirectory::ScratchDirectory(ScratchDirectory&& other) noexcept
    : path_(std::exchange(other.path_, {})), lock_descriptor_(std::exchange(other.lock_descriptor_, -1)) {}

ScratchDirectory& ScratchDirectory::operator=(ScratchDirectory&& other) noexcept {
  if (this != &other) {
    remove();
    path_ = std::exchange(other.path_, {});
    lock_descriptor_ = std::exchange(other.lock_descriptor_, -1);
  }
  return *this;
}

ScratchDirectory::~ScratchDirectory() { remove(); }

void ScratchDirectory::remove() noexcept {
  if (lock_descriptor_ >= 0) {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
    ::close(lock_descriptor_);
    lock_descriptor_ = -1;
  }
}

}  // namespace assay::backends
