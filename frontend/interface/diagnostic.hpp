// Diagnostics: errors and notes about a location in the user's file.
#pragma once

#include <cstdint>
#include <string>

#include "ir/module.hpp"

namespace assay::frontend {

enum class Severity : std::uint8_t {
  kError,  ///< the function or kernel could not be parsed and is not in the module
  kNote,   ///< the function or kernel was parsed, but the user should know something about it
};

struct Diagnostic {
  Severity severity = Severity::kError;
  std::string file;               ///< name of the user's file
  ir::Loc loc;                    ///< line and column, from 1; columns count bytes
  std::string function;           ///< name of the kernel or function concerned; empty at top level
  std::string construct_excerpt;  ///< the source construct, shortened: "lambda", "wp.svd3(...)"
  std::string reason;             ///< why it is not supported, or how it is handled

  /// "file.py:3:5: error: in k: wp.svd3(...): unknown or unsupported function".
  std::string text() const;
};

}  // namespace assay::frontend
