// Formulas in a candidate's contract: "n", "x.shape[0]", "ceil(n / 256)", "4 * min(n, 1024)", "1e-5".
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

/// Evaluates numbers (256, 0.5, 1e-5), names, `name.shape[d]`, `+ - * / %`, parentheses, and the functions ceil, floor,
/// min and max. Division is not rounded. Fails if the formula is malformed or has an unknown name, and if the result is
/// not an integer of at most 2^53 in magnitude. The error has the position in the formula.
Result<std::int64_t> evaluate(std::string_view formula, const FormulaNameLookup& names);

/// The same for a result that need not be an integer. Fails if the result is infinite or NaN.
Result<double> evaluate_real(std::string_view formula, const FormulaNameLookup& names);

/// Fails if the formula is malformed or has an unknown name. The values of `names` do not matter.
Result<void> check_syntax(std::string_view formula, const FormulaNameLookup& names);

/// Whether a number in the formula has a decimal point or an exponent, so that its value is a floating-point number.
bool has_decimal_number(std::string_view formula);

}  // namespace assay::candidate
