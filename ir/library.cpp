#include "ir/library.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "ir/library_definition.hpp"

namespace assay::ir {
namespace {

using namespace algebra;

constexpr std::string_view kPrefix = "wp_";

/// f applied to each component, or to each pair of components.
template <class F>
E mapped(E a, F f) {
  std::vector<E> results;
  for (const E component : components(a))
    results.push_back(f(component));
  return make(a.type(), results);
}
E paired(Op op, E a, E b) {
  std::vector<E> results;
  for (int k = 0; k < a.type().components(); ++k)
    results.push_back(call(op, component(a, k), component(b, k)));
  return make(a.type(), results);
}
E folded(Op op, E a) {
  E result = component(a, 0);
  for (int k = 1; k < a.type().components(); ++k)
    result = call(op, result, component(a, k));
  return result;
}

// ---- vectors

/// The index of the first component that `precedes` all others. NaNs are ignored.
E extreme_index(LibraryFunctionBuilder& d, Op precedes) {
  const Type number = scalar_type(Scalar::kU32);
  const auto index = [&](int k) { return E{d[0].b, d[0].b->literal(number, std::int64_t{k})}; };
  E best = d.let("best", d[0][0]);
  E at = d.let("at", index(0));
  for (int k = 1; k < d[0].type().rows; ++k) {
    E closer = call(precedes, d[0][k], best);
    if (d[0].type().has_float_components()) {
      const E found_none = call(Op::kNe, best, best);
      const E is_number = call(Op::kEq, d[0][k], d[0][k]);
      closer = either(closer, call(Op::kAnd, found_none, is_number));
    }
    closer = d.let("closer", closer);
    best = d.let("best", where(closer, d[0][k], best));
    at = d.let("at", where(closer, index(k), at));
  }
  return at;
}

E one_norm(LibraryFunctionBuilder& d) {
  std::vector<E> terms;
  for (const E x : components(d[0]))
    terms.push_back(call(Op::kAbs, x));
  return sum(terms);
}
/// |x|^2 / 2 for |x| <= delta, otherwise delta (|x| - delta / 2).
E huber(LibraryFunctionBuilder& d, E delta) {
  const E square = d.let("square", dot(d[0], d[0]));
  const E far = delta * (call(Op::kSqrt, square) - 0.5 * delta);
  return choose(call(Op::kLe, square, delta * delta), 0.5 * square, far);
}
/// delta sqrt(1 + |x|^2 / delta^2)
E pseudo_huber(LibraryFunctionBuilder& d, E delta) {
  return delta * call(Op::kSqrt, 1.0 + dot(d[0], d[0]) / (delta * delta));
}

E interpolated(LibraryFunctionBuilder& d) { return d[0] * (1.0 - d[2]) + d[1] * d[2]; }

/// Whether the test holds for all components, or for any.
E tested(LibraryFunctionBuilder& d, Op test, Op combine) {
  E result = call(test, component(d[0], 0));
  for (int k = 1; k < d[0].type().components(); ++k)
    result = call(combine, result, call(test, component(d[0], k)));
  return result;
}
E any_nan(LibraryFunctionBuilder& d) { return tested(d, Op::kIsNan, Op::kOr); }
E any_infinite(LibraryFunctionBuilder& d) { return tested(d, Op::kIsInf, Op::kOr); }
E all_finite(LibraryFunctionBuilder& d) { return tested(d, Op::kIsFinite, Op::kAnd); }

// ---- integers

E inverted_bits(LibraryFunctionBuilder& d) {
  return mapped(d[0], [](E x) { return call(Op::kBitNot, x); });
}

/// Adds neighboring fields of bits: pairs, then groups of 4, then bytes, which a product sums in its upper byte.
E counted_bits(LibraryFunctionBuilder& d) {
  const Scalar given = d[0].type().scalar;
  const int width = 8 * row(given).bytes;
  constexpr Scalar kUnsigned[] = {Scalar::kU8, Scalar::kU16, Scalar::kU32, Scalar::kU64};
  const auto as = [&](Scalar scalar, E x) { return E{x.b, x.b->cast(scalar_type(scalar), x.id)}; };
  const Scalar same_width = kUnsigned[width == 8 ? 0 : width == 16 ? 1 : width == 32 ? 2 : 3];
  const Scalar computed = width == 64 ? Scalar::kU64 : Scalar::kU32;
  E x = d[0];
  if (given != same_width) x = as(same_width, x);
  if (same_width != computed) x = as(computed, x);
  const auto repeated = [&](std::uint64_t byte) {
    return E{x.b, x.b->literal(scalar_type(computed), static_cast<std::int64_t>(byte * 0x0101010101010101))};
  };
  const auto shifted = [&](E value, int by) {
    return call(Op::kShiftRight, value, E{x.b, x.b->literal(scalar_type(computed), std::int64_t{by})});
  };
  const auto masked = [&](E value, std::uint64_t byte) { return call(Op::kBitAnd, value, repeated(byte)); };
  const E bits = d.let("bits", x);
  const E pairs = d.let("pairs", bits - masked(shifted(bits, 1), 0x55));
  const E fours = d.let("fours", masked(pairs, 0x33) + masked(shifted(pairs, 2), 0x33));
  const E bytes = masked(fours + shifted(fours, 4), 0x0f);
  return as(Scalar::kI32, shifted(bytes * repeated(1), (width == 64 ? 64 : 32) - 8));
}

// ---- matrices

E skew(LibraryFunctionBuilder& d) {
  const E x = d[0];
  const E minus = d.let("minus", -x);  // unlike the negative of a scalar, it has the other sign for a zero
  const E none = like(x, 0);
  return make(matrix_of(x, 3, 3), {none, minus[2], x[1], x[2], none, minus[0], minus[1], x[0], none});
}
std::vector<E> diagonal(E m) {
  std::vector<E> found;
  for (int k = 0; k < m.type().rows; ++k)
    found.push_back(m[k][k]);
  return found;
}
E diagonal_matrix(LibraryFunctionBuilder& d) {
  const E none = zero(d[0], d[0].type().component());
  const int n = d[0].type().rows;
  std::vector<E> all;
  for (int k = 0; k < n * n; ++k)
    all.push_back(k % (n + 1) == 0 ? d[0][k / n] : none);
  return make(matrix_of(d[0], n, n), all);
}

E determinant(LibraryFunctionBuilder& d) {
  const E m = d[0];
  if (m.type().rows == 2) return m[0][0] * m[1][1] - m[1][0] * m[0][1];
  if (m.type().rows == 3) return dot(m[0], cross(m[1], m[2]));
  // 2 x 2 minors of two rows each: s and t of the first three columns, u and v of a column with the last one.
  const E a = d.let("a", three(m[0], 0));
  const E b = d.let("b", three(m[1], 0));
  const E s = cross(a, b);
  const E u = a * m[1][3] - b * m[0][3];
  const E c = d.let("c", three(m[2], 0));
  const E e = d.let("e", three(m[3], 0));
  const E t = cross(c, e);
  const E v = c * m[3][3] - e * m[2][3];
  return dot(s, v) + dot(t, u);
}

/// The first three components of the matrix times (y, last).
E transformed(LibraryFunctionBuilder& d, double last) {
  const E y = d[1];
  const E homogeneous = make(vector_of(y, 4), {y[0], y[1], y[2], like(y, last)});
  return three(d.let("transformed", d[0] * homogeneous), 0);
}

constexpr auto kPlainFunctions = std::to_array<LibraryFunction>({
    {{"min", "v", "the smallest component"}, [](LibraryFunctionBuilder& d) { return folded(Op::kMin, d[0]); }},
    {{"max", "v", "the largest component"}, [](LibraryFunctionBuilder& d) { return folded(Op::kMax, d[0]); }},
    {{"min", "vv", "component-wise min"}, [](LibraryFunctionBuilder& d) { return paired(Op::kMin, d[0], d[1]); }},
    {{"max", "vv", "component-wise max"}, [](LibraryFunctionBuilder& d) { return paired(Op::kMax, d[0], d[1]); }},
    {{"argmin", "v", "index of the first smallest component", true},
     [](LibraryFunctionBuilder& d) { return extreme_index(d, Op::kLt); }},
    {{"argmax", "v", "index of the first largest component", true},
     [](LibraryFunctionBuilder& d) { return extreme_index(d, Op::kGt); }},
    {{"abs", "v", "component-wise abs"},
     [](LibraryFunctionBuilder& d) { return mapped(d[0], [](E x) { return call(Op::kAbs, x); }); }},
    {{"sign", "v", "component-wise sign"},
     [](LibraryFunctionBuilder& d) { return mapped(d[0], [](E x) { return call(Op::kSign, x); }); }},
    {{"mod", "vv", "component-wise remainder"}, [](LibraryFunctionBuilder& d) { return paired(Op::kMod, d[0], d[1]); }},
    {{"bit_and", "ww", "component-wise &", true},
     [](LibraryFunctionBuilder& d) { return paired(Op::kBitAnd, d[0], d[1]); }},
    {{"bit_and", "kk", "component-wise &", true},
     [](LibraryFunctionBuilder& d) { return paired(Op::kBitAnd, d[0], d[1]); }},
    {{"bit_or", "ww", "component-wise |", true},
     [](LibraryFunctionBuilder& d) { return paired(Op::kBitOr, d[0], d[1]); }},
    {{"bit_or", "kk", "component-wise |", true},
     [](LibraryFunctionBuilder& d) { return paired(Op::kBitOr, d[0], d[1]); }},
    {{"bit_xor", "ww", "component-wise ^", true},
     [](LibraryFunctionBuilder& d) { return paired(Op::kBitXor, d[0], d[1]); }},
    {{"bit_xor", "kk", "component-wise ^", true},
     [](LibraryFunctionBuilder& d) { return paired(Op::kBitXor, d[0], d[1]); }},
    {{"lshift", "ww", "component-wise <<", true},
     [](LibraryFunctionBuilder& d) { return paired(Op::kShiftLeft, d[0], d[1]); }},
    {{"lshift", "kk", "component-wise <<", true},
     [](LibraryFunctionBuilder& d) { return paired(Op::kShiftLeft, d[0], d[1]); }},
    {{"rshift", "ww", "component-wise >>", true},
     [](LibraryFunctionBuilder& d) { return paired(Op::kShiftRight, d[0], d[1]); }},
    {{"rshift", "kk", "component-wise >>", true},
     [](LibraryFunctionBuilder& d) { return paired(Op::kShiftRight, d[0], d[1]); }},
    {{"invert", "w", "component-wise ~", true}, inverted_bits},
    {{"invert", "k", "component-wise ~", true}, inverted_bits},
    {{"isnan", "f", "whether a component is a NaN", true}, any_nan},
    {{"isnan", "m", "whether a component is a NaN", true}, any_nan},
    {{"isnan", "q", "whether a component is a NaN", true}, any_nan},
    {{"isinf", "f", "whether a component is infinite", true}, any_infinite},
    {{"isinf", "m", "whether a component is infinite", true}, any_infinite},
    {{"isinf", "q", "whether a component is infinite", true}, any_infinite},
    {{"isfinite", "f", "whether all components are finite", true}, all_finite},
    {{"isfinite", "m", "whether all components are finite", true}, all_finite},
    {{"isfinite", "q", "whether all components are finite", true}, all_finite},
    {{"bit_count", "z", "the number of bits that are 1", true}, counted_bits},
    {{"norm_l1", "f", "sum |x_i|"}, one_norm},
    {{"norm_l2", "f", "|x|"}, [](LibraryFunctionBuilder& d) { return call(Op::kLength, d[0]); }},
    {{"norm_huber", "f", "|x|^2 / 2 where |x| <= 1, else |x| - 1/2"},
     [](LibraryFunctionBuilder& d) { return huber(d, like(d[0], 1)); }},
    {{"norm_huber", "fs", "|x|^2 / 2 where |x| <= y, else y (|x| - y/2)"},
     [](LibraryFunctionBuilder& d) { return huber(d, d[1]); }},
    {{"norm_pseudo_huber", "f", "sqrt(1 + |x|^2)"},
     [](LibraryFunctionBuilder& d) { return pseudo_huber(d, like(d[0], 1)); }},
    {{"norm_pseudo_huber", "fs", "y sqrt(1 + |x|^2 / y^2)"},
     [](LibraryFunctionBuilder& d) { return pseudo_huber(d, d[1]); }},
    {{"smooth_normalize", "f", "x / sqrt(1 + |x|^2)"},
     [](LibraryFunctionBuilder& d) { return d[0] / pseudo_huber(d, like(d[0], 1)); }},
    {{"smooth_normalize", "fs", "x / (y sqrt(1 + |x|^2 / y^2))"},
     [](LibraryFunctionBuilder& d) { return d[0] / pseudo_huber(d, d[1]); }},
    {{"lerp", "ffs", "x (1 - z) + y z"}, interpolated},
    {{"lerp", "mms", "x (1 - z) + y z"}, interpolated},
    {{"lerp", "qqs", "x (1 - z) + y z"}, interpolated},
    {{"lerp", "tts", "x (1 - z) + y z"}, interpolated},
    {{"skew", "3", "the matrix S with S y = cross(x, y) for every y"}, skew},
    {{"trace", "d", "sum x_ii"}, [](LibraryFunctionBuilder& d) { return sum(diagonal(d[0])); }},
    {{"diag", "v", "the matrix with x on its diagonal, zero elsewhere"}, diagonal_matrix},
    {{"get_diag", "d", "the diagonal"},
     [](LibraryFunctionBuilder& d) { return make(vector_of(d[0], d[0].type().rows), diagonal(d[0])); }},
    {{"determinant", "i", "det x"}, determinant},
    {{"transform_point", "43", "the first three components of the product of x and (y, 1)"},
     [](LibraryFunctionBuilder& d) { return transformed(d, 1); }},
    {{"transform_vector", "43", "the first three components of the product of x and (y, 0)"},
     [](LibraryFunctionBuilder& d) { return transformed(d, 0); }},
});

/// The functions of all files.
const std::vector<LibraryFunction>& functions() {
  static const std::vector<LibraryFunction> all = [] {
    std::vector<LibraryFunction> joined(kPlainFunctions.begin(), kPlainFunctions.end());
    for (const auto part :
         {rotation_functions(), noise_functions(), random_functions(), geometry_functions(), decomposition_functions()})
      joined.insert(joined.end(), part.begin(), part.end());
    return joined;
  }();
  return all;
}

/// Whether the letter stands for one type only.
bool has_fixed_type(char letter) { return std::string_view("npua2hc").find(letter) != std::string_view::npos; }

bool takes(const LibraryFunctionInfo& row, std::span<const Type> operands) {
  if (row.operand_kind_letters.size() != operands.size()) return false;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const std::size_t first = row.operand_kind_letters.find(row.operand_kind_letters[k]);
    const bool fits = is_operand_kind(row.operand_kind_letters[k], operands[k]) &&
                      (has_fixed_type(row.operand_kind_letters[k]) || operands[k].scalar == operands[0].scalar);
    if (!fits || operands[k] != operands[first]) return false;
  }
  return true;
}

std::string expectation(std::string_view name) {
  std::string text;
  for (const LibraryFunction& entry : functions()) {
    if (entry.info.name != name) continue;
    std::string operands;
    for (const char letter : entry.info.operand_kind_letters) {
      const auto* const kind = std::ranges::find(kOperandKinds, letter, &OperandKind::letter);
      operands += fmt::format("{}a {}", operands.empty() ? "" : " and ", kind->description);
    }
    text += (text.empty() ? "" : ", or ") + operands;
  }
  return text;
}

bool same_operands(const Function& function, std::span<const Type> operands) {
  return std::equal(operands.begin(), operands.end(), function.variables.begin(),
                    function.variables.begin() + function.parameter_count,
                    [](Type type, const Variable& parameter) { return type == parameter.type; });
}

}  // namespace

