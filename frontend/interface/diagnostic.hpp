// Diagnostics: errors and notes about a location in the user's file.
#pragma once

#include <cstdint>
#include <string>

#include "ir/module.hpp"

namespace assay::frontend {

/// How serious a diagnostic is.
enum class Severity : std::uint8_t {
  kError,  ///< the function or kernel could not be parsed and is missing in the module
  kNote,   ///< the function or kernel was parsed, but with something that the user should know
};

/// An error or a note about a location in the user's file.
struct Diagnostic {
  Severity severity = Severity::kError;  ///< whether it is an error or a note
  std::string file;                      ///< name of the user's file
  ir::Loc loc;                           ///< line and column, counted from 1; columns count bytes
  std::string function;                  ///< name of the kernel or function that it is about; empty at top level
  std::string construct_excerpt;         ///< the unsupported source text, shortened: "lambda", "wp.svd3(...)"
  std::string reason;                    ///< why the source is not supported, or how it is handled

  /// "file.py:3:5: error: in k: wp.svd3(...): unknown or unsupported function".
  std::string text() const;
};

}  // namespace assay::frontend
