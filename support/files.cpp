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
#include <unistd.h>
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

struct FreeInput {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};
struct FreeOutput {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};

using Compressor = std::unique_ptr<ZSTD_CCtx, FreeOutput>;

Compressor make_compressor(int level) {
  Compressor context(ZSTD_createCCtx());
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  return context;
}

Error no_compression(std::size_t code, const fs::path& path) {
  return {fmt::format("cannot be compressed: {}", ZSTD_getErrorName(code)), path.string()};
}

/// Decompresses pieces and passes them on.
class Decompressor {
 public:
  explicit Decompressor(const TakeBytes& take) : take_(take), out_(kPiece) {
    ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, 27);
  }

  /// Returns an error message; empty on success.
  std::string feed(std::string_view bytes) {
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
  /// Whether a frame is incomplete.
  [[nodiscard]] bool unfinished() const { return open_ != 0; }

 private:
  const TakeBytes& take_;
  std::vector<char> out_;
  std::unique_ptr<ZSTD_DCtx, FreeInput> context_{ZSTD_createDCtx()};
  std::size_t open_ = 0;
  bool full_ = false;
};

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
  AtomicFile file(std::move(path), -1);
  file.descriptor_ = ::open(file.temporary().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file.descriptor_ < 0) return file.reject(errno).error();
  return file;
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : final_path_(std::move(other.final_path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary().c_str());
}

fs::path AtomicFile::temporary() const { return final_path_.string() + ".tmp"; }

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
  if (::fsync(descriptor_) != 0) return reject(errno);
  if (::rename(temporary().c_str(), final_path_.c_str()) != 0) return reject(errno);
  ::close(std::exchange(descriptor_, -1));
  flush_folder(final_path_.parent_path());
  return {};
}

Result<void> put_file(const fs::path& path, std::string_view text) {
  Result<AtomicFile> file = AtomicFile::create(path);
  if (!file.ok()) return file.error();
  if (Result<void> written = file->write(text); !written.ok()) return written;
  return file->commit();
}

// ---- ZstdLineWriter

struct ZstdLineWriter::Impl {
  AtomicFile file;
  Compressor context;
  std::vector<char> out = std::vector<char>(kPiece);
};

ZstdLineWriter::ZstdLineWriter(std::unique_ptr<Impl> state) : impl_(std::move(state)) {}
ZstdLineWriter::ZstdLineWriter(ZstdLineWriter&&) noexcept = default;
ZstdLineWriter::~ZstdLineWriter() = default;

Result<ZstdLineWriter> ZstdLineWriter::create(fs::path path, int level) {
  Result<AtomicFile> file = AtomicFile::create(std::move(path));
  if (!file.ok()) return file.error();
  return ZstdLineWriter(std::make_unique<Impl>(Impl{.file = file.take(), .context = make_compressor(level)}));
}

Result<void> ZstdLineWriter::feed(std::string_view bytes, bool end) {
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  for (;;) {
    ZSTD_outBuffer out{impl_->out.data(), impl_->out.size(), 0};
    const std::size_t left = ZSTD_compressStream2(impl_->context.get(), &out, &in, end ? ZSTD_e_end : ZSTD_e_continue);
    if (ZSTD_isError(left) != 0U) return no_compression(left, impl_->file.path());
    if (Result<void> written = impl_->file.write({impl_->out.data(), out.pos}); !written.ok()) return written;
    if (in.pos == in.size && (!end || left == 0)) return {};
  }
}

Result<void> ZstdLineWriter::add(std::string_view line) {
  if (Result<void> fed = feed(line, false); !fed.ok()) return fed;
  return feed("\n", false);
}

Result<void> ZstdLineWriter::commit() {
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
  const Compressor context = make_compressor(level);
  const std::size_t written = ZSTD_compress2(context.get(), out.get(), bound, text.data(), text.size());
  if (ZSTD_isError(written) != 0U) return no_compression(written, path);
  return put_file(path, {out.get(), written});
}

// ---- reading

Result<void> read_pieces(const fs::path& path, const TakeBytes& take) {
  if (path.extension() != ".zst") {
    return for_each_piece(path, [&](std::string_view bytes) {
      take(bytes);
      return std::string();
    });
  }
  Decompressor decompressor(take);
  Result<void> read = for_each_piece(path, [&](std::string_view bytes) { return decompressor.feed(bytes); });
  if (read.ok() && decompressor.unfinished()) return Error{"zstd frame is truncated", path.string()};
  return read;
}

struct LineReader::Impl {
  std::filesystem::path path;
  std::ifstream stream;
  std::string text;       // read and not yet returned
  std::size_t begin = 0;  // start of the text not yet returned
  bool compressed = false;
  TakeBytes take = [this](std::string_view bytes) { text += bytes; };
  Decompressor decompressor{take};
  std::vector<char> piece = std::vector<char>(kPiece);
};

LineReader::LineReader(std::unique_ptr<Impl> state) : impl_(std::move(state)) {}
LineReader::LineReader(LineReader&&) noexcept = default;
LineReader& LineReader::operator=(LineReader&&) noexcept = default;
LineReader::~LineReader() = default;

Result<LineReader> LineReader::open(const fs::path& path) {
  auto state = std::make_unique<Impl>();
  state->path = path;
  state->compressed = path.extension() == ".zst";
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
    if (!state.compressed) state.take(bytes);
    else if (const std::string wrong = state.decompressor.feed(bytes); !wrong.empty()) return Error{wrong, state.path};
  }
  if (state.compressed && state.decompressor.unfinished()) return Error{"zstd frame is truncated", state.path};
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
