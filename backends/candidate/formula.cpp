#include "backends/candidate/formula.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace assay::candidate {
namespace {

/// The greatest integer up to which a double represents every integer.
constexpr double kGreatest = 9007199254740992.0;
/// Nested parentheses and calls.
constexpr int kMostNested = 64;

class FormulaParser {
 public:
  FormulaParser(std::string_view text, const FormulaNameLookup& names) : text_(text), names_(names) {}

  /// Evaluates the whole text. Fails if it is malformed, has an unknown name or divides by zero.
  Result<double> run() {
    const double value = sum();
    skip_spaces();
    if (!error_ && at_ < text_.size()) fail(fmt::format("unexpected '{}'", text_[at_]));
    if (error_) return *error_;
    if (division_error_) return *division_error_;
    return value;
  }

  /// After run(): whether the error, if there is one, does not depend on the values of names.
  [[nodiscard]] bool is_malformed() const { return error_.has_value(); }
  /// After run(): whether the text has a number with a decimal point or an exponent.
  [[nodiscard]] bool has_decimal_number() const { return has_decimal_number_; }

 private:
  [[nodiscard]] Error error_here(std::string_view message) const {
    return Error{fmt::format("formula '{}', position {}: {}", text_, at_ + 1, message)};
  }
  double fail(std::string_view message) {
    if (!error_) error_ = error_here(message);
    return 0;
  }
  /// A division by zero, which depends on the values of names: the rest of the formula is still parsed.
  double fail_division() {
    if (!division_error_) division_error_ = error_here("division by zero");
    return 0;
  }

  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ')
      ++at_;
  }
  bool accept(char c) {
    skip_spaces();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(fmt::format("expected '{}'", c));
  }

  double sum() {
    double value = product();
    while (!error_) {
      if (accept('+')) value += product();
      else if (accept('-')) value -= product();
      else break;
    }
    return value;
  }

  double product() {
    double value = factor();
    while (!error_) {
      if (accept('*')) {
        value *= factor();
      } else if (accept('/')) {
        const double divisor = factor();
        value = divisor == 0 ? fail_division() : value / divisor;
      } else if (accept('%')) {
        const double divisor = factor();
        value = divisor == 0 ? fail_division() : value - divisor * std::floor(value / divisor);
      } else {
        break;
      }
    }
    return value;
  }

  double factor() {
    skip_spaces();
    if (++depth_ > kMostNested) return fail("the formula is nested too deeply");
    double value = 0;
    if (at_ == text_.size()) value = fail("expected a number or a name");
    else if (accept('-')) value = -factor();
    else if (accept('(')) value = in_parentheses();
    else if (is_digit_at(at_) || (text_[at_] == '.' && is_digit_at(at_ + 1))) value = number();
    else value = named();
    --depth_;
    return value;
  }

  double in_parentheses() {
    const double value = sum();
    expect(')');
    return value;
  }

  [[nodiscard]] bool is_digit_at(std::size_t at) const {
    return at < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at])) != 0;
  }

  /// Digits, perhaps with a decimal point and an exponent: "256", "0.5", "1e-5".
  double number() {
    double value = 0;
    const auto [end, status] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    const std::string_view digits = text_.substr(at_, static_cast<std::size_t>(end - text_.data()) - at_);
    const bool is_decimal = digits.find_first_of(".eE") != std::string_view::npos;
    if (status != std::errc()) return fail("the number is too large or too close to zero");
    if (!is_decimal && value > kGreatest) return fail("the number is too large");
    has_decimal_number_ = has_decimal_number_ || is_decimal;
    at_ += digits.size();
    return value;
  }

  /// The number of a dimension of an array.
  double dimension_number() {
    std::size_t value = 0;
    const auto [end, status] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (status != std::errc()) return fail("expected a dimension number, such as 0");
    at_ = static_cast<std::size_t>(end - text_.data());
    return static_cast<double>(value);
  }

  std::string_view word() {
    const std::size_t start = at_;
    while (at_ < text_.size() && (text_[at_] == '_' || std::isalnum(static_cast<unsigned char>(text_[at_])) != 0))
      ++at_;
    return text_.substr(start, at_ - start);
  }

  double named() {
    const std::string_view name = word();
    if (name.empty()) return fail(fmt::format("unexpected '{}'", text_[at_]));
    if (accept('(')) return call(name);
    if (accept('.')) return extent(name);
    const std::optional<double> value = names_.value_of(name);
    return value ? *value : fail(fmt::format("unknown name '{}'", name));
  }

  double call(std::string_view name) {
    const double first = sum();
    if (name == "ceil" || name == "floor") {
      expect(')');
      return name == "ceil" ? std::ceil(first) : std::floor(first);
    }
    if (name != "min" && name != "max")
      return fail(fmt::format("unknown function '{}'; expected ceil, floor, min or max", name));
    expect(',');
    const double second = sum();
    expect(')');
    return name == "min" ? std::min(first, second) : std::max(first, second);
  }

  double extent(std::string_view array) {
    if (word() != "shape") return fail("expected 'shape'");
    expect('[');
    skip_spaces();
    const double dimension = dimension_number();
    expect(']');
    if (error_) return 0;
    const std::optional<double> value = names_.extent_of(array, static_cast<std::size_t>(dimension));
    return value ? *value : fail(fmt::format("'{}' must be an array that has a dimension {}", array, dimension));
  }

  std::string_view text_;
  const FormulaNameLookup& names_;
  std::size_t at_ = 0;  ///< position of the next character
  int depth_ = 0;       ///< nesting of parentheses and calls
  bool has_decimal_number_ = false;
  std::optional<Error> error_;           ///< why the text is malformed, or which name is unknown
  std::optional<Error> division_error_;  ///< where the text divides by zero
};

}  // namespace

Result<std::int64_t> evaluate(std::string_view formula, const FormulaNameLookup& names) {
  const Result<double> value = FormulaParser(formula, names).run();
  if (!value.ok()) return value.error();
  if (!(std::abs(*value) <= kGreatest) || *value != std::floor(*value))
    return Error{
        fmt::format("the value of the formula '{}' must be an integer, got {}; use ceil or floor", formula, *value)};
  return static_cast<std::int64_t>(*value);
}

Result<double> evaluate_real(std::string_view formula, const FormulaNameLookup& names) {
  Result<double> value = FormulaParser(formula, names).run();
  if (value.ok() && !std::isfinite(*value))
    return Error{fmt::format("the value of the formula '{}' must be a finite number, got {}", formula, *value)};
  return value;
}

Result<void> check_syntax(std::string_view formula, const FormulaNameLookup& names) {
  FormulaParser parser(formula, names);
  const Result<double> value = parser.run();
  if (parser.is_malformed()) return value.error();
  return {};
}

bool has_decimal_number(std::string_view formula) {
  const FormulaNameLookup any_names{.value_of = [](std::string_view) { return 1.0; },
                                    .extent_of = [](std::string_view, std::size_t) { return 1.0; }};
  FormulaParser parser(formula, any_names);
  static_cast<void>(parser.run());
  return parser.has_decimal_number();
}

}  // namespace assay::candidate
