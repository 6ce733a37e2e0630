// Code injection into the emitted text of a kernel.
#pragma once

#include <string>

#include "backends/device/emitted_kernel.hpp"
#include "support/result.hpp"

namespace assay::attacks {

/// Replaces the first match of a regular expression (ECMAScript) in the emitted body. There must be a match. $1 in the
/// replacement is the first group, as in std::regex_replace.
struct TextEdit {
  std::string pattern;      ///< regular expression that matches the text to replace
  std::string replacement;  ///< new text; $1 is the first group of the match
};

/// Inserts statements at the start of each thread of a pass.
TextEdit at_thread_start(backends::Pass pass, const std::string& statements);
/// Inserts lines before the body, at namespace scope.
TextEdit before_body(const std::string& lines);
/// Inserts lines after the definition of the type `real`, at namespace scope.
TextEdit after_real(const std::string& lines);

/// Applies the edit. Fails if nothing matches; the error contains the text that was searched.
Result<void> inject_code(backends::EmittedKernel& kernel, const TextEdit& edit);

}  // namespace assay::attacks
