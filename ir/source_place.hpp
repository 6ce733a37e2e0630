// Where in the user's files a place of a module is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ir/module.hpp"

namespace assay::ir {

struct SourcePlace {
  std::string_view file;  ///< the module's; lives as long as that
  Loc loc;                ///< within the file
  bool is_imported = false;
};

/// The file that a place is in, and where in it.
SourcePlace source_place(const Module& module, Loc loc);

/// "wave.py:12:5" for messages; the file's name alone for no place.
std::string place_text(const Module& module, Loc loc);

/// "line 12" of the module's own file, "line 12 of contacts.py" of an imported one.
std::string line_text(const Module& module, Loc loc);

}  // namespace assay::ir
