#include "support/files.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPiece = std::size_t{1} << 18;

std::string cause(int error_number) { return std::generic_category().message(error_number); }

/// Flushes a folder, so that a rename in it is durable.
void flush_folder(const fs::path& folder) {
  const int descriptor = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

/// The path after its symbolic links; the last link may name a file that does not exist yet.
fs::path follow_links(fs::path path) {
  constexpr int kMaxLinks = 40;  // as in Linux
  std::error_code error;
  for (int i = 0; i < kMaxLinks && fs::is_symlink(path, error); ++i) {
    const fs::path target = fs::read_symlink(path, error);
    if (error) break;
    path = path.parent_path() / target;
  }
  return path;
}

Error no_compression(std::string_view cause, const fs::path& path) {
  return {fmt::format("cannot be compressed: {}", cause), path.string()};
}

// ---- zstd

struct FreeInput {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};
struct FreeOutput {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};

using ZstdContext = std::unique_ptr<ZSTD_CCtx, FreeOutput>;

ZstdContext make_zstd_context(int level) {
  ZstdContext context(ZSTD_createCCtx());
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  return context;
}

// ---- both formats

/// Default levels: data files are written once and read often. For rows of datasets, gzip's level 6 takes twice as long
/// as level 3, and the files are a quarter smaller.
constexpr int kDefaultZstdLevel = 3;
constexpr int kDefaultGzipLevel = 6;
/// Largest window, with the flag that selects the gzip format. zlib's header has no time and no name, so that the same
/// lines give the same bytes.
constexpr int kGzipWindowBits = 15 + 16;

/// Compresses pieces of one stream.
class Compressor {
 public:
  virtual ~Compressor() = default;
  using Put = std::function<Result<void>(std::string_view)>;
  /// Passes the compressed bytes to `put`. After `end`, no bytes may follow.
  virtual Result<void> feed(std::string_view bytes, bool end, const fs::path& path, const Put& put) = 0;

 protected:
  std::vector<char> out_ = std::vector<char>(kPiece);
};

class ZstdCompressor : public Compressor {
 public:
  explicit ZstdCompressor(int level) : context_(make_zstd_context(level)) {}

  Result<void> feed(std::string_view bytes, bool end, const fs::path& path, const Put& put) override {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    for (;;) {
      ZSTD_outBuffer out{out_.data(), out_.size(), 0};
      const std::size_t left = ZSTD_compressStream2(context_.get(), &out, &in, end ? ZSTD_e_end : ZSTD_e_continue);
      if (ZSTD_isError(left) != 0U) return no_compression(ZSTD_getErrorName(left), path);
      if (Result<void> written = put({out_.data(), out.pos}); !written.ok()) return written;
      if (in.pos == in.size && (!end || left == 0)) return {};
    }
  }

 private:
  ZstdContext context_;
};

class GzipCompressor : public Compressor {
 public:
  explicit GzipCompressor(int level) {
    constexpr int kDefaultMemory = 8;
    started_ = deflateInit2(&stream_, level, Z_DEFLATED, kGzipWindowBits, kDefaultMemory, Z_DEFAULT_STRATEGY) == Z_OK;
  }
  GzipCompressor(const GzipCompressor&) = delete;
  GzipCompressor& operator=(const GzipCompressor&) = delete;
  ~GzipCompressor() override { deflateEnd(&stream_); }

  Result<void> feed(std::string_view bytes, bool end, const fs::path& path, const Put& put) override {
    if (!started_) return no_compression("zlib cannot be started", path);
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));  // zlib does not change its input
    stream_.avail_in = static_cast<uInt>(bytes.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(out_.data());
      stream_.avail_out = static_cast<uInt>(out_.size());
      deflate(&stream_, end ? Z_FINISH : Z_NO_FLUSH);
      if (Result<void> written = put({out_.data(), out_.size() - stream_.avail_out}); !written.ok()) return written;
    } while (stream_.avail_out == 0);
    return {};
  }

 private:
  z_stream stream_{};
  bool started_ = false;
};

std::unique_ptr<Compressor> make_compressor(Compression compression, int level) {
  if (compression == Compression::kGzip)
    return std::make_unique<GzipCompressor>(level == 0 ? kDefaultGzipLevel : level);
  return std::make_unique<ZstdCompressor>(level == 0 ? kDefaultZstdLevel : level);
}

