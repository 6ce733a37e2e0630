// The functions of fmt, for a program that must not ask for its library; see AssayCarried.cmake.
#include <locale>

#include <fmt/format.h>

// No inline function but a template, which the compiler would keep to itself.
template std::locale fmt::detail::locale_ref::get<std::locale>() const;
