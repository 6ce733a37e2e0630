#include "ir/library.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "ir/algebra.hpp"

namespace assay::ir {
namespace {

using namespace algebra;

constexpr std::string_view kPrefix = "wp_";

/// A function under construction.
class Definition {
 public:
  Definition(const Module& module, Function& function, std::span<const Type> operands) : builder_(module, function) {
    constexpr std::array<const char*, 4> kNames = {"x", "y", "z", "u"};
    for (std::size_t k = 0; k < operands.size(); ++k)
      operands_.push_back(builder_.parameter(kNames[k], operands[k]));
  }

  /// Operand k.
  E operator[](std::size_t k) { return {&builder_, builder_.var(operands_[k])}; }
  /// The value kept in a variable: for what the formula uses more than once.
  E let(const char* name, E value) { return {&builder_, builder_.var(builder_.let(name, value.id))}; }
  void give(E value) { builder_.return_({value.id}); }

 private:
  Builder builder_;
  std::vector<VarId> operands_;
};

// ---- shorthand

Type vector_of(E like, int length) { return vector_type(like.type().scalar, length); }
Type matrix_of(E like, int rows, int cols) { return matrix_type(like.type().scalar, rows, cols); }
/// One arm is evaluated.
E choose(E condition, E yes, E no) { return apply(yes, Op::kConditional, {condition.id, yes.id, no.id}); }
E cross(E a, E b) { return call(Op::kCross, a, b); }
E dot(E a, E b) { return call(Op::kDot, a, b); }
/// Components `first` to `first` + 2 as a vector.
E three(E a, int first) { return make(vector_of(a, 3), components(a, first, 3)); }

/// f of each component, or of each pair of them.
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

/// The index of the component that `precedes` all before it; of several the first. NaNs do not count.
E extreme_index(Definition& d, Op precedes) {
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

E one_norm(Definition& d) {
  std::vector<E> terms;
  for (const E x : components(d[0]))
    terms.push_back(call(Op::kAbs, x));
  return sum(terms);
}
/// |x|^2 / 2 up to |x| = delta, delta (|x| - delta / 2) beyond.
E huber(Definition& d, E delta) {
  const E square = d.let("square", dot(d[0], d[0]));
  const E far = delta * (call(Op::kSqrt, square) - 0.5 * delta);
  return choose(call(Op::kLe, square, delta * delta), 0.5 * square, far);
}
/// delta sqrt(1 + |x|^2 / delta^2)
E pseudo_huber(Definition& d, E delta) { return delta * call(Op::kSqrt, 1.0 + dot(d[0], d[0]) / (delta * delta)); }

E interpolated(Definition& d) { return d[0] * (1.0 - d[2]) + d[1] * d[2]; }

// ---- matrices

E skew(Definition& d) {
  const E x = d[0];
  const E none = like(x, 0);
  return make(matrix_of(x, 3, 3), {none, -x[2], x[1], x[2], none, -x[0], -x[1], x[0], none});
}
std::vector<E> diagonal(E m) {
  std::vector<E> found;
  for (int k = 0; k < m.type().rows; ++k)
    found.push_back(m[k][k]);
  return found;
}
E diagonal_matrix(Definition& d) {
  const int n = d[0].type().rows;
  std::vector<E> all;
  for (int k = 0; k < n * n; ++k)
    all.push_back(k % (n + 1) == 0 ? d[0][k / n] : like(d[0], 0));
  return make(matrix_of(d[0], n, n), all);
}

E determinant(Definition& d) {
  const E m = d[0];
  if (m.type().rows == 2) return m[0][0] * m[1][1] - m[1][0] * m[0][1];
  if (m.type().rows == 3) return dot(m[0], cross(m[1], m[2]));
  // Of two rows each, s and t hold the minors of the first three columns, u and v those with the last one.
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
E transformed(Definition& d, double last) {
  const E y = d[1];
  const E homogeneous = make(vector_of(y, 4), {y[0], y[1], y[2], like(y, last)});
  return three(d.let("transformed", d[0] * homogeneous), 0);
}

struct Row {
  LibraryRow row;
  E (*define)(Definition& d);
};

constexpr auto kLibrary = std::to_array<Row>({
    {{"min", "v", "the least component"}, [](Definition& d) { return folded(Op::kMin, d[0]); }},
    {{"max", "v", "the greatest component"}, [](Definition& d) { return folded(Op::kMax, d[0]); }},
    {{"min", "vv", "min by components"}, [](Definition& d) { return paired(Op::kMin, d[0], d[1]); }},
    {{"max", "vv", "max by components"}, [](Definition& d) { return paired(Op::kMax, d[0], d[1]); }},
    {{"argmin", "v", "index of the first least component"}, [](Definition& d) { return extreme_index(d, Op::kLt); }},
    {{"argmax", "v", "index of the first greatest component"}, [](Definition& d) { return extreme_index(d, Op::kGt); }},
    {{"abs", "v", "abs by components"},
     [](Definition& d) { return mapped(d[0], [](E x) { return call(Op::kAbs, x); }); }},
    {{"sign", "v", "sign by components"},
     [](Definition& d) { return mapped(d[0], [](E x) { return call(Op::kSign, x); }); }},
    {{"norm_l1", "f", "sum |x_i|"}, one_norm},
    {{"norm_l2", "f", "|x|"}, [](Definition& d) { return call(Op::kLength, d[0]); }},
    {{"norm_huber", "f", "|x|^2 / 2 where |x| <= 1, else |x| - 1/2"},
     [](Definition& d) { return huber(d, like(d[0], 1)); }},
    {{"norm_huber", "fs", "|x|^2 / 2 where |x| <= y, else y (|x| - y/2)"},
     [](Definition& d) { return huber(d, d[1]); }},
    {{"norm_pseudo_huber", "f", "sqrt(1 + |x|^2)"}, [](Definition& d) { return pseudo_huber(d, like(d[0], 1)); }},
    {{"norm_pseudo_huber", "fs", "y sqrt(1 + |x|^2 / y^2)"}, [](Definition& d) { return pseudo_huber(d, d[1]); }},
    {{"smooth_normalize", "f", "x / sqrt(1 + |x|^2)"},
     [](Definition& d) { return d[0] / pseudo_huber(d, like(d[0], 1)); }},
    {{"smooth_normalize", "fs", "x / (y sqrt(1 + |x|^2 / y^2))"},
     [](Definition& d) { return d[0] / pseudo_huber(d, d[1]); }},
    {{"lerp", "ffs", "x (1 - z) + y z"}, interpolated},
    {{"lerp", "mms", "x (1 - z) + y z"}, interpolated},
    {{"skew", "3", "the matrix with skew(x) y = cross(x, y)"}, skew},
    {{"trace", "d", "sum x_ii"}, [](Definition& d) { return sum(diagonal(d[0])); }},
    {{"diag", "v", "the matrix with x on its diagonal, zero elsewhere"}, diagonal_matrix},
    {{"get_diag", "d", "the diagonal"},
     [](Definition& d) { return make(vector_of(d[0], d[0].type().rows), diagonal(d[0])); }},
    {{"determinant", "i", "det x"}, determinant},
    {{"transform_point", "43", "the first three components of x (y, 1)"},
     [](Definition& d) { return transformed(d, 1); }},
    {{"transform_vector", "43", "the first three components of x (y, 0)"},
     [](Definition& d) { return transformed(d, 0); }},
});

bool is_kind(char letter, Type type) {
  const bool real = type.is_value() && !type.is_struct() && is_float(type.scalar);
  const bool square = type.is_matrix() && type.rows == type.cols;
  switch (letter) {
    case 's': return type.is_float_scalar();
    case 'v': return type.is_vector();
    case 'f': return type.is_vector() && real;
    case '3': return type.is_vector() && real && type.rows == 3;
    case 'm': return type.is_matrix() && real;
    case 'd': return square;
    case 'i': return square && real && type.rows >= 2 && type.rows <= 4;
    case '4': return square && real && type.rows == 4;
    default: return false;
  }
}

bool takes(const LibraryRow& row, std::span<const Type> operands) {
  if (row.operands.size() != operands.size()) return false;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const std::size_t first = row.operands.find(row.operands[k]);
    const bool fits = is_kind(row.operands[k], operands[k]) && operands[k].scalar == operands[0].scalar;
    if (!fits || operands[k] != operands[first]) return false;
  }
  return true;
}

std::string expectation(std::string_view name) {
  std::string text;
  for (const Row& entry : kLibrary) {
    if (entry.row.name != name) continue;
    std::string operands;
    for (const char letter : entry.row.operands) {
      const auto* const kind = std::ranges::find(kOperandKinds, letter, &OperandKind::letter);
      operands += fmt::format("{}a {}", operands.empty() ? "" : " and ", kind->text);
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

std::span<const LibraryRow> library() {
  static const std::vector<LibraryRow> rows = [] {
    std::vector<LibraryRow> made;
    for (const Row& entry : kLibrary)
      made.push_back(entry.row);
    return made;
  }();
  return rows;
}

bool is_in_library(std::string_view name) {
  return std::ranges::any_of(kLibrary, [&](const Row& entry) { return entry.row.name == name; });
}

Result<int> library_function(Module& module, std::string_view name, std::span<const Type> operands) {
  const auto* const found = std::ranges::find_if(
      kLibrary, [&](const Row& entry) { return entry.row.name == name && takes(entry.row, operands); });
  if (found == kLibrary.end()) return Error{fmt::format("{} takes {}", name, expectation(name))};
  for (std::size_t k = 0; k < module.functions.size(); ++k) {
    const Function& function = module.functions[k];
    if (library_name(function) == name && same_operands(function, operands)) return static_cast<int>(k);
  }
  Function function{.name = fmt::format("{}{}", kPrefix, name)};
  Definition definition(module, function, operands);
  const E value = found->define(definition);
  definition.give(value);
  function.results = {value.type()};
  module.functions.push_back(std::move(function));
  return static_cast<int>(module.functions.size()) - 1;
}

std::optional<std::string_view> library_name(const Function& function) {
  const std::string_view name = function.name;
  if (function.loc.line > 0 || !name.starts_with(kPrefix)) return std::nullopt;
  const std::string_view rest = name.substr(kPrefix.size());
  return is_in_library(rest) ? std::optional(rest) : std::nullopt;
}

}  // namespace assay::ir
