#include "backends/source/names.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace assay::source {
namespace {

// Keywords and alternative tokens of C++20, qualifiers and variables of CUDA, and macros that GNU compilers predefine
// without underscores.
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

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }
bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || is_capital(c) || is_digit(c); }

bool is_reserved(std::string_view name) {
  static const FixedNames kNames(kReserved.begin(), kReserved.end());
  return kNames.contains(name);
}

}  // namespace

std::string legal_identifier(std::string_view name) {
  std::string legal;
  legal.reserve(name.size() + 3);
  for (const char c : name) {
    const char next = is_letter_or_digit(c) ? c : '_';
    // Two underscores in a row are the compiler's.
    if (next != '_' || legal.empty() || legal.back() != '_') legal += next;
  }
  const bool compilers_own = legal.size() > 1 && legal[0] == '_' && is_capital(legal[1]);
  if (legal.empty() || legal == "_" || compilers_own) legal = "v" + legal;
  if (is_digit(legal[0])) legal = "v_" + legal;
  if (is_reserved(legal)) legal += '_';
  return legal;
}

bool is_library_name(std::string_view name) {
  if (std::ranges::binary_search(kLibrary, name)) return true;
  return name.ends_with('f') && std::ranges::binary_search(kLibrary, name.substr(0, name.size() - 1));
}

NameScopes::Numbers::value_type& NameScopes::entry(std::string_view name) {
  auto found = counts_.find(name);
  if (found == counts_.end()) found = counts_.emplace(name, fixed_ != nullptr && fixed_->contains(name) ? 1 : 0).first;
  return *found;
}

void NameScopes::close() {
  for (; taken_.size() > starts_.back(); taken_.pop_back())
    release(*taken_.back());
  starts_.pop_back();
}

void NameScopes::release(Numbers::value_type& name) {
  if (--name.second > 0) return;
  const std::string_view text = name.first;
  std::size_t stem = text.size();
  while (stem > 0 && is_digit(text[stem - 1]))
    --stem;
  if (stem == text.size()) return;
  const auto found = numbers_.find(text.substr(0, stem));
  if (found == numbers_.end()) return;
  int number = 0;
  std::from_chars(text.data() + stem, text.data() + text.size(), number);
  found->second = std::min(found->second, number);
}

void NameScopes::take(Numbers::value_type& name) {
  ++name.second;
  taken_.push_back(&name);
}

std::string NameScopes::declare_legal(std::string_view name) {
  std::string unique(name);
  Numbers::value_type* free = &entry(name);
  if (free->second > 0) {
    if (!name.ends_with('_')) unique += '_';
    const std::size_t stem = unique.size();
    auto found = numbers_.find(std::string_view(unique));
    if (found == numbers_.end()) found = numbers_.emplace(unique, 1).first;
    int& number = found->second;
    do {
      unique.resize(stem);
      unique += std::to_string(number++);
      free = &entry(unique);
    } while (free->second > 0);
  }
  take(*free);
  return unique;
}

}  // namespace assay::source
