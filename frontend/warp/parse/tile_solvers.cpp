// The part of WarpExpressionParser that parses the linear solvers for tiles: wp.tile_cholesky, wp.tile_lower_solve and
// similar functions.
//
// The language has no such operations. A solver becomes loops over local arrays, which every thread of a block
// executes: the textbook algorithms by rows (G. Golub and C. Van Loan, "Matrix Computations", fourth edition,
// sections 3.1 and 4.2). Only the triangle that Warp reads is read, so that the derivative by the other triangle is
// zero.
#include <functional>
#include <optional>
#include <utility>

#include "frontend/warp/parse/expression_parser.hpp"
#include "frontend/warp/parse/tile_arguments.hpp"
#include "ir/algebra.hpp"

namespace assay::frontend {
namespace {

using ir::Builder;
using ir::ExprId;
using ir::kNone;
using ir::Op;
using ir::Type;
using ir::VarId;
using ir::algebra::E;

/// A triangular square matrix in a local array, in row-major order; the other triangle is zero.
struct Triangle {
  VarId elements = kNone;
  int size = 0;
};

/// Builds the loops of one solver.
class TileSolver {
 public:
  TileSolver(Builder& builder, ir::Scalar scalar) : b_(builder), scalar_(ir::scalar_type(scalar)) {}

  /// The lower triangle of the tile or, if `is_transposed`, of its transpose.
  Triangle triangle(ExprId tile, bool is_transposed) {
    const Triangle made = new_triangle("triangle", tile);
    const VarId source = b_.let("matrix", tile);
    for_each_in_triangle(made.size, [&](VarId row, VarId column) {
      set(made, row, column, element(source, is_transposed ? column : row, is_transposed ? row : column));
    });
    return made;
  }

  /// The Cholesky factor L of a symmetric matrix A: L multiplied by its transpose is A. The tile contains the lower
  /// triangle of A or, if `is_transposed`, the upper triangle.
  Triangle factor(ExprId tile, bool is_transposed) {
    const Triangle made = new_triangle("factor", tile);
    const VarId source = b_.let("matrix", tile);
    for_each_in_triangle(made.size, [&](VarId row, VarId column) {
      const VarId sum = b_.let("rest", element(source, is_transposed ? column : row, is_transposed ? row : column).id);
      b_.for_("k", b_.i32(0), b_.var(column), b_.i32(1),
              [&](VarId k) { b_.assign(sum, (value(sum) - get(made, row, k) * get(made, column, k)).id); });
      b_.if_(
          b_.op(Op::kEq, {b_.var(row), b_.var(column)}),
          [&] { set(made, row, column, ir::algebra::call(Op::kSqrt, value(sum))); },
          [&] { set(made, row, column, value(sum) / get(made, column, column)); });
    });
    return made;
  }

  /// The tile of a triangle; its other elements are zero.
  ExprId tile_of(const Triangle& triangle, Type type, bool is_transposed) {
    const VarId tile = b_.let("result", b_.zero(type));
    for_each_in_triangle(triangle.size, [&](VarId row, VarId column) {
      const std::pair<VarId, VarId> place = is_transposed ? std::pair(column, row) : std::pair(row, column);
      b_.assign(tile, b_.op(Op::kTileInsert,
                            {b_.var(tile), b_.var(place.first), b_.var(place.second), get(triangle, row, column).id}));
    });
    return b_.var(tile);
  }

  /// The columns of right-hand sides in a local array, in row-major order.
  VarId right_sides(ExprId tile) {
    const Type type = b_.type_of(tile);
    columns_ = type.tile_rank() == 1 ? 1 : type.tile[1];
    const VarId source = b_.let("right_side", tile);
    const VarId sides = new_array("sides", type.tile_size());
    for_each_row(type.tile[0], [&](VarId row) {
      for_each_column([&](VarId column) {
        const E side = type.tile_rank() == 1 ? E{&b_, b_.op(Op::kTileExtract, {b_.var(source), b_.var(row)})}
                                             : element(source, row, column);
        b_.store(sides, {place(row, column)}, side.id);
      });
    });
    return sides;
  }

