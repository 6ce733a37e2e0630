// A file that grows by whole lines.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "support/result.hpp"

namespace assay::harness {

/// Appends lines to a file. Each line is in the operating system's page cache before append returns, so that a crash of
/// Assay loses none. After a failed write the file is truncated to its last whole line if possible, and every later
/// call fails with the same message. The file is locked (flock) as long as the object exists, because two writers would
/// destroy each other's lines. Not thread-safe.
class LineAppender {
 public:
  /// Creates the file, or truncates an existing one. Fails with the path and the cause; in particular if another
  /// LineAppender, of this or another process, has the file open: the file is unchanged then.
  static Result<LineAppender> create(const std::filesystem::path& file);
  /// As create, but keeps the first `complete_bytes` bytes of the file and appends to them.
  static Result<LineAppender> reopen(const std::filesystem::path& file, std::int64_t complete_bytes);

  LineAppender(LineAppender&& other) noexcept;
  LineAppender& operator=(LineAppender&& other) noexcept;
  LineAppender(const LineAppender&) = delete;
  LineAppender& operator=(const LineAppender&) = delete;
  ~LineAppender();

  /// Adds the line and its newline.
  Result<void> append(std::string_view line);
  /// Waits until all lines are on the disk, so that a crash of the machine loses none.
  Result<void> sync();
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }

 private:
  LineAppender() = default;

  std::filesystem::path file_;       ///< path of the file
  int file_descriptor_ = -1;         ///< open file descriptor; -1: closed or moved from
  std::int64_t complete_bytes_ = 0;  ///< length of the file up to its last whole line
  std::string write_error_;          ///< message of the first failed write; empty if none failed
};

}  // namespace assay::harness
