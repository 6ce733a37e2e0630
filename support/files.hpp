// Files that are complete or absent, and lines of text compressed with zstd.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "support/result.hpp"

namespace assay {

/// A file that appears under its name when it is complete and on the disk, and not before. Until then it lies beside it
/// with the ending ".tmp", which goes with the object.
class NewFile {
 public:
  static Result<NewFile> create(std::filesystem::path path);
  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&&) = delete;
  ~NewFile();

  /// Fails with the path and the cause: a full disk.
  Result<void> write(std::string_view bytes);
  /// Flushes to the disk and gives the file its name.
  Result<void> commit();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  NewFile(std::filesystem::path path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  [[nodiscard]] std::filesystem::path temporary() const;
  Result<void> reject(int error_number) const;

  std::filesystem::path path_;
  int descriptor_ = -1;
};

/// Writes `text` in one step: a reader finds the old file or the new one.
Result<void> put_file(const std::filesystem::path& path, std::string_view text);

/// Lines under one zstd frame with a checksum, written as they come.
class LineFile {
 public:
  /// `level` is zstd's.
  static Result<LineFile> create(std::filesystem::path path, int level);
  LineFile(LineFile&&) noexcept;
  ~LineFile();

  /// Adds the line and its newline.
  Result<void> add(std::string_view line);
  /// Ends the frame and gives the file its name.
  Result<void> commit();

 private:
  struct State;
  explicit LineFile(std::unique_ptr<State> state);
  Result<void> feed(std::string_view bytes, bool end);

  std::unique_ptr<State> state_;
};

/// Writes the lines under one zstd frame with a checksum, in one step: for what is at hand as a whole.
Result<void> put_lines(const std::filesystem::path& path, std::span<const std::string_view> lines, int level);

/// Takes a part of a file's content.
using TakeBytes = std::function<void(std::string_view)>;

/// Hands the content of a file on, piece by piece; a name ending in .zst is taken out of zstd. Memory does not grow
/// with the file. Fails on a file that cannot be read and on a broken or unfinished frame, after what came before it.
Result<void> read_pieces(const std::filesystem::path& path, const TakeBytes& take);

/// The lines of a file, taken out of zstd where its name ends in .zst. For files that this program made: a line may be
/// as long as it likes.
class LineReader {
 public:
  static Result<LineReader> open(const std::filesystem::path& path);
  LineReader(LineReader&&) noexcept;
  LineReader& operator=(LineReader&&) noexcept;
  ~LineReader();

  /// Moves on to the next line, without its newline; false at the end. Fails as read_pieces, and on a last line that
  /// has no end.
  Result<bool> next(std::string& line);

 private:
  struct State;
  explicit LineReader(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

/// The whole file as it lies there.
Result<std::string> read_file_text(const std::filesystem::path& path);
/// SHA-256 of the file as it lies there.
Result<std::string> sha256_of_file(const std::filesystem::path& path);

}  // namespace assay
