// Locations of a module in the files of the user.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/module.hpp"

namespace assay::ir {

/// A location in one of the files of a module.
struct SourceLocation {
  std::string_view file;     ///< name of the file; a view of a string in the module
  Loc loc;                   ///< line and column in the file
  bool is_imported = false;  ///< whether the file is an imported one, not the module's own file
};

/// The file of a location, and the location within that file. Copied lines have the location that they were copied
/// from.
SourceLocation source_location(const Module& module, Loc loc);

/// "wave.py:12:5" for messages; only the file name if the location is unknown.
std::string location_text(const Module& module, Loc loc);

/// "line 12" for the module's own file, "line 12 of contacts.py" for another file.
std::string line_text(const Module& module, Loc loc);

/// The lines below each comment "# source: FILE:LINE" directly above a decorator and a `def`, in their order.
std::vector<CopiedLines> copied_lines(std::span<const std::string> lines);

/// The lines without line endings, which may be "\n" or "\r\n".
std::vector<std::string> split_lines(std::string_view text);

}  // namespace assay::ir
