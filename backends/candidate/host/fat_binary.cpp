#include "backends/candidate/host/fat_binary.hpp"

#include <cstdint>
#include <cstring>

#include <fmt/format.h>

namespace assay::candidate {

namespace {

constexpr std::uint32_t kMagic = 0xBA55ED50;

struct Header {
  std::uint32_t magic;
  std::uint16_t version;
  std::uint16_t header_bytes;
  std::uint64_t body_bytes;  ///< size of all entries
};
static_assert(sizeof(Header) == 16);

/// The start of the header of an entry.
struct Entry {
  std::uint16_t kind;
  std::uint16_t version;
  std::uint32_t header_bytes;
  std::uint64_t body_bytes;
  std::uint32_t compressed_bytes;  ///< 0: not compressed
};
constexpr std::uint16_t kPtxKind = 1;
constexpr std::size_t kEntryBytes = 20;  ///< size of the fields above, without padding

template <typename T>
T read_at(std::span<const std::byte> bytes, std::size_t at, std::size_t size = sizeof(T)) {
  T value{};
  std::memcpy(&value, bytes.data() + at, size);
  return value;
}

}  // namespace

std::size_t fat_binary_bytes(const void* fat_binary) {
  Header header{};
  std::memcpy(&header, fat_binary, sizeof(header));
  return header.magic == kMagic ? header.header_bytes + header.body_bytes : 0;
}

std::string fat_binary_of(std::string_view ptx) {
  constexpr std::uint16_t kVersion = 0x101;
  const Entry entry{.kind = kPtxKind,
                    .version = kVersion,
                    .header_bytes = sizeof(Entry),
                    .body_bytes = ptx.size(),
                    .compressed_bytes = 0};
  const Header header{
      .magic = kMagic, .version = 1, .header_bytes = sizeof(Header), .body_bytes = sizeof(Entry) + ptx.size()};
  std::string result(sizeof(header) + sizeof(entry), '\0');
  std::memcpy(result.data(), &header, sizeof(header));
  std::memcpy(result.data() + sizeof(header), &entry, kEntryBytes);
  return result.append(ptx);
}

Result<std::vector<std::string>> ptx_of(std::span<const std::byte> fat_binary) {
  if (fat_binary.size() < sizeof(Header) || fat_binary_bytes(fat_binary.data()) != fat_binary.size())
    return Error{"the compiled candidate contains no fat binary of a known layout"};
  std::vector<std::string> texts;
  std::size_t at = read_at<Header>(fat_binary, 0).header_bytes;
  while (at < fat_binary.size()) {
    if (fat_binary.size() - at < kEntryBytes)
      return Error{"the fat binary of the candidate is truncated: its last entry is incomplete"};
    const auto entry = read_at<Entry>(fat_binary, at, kEntryBytes);
    const std::size_t rest = fat_binary.size() - at;
    if (entry.header_bytes < kEntryBytes || entry.header_bytes > rest || entry.body_bytes > rest - entry.header_bytes)
      return Error{fmt::format("the fat binary of the candidate has an invalid entry at byte {}", at)};
    if (entry.kind == kPtxKind) {
      if (entry.compressed_bytes != 0)
        return Error{"the PTX of the candidate is compressed; it must be compiled with --no-compress"};
      const std::string_view text(reinterpret_cast<const char*>(fat_binary.data()) + at + entry.header_bytes,
                                  entry.body_bytes);
      texts.emplace_back(text.substr(0, text.find('\0')));
    }
    at += entry.header_bytes + entry.body_bytes;
  }
  if (texts.empty()) return Error{"the compiled candidate contains no PTX"};
  return texts;
}

}  // namespace assay::candidate
