#include "support/tar_archive.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <stdlib.h>
#include <zlib.h>

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBlock = 512;

/// The header of an entry (POSIX.1-2017, pax, "ustar Interchange Format"); numbers are octal text.
struct Header {
  char name[100];
  char mode[8];
  char uid[8];
  char gid[8];
  char size[12];
  char mtime[12];
  char checksum[8];
  char type;
  char link[100];
  char magic[6];
  char version[2];
  char user[32];
  char group[32];
  char major[8];
  char minor[8];
  char prefix[155];
  char padding[12];
};
static_assert(sizeof(Header) == kBlock);

template <std::size_t N>
std::string_view text_of(const char (&field)[N]) {
  return {field, ::strnlen(field, N)};
}

template <std::size_t N>
std::optional<std::uint64_t> number_of(const char (&field)[N]) {
  std::string_view text = text_of(field);
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 8);
  const std::string_view rest(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const bool whole = rest.find_first_not_of(' ') == std::string_view::npos;
  return error == std::errc{} && whole ? std::optional(value) : std::nullopt;
}

/// Checks the sum of the header's bytes, with blanks in place of the checksum field.
bool has_valid_checksum(const Header& header) {
  std::array<unsigned char, kBlock> bytes{};
  std::memcpy(bytes.data(), &header, kBlock);
  std::fill_n(bytes.begin() + offsetof(Header, checksum), sizeof(header.checksum), static_cast<unsigned char>(' '));
  std::uint64_t sum = 0;
  for (const unsigned char byte : bytes)
    sum += byte;
  return number_of(header.checksum) == sum;
}

/// Why an entry's name is rejected; empty if the entry stays below the folder.
std::string rejection_of(std::string_view name) {
  if (name.empty()) return "an empty name";
  if (name.front() == '/') return "an absolute path";
  for (const fs::path& part : fs::path(name)) {
    if (part == "..") return "a path with '..'";
  }
  const bool plain = std::ranges::all_of(name, [](char c) { return c >= ' ' && c != '\\' && c != 0x7f; });
  return plain ? "" : "a name with control characters or backslashes";
}

/// A new folder inside another one, removed by the destructor.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> create(const fs::path& parent) {
    std::string name = (parent / ".assay-unpack-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      return Error{"cannot create a temporary folder inside this folder", parent.string()};
    return TemporaryFolder(name);
  }
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  explicit TemporaryFolder(fs::path path) : path_(std::move(path)) {}
  fs::path path_;
};

struct CloseGzip {
  void operator()(gzFile_s* file) const { ::gzclose_r(file); }
};
using Gzip = std::unique_ptr<gzFile_s, CloseGzip>;

class Unpacking {
 public:
  Unpacking(const fs::path& archive, const fs::path& folder, const ArchiveLimits& limits)
      : archive_(archive), folder_(folder), limits_(limits), file_(::gzopen(archive.c_str(), "rb")) {}

  Result<void> run() {
    if (file_ == nullptr) return rejected("cannot be opened");
    for (;;) {
      Header header{};
      if (const Result<void> got = read({reinterpret_cast<char*>(&header), kBlock}); !got.ok()) return got;
      const auto* const bytes = reinterpret_cast<const char*>(&header);
      if (std::all_of(bytes, bytes + kBlock, [](char c) { return c == 0; })) return {};  // the archive's end
      if (const Result<void> taken = take(header); !taken.ok()) return taken;
    }
  }

 private:
  [[nodiscard]] Error rejected(const std::string& why) const { return {why, archive_.string()}; }

  Result<void> read(std::span<char> into) {
    const int got = ::gzread(file_.get(), into.data(), static_cast<unsigned>(into.size()));
    if (got == static_cast<int>(into.size())) return {};
    return rejected(got < 0 ? "is damaged: gzip data cannot be decompressed" : "is truncated or not an archive");
  }