/// Decompresses pieces and passes them on.
class Decompressor {
 public:
  virtual ~Decompressor() = default;
  /// Returns an error message; empty on success.
  virtual std::string feed(std::string_view bytes) = 0;
  /// A message if the data end too early; empty if they are complete.
  [[nodiscard]] virtual std::string unfinished() const { return ""; }
};

/// Passes on what is not compressed.
class PlainText : public Decompressor {
 public:
  explicit PlainText(const TakeBytes& take) : take_(take) {}
  std::string feed(std::string_view bytes) override {
    take_(bytes);
    return "";
  }

 private:
  const TakeBytes& take_;
};

class ZstdDecompressor : public Decompressor {
 public:
  explicit ZstdDecompressor(const TakeBytes& take) : take_(take), out_(kPiece) {
    ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, 27);
  }

  std::string feed(std::string_view bytes) override {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    while (in.pos < in.size || full_) {
      ZSTD_outBuffer out{out_.data(), out_.size(), 0};
      open_ = ZSTD_decompressStream(context_.get(), &out, &in);
      if (ZSTD_isError(open_) != 0U) return fmt::format("broken zstd frame: {}", ZSTD_getErrorName(open_));
      take_({out_.data(), out.pos});
      full_ = out.pos == out.size;
      if (in.pos == in.size && !full_) break;
    }
    return "";
  }
  [[nodiscard]] std::string unfinished() const override { return open_ != 0 ? "zstd frame is truncated" : ""; }

 private:
  const TakeBytes& take_;
  std::vector<char> out_;
  std::unique_ptr<ZSTD_DCtx, FreeInput> context_{ZSTD_createDCtx()};
  std::size_t open_ = 0;
  bool full_ = false;
};

class GzipDecompressor : public Decompressor {
 public:
  explicit GzipDecompressor(const TakeBytes& take) : take_(take), out_(kPiece) {
    started_ = inflateInit2(&stream_, kGzipWindowBits) == Z_OK;
  }
  GzipDecompressor(const GzipDecompressor&) = delete;
  GzipDecompressor& operator=(const GzipDecompressor&) = delete;
  ~GzipDecompressor() override { inflateEnd(&stream_); }

  std::string feed(std::string_view bytes) override {
    if (!started_) return "zlib cannot be started";
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));  // zlib does not change its input
    stream_.avail_in = static_cast<uInt>(bytes.size());
    do {
      // A file may consist of several members, one after another.
      if (at_end_ && stream_.avail_in > 0) {
        inflateReset(&stream_);
        at_end_ = false;
      }
      if (at_end_) break;
      stream_.next_out = reinterpret_cast<Bytef*>(out_.data());
      stream_.avail_out = static_cast<uInt>(out_.size());
      const int status = inflate(&stream_, Z_NO_FLUSH);
      if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
        return fmt::format("broken gzip data: {}", stream_.msg == nullptr ? zError(status) : stream_.msg);
      }
      take_({out_.data(), out_.size() - stream_.avail_out});
      at_end_ = status == Z_STREAM_END;
    } while (stream_.avail_in > 0 || stream_.avail_out == 0);
    return "";
  }
  [[nodiscard]] std::string unfinished() const override { return at_end_ ? "" : "gzip data are truncated"; }

 private:
  const TakeBytes& take_;
  std::vector<char> out_;
  z_stream stream_{};
  bool started_ = false;
  bool at_end_ = false;  ///< whether a member has ended and no further one has begun
};

/// The decompressor for a file's name; a name without a known suffix is that of a file that is not compressed.
std::unique_ptr<Decompressor> make_decompressor(const fs::path& path, const TakeBytes& take) {
  if (path.extension() == suffix_of(Compression::kGzip)) return std::make_unique<GzipDecompressor>(take);
  if (path.extension() == suffix_of(Compression::kZstd)) return std::make_unique<ZstdDecompressor>(take);
  return std::make_unique<PlainText>(take);
}

Result<void> for_each_piece(const fs::path& path, const std::function<std::string(std::string_view)>& take) {
  std::error_code error;
  if (fs::is_directory(path, error)) return Error{"cannot be read: the path is a folder", path.string()};
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  if (!stream.is_open()) return Error{fmt::format("cannot be read: {}", cause(errno)), path.string()};
  std::vector<char> piece(kPiece);
  while (stream) {
    stream.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    if (const std::string wrong = take({piece.data(), static_cast<std::size_t>(stream.gcount())}); !wrong.empty()) {
      return Error{wrong, path.string()};
    }
  }
  if (stream.bad()) return Error{fmt::format("cannot be read: {}", cause(errno)), path.string()};
  return {};
}

}  // namespace

