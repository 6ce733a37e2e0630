#include "ir/source_place.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace assay::ir {

SourcePlace source_place(const Module& module, Loc loc) {
  const auto behind = std::ranges::partition_point(
      module.imported_files, [&](const ImportedFile& file) { return file.lines_before < loc.line; });
  if (behind == module.imported_files.begin()) return {.file = module.source_name, .loc = loc};
  const ImportedFile& file = *(behind - 1);
  return {.file = file.name, .loc = {.line = loc.line - file.lines_before, .column = loc.column}, .is_imported = true};
}

std::string place_text(const Module& module, Loc loc) {
  const SourcePlace place = source_place(module, loc);
  return loc.line == 0 ? std::string(place.file)
                       : fmt::format("{}:{}:{}", place.file, place.loc.line, place.loc.column);
}

std::string line_text(const Module& module, Loc loc) {
  const SourcePlace place = source_place(module, loc);
  return place.is_imported ? fmt::format("line {} of {}", place.loc.line, place.file)
                           : fmt::format("line {}", place.loc.line);
}

}  // namespace assay::ir
