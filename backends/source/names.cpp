#include "backends/source/names.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace assay::source {
namespace {

// Sorted, for binary search. Keywords and alternative tokens of C++20, qualifiers and variables of CUDA, and macros
// that GNU compilers predefine without underscores.
constexpr auto kReserved = std::to_array<std::string_view>({
    "NULL",          "alignas",      "alignof",
    "and",           "and_eq",       "asm",
    "auto",          "bitand",       "bitor",
    "blockDim",      "blockIdx",     "bool",
    "break",         "case",         "catch",
    "char",          "char16_t",     "char32_t",
    "char8_t",       "class",        "co_await",
    "co_return",     "co_yield",     "compl",
    "concept",       "const",        "const_cast",
    "consteval",     "constexpr",    "constinit",
    "continue",      "decltype",     "default",
    "delete",        "do",           "double",
    "dynamic_cast",  "else",         "enum",
    "explicit",      "export",       "extern",
    "false",         "float",        "for",
    "friend",        "goto",         "gridDim",
    "i386",          "if",           "inline",
    "int",           "linux",        "long",
    "mutable",       "namespace",    "new",
    "noexcept",      "not",          "not_eq",
    "nullptr",       "operator",     "or",
    "or_eq",         "private",      "protected",
    "public",        "register",     "reinterpret_cast",
    "requires",      "return",       "short",
    "signed",        "sizeof",       "static",
    "static_assert", "static_cast",  "struct",
    "switch",        "template",     "this",
    "threadIdx",     "thread_local", "throw",
    "true",          "try",          "typedef",
    "typeid",        "typename",     "typeof",
    "union",         "unix",         "unsigned",
    "using",         "virtual",      "void",
    "volatile",      "warpSize",     "wchar_t",
    "while",         "xor",          "xor_eq",
});
static_assert(std::ranges::is_sorted(kReserved));

// C's mathematical functions (each also with the suffix f) and other functions that CUDA C++ declares by itself.
constexpr auto kLibrary = std::to_array<std::string_view>({
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "ceil",
    "clock",
    "copysign",
    "cos",
    "cosh",
    "cospi",
    "cyl_bessel_i0",
    "cyl_bessel_i1",
    "erf",
    "erfc",
    "erfcinv",
    "erfcx",
    "erfinv",
    "exit",
    "exp",
    "exp10",
    "exp2",
    "expm1",
    "fabs",
    "fdim",
    "fdivide",
    "floor",
    "fma",
    "fmax",
    "fmin",
    "fmod",
    "free",
    "frexp",
    "hypot",
    "ilogb",
    "isfinite",
    "isinf",
    "isnan",
    "j0",
    "j1",
    "jn",
    "labs",
    "ldexp",
    "lgamma",
    "llabs",
    "llmax",
    "llmin",
    "llrint",
    "llround",
    "log",
    "log10",
    "log1p",
    "log2",
    "logb",
    "lrint",
    "lround",
    "main",
    "malloc",
    "max",
    "memcpy",
    "memset",
    "min",
    "modf",
    "nan",
    "nearbyint",
    "nextafter",
    "norm",
    "norm3d",
    "norm4d",
    "normcdf",
    "normcdfinv",
    "pow",
    "printf",
    "rcbrt",
    "remainder",
    "remquo",
    "rhypot",
    "rint",
    "rnorm",
    "rnorm3d",
    "rnorm4d",
    "round",
    "rsqrt",
    "scalbln",
    "scalbn",
    "signbit",
    "sin",
    "sincos",
    "sincospi",
    "sinh",
    "sinpi",
    "sqrt",
    "tan",
    "tanh",
    "tgamma",
    "trunc",
    "ullmax",
    "ullmin",
    "umax",
    "umin",
    "y0",
    "y1",
    "yn",
});
static_assert(std::ranges::is_sorted(kLibrary));

bool is_letter_or_digit(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

}  // namespace

std::string legal_identifier(std::string_view name) {
  std::string legal;
  for (const char c : name) {
    const char next = is_letter_or_digit(c) ? c : '_';
    // Two underscores in a row are the compiler's.
    if (next != '_' || legal.empty() || legal.back() != '_') legal += next;
  }
  const bool compilers_own = legal.size() > 1 && legal[0] == '_' && std::isupper(static_cast<unsigned char>(legal[1]));
  if (legal.empty() || legal == "_" || compilers_own) legal = "v" + legal;
  if (std::isdigit(static_cast<unsigned char>(legal[0]))) legal = "v_" + legal;
  if (std::ranges::binary_search(kReserved, legal)) legal += '_';
  return legal;
}

bool is_library_name(std::string_view name) {
  if (std::ranges::binary_search(kLibrary, name)) return true;
  return name.ends_with('f') && std::ranges::binary_search(kLibrary, name.substr(0, name.size() - 1));
}

bool NameScopes::taken(const std::string& name) const {
  return std::ranges::any_of(scopes_, [&](const auto& scope) { return scope.contains(name); });
}

std::string NameScopes::declare(std::string_view name) {
  const std::string legal = legal_identifier(name);
  std::string unique = legal;
  for (int number = 1; taken(unique); ++number) {
    unique = legal + (legal.ends_with('_') ? "" : "_") + std::to_string(number);
  }
  reserve(unique);
  return unique;
}

}  // namespace assay::source
