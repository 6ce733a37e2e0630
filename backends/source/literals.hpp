// Prints constants as C++ literals.
#pragma once

#include <string>

#include "backends/source/unit.hpp"
#include "ir/module.hpp"

namespace assay::source {

/// How to print a 32-bit float constant.
enum class LiteralForm {
  kTyped,    ///< with its type: real(0.1f), for arguments of templates or overloads; `real` in both precisions
  kUntyped,  ///< without it: 0.1f, if the context converts it to `real`, which is exact
};

/// The shortest text that parses as the literal's value in its type.
std::string literal_text(SourceUnit& unit, const ir::Expr& literal, LiteralForm form);

}  // namespace assay::source
