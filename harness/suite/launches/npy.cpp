#include "harness/suite/launches/npy.hpp"

#include <charconv>
#include <cstring>
#include <limits>
#include <optional>
#include <regex>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/files.hpp"

namespace assay::harness {
namespace {

constexpr std::string_view kMagic{"\x93NUMPY", 6};
/// Larger headers belong to structured types, which are written as plain bytes instead.
constexpr std::size_t kMostHeader = 1 << 16;

std::optional<std::string> matched(const std::string& header, const char* pattern) {
  std::smatch match;
  if (!std::regex_search(header, match, std::regex(pattern))) return std::nullopt;
  return match[1].str();
}

/// The number of bytes in a descriptor such as "<f4"; empty if the elements are not plain data of this byte order.
std::optional<std::size_t> item_size_of(const std::string& dtype_descriptor) {
  static const std::regex kPlain(R"([<|=]([biufV])([0-9]{1,6}))");
  std::smatch match;
  if (!std::regex_match(dtype_descriptor, match, kPlain)) return std::nullopt;
  std::size_t size = 0;
  const std::string digits = match[2].str();
  std::from_chars(digits.data(), digits.data() + digits.size(), size);
  return size;
}

std::optional<std::vector<std::int64_t>> shape_of(const std::string& text) {
  std::vector<std::int64_t> shape;
  static const std::regex kNumber("[0-9]+");
  for (auto at = std::sregex_iterator(text.begin(), text.end(), kNumber); at != std::sregex_iterator(); ++at) {
    const std::string digits = at->str();
    std::int64_t extent = 0;
    if (std::from_chars(digits.data(), digits.data() + digits.size(), extent).ec != std::errc()) return std::nullopt;
    shape.push_back(extent);
  }
  return shape;
}

/// The number of bytes of the array; empty if it is more than a file can hold.
std::optional<std::size_t> size_of(const NpyArray& array) {
  std::size_t size = array.item_size_bytes;
  for (const std::int64_t extent : array.shape) {
    const auto factor = static_cast<std::size_t>(extent);
    if (factor != 0 && size > std::numeric_limits<std::int64_t>::max() / factor) return std::nullopt;
    size *= factor;
  }
  return size;
}

}  // namespace

Result<NpyArray> read_npy(const std::filesystem::path& file) {
  const auto fail = [&](std::string reason) { return Error{std::move(reason), file.string()}; };
  const Result<std::string> text = read_file_text(file);
  if (!text.ok()) return text.error();
  const std::string& content = *text;
  if (!content.starts_with(kMagic) || content.size() < 12) return fail("not a .npy file: write it with numpy.save");
  const auto byte = [&](std::size_t at) { return static_cast<std::size_t>(static_cast<unsigned char>(content[at])); };
  const std::size_t version = byte(6);
  if (version < 1 || version > 3) return fail(fmt::format("version of a .npy file must be 1 to 3, got {}", version));
  const std::size_t begin = version == 1 ? 10 : 12;
  std::size_t length = byte(8) | byte(9) << 8U;
  if (version > 1) length |= byte(10) << 16U | byte(11) << 24U;
  if (length > kMostHeader || begin + length > content.size()) return fail("the header of the .npy file is invalid");

  const std::string header = content.substr(begin, length);
  const auto dtype_descriptor = matched(header, R"('descr'\s*:\s*'([^']*)')");
  const auto order = matched(header, R"('fortran_order'\s*:\s*(True|False))");
  const auto shape = matched(header, R"('shape'\s*:\s*\(([0-9, ]*)\))");
  if (!order || !shape) return fail("the header of the .npy file is invalid");
  if (*order == "True") return fail("elements must be in row-major order: save numpy.ascontiguousarray(array)");
  NpyArray array{.dtype_descriptor = dtype_descriptor.value_or("a structured type"), .shape = {}, .bytes = {}};
  const auto item_size_bytes = item_size_of(array.dtype_descriptor);
  if (!item_size_bytes) {
    return fail(
        fmt::format("elements must be little-endian numbers, bools or raw bytes (such as '<f4' or '|V12'), got {}",
                    array.dtype_descriptor));
  }
  array.item_size_bytes = *item_size_bytes;
  const auto extents = shape_of(*shape);
  if (!extents) return fail("the shape in the header of the .npy file is invalid");
  array.shape = *extents;
  const auto size = size_of(array);
  const std::size_t data = begin + length;
  if (!size || content.size() - data != *size) {
    return fail(fmt::format("the .npy file must hold ({}) elements of {} bytes, got {} bytes",
                            fmt::join(array.shape, ", "), array.item_size_bytes, content.size() - data));
  }
  array.bytes.resize(*size);
  std::memcpy(array.bytes.data(), content.data() + data, *size);
  return array;
}

}  // namespace assay::harness