  /// x with L * x = sides.
  VarId forward(const Triangle& lower, VarId sides) {
    const VarId solution = new_array("solution", lower.size * columns_);
    for_each_row(lower.size, [&](VarId row) {
      for_each_column([&](VarId column) {
        const VarId rest = b_.let("rest", load(sides, place(row, column)).id);
        b_.for_("k", b_.i32(0), b_.var(row), b_.i32(1), [&](VarId k) {
          b_.assign(rest, (value(rest) - get(lower, row, k) * load(solution, place(k, column))).id);
        });
        b_.store(solution, {place(row, column)}, (value(rest) / get(lower, row, row)).id);
      });
    });
    return solution;
  }

  /// x with U * x = sides, where U is the transpose of the triangle.
  VarId backward(const Triangle& lower, VarId sides) {
    const VarId solution = new_array("solution", lower.size * columns_);
    b_.for_("row", b_.i32(lower.size - 1), b_.i32(-1), b_.i32(-1), [&](VarId row) {
      for_each_column([&](VarId column) {
        const VarId rest = b_.let("rest", load(sides, place(row, column)).id);
        const ExprId next = b_.op(Op::kAdd, {b_.var(row), b_.i32(1)});
        b_.for_("k", next, b_.i32(lower.size), b_.i32(1), [&](VarId k) {
          b_.assign(rest, (value(rest) - get(lower, k, row) * load(solution, place(k, column))).id);
        });
        b_.store(solution, {place(row, column)}, (value(rest) / get(lower, row, row)).id);
      });
    });
    return solution;
  }

  /// The tile of a solution, of the type of the right-hand sides.
  ExprId tile_of(VarId solution, Type type) {
    const VarId tile = b_.let("result", b_.zero(type));
    for_each_row(type.tile[0], [&](VarId row) {
      for_each_column([&](VarId column) {
        std::vector<ExprId> operands{b_.var(tile), b_.var(row)};
        if (type.tile_rank() == 2) operands.push_back(column == kNone ? b_.i32(0) : b_.var(column));
        operands.push_back(load(solution, place(row, column)).id);
        b_.assign(tile, b_.op(Op::kTileInsert, operands));
      });
    });
    return b_.var(tile);
  }

 private:
  VarId new_array(std::string name, int size) {
    const VarId array = b_.let_zero(std::move(name), scalar_.local_array_of(static_cast<std::uint32_t>(size)));
    b_.function().variables[static_cast<std::size_t>(array)].replaces_tile = true;
    return array;
  }
  E value(VarId variable) { return {&b_, b_.var(variable)}; }
  E load(VarId array, ExprId index) { return {&b_, b_.load(array, {index})}; }
  E element(VarId tile, VarId row, VarId column) {
    return {&b_, b_.op(Op::kTileExtract, {b_.var(tile), b_.var(row), column == kNone ? b_.i32(0) : b_.var(column)})};
  }

  Triangle new_triangle(const char* name, ExprId tile) {
    const int size = b_.type_of(tile).tile[0];
    return {new_array(name, size * size), size};
  }
  ExprId position(const Triangle& triangle, VarId row, VarId column) {
    return b_.op(Op::kAdd, {b_.op(Op::kMul, {b_.var(row), b_.i32(triangle.size)}), b_.var(column)});
  }
  E get(const Triangle& triangle, VarId row, VarId column) {
    return load(triangle.elements, position(triangle, row, column));
  }
  void set(const Triangle& triangle, VarId row, VarId column, E element) {
    b_.store(triangle.elements, {position(triangle, row, column)}, element.id);
  }
  /// The index of a right-hand side; `column` is kNone if there is one column.
  ExprId place(VarId row, VarId column) {
    if (column == kNone) return b_.var(row);
    return b_.op(Op::kAdd, {b_.op(Op::kMul, {b_.var(row), b_.i32(columns_)}), b_.var(column)});
  }

  void for_each_row(int count, const std::function<void(VarId)>& body) {
    b_.for_("row", b_.i32(0), b_.i32(count), b_.i32(1), body);
  }
  void for_each_column(const std::function<void(VarId)>& body) {
    if (columns_ == 1) return body(kNone);
    b_.for_("column", b_.i32(0), b_.i32(columns_), b_.i32(1), body);
  }
  void for_each_in_triangle(int size, const std::function<void(VarId row, VarId column)>& body) {
    for_each_row(size, [&](VarId row) {
      const ExprId end = b_.op(Op::kAdd, {b_.var(row), b_.i32(1)});
      b_.for_("column", b_.i32(0), end, b_.i32(1), [&](VarId column) { body(row, column); });
    });
  }

