// Prints the expressions of one function in Warp Python, with only the necessary parentheses.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ir/library.hpp"
#include "ir/module.hpp"
#include "ir/spelling/spelling.hpp"
#include "support/result.hpp"

namespace assay::source::warp {

using ir::spelling::NamePool;
using ir::spelling::spell_number;
using ir::spelling::spell_scalar;
using ir::spelling::TypeAliases;

/// The names that all functions of a file share.
struct ModuleLevelNames {
  std::vector<std::string> struct_names;    ///< names of the structs, by index into Module::structs
  std::vector<std::string> function_names;  ///< names of the functions, by index into Module::functions
  TypeAliases type_aliases;                 ///< names that the file defines for types without a name in Warp
};

/// Python's operator precedence, from the lowest to the highest.
enum class Precedence : std::uint8_t {
  kLowest,       ///< any expression
  kConditional,  ///< a if c else b
  kOr,           ///< a or b
  kAnd,          ///< a and b
  kNot,          ///< not a
  kComparison,   ///< a < b, a == b
  kBitOr,        ///< a | b
  kBitXor,       ///< a ^ b
  kBitAnd,       ///< a & b
  kShift,        ///< a << b, a >> b
  kSum,          ///< a + b, a - b
  kProduct,      ///< a * b, a / b, a // b, a % b
  kUnary,        ///< -a, ~a
  kPostfix,      ///< f(a), a[i], a.x
  kAtom          ///< names, literals and expressions in parentheses
};

/// Whether the expression is a tile of one number that is not a literal. It is written as wp.tile(number), the tile of
/// the values of the threads, because the number has no gradient in wp.tile_full and wp.tile_from_thread.
bool is_tile_of_threads(const ir::Function& function, const ir::Expr& expr);
/// Whether the function has such tiles.
bool has_tiles_of_threads(const ir::Function& function);

/// Writes the expressions of one function.
class ExpressionWriter {
 public:
  /// `variables` are the names of the function's variables. Keeps references to all arguments.
  ExpressionWriter(const ir::Module& module, const ir::Function& function, ModuleLevelNames& file,
                   const std::vector<std::string>& variables);

  const ir::Module& module() const { return module_; }

  /// The expression as a complete side of a statement.
  std::string write(ir::ExprId id) { return operand(id, Precedence::kLowest); }
  /// Like write, but prints a literal as a call of its type's constructor, which Warp does not treat as a constant.
  std::string write_variable_start(ir::ExprId id);
  /// The expression, in parentheses unless its precedence is at least `precedence`.
  std::string operand(ir::ExprId id, Precedence precedence);
  /// "(a, b, c)" without its parentheses.
  std::string list(const std::vector<ir::ExprId>& ids, std::size_t first = 0);
  /// The index of an element or component. Without kWrapIndex: Warp itself wraps indices below zero.
  std::string index(ir::ExprId id) { return write(unwrapped_index(id)); }
  /// The operand of kWrapIndex; other expressions as they are.
  ir::ExprId unwrapped_index(ir::ExprId id) const;
  /// Several of them, separated by commas.
  std::string indices(const std::vector<ir::ExprId>& ids, std::size_t first = 0);
  /// Returns the name of a function, which is given by its index in Module::functions.
  bool changes_first_operand(std::int32_t function) const {
    return ir::changes_first_operand(module_.functions[static_cast<std::size_t>(function)]);
  }
  const std::string& function_name(std::int32_t function) const {
    return module_level_names_.function_names[static_cast<std::size_t>(function)];
  }
  std::string field_name(ir::Type type, std::int32_t field) const;
  /// A type as annotation: "float", "wp.vec3", "wp.array2d(dtype=float)".
  std::string annotation(ir::Type type);
  /// A value type as constructor: "float", "wp.vec3", a struct's name.
  std::string constructor(ir::Type type);

  /// "16" or "(4, 8)".
  static std::string tile_shape(ir::Type tile);
  /// The array of an access to a tile: "x", or "x[i]" if it has more dimensions than the tile. Removes the indices in
  /// the brackets from `indices`.
  std::string tile_array(ir::ExprId array, std::vector<ir::ExprId>& indices, ir::Type tile);
  /// "i * 4" or "(i * 4, 0)".
  std::string tile_offset(const std::vector<ir::ExprId>& offsets);
  static std::string shape_tuple(ir::Type tile);
  /// The arguments `indices`, `offset` and `axis` of an access in which a tile holds the indices of one dimension.
  std::string tile_indices(ir::Loc loc, const std::vector<ir::ExprId>& offsets);
  static std::string tile_zeros(ir::Type tile);

  /// Records the first failure; the text printed afterwards is invalid.
  void fail(ir::Loc loc, std::string message);
  const std::optional<Error>& error() const { return error_; }

 private:
  /// The text of an expression, with the precedence of its outermost operator.
  struct WrittenExpression {
    std::string text;                           ///< printed expression
    Precedence precedence = Precedence::kAtom;  ///< precedence of its outermost operator
  };

  WrittenExpression spell(ir::ExprId id);
  WrittenExpression literal(const ir::Expr& expr) const;
  /// Whether a kMake joins whole rows of a matrix.
  bool is_made_of_rows(const ir::Expr& make) const;
  /// Whether the expression is a row of a matrix.
  bool is_row(ir::ExprId id) const;
  std::string tile_map(const ir::Expr& expr, std::string_view function);
  WrittenExpression tile_arange(const ir::Expr& expr);
  std::optional<WrittenExpression> tile_operation(const ir::Expr& expr);
  WrittenExpression operation(const ir::Expr& expr);
  /// Replaces $0, $1, $2, $* and $T in a pattern of the operation table.
  std::string expand(std::string_view pattern, const ir::Expr& expr, Precedence left, Precedence others);
  std::string literal_call(const ir::Expr& expr) const;
  bool is_literal(ir::ExprId id) const { return function_.expr(id).kind == ir::ExprKind::kLiteral; }

  const ir::Module& module_;
  const ir::Function& function_;                    ///< function whose expressions are written
  ModuleLevelNames& module_level_names_;            ///< names of the file, to which aliases of types are added
  const std::vector<std::string>& variable_names_;  ///< name of each variable of the function
  std::optional<Error> error_;                      ///< the first failure; nullopt: none
  /// Variables of loops that Warp may unroll, which are converted to a type of 64 bits and have other uses: Warp
  /// changes the type of such a variable itself.
  std::set<ir::VarId> retyped_variables_;
};

}  // namespace assay::source::warp
