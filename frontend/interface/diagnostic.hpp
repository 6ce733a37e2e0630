// What the reader has to say about a place in the user's file.
#pragma once

#include <cstdint>
#include <string>

#include "ir/module.hpp"

namespace assay::frontend {

enum class Severity : std::uint8_t {
  kError,  ///< the function or kernel could not be read and is not in the module
  kNote,   ///< read, but the user should know
};

struct Diagnostic {
  Severity severity = Severity::kError;
  std::string file;
  ir::Loc loc;            ///< line and column, from 1; columns count bytes
  std::string function;   ///< name of the kernel or function that it is about; empty outside of any
  std::string construct;  ///< what stands there, shortened: "lambda", "wp.svd3(...)"
  std::string reason;     ///< why it cannot be read, or what happens to it

  /// "file.py:3:5: error: in k: wp.svd3(...): the reader does not know this function".
  std::string text() const;
};

}  // namespace assay::frontend