bool is_operand_kind(char letter, Type type) {
  const bool real = type.is_value() && !type.is_struct() && is_float(type.scalar);
  const bool square = type.is_matrix() && type.rows == type.cols && type.scalar != Scalar::kBool;
  switch (letter) {
    case 's': return type.is_float_scalar();
    case 'n':
    case 'p': return type == kI32;
    case 'u': return type == scalar_type(Scalar::kU32);
    case 'a': return type == kF32;
    case '2': return type == vector_type(Scalar::kF32, 2);
    case 'h': return type == vector_type(Scalar::kF32, 3);
    case 'c': return type == vector_type(Scalar::kF32, 4);
    case 'z': return type.is_integer_scalar();
    case 'v': return type.is_vector() && type.scalar != Scalar::kBool;
    case 'f': return type.is_vector() && real;
    case 'w': return type.is_vector() && is_integer(type.scalar);
    case 'k': return type.is_matrix() && is_integer(type.scalar);
    case '3': return type.is_vector() && real && type.rows == 3;
    case 'm': return type.is_matrix() && real;
    case 'd': return square;
    case 'i': return square && real && type.rows >= 2 && type.rows <= 4;
    case 'e': return square && real && type.rows == 2;
    case 'r': return square && real && type.rows == 3;
    case '4': return square && real && type.rows == 4;
    case '6': return type.is_vector() && real && type.rows == 6;
    case 'q': return type.is_quaternion();
    case 't': return type.is_transform();
    default: return false;
  }
}

