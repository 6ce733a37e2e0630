#include "ir/source_location.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace assay::ir {

SourceLocation source_location(const Module& module, Loc loc) {
  const auto behind = std::ranges::partition_point(
      module.imported_files, [&](const ImportedFile& file) { return file.lines_before < loc.line; });
  if (behind == module.imported_files.begin()) return {.file = module.source_name, .loc = loc};
  const ImportedFile& file = *(behind - 1);
  return {.file = file.name, .loc = {.line = loc.line - file.lines_before, .column = loc.column}, .is_imported = true};
}

std::string location_text(const Module& module, Loc loc) {
  const SourceLocation place = source_location(module, loc);
  return loc.line == 0 ? std::string(place.file)
                       : fmt::format("{}:{}:{}", place.file, place.loc.line, place.loc.column);
}

std::string line_text(const Module& module, Loc loc) {
  const SourceLocation place = source_location(module, loc);
  return place.is_imported ? fmt::format("line {} of {}", place.loc.line, place.file)
                           : fmt::format("line {}", place.loc.line);
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