  Result<void> take(const Header& header) {
    if (std::string_view(header.magic, 5) != "ustar" || !has_valid_checksum(header))
      return rejected("is damaged or not a ustar archive");
    std::string name(text_of(header.prefix));
    if (!name.empty()) name += '/';
    name += text_of(header.name);
    if (const std::string why = rejection_of(name); !why.empty())
      return rejected(fmt::format("has an entry with {}; entries must be relative paths: '{}'", why, name));
    if (++entries_ > limits_.max_entries) return rejected(fmt::format("has more than {} entries", limits_.max_entries));
    const auto size = number_of(header.size);
    if (!size) return rejected(fmt::format("has an entry without a size: '{}'", name));
    switch (header.type) {
      case '0':
      case '\0': return take_file(folder_ / name, *size, number_of(header.mode).value_or(0));
      case '5':
        return *size == 0 ? make_folder(folder_ / name)
                          : rejected(fmt::format("has a folder entry with content: '{}'", name));
      default:
        return rejected(
            fmt::format("has an entry of type '{}', only files and folders are supported: '{}'", header.type, name));
    }
  }

  Result<void> make_folder(const fs::path& path) const {
    std::error_code error;
    fs::create_directories(path, error);
    return error ? Result<void>(Error{error.message(), path.string()}) : Result<void>{};
  }

  Result<void> take_file(const fs::path& path, std::uint64_t size, std::uint64_t mode) {
    if (size > limits_.max_bytes - bytes_)
      return rejected(fmt::format("unpacks to more than {} bytes", limits_.max_bytes));
    bytes_ += size;
    if (const Result<void> made = make_folder(path.parent_path()); !made.ok()) return made;
    std::error_code error;
    if (fs::exists(path, error)) return rejected(fmt::format("has a duplicate entry: '{}'", path.filename().string()));
    std::ofstream file(path, std::ios::binary);
    std::array<char, 128 * kBlock> buffer;
    for (std::uint64_t left = (size + kBlock - 1) / kBlock * kBlock, rest = size; left > 0;) {
      const std::span<char> part = std::span(buffer).first(std::min<std::uint64_t>(left, buffer.size()));
      if (const Result<void> got = read(part); !got.ok()) return got;
      const std::uint64_t own = std::min<std::uint64_t>(rest, part.size());
      file.write(part.data(), static_cast<std::streamsize>(own));
      rest -= own;
      left -= part.size();
    }
    file.close();
    if (!file) return Error{"cannot be written", path.string()};
    // Scripts that reproduce a failure are to be run.
    if ((mode & 0100U) != 0) fs::permissions(path, fs::perms::owner_exec, fs::perm_options::add, error);
    return {};
  }

  const fs::path& archive_;
  const fs::path& folder_;
  const ArchiveLimits& limits_;
  Gzip file_;
  std::size_t entries_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace

Result<std::vector<fs::path>> unpack_archive(const fs::path& archive, const fs::path& folder,
                                             const ArchiveLimits& limits) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return Error{error.message(), folder.string()};
  // All or nothing: a rejected archive is removed with this temporary folder.
  const Result<TemporaryFolder> scratch = TemporaryFolder::create(folder);
  if (!scratch.ok()) return scratch.error();
  if (const Result<void> unpacked = Unpacking(archive, scratch->path(), limits).run(); !unpacked.ok())
    return unpacked.error();
  std::vector<fs::path> top;
  for (const fs::directory_entry& entry : fs::directory_iterator(scratch->path()))
    top.push_back(folder / entry.path().filename());
  std::ranges::sort(top);
  for (const fs::path& path : top) {
    if (fs::exists(path, error)) return Error{"already exists; choose another folder with --output", path.string()};
  }
  for (const fs::path& path : top) {
    fs::rename(scratch->path() / path.filename(), path, error);
    if (error) return Error{error.message(), path.string()};
  }
  return top;
}

}  // namespace assay