std::span<const LibraryFunctionInfo> library() {
  static const std::vector<LibraryFunctionInfo> rows = [] {
    std::vector<LibraryFunctionInfo> made;
    for (const LibraryFunction& entry : functions())
      if (!entry.info.is_internal) made.push_back(entry.info);
    return made;
  }();
  return rows;
}

bool is_in_library(std::string_view name) {
  return std::ranges::any_of(
      functions(), [&](const LibraryFunction& entry) { return entry.info.name == name && !entry.info.is_internal; });
}

E LibraryFunctionBuilder::library(std::string_view name, const std::vector<E>& operands) {
  std::vector<Type> types;
  std::vector<ExprId> ids;
  for (const E operand : operands) {
    types.push_back(operand.type());
    ids.push_back(operand.id);
  }
  return {&builder_, builder_.call(library_function(module_, name, types).value(), ids)};
}

Result<int> library_function(Module& module, std::string_view name, std::span<const Type> operands) {
  const auto found = std::ranges::find_if(functions(), [&](const LibraryFunction& entry) {
    return entry.info.name == name && takes(entry.info, operands);
  });
  if (found == functions().end()) return Error{fmt::format("{} takes {}", name, expectation(name))};
  for (std::size_t k = 0; k < module.functions.size(); ++k) {
    const Function& function = module.functions[k];
    if (library_name(function) == name && same_operands(function, operands)) return static_cast<int>(k);
  }
  Function function{.name = fmt::format("{}{}", kPrefix, name)};
  LibraryFunctionBuilder definition(module, function, operands);
  const E value = found->define(definition);
  std::vector<Type> results = definition.emit_return(value);
  function.results = std::move(results);
  module.functions.push_back(std::move(function));
  return static_cast<int>(module.functions.size()) - 1;
}

bool changes_first_operand(const Function& function) {
  const auto name = library_name(function);
  const auto is_changing = [&](const LibraryFunction& entry) {
    return entry.info.name == name && entry.info.changes_first_operand;
  };
  return name && std::ranges::any_of(functions(), is_changing);
}

bool is_warp_code(const Function& function) {
  return function.loc.line == 0 && std::string_view(function.name).starts_with(kPrefix);
}

std::optional<std::string_view> library_name(const Function& function) {
  if (!is_warp_code(function)) return std::nullopt;
  const std::string_view rest = std::string_view(function.name).substr(kPrefix.size());
  const auto is_named = [&](const LibraryFunction& entry) { return entry.info.name == rest; };
  return std::ranges::any_of(functions(), is_named) ? std::optional(rest) : std::nullopt;
}

}  // namespace assay::ir
