// Where in the user's files a place of a module is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ir/module.hpp"

namespace assay::ir {

struct SourceLocation {
  std::string_view file;  ///< the module's; lives as long as that
  Loc loc;                ///< within the file
  bool is_imported = false;
};

/// The file that a place is in, and where in it.
SourceLocation source_location(const Module& module, Loc loc);

/// "wave.py:12:5" for messages; the file's name alone for no place.
std::string location_text(const Module& module, Loc loc);

/// "line 12" of the module's own file, "line 12 of contacts.py" of an imported one.
std::string line_text(const Module& module, Loc loc);

/// The lines without their ends; "\r\n" ends a line too.
std::vector<std::string> split_lines(std::string_view text);

}  // namespace assay::ir
