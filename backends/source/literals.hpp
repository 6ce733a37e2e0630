// Prints constants as C++ literals.
#pragma once

#include <string>

#include "backends/source/unit.hpp"
#include "ir/module.hpp"

namespace assay::source {

/// How to print a 32-bit float constant. `real` is its type in both precisions.
enum class LiteralForm {
  kTyped,    ///< with its type, for arguments of templates or overloads: real(0.1f)
  kUntyped,  ///< without its type, where the context converts it to `real` exactly: 0.1f
};

/// The shortest text that parses as the literal's value in its type.
std::string literal_text(SourceUnit& unit, const ir::Expr& literal, LiteralForm form);

}  // namespace assay::source