// ---- AtomicFile

Result<AtomicFile> AtomicFile::create(fs::path path) {
  std::error_code error;
  const fs::path folder = path.parent_path();
  if (!folder.empty()) fs::create_directories(folder, error);
  if (error) return Error{fmt::format("cannot create the folder: {}", error.message()), folder.string()};
  AtomicFile file(std::move(path));
  struct stat status {};
  const bool exists = ::stat(file.final_path_.c_str(), &status) == 0;
  if (!exists && errno != ENOENT) return file.reject(errno).error();
  file.is_temporary_ = !exists || S_ISREG(status.st_mode);
  if (!file.is_temporary_) {
    file.descriptor_ = ::open(file.final_path_.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
    if (file.descriptor_ < 0) return file.reject(errno).error();
    return file;
  }
  file.descriptor_ = ::open(file.temporary().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file.descriptor_ < 0) return file.reject(errno).error();
  constexpr mode_t kModeBits = 07777;
  if (exists && ::fchmod(file.descriptor_, status.st_mode & kModeBits) != 0) return file.reject(errno).error();
  return file;
}

AtomicFile::AtomicFile(fs::path path) : final_path_(std::move(path)), target_path_(follow_links(final_path_)) {}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : final_path_(std::move(other.final_path_)),
      target_path_(std::move(other.target_path_)),
      is_temporary_(other.is_temporary_),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  if (is_temporary_) ::unlink(temporary().c_str());
}

fs::path AtomicFile::temporary() const { return target_path_.string() + ".tmp"; }

Result<void> AtomicFile::reject(int error_number) const {
  return Error{fmt::format("cannot be written: {}", cause(error_number)), final_path_.string()};
}

