#include "ir/source_location.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace assay::ir {

namespace {

/// The location that a line of the module's own file was copied from.
SourceLocation own_location(const Module& module, Loc loc) {
  const auto behind = std::ranges::partition_point(
      module.copied_lines, [&](const CopiedLines& lines) { return lines.preceding_line_count < loc.line; });
  if (behind == module.copied_lines.begin()) return {.file = module.source_name, .loc = loc};
  const CopiedLines& lines = *(behind - 1);
  // The decorator is the first of the lines, the `def` the second.
  const std::int32_t below_def = loc.line - lines.preceding_line_count - 2;
  return {.file = lines.file, .loc = {.line = lines.line + below_def, .column = loc.column}};
}

}  // namespace

SourceLocation source_location(const Module& module, Loc loc) {
  const auto behind = std::ranges::partition_point(
      module.imported_files, [&](const ImportedFile& file) { return file.preceding_line_count < loc.line; });
  if (behind == module.imported_files.begin()) return own_location(module, loc);
  const ImportedFile& file = *(behind - 1);
  return {.file = file.name,
          .loc = {.line = loc.line - file.preceding_line_count, .column = loc.column},
          .is_imported = true};
}

std::string location_text(const Module& module, Loc loc) {
  const SourceLocation place = source_location(module, loc);
  return loc.line == 0 ? std::string(place.file)
                       : fmt::format("{}:{}:{}", place.file, place.loc.line, place.loc.column);
}

std::string line_text(const Module& module, Loc loc) {
  const SourceLocation place = source_location(module, loc);
  return place.file != module.source_name ? fmt::format("line {} of {}", place.loc.line, place.file)
                                          : fmt::format("line {}", place.loc.line);
}

std::vector<CopiedLines> copied_lines(std::span<const std::string> lines) {
  constexpr std::string_view kMark = "# source: ";
  std::vector<CopiedLines> all;
  for (std::size_t i = 0; i + 2 < lines.size(); ++i) {
    // Other comments may begin alike, such as "# source: https://example.org:80".
    if (!lines[i + 1].starts_with("@wp.") || !lines[i + 2].starts_with("def ")) continue;
    const std::string_view line = lines[i];
    const std::size_t colon = line.rfind(':');
    if (!line.starts_with(kMark) || colon < kMark.size()) continue;
    const std::string_view number = line.substr(colon + 1);
    std::int32_t value = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (error != std::errc{} || end != number.data() + number.size() || value < 1) continue;
    all.push_back({.file = std::string(line.substr(kMark.size(), colon - kMark.size())),
                   .preceding_line_count = static_cast<std::int32_t>(i + 1),
                   .line = value});
  }
  return all;
}

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.emplace_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace assay::ir
