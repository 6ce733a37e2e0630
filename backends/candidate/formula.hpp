// Formulas of integers in a candidate's contract: "n", "x.shape[0]", "ceil(n / 256)", "4 * min(n, 1024)".
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "support/result.hpp"

namespace assay::candidate {

/// The values that a formula may refer to by name. Each function returns nullopt for an unknown name or dimension.
struct FormulaNameLookup {
  std::function<std::optional<double>(std::string_view name)> value_of;  ///< a parameter by value, or "threads"
  /// The extent of an array, or of "threads": the number of threads in a dimension of the launch.
  std::function<std::optional<double>(std::string_view array, std::size_t dimension)> extent_of;
};

/// Evaluates numbers, names, `name.shape[d]`, `+ - * / %`, parentheses, and the functions ceil, floor, min and max.
/// Division is not rounded. Fails if the formula is malformed or has an unknown name, and if the result is not an
/// integer of at most 2^53 in magnitude. The error has the position in the formula.
Result<std::int64_t> evaluate(std::string_view formula, const FormulaNameLookup& names);

}  // namespace assay::candidate
