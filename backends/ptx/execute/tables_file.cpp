// The file format of tables.
#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <zstd.h>

#include "backends/ptx/execute/tables.hpp"
#include "support/files.hpp"

namespace assay::ptx {

namespace {

using nlohmann::json;

constexpr std::string_view kFormat = "assay ptx tables";
constexpr int kVersion = 1;
constexpr int kCompressionLevel = 9;
constexpr std::uint64_t kMaxEntries = std::uint64_t{1} << 26U;  ///< per unit

json to_json(const ApproximationTable& table) {
  json windows = json::array();
  for (const ApproximationTable::OperandWindow& window : table.windows())
    windows.push_back({{"first", window.first_operand}, {"count", window.ulp_differences.size()}});
  return {{"instruction", table.unit().instruction_name},
          {"verified", table.verified_operand_count()},
          {"windows", std::move(windows)}};
}

/// Reads a field of an object.
template <class T>
Result<T> field(const json& object, const char* name, const char* expected) {
  const auto found = object.find(name);
  bool fits = found != object.end();
  if constexpr (std::is_same_v<T, std::string>) {
    fits = fits && found->is_string();
  } else if constexpr (std::is_same_v<T, std::uint64_t>) {
    fits = fits && found->is_number_unsigned();
  } else {
    fits = fits && found->is_array();
  }
  if (fits) return found->template get<T>();
  return Error{
      fmt::format("'{}' must be {}, got {}", name, expected, found == object.end() ? "nothing" : found->dump())};
}

/// A unit as described in the header, without its differences.
struct UnitHeader {
  const ApproximationUnit* unit = nullptr;
  std::uint64_t verified = 0;
  std::vector<OperandRange> windows;
  std::uint64_t entries = 0;
};

Result<UnitHeader> parse_unit_header(const json& entry) {
  if (!entry.is_object())
    return Error{fmt::format("each element of 'units' must be a JSON object, got {}", entry.dump())};
  const auto instruction = field<std::string>(entry, "instruction", "the name of an instruction");
  if (!instruction) return instruction.error();
  const auto unit = std::ranges::find(units(), *instruction, &ApproximationUnit::instruction_name);
  if (unit == units().end()) {
    return Error{fmt::format("'{}' is not an approximate instruction such as {}", *instruction,
                             units().front().instruction_name)};
  }
  const auto verified = field<std::uint64_t>(entry, "verified", "the number of operands");
  if (!verified) return verified.error();
  const auto windows = field<std::vector<json>>(entry, "windows", "a list of operand ranges");
  if (!windows) return windows.error();
  UnitHeader announced{.unit = &*unit, .verified = *verified, .windows = {}};
  for (const json& window : *windows) {
    if (!window.is_object())
      return Error{fmt::format("each element of 'windows' must be a JSON object, got {}", window.dump())};
    const auto first = field<std::uint64_t>(window, "first", "a bit pattern");
    if (!first) return first.error();
    const auto count = field<std::uint64_t>(window, "count", "the number of operands");
    if (!count) return count.error();
    announced.entries += *count;
    if (*first > UINT32_MAX || *count > kMaxEntries || *first + *count > std::uint64_t{1} << 32U ||
        announced.entries > kMaxEntries) {
      return Error{fmt::format(
          "invalid window of {} operands that starts at {}: each operand must fit in 32 bits, and all windows "
          "together must have at most {} operands",
          *count, *first, kMaxEntries)};
    }
    announced.windows.push_back({static_cast<std::uint32_t>(*first), static_cast<std::uint32_t>(*count)});
  }
  return announced;
}

/// Decompresses the frame, whose content must have the given size.
Result<std::string> decompressed(std::string_view frame, std::uint64_t bytes) {
  if (ZSTD_getFrameContentSize(frame.data(), frame.size()) != bytes) {
    return Error{fmt::format("the zstd frame must contain {} bytes, as specified in the header", bytes)};
  }
  std::string content(bytes, '\0');
  const std::size_t size = ZSTD_decompress(content.data(), content.size(), frame.data(), frame.size());
  if (ZSTD_isError(size) != 0U)
    return Error{fmt::format("cannot decompress the zstd frame: {}", ZSTD_getErrorName(size))};
  if (size != bytes) return Error{fmt::format("the zstd frame must contain {} bytes, got {}", bytes, size)};
  return content;
}

ApproximationTable table_of(const UnitHeader& announced, std::string_view& bytes) {
  std::vector<ApproximationTable::OperandWindow> windows;
  for (const OperandRange& range : announced.windows) {
    ApproximationTable::OperandWindow& window = windows.emplace_back();
    window.first_operand = range.first_operand;
    const auto* const first = reinterpret_cast<const std::int8_t*>(bytes.data());
    window.ulp_differences.assign(first, first + range.operand_count);
    bytes.remove_prefix(range.operand_count);
  }
  return {*announced.unit, std::move(windows), announced.verified};
}

}  // namespace

std::string encode_tables(const ApproximationTables& tables) {
  json header{{"format", kFormat}, {"version", kVersion}, {"device", tables.device}, {"units", json::array()}};
  std::string bytes;
  for (const ApproximationTable& table : tables.tables) {
    header["units"].push_back(to_json(table));
    for (const ApproximationTable::OperandWindow& window : table.windows())
      bytes.append(reinterpret_cast<const char*>(window.ulp_differences.data()), window.ulp_differences.size());
  }
  std::string frame(ZSTD_compressBound(bytes.size()), '\0');
  // Fails only if the bound is violated or memory is exhausted.
  frame.resize(ZSTD_compress(frame.data(), frame.size(), bytes.data(), bytes.size(), kCompressionLevel));
  return header.dump() + "\n" + frame;
}

Result<ApproximationTables> decode_tables(std::string_view content) {
  const std::size_t end = std::min(content.find('\n'), content.size());
  const json header = json::parse(content.substr(0, end), nullptr, false);
  if (!header.is_object() || header.value("format", json()) != kFormat) {
    return Error{
        "the file must begin with the header of instruction tables; create it with 'assay calibrate --tables'"};
  }
  if (header.value("version", json()) != kVersion) {
    return Error{
        fmt::format("file version must be {}, got {}; measure the device again with 'assay calibrate --tables'",
                    kVersion, header.value("version", json()).dump())};
  }
  const auto device = field<std::string>(header, "device", "a device's name");
  if (!device) return device.error();
  const auto entries = field<std::vector<json>>(header, "units", "a list of instructions with their tables");
  if (!entries) return entries.error();
  std::vector<UnitHeader> announced;
  std::uint64_t total = 0;
  for (const json& entry : *entries) {
    auto unit = parse_unit_header(entry);
    if (!unit) return unit.error();
    if (std::ranges::find(announced, unit->unit, &UnitHeader::unit) != announced.end()) {
      return Error{fmt::format("instruction '{}' has two tables", unit->unit->instruction_name)};
    }
    total += unit->entries;
    announced.push_back(unit.take());
  }
  const auto bytes = decompressed(content.substr(std::min(end + 1, content.size())), total);
  if (!bytes) return bytes.error();
  ApproximationTables tables{.device = *device, .tables = {}};
  std::string_view rest = *bytes;
  for (const UnitHeader& unit : announced)
    tables.tables.push_back(table_of(unit, rest));
  return tables;
}

Result<ApproximationTables> read_tables(const std::string& file) {
  const Result<std::string> content = read_file_text(file);
  if (!content.ok()) return content.error();
  Result<ApproximationTables> tables = decode_tables(*content);
  if (!tables.ok()) return Error{tables.error().text(), file};
  return tables;
}

}  // namespace assay::ptx