Result<void> AtomicFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return reject(errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Result<void> AtomicFile::commit() {
  if (!is_temporary_) return ::close(std::exchange(descriptor_, -1)) == 0 ? Result<void>{} : reject(errno);
  if (::fsync(descriptor_) != 0) return reject(errno);
  if (::rename(temporary().c_str(), target_path_.c_str()) != 0) return reject(errno);
  ::close(std::exchange(descriptor_, -1));
  flush_folder(target_path_.parent_path());
  return {};
}

Result<void> put_file(const fs::path& path, std::string_view text) {
  Result<AtomicFile> file = AtomicFile::create(path);
  if (!file.ok()) return file.error();
  if (Result<void> written = file->write(text); !written.ok()) return written;
  return file->commit();
}

// ---- compressed lines

namespace {

struct CompressionRow {
  Compression compression;
  std::string_view name;
  std::string_view suffix;
};
constexpr CompressionRow kCompressions[] = {{Compression::kGzip, "gzip", ".gz"}, {Compression::kZstd, "zstd", ".zst"}};

}  // namespace

std::optional<Compression> find_compression(std::string_view name) {
  for (const CompressionRow& row : kCompressions) {
    if (row.name == name) return row.compression;
  }
  return std::nullopt;
}

std::string_view name_of(Compression compression) { return kCompressions[static_cast<std::size_t>(compression)].name; }

std::string_view suffix_of(Compression compression) {
  return kCompressions[static_cast<std::size_t>(compression)].suffix;
}

struct LineWriter::Impl {
  AtomicFile file;
  std::unique_ptr<Compressor> compressor;
};

LineWriter::LineWriter(std::unique_ptr<Impl> state) : impl_(std::move(state)) {}
LineWriter::LineWriter(LineWriter&&) noexcept = default;
LineWriter::~LineWriter() = default;

Result<LineWriter> LineWriter::create(fs::path path, int level) {
  const Compression compression =
      path.extension() == suffix_of(Compression::kGzip) ? Compression::kGzip : Compression::kZstd;
  Result<AtomicFile> file = AtomicFile::create(std::move(path));
  if (!file.ok()) return file.error();
  return LineWriter(
      std::make_unique<Impl>(Impl{.file = file.take(), .compressor = make_compressor(compression, level)}));
}

Result<void> LineWriter::feed(std::string_view bytes, bool end) {
  return impl_->compressor->feed(bytes, end, impl_->file.path(),
                                 [&](std::string_view compressed) { return impl_->file.write(compressed); });
}

Result<void> LineWriter::add(std::string_view line) {
  if (Result<void> fed = feed(line, false); !fed.ok()) return fed;
  return feed("\n", false);
}

Result<void> LineWriter::commit() {
  if (Result<void> fed = feed("", true); !fed.ok()) return fed;
  return impl_->file.commit();
}

Result<void> put_lines(const fs::path& path, std::span<const std::string_view> lines, int level) {
  std::size_t size = lines.size();
  for (const std::string_view line : lines)
    size += line.size();
  std::string text;
  text.reserve(size);
  for (const std::string_view line : lines) {
    text += line;
    text += '\n';
  }
  const std::size_t bound = ZSTD_compressBound(size);
  const auto out = std::make_unique_for_overwrite<char[]>(bound);  // pages that stay untouched cost nothing
  const ZstdContext context = make_zstd_context(level);
  const std::size_t written = ZSTD_compress2(context.get(), out.get(), bound, text.data(), text.size());
  if (ZSTD_isError(written) != 0U) return no_compression(ZSTD_getErrorName(written), path);
  return put_file(path, {out.get(), written});
}

// ---- reading

Result<void> read_pieces(const fs::path& path, const TakeBytes& take) {
  const std::unique_ptr<Decompressor> decompressor = make_decompressor(path, take);
  Result<void> read = for_each_piece(path, [&](std::string_view bytes) { return decompressor->feed(bytes); });
  if (!read.ok()) return read;
  if (const std::string wrong = decompressor->unfinished(); !wrong.empty()) return Error{wrong, path.string()};
  return {};
}

struct LineReader::Impl {
  std::filesystem::path path;
  std::ifstream stream;
  std::string text;       // read and not yet returned
  std::size_t begin = 0;  // start of the text not yet returned
  TakeBytes take = [this](std::string_view bytes) { text += bytes; };
  std::unique_ptr<Decompressor> decompressor;
  std::vector<char> piece = std::vector<char>(kPiece);
};

LineReader::LineReader(std::unique_ptr<Impl> state) : impl_(std::move(state)) {}
LineReader::LineReader(LineReader&&) noexcept = default;
LineReader& LineReader::operator=(LineReader&&) noexcept = default;
LineReader::~LineReader() = default;

Result<LineReader> LineReader::open(const fs::path& path) {
  auto state = std::make_unique<Impl>();
  state->path = path;
  std::error_code error;
  if (fs::is_directory(path, error)) return Error{"cannot be read: the path is a folder", path.string()};
  state->decompressor = make_decompressor(path, state->take);
  errno = 0;
  state->stream.open(path, std::ios::binary);
  if (!state->stream.is_open()) return Error{fmt::format("cannot be read: {}", cause(errno)), path.string()};
  return LineReader(std::move(state));
}

Result<bool> LineReader::next(std::string& line) {
  Impl& state = *impl_;
  std::size_t searched = state.begin;
  for (;;) {
    if (const std::size_t end = state.text.find('\n', searched); end != std::string::npos) {
      line.assign(state.text, state.begin, end - state.begin);
      state.begin = end + 1;
      return true;
    }
    state.text.erase(0, state.begin);
    state.begin = 0;
    searched = state.text.size();
    if (!state.stream) break;
    state.stream.read(state.piece.data(), static_cast<std::streamsize>(state.piece.size()));
    const std::string_view bytes(state.piece.data(), static_cast<std::size_t>(state.stream.gcount()));
    if (const std::string wrong = state.decompressor->feed(bytes); !wrong.empty()) return Error{wrong, state.path};
  }
  if (const std::string wrong = state.decompressor->unfinished(); !wrong.empty()) return Error{wrong, state.path};
  if (!state.text.empty()) return Error{"last line has no newline", state.path};
  return false;
}

Result<std::string> read_file_text(const fs::path& path) {
  std::string text;
  const Result<void> read = for_each_piece(path, [&](std::string_view bytes) {
    text += bytes;
    return std::string();
  });
  if (!read.ok()) return read.error();
  return text;
}

Result<std::string> sha256_of_file(const fs::path& path) {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr);
  const Result<void> read = for_each_piece(path, [&](std::string_view bytes) {
    EVP_DigestUpdate(context.get(), bytes.data(), bytes.size());
    return std::string();
  });
  if (!read.ok()) return read.error();
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  EVP_DigestFinal_ex(context.get(), digest, &size);
  std::string text;
  for (unsigned int i = 0; i < size; ++i)
    text += fmt::format("{:02x}", digest[i]);
  return text;
}

}  // namespace assay
