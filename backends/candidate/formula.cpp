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

  Result<std::int64_t> run() {
    const double value = sum();
    skip_spaces();
    if (!error_ && at_ < text_.size()) fail(fmt::format("unexpected '{}'", text_[at_]));
    if (error_) return *error_;
    if (!(std::abs(value) <= kGreatest) || value != std::floor(value))
      return Error{
          fmt::format("the value of the formula '{}' must be an integer, got {}; use ceil or floor", text_, value)};
    return static_cast<std::int64_t>(value);
  }

 private:
  double fail(std::string message) {
    if (!error_) error_ = Error{fmt::format("formula '{}', position {}: {}", text_, at_ + 1, message)};
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
        value = divisor == 0 ? fail("division by zero") : value / divisor;
      } else if (accept('%')) {
        const double divisor = factor();
        value = divisor == 0 ? fail("division by zero") : value - divisor * std::floor(value / divisor);
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
    else if (std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) value = number();
    else value = named();
    --depth_;
    return value;
  }

  double in_parentheses() {
    const double value = sum();
    expect(')');
    return value;
  }

  double number() {
    std::int64_t value = 0;
    const auto [end, status] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (status != std::errc()) return fail("the number is too large");
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
    if (at_ == text_.size() || std::isdigit(static_cast<unsigned char>(text_[at_])) == 0)
      return fail("expected a dimension number, such as 0");
    const double dimension = number();
    expect(']');
    if (error_) return 0;
    const std::optional<double> value = names_.extent_of(array, static_cast<std::size_t>(dimension));
    return value ? *value : fail(fmt::format("'{}' must be an array that has a dimension {}", array, dimension));
  }

  std::string_view text_;
  const FormulaNameLookup& names_;
  std::size_t at_ = 0;  ///< position of the next character
  int depth_ = 0;       ///< nesting of parentheses and calls
  std::optional<Error> error_;
};

}  // namespace

Result<std::int64_t> evaluate(std::string_view formula, const FormulaNameLookup& names) {
  return FormulaParser(formula, names).run();
}

}  // namespace assay::candidate
