#include "frontend/interface/diagnostic.hpp"

#include <fmt/format.h>

namespace assay::frontend {

std::string Diagnostic::text() const {
  std::string place = fmt::format("{}:{}:{}", file, loc.line, loc.column);
  const std::string_view word = severity == Severity::kError ? "error" : "note";
  const std::string inside = function.empty() ? "" : fmt::format("in {}: ", function);
  const std::string what = construct_excerpt.empty() ? "" : fmt::format("{}: ", construct_excerpt);
  return fmt::format("{}: {}: {}{}{}", place, word, inside, what, reason);
}

}  // namespace assay::frontend