  Builder& b_;
  const Type scalar_;  ///< type of the elements
  int columns_ = 1;    ///< number of right-hand sides
};

bool is_float_tile(Type type) {
  return type.is_tile() && (type.scalar == ir::Scalar::kF32 || type.scalar == ir::Scalar::kF64);
}

}  // namespace

bool WarpExpressionParser::is_tile_solver(std::string_view name) {
  if (name.ends_with("_inplace")) name.remove_suffix(std::string_view("_inplace").size());
  return name == "tile_cholesky" || name == "tile_cholesky_solve" || name == "tile_lower_solve" ||
         name == "tile_upper_solve";
}

/// A square tile of floats; kNone after a reported error.
ExprId WarpExpressionParser::square_tile(SyntaxNode call, SyntaxNode node) {
  const ExprId tile = tile_value(call, node);
  if (tile == kNone) return kNone;
  const Type type = context_.type_of(tile);
  if (is_float_tile(type) && type.tile_rank() == 2 && type.tile[0] == type.tile[1]) return tile;
  return context_.error(node ? node : call,
                        fmt::format("expected a square tile of float32 or float64, got {}", context_.type_name(type)));
}

/// Whether fill_mode is "upper"; none after a reported error.
std::optional<bool> WarpExpressionParser::fills_upper(SyntaxNode call, SyntaxNode mode) {
  if (!mode) return false;
  const std::string_view text = mode.text();
  const std::string_view name = text.size() > 2 ? text.substr(1, text.size() - 2) : text;
  if (mode.is(SyntaxKind::kString) && (name == "lower" || name == "upper")) return name == "upper";
  context_.error(call, "fill_mode must be the string \"lower\" or \"upper\"");
  return std::nullopt;
}

/// The result of a solver; kNone after a reported error.
ExprId WarpExpressionParser::tile_solver(SyntaxNode call, std::string_view name) {
  if (!context_.may_hoist)
    return context_.error(call,
                          "solvers for tiles are not supported in expressions evaluated conditionally or repeatedly; "
                          "use a separate statement");
  const TileArguments given(call);
  const bool factors = name.starts_with("tile_cholesky");
  const bool solves = name.find("solve") != std::string_view::npos;
  const std::string_view unknown = given.unknown({"A", "L", "U", "y", "z", "fill_mode"});
  if (!unknown.empty()) return context_.error(call, fmt::format("argument '{}' is not supported", unknown));
  const char* const matrix_name = !solves ? "A" : name.starts_with("tile_upper") ? "U" : "L";
  const ExprId matrix = square_tile(call, given(0, matrix_name));
  if (matrix == kNone) return kNone;
  const auto is_upper =
      factors ? fills_upper(call, given(solves ? 2 : 1, "fill_mode")) : std::optional(name.starts_with("tile_upper"));
  if (!is_upper) return kNone;
  const Type type = context_.type_of(matrix);
  TileSolver solver(context_.builder, type.scalar);
  context_.builder.at(call.loc());
  if (!solves) return solver.tile_of(solver.factor(matrix, *is_upper), type, *is_upper);
  const SyntaxNode side = given(1, name.starts_with("tile_upper") ? "z" : "y");
  const ExprId sides = tile_value(call, side);
  if (sides == kNone) return kNone;
  const Type side_type = context_.type_of(sides);
  if (side_type.scalar != type.scalar || side_type.tile[0] != type.tile[0])
    return context_.error(
        side, fmt::format("expected a tile of {} with {} rows, got {}", context_.type_name(type.component()),
                          type.tile[0], context_.type_name(side_type)));
  context_.builder.at(call.loc());
  const Triangle triangle = solver.triangle(matrix, *is_upper);
  VarId solution = solver.right_sides(sides);
  if (factors || !*is_upper) solution = solver.forward(triangle, solution);
  if (factors || *is_upper) solution = solver.backward(triangle, solution);
  return solver.tile_of(solution, side_type);
}

/// A call of wp.tile_cholesky_inplace or similar: the matrix or the right-hand side becomes the result.
void WarpExpressionParser::tile_solver_in_place(SyntaxNode call, std::string_view name) {
  const TileArguments given(call);
  const bool solves = name.find("solve") != std::string_view::npos;
  const char* const side_name = name.starts_with("tile_upper") ? "z" : "y";
  const VarId changed = changed_tile(call, solves ? given(1, side_name) : given(0, "A"));
  if (changed == kNone) return;
  const ExprId result = tile_solver(call, name);
  if (result != kNone) context_.builder.assign(changed, result);
}

}  // namespace assay::frontend
