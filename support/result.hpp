// Failures that input can cause, as values. Failures of the machine are exceptions; bugs abort.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace assay {

/// Why something could not be done.
///
/// `message` is lower case, without a full stop, and says what was found, what was expected and what to do.
/// `where` is the source location, "file.py:12:5", or a case's name; may be empty.
struct Error {
  std::string message;     ///< what was found, what was expected and what to do; lower case, without a full stop
  std::string where = {};  ///< source location, "file.py:12:5", or the name of a case; may be empty

  /// "where: message", or the message alone.
  [[nodiscard]] std::string text() const { return where.empty() ? message : where + ": " + message; }

  friend bool operator==(const Error&, const Error&) = default;
};

namespace detail {

/// Reports an access to a Result that has no such content, and aborts. `found` says what it contains.
[[noreturn]] inline void abort_on_invalid_access(const char* found, const std::string& text) {
  std::fprintf(stderr, "assay: bug: %s%s\n", found, text.c_str());
  std::abort();
}

}  // namespace detail

/// A T, or the Error that says why there is none.
///
/// Functions return `T` or `Error{...}` and either converts. Asking for the value of a failure, or for the
/// error() called on a successful Result, is a bug and aborts.
template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(T value) : value_or_error_(std::in_place_index<0>, std::move(value)) {}  // NOLINT(google-explicit-constructor)
  Result(Error error)
      : value_or_error_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const { return value_or_error_.index() == 0; }
  explicit operator bool() const { return ok(); }

  [[nodiscard]] const T& value() const& { return require_value(), std::get<0>(value_or_error_); }
  [[nodiscard]] T& value() & { return require_value(), std::get<0>(value_or_error_); }
  /// The value of a temporary is moved out, so that it may outlive the Result.
  [[nodiscard]] T value() && { return take(); }

  /// Moves the value out; the Result then holds a moved-from T.
  [[nodiscard]] T take() { return require_value(), std::get<0>(std::move(value_or_error_)); }

  [[nodiscard]] const Error& error() const& { return require_error(), std::get<1>(value_or_error_); }
  [[nodiscard]] Error error() && { return require_error(), std::get<1>(std::move(value_or_error_)); }

  const T& operator*() const& { return value(); }
  T& operator*() & { return value(); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }

  [[nodiscard]] T value_or(T fallback) const& { return ok() ? std::get<0>(value_or_error_) : std::move(fallback); }
  [[nodiscard]] T value_or(T fallback) && { return ok() ? take() : std::move(fallback); }

  /// Result<U> of `function(value)`, or this error. Consumes the Result.
  template <class Function>
  auto map(Function&& function) && -> Result<std::invoke_result_t<Function, T>> {
    using Mapped = std::invoke_result_t<Function, T>;
    if (!ok()) return std::get<1>(std::move(value_or_error_));
    if constexpr (std::is_void_v<Mapped>) {
      std::invoke(std::forward<Function>(function), take());
      return {};
    } else {
      return std::invoke(std::forward<Function>(function), take());
    }
  }

  /// `function(value)`, itself a Result, or this error. Consumes the Result.
  template <class Function>
  auto and_then(Function&& function) && -> std::invoke_result_t<Function, T> {
    if (!ok()) return std::get<1>(std::move(value_or_error_));
    return std::invoke(std::forward<Function>(function), take());
  }

 private:
  void require_value() const {
    if (!ok())
      detail::abort_on_invalid_access("value() called on a failed Result: ", std::get<1>(value_or_error_).text());
  }
  void require_error() const {
    if (ok()) detail::abort_on_invalid_access("error() called on a successful Result", "");
  }

  std::variant<T, Error> value_or_error_;
};

/// Done, or the Error that says why not. `return {};` is success.
template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;

  Result() = default;
  Result(Error error) : value_or_error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const { return value_or_error_.index() == 0; }
  explicit operator bool() const { return ok(); }

  [[nodiscard]] const Error& error() const& { return require_error(), std::get<1>(value_or_error_); }
  [[nodiscard]] Error error() && { return require_error(), std::get<1>(std::move(value_or_error_)); }

  /// `function()`, itself a Result, or this error. Consumes the Result.
  template <class Function>
  auto and_then(Function&& function) && -> std::invoke_result_t<Function> {
    if (!ok()) return std::get<1>(std::move(value_or_error_));
    return std::invoke(std::forward<Function>(function));
  }

 private:
  void require_error() const {
    if (ok()) detail::abort_on_invalid_access("error() called on a successful Result", "");
  }

  std::variant<std::monostate, Error> value_or_error_;
};

}  // namespace assay
