// Files that are complete or absent, and lines of text compressed with gzip or zstd.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "support/result.hpp"

namespace assay {

/// A file that gets its final name only after it is complete and flushed to the disk. Until then it has the suffix
/// ".tmp". The destructor removes a file that was not committed.
///
/// Symbolic links are followed, and a file that is replaced keeps its mode. A path that names anything but a regular
/// file, such as a pipe or /dev/null, is not replaced: the bytes are written to it at once.
class AtomicFile {
 public:
  static Result<AtomicFile> create(std::filesystem::path path);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  /// Fails with the path and the cause, such as a full disk.
  Result<void> write(std::string_view bytes);
  /// Flushes to the disk and gives the file its name.
  Result<void> commit();
  [[nodiscard]] const std::filesystem::path& path() const { return final_path_; }

 private:
  explicit AtomicFile(std::filesystem::path path);
  [[nodiscard]] std::filesystem::path temporary() const;
  Result<void> reject(int error_number) const;

  std::filesystem::path final_path_;   ///< path as given
  std::filesystem::path target_path_;  ///< the same after its symbolic links: name that the complete file gets
  bool is_temporary_ = true;           ///< whether the bytes go to a temporary file, not to `target_path_` itself
  int descriptor_ = -1;                ///< file descriptor; -1: not open
};

/// Writes `text` in one step: a reader finds the old file or the new one. Other than regular files are written as by
/// AtomicFile.
Result<void> put_file(const std::filesystem::path& path, std::string_view text);

/// A format of compressed files.
enum class Compression : std::uint8_t {
  kGzip,  ///< suffix ".gz"; every program that reads compressed lines supports it
  kZstd,  ///< suffix ".zst"; faster and smaller
};

/// The format by its name, "gzip" or "zstd"; nothing for another name.
std::optional<Compression> find_compression(std::string_view name);
std::string_view name_of(Compression compression);
/// The suffix of file names, with its dot.
std::string_view suffix_of(Compression compression);

/// Writes lines, one at a time, into one gzip member or one zstd frame with a checksum. The name of the file decides
/// which. The same lines give the same bytes.
class LineWriter {
 public:
  /// `path` must end in ".gz" or ".zst". `level` is that of the format; 0: its default.
  static Result<LineWriter> create(std::filesystem::path path, int level = 0);
  LineWriter(LineWriter&&) noexcept;
  ~LineWriter();

  /// Adds the line and its newline.
  Result<void> add(std::string_view line);
  /// Ends the compressed data and gives the file its name.
  Result<void> commit();

 private:
  struct Impl;
  explicit LineWriter(std::unique_ptr<Impl> state);
  Result<void> feed(std::string_view bytes, bool end);

  std::unique_ptr<Impl> impl_;  ///< compressor and file
};

/// Writes all lines in one zstd frame with a checksum, in one step.
Result<void> put_lines(const std::filesystem::path& path, std::span<const std::string_view> lines, int level);

/// Receives a piece of a file's content.
using TakeBytes = std::function<void(std::string_view)>;

/// Passes the content of a file to `take`, piece by piece; decompresses files whose name ends in .gz or .zst. Uses
/// constant memory. Fails on an unreadable file and on broken or unfinished data, after passing on the intact pieces.
Result<void> read_pieces(const std::filesystem::path& path, const TakeBytes& take);

/// Reads the lines of a file, and decompresses it if its name ends in .gz or .zst. Only for files that this program
/// wrote, because the length of a line is not limited.
class LineReader {
 public:
  static Result<LineReader> open(const std::filesystem::path& path);
  LineReader(LineReader&&) noexcept;
  LineReader& operator=(LineReader&&) noexcept;
  ~LineReader();

  /// Reads the next line, without its newline; returns false at the end. Fails like read_pieces, and on a last line
  /// without a newline.
  Result<bool> next(std::string& line);

 private:
  struct Impl;
  explicit LineReader(std::unique_ptr<Impl> state);

  std::unique_ptr<Impl> impl_;  ///< decompressor and file
};

/// The whole file, not decompressed.
Result<std::string> read_file_text(const std::filesystem::path& path);
/// SHA-256 of the file, not decompressed.
Result<std::string> sha256_of_file(const std::filesystem::path& path);

}  // namespace assay
