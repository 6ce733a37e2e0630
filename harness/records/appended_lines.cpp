#include "harness/records/appended_lines.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace assay::harness {
namespace {

std::string cause(int error_number) { return std::generic_category().message(error_number); }

// Writes all of `text`; 0, or the error number.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace

Result<LineAppender> LineAppender::create(const std::filesystem::path& file) { return reopen(file, 0); }

Result<LineAppender> LineAppender::reopen(const std::filesystem::path& file, std::int64_t complete_bytes) {
  LineAppender lines;
  lines.file_ = file;
  lines.complete_bytes_ = complete_bytes;
  lines.file_descriptor_ = ::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (lines.file_descriptor_ < 0) return Error{fmt::format("cannot be written: {}", cause(errno)), file.string()};
  // A file system without locks must not prevent a run.
  if (::flock(lines.file_descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return Error{"is being written by another process; wait until it ends, or choose another folder with --output",
                 file.string()};
  struct stat status {};
  const bool is_file = ::fstat(lines.file_descriptor_, &status) == 0 && S_ISREG(status.st_mode);
  const bool placed = !is_file || (::ftruncate(lines.file_descriptor_, complete_bytes) == 0 &&
                                   ::lseek(lines.file_descriptor_, complete_bytes, SEEK_SET) == complete_bytes);
  if (!placed) return Error{fmt::format("cannot be written: {}", cause(errno)), file.string()};
  return lines;
}

LineAppender::LineAppender(LineAppender&& other) noexcept { *this = std::move(other); }

LineAppender& LineAppender::operator=(LineAppender&& other) noexcept {
  if (this == &other) return *this;
  if (file_descriptor_ >= 0) ::close(file_descriptor_);
  file_ = std::move(other.file_);
  file_descriptor_ = std::exchange(other.file_descriptor_, -1);
  complete_bytes_ = other.complete_bytes_;
  write_error_ = std::move(other.write_error_);
  return *this;
}

LineAppender::~LineAppender() {
  if (file_descriptor_ >= 0) ::close(file_descriptor_);
}

Result<void> LineAppender::append(std::string_view line) {
  if (!write_error_.empty()) return Error{write_error_, file_.string()};
  const int error_number = write_all(file_descriptor_, std::string(line) + "\n");
  if (error_number != 0) {
    // If the file cannot be truncated either (a device, a lost mount), readers drop the incomplete line.
    const int truncated = ::ftruncate(file_descriptor_, complete_bytes_);
    write_error_ = fmt::format("cannot be written: {}; the file is incomplete{}", cause(error_number),
                               truncated == 0 ? "" : " and its last line is truncated");
    return Error{write_error_, file_.string()};
  }
  complete_bytes_ += static_cast<std::int64_t>(line.size()) + 1;
  return {};
}

Result<void> LineAppender::sync() {
  if (!write_error_.empty()) return Error{write_error_, file_.string()};
  if (::fsync(file_descriptor_) == 0) return {};
  write_error_ = fmt::format("cannot be written: {}", cause(errno));
  return Error{write_error_, file_.string()};
}

}  // namespace assay::harness
