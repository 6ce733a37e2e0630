// Constants as C++ spells them.
#pragma once

#include <string>

#include "backends/source/unit.hpp"
#include "ir/module.hpp"

namespace assay::source {

/// How a 32-bit float constant may be spelt.
enum class LiteralForm {
  kTyped,  ///< real(0.1f): of type `real` in both lanes, as an argument of a template or overload must be
  kBare,   ///< 0.1f, where its surroundings convert it to `real`, which is exact
};

/// The shortest text that reads back as the literal's value in its own type.
std::string literal_text(Unit& unit, const ir::Expr& literal, LiteralForm form);

}  // namespace assay::source
