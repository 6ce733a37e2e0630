// Changes planted into the emitted text of a kernel.
#pragma once

#include <string>

#include "backends/device/emitted_kernel.hpp"
#include "support/result.hpp"

namespace assay::attacks {

/// Replaces the first match of a regular expression (ECMAScript) in the emitted body, which must have one. $1 in the
/// replacement stands for the first group, as in std::regex_replace.
struct Edit {
  std::string pattern;
  std::string replacement;
};

/// Statements put where each thread of a pass starts.
Edit at_thread_start(backends::Pass pass, const std::string& statements);
/// Lines put in front of the body, at namespace scope.
Edit before_body(const std::string& lines);
/// Lines put where the type `real` is known, at namespace scope.
Edit behind_real(const std::string& lines);

/// Fails where nothing matches, with the text that was searched.
Result<void> injected_fault(backends::EmittedKernel& kernel, const Edit& edit);

}  // namespace assay::attacks
