#include "backends/source/names.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <utility>

#include "support/hash.hpp"

namespace assay::source {
namespace {

// C++20 keywords and alternative tokens, CUDA qualifiers and variables, and predefined macros of GNU compilers without
// underscores.
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

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }
bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || is_capital(c) || is_digit(c); }

/// For each character, the index of the first reserved name that starts with it or a later character.
constexpr auto kReservedFrom = [] {
  std::array<std::uint8_t, 129> from{};
  for (std::size_t c = 0; c < from.size(); ++c) {
    const auto is_before = [c](std::string_view name) { return static_cast<std::size_t>(name[0]) < c; };
    from[c] = static_cast<std::uint8_t>(std::ranges::count_if(kReserved, is_before));
  }
  return from;
}();

/// The name must be nonempty ASCII.
bool is_reserved(std::string_view name) {
  const auto first = static_cast<std::size_t>(name[0]);
  const std::string_view* const end = kReserved.begin() + kReservedFrom[first + 1];
  return std::find(kReserved.begin() + kReservedFrom[first], end, name) != end;
}

/// Whether legal_identifier would keep the name, ignoring reserved names.
bool is_plain(std::string_view name) {
  if (name.empty() || is_digit(name[0]) || name[0] == '_') return false;
  char before = '\0';
  return std::ranges::all_of(name, [&](char c) {
    const char previous = std::exchange(before, c);
    return is_letter_or_digit(c) || (c == '_' && previous != '_');
  });
}

/// The name with other characters than letters and digits replaced by single '_', avoiding names reserved for
/// compilers.
std::string plain_identifier(std::string_view name) {
  std::string legal;
  legal.reserve(name.size() + 3);
  for (const char c : name) {
    const char next = is_letter_or_digit(c) ? c : '_';
    // Names with two underscores in a row are reserved for compilers.
    if (next != '_' || legal.empty() || legal.back() != '_') legal += next;
  }
  const bool compilers_own = legal.size() > 1 && legal[0] == '_' && is_capital(legal[1]);
  if (legal.empty() || legal == "_" || compilers_own) legal = "v" + legal;
  if (is_digit(legal[0])) legal = "v_" + legal;
  return legal;
}

}  // namespace

std::string legal_identifier(std::string_view name) {
  std::string legal = is_plain(name) ? std::string(name) : plain_identifier(name);
  if (is_reserved(legal)) legal += '_';
  return legal;
}

bool is_library_name(std::string_view name) {
  if (std::ranges::binary_search(kLibrary, name)) return true;
  return name.ends_with('f') && std::ranges::binary_search(kLibrary, name.substr(0, name.size() - 1));
}

// ---- NameTable

/// FNV-1a, folded; names are short.
std::uint32_t NameTable::hash_of(std::string_view name) {
  const std::uint64_t hash = fnv1a(name);
  return static_cast<std::uint32_t>(hash ^ hash >> 32U);
}

std::size_t NameTable::slot_of(std::string_view name, std::uint32_t hash) const {
  if (name_indices_by_hash_.empty()) return 0;
  const std::size_t mask = name_indices_by_hash_.size() - 1;
  std::size_t place = hash & mask;
  while (name_indices_by_hash_[place] != kFreeSlot) {
    const NameEntry& entry = entries_[name_indices_by_hash_[place]];
    if (entry.hash == hash && entry.name == name) break;
    place = (place + 1) & mask;
  }
  return place;
}

std::optional<NameTable::Index> NameTable::find(std::string_view name, std::uint32_t hash) const {
  const std::size_t place = slot_of(name, hash);
  if (name_indices_by_hash_.empty() || name_indices_by_hash_[place] == kFreeSlot) return std::nullopt;
  return name_indices_by_hash_[place];
}

NameTable::Index NameTable::add(const NameEntry& entry, std::size_t place) {
  if (2 * (entries_.size() + 1) > name_indices_by_hash_.size()) {
    name_indices_by_hash_.assign(std::max<std::size_t>(64, 2 * name_indices_by_hash_.size()), kFreeSlot);
    for (Index index = 0; index < entries_.size(); ++index)
      name_indices_by_hash_[slot_of(entries_[index].name, entries_[index].hash)] = index;
    place = slot_of(entry.name, entry.hash);
  }
  entries_.push_back(entry);
  return name_indices_by_hash_[place] = static_cast<Index>(entries_.size() - 1);
}

// ---- NameScopes

NameTable::Index NameScopes::index_of(std::string_view name) {
  return name_table_.find_or_add(name, [&](std::uint32_t hash) {
    auto* const kept = static_cast<char*>(name_texts_.allocate(name.size(), 1));
    std::ranges::copy(name, kept);
    const bool is_fixed = fixed_names_ != nullptr && fixed_names_->find(name, hash).has_value();
    return NameTable::NameEntry{.name = {kept, name.size()}, .use_count = is_fixed ? 1 : 0, .hash = hash};
  });
}

void NameScopes::close() {
  for (; taken_names_.size() > scope_starts_.back(); taken_names_.pop_back())
    release(taken_names_.back());
  scope_starts_.pop_back();
}

void NameScopes::release(NameTable::Index name) {
  if (--name_table_[name].use_count > 0) return;
  const std::string_view text = name_table_[name].name;
  std::size_t stem = text.size();
  while (stem > 0 && is_digit(text[stem - 1]))
    --stem;
  if (stem == text.size()) return;
  const std::optional<NameTable::Index> found = name_table_.find(text.substr(0, stem));
  if (!found || name_table_[*found].next == NameTable::kNotNumbered) return;
  int number = 0;
  std::from_chars(text.data() + stem, text.data() + text.size(), number);
  name_table_[*found].next = std::min(name_table_[*found].next, number);
}

void NameScopes::take(NameTable::Index name) {
  ++name_table_[name].use_count;
  taken_names_.push_back(name);
}

std::string NameScopes::declare_legal(std::string_view name) {
  std::string unique(name);
  NameTable::Index free = index_of(name);
  if (name_table_[free].use_count > 0) {
    if (!name.ends_with('_')) unique += '_';
    const std::size_t stem = unique.size();
    const NameTable::Index numbered = index_of(unique);
    int number = name_table_[numbered].next == NameTable::kNotNumbered ? 1 : name_table_[numbered].next;
    do {
      unique.resize(stem);
      unique += std::to_string(number++);
      free = index_of(unique);
    } while (name_table_[free].use_count > 0);
    name_table_[numbered].next = number;
  }
  take(free);
  return unique;
}

}  // namespace assay::source
