#include "ir/spelling/spelling.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "support/concat.hpp"

namespace assay::ir::spelling {
namespace {

/// Names that a variable must not shadow: Python keywords and names used by emitted code.
constexpr auto kReserved = std::to_array<std::string_view>(
    {"False",    "None",   "True",  "and",   "as",     "assert", "async",   "await", "bool", "break",    "class",
     "continue", "def",    "del",   "elif",  "else",   "except", "finally", "float", "for",  "from",     "global",
     "if",       "import", "in",    "int",   "is",     "lambda", "len",     "max",   "min",  "nonlocal", "not",
     "or",       "pass",   "range", "raise", "return", "tuple",  "try",     "while", "with", "wp",       "yield"});

/// Suffix that Warp appends to "vec3" or "mat33" for a component type; "-" if Warp has no such type.
std::string_view suffix(ir::Scalar scalar) {
  switch (scalar) {
    case ir::Scalar::kI8: return "b";
    case ir::Scalar::kU8: return "ub";
    case ir::Scalar::kI16: return "s";
    case ir::Scalar::kU16: return "us";
    case ir::Scalar::kI32: return "i";
    case ir::Scalar::kU32: return "ui";
    case ir::Scalar::kI64: return "l";
    case ir::Scalar::kU64: return "ul";
    case ir::Scalar::kF16: return "h";
    case ir::Scalar::kF32: return "";
    case ir::Scalar::kF64: return "d";
    case ir::Scalar::kBool:
    case ir::Scalar::kBF16: return "-";
  }
  return "-";
}

template <class Float>
std::string shortest(Float value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string define(ir::Type type) {
  const std::string dtype = spell_scalar(type.scalar);
  switch (type.shape) {
    case ir::Shape::kVector: return fmt::format("wp.types.vector(length={}, dtype={})", type.rows, dtype);
    case ir::Shape::kMatrix:
      return fmt::format("wp.types.matrix(shape=({}, {}), dtype={})", type.rows, type.cols, dtype);
    case ir::Shape::kQuaternion: return fmt::format("wp.types.quaternion(dtype={})", dtype);
    default: return fmt::format("wp.types.transformation(dtype={})", dtype);
  }
}

std::string alias_name(ir::Type type) {
  std::string_view end = suffix(type.scalar);
  if (end == "-") end = row(type.scalar).name;
  switch (type.shape) {
    case ir::Shape::kVector: return fmt::format("vec{}{}", type.rows, end);
    case ir::Shape::kMatrix: return fmt::format("mat{}{}{}", type.rows, type.cols, end);
    case ir::Shape::kQuaternion: return fmt::format("quat{}", end);
    default: return fmt::format("transform{}", end);
  }
}

}  // namespace

std::string NamePool::take(std::string_view wanted) {
  std::string name;
  for (const char c : wanted) {
    const bool valid = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    name += valid ? c : '_';
  }
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0) name.insert(0, "_");
  if (std::find(kReserved.begin(), kReserved.end(), name) != kReserved.end()) name += '_';
  std::string candidate = name;
  for (int number = 2; !taken_names_.insert(candidate).second; ++number)
    candidate = fmt::format("{}_{}", name, number);
  return candidate;
}

std::string short_name(ir::Type type) {
  const std::string_view end = suffix(type.scalar);
  if (end == "-") return {};
  const bool is_float = ir::is_float(type.scalar);
  switch (type.shape) {
    case ir::Shape::kVector:
      return type.rows >= 2 && type.rows <= 4 ? concat("vec", std::to_string(type.rows), end) : "";
    case ir::Shape::kMatrix:
      if (!is_float || type.rows != type.cols || type.rows < 2 || type.rows > 4) return {};
      return concat("mat", std::to_string(type.rows), std::to_string(type.cols), end);
    case ir::Shape::kQuaternion: return is_float ? concat("quat", end) : "";
    case ir::Shape::kTransform: return is_float ? concat("transform", end) : "";
    default: return {};
  }
}

const std::map<std::string, Type, std::less<>>& types_by_name() {
  static const auto kTypes = [] {
    std::map<std::string, Type, std::less<>> types{{"int", kI32}, {"float", kF32}};
    for (const ScalarTypeProperties& row : kScalars) {
      types.emplace(row.warp_name, scalar_type(row.scalar));
      std::vector<Type> shapes{quaternion_type(row.scalar), transform_type(row.scalar)};
      for (int n = 2; n <= 4; ++n) {
        shapes.push_back(vector_type(row.scalar, n));
        shapes.push_back(matrix_type(row.scalar, n, n));
      }
      for (const Type type : shapes) {
        const std::string name = short_name(type);
        if (name.empty()) continue;
        types.emplace(name, type);
        if (row.scalar == Scalar::kF32) types.emplace(name + "f", type);
      }
    }
    for (const auto& [suffix, scalar] : {std::pair{"", Scalar::kF32}, std::pair{"f", Scalar::kF32},
                                         std::pair{"h", Scalar::kF16}, std::pair{"d", Scalar::kF64}}) {
      types.emplace(fmt::format("spatial_vector{}", suffix), vector_type(scalar, 6));
      types.emplace(fmt::format("spatial_matrix{}", suffix), matrix_type(scalar, 6, 6));
    }
    return types;
  }();
  return kTypes;
}

std::string spell_scalar(ir::Scalar scalar) {
  if (scalar == ir::Scalar::kF32) return "float";
  if (scalar == ir::Scalar::kI32) return "int";
  if (scalar == ir::Scalar::kBool) return "bool";
  return concat("wp.", row(scalar).warp_name);
}

std::string spell_number(ir::Scalar scalar, std::uint64_t bits) {
  if (scalar == ir::Scalar::kBool) return bits != 0 ? "True" : "False";
  if (scalar == ir::Scalar::kU64) return std::to_string(bits);
  if (ir::is_integer(scalar)) return std::to_string(static_cast<std::int64_t>(bits));
  const double value = std::bit_cast<double>(bits);
  if (std::isnan(value)) return "wp.nan";
  if (std::isinf(value)) return value > 0 ? "wp.inf" : "-wp.inf";
  return scalar == ir::Scalar::kF64 ? shortest(value) : shortest(static_cast<float>(value));
}

std::string TypeAliases::spell(ir::Type type) {
  if (type.shape == ir::Shape::kScalar) return spell_scalar(type.scalar);
  if (std::string name = short_name(type); !name.empty()) return "wp." + name;
  const std::string definition = define(type);
  auto [entry, fresh] = alias_by_type_constructor_.try_emplace(definition);
  if (fresh) {
    entry->second = names_.take(alias_name(type));
    alias_definitions_text_ += fmt::format("{} = {}\n", entry->second, definition);
  }
  return entry->second;
}

}  // namespace assay::ir::spelling
