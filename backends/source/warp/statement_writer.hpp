// Prints the body of one function or kernel in Warp Python.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "backends/source/warp/expression_writer.hpp"
#include "backends/source/warp/unassigned_guards.hpp"
#include "ir/analysis.hpp"
#include "ir/element_part.hpp"
#include "ir/module.hpp"
#include "support/concat.hpp"

namespace assay::source::warp {

/// Writes the statements of one function.
class StatementWriter {
 public:
  /// Keeps references to all arguments except `names`, the file's names, which variables must not use.
  StatementWriter(const ir::Module& module, const ir::Function& function, ModuleLevelNames& file, NamePool names);
  StatementWriter(const StatementWriter&) = delete;
  StatementWriter& operator=(const StatementWriter&) = delete;

  /// Makes this definition the gradient, or replay, of the function.
  void customize(const ir::Function& of, std::string_view of_name, bool is_gradient);
  /// The definition with the name `name`: comments, decorator, signature and body, with a trailing newline.
  std::string definition(std::string_view name);
  const std::optional<Error>& error() const { return expression_writer_.error(); }
  /// Sets the names and locations in a copy of the function to those that parsing the definition would give if its
  /// first line is line `first` of the file.
  void place(ir::Function& function, std::string name, int first) const;

 private:
  std::string signature(std::string_view name);
  void return_(const ir::Return& leave, ir::Loc loc);
  /// Returns whether the variable is a returned sum of adjoints, which is written as wp.adjoint[...].
  bool is_adjoint(ir::VarId variable) const {
    return std::find(adjoint_variables_.begin(), adjoint_variables_.end(), variable) != adjoint_variables_.end();
  }
  void block(const ir::Block& block);
  void statement(const ir::Stmt& statement);
  /// Whether the source does not contain the statement, because a frontend added it (unassigned_guards.hpp).
  [[nodiscard]] bool belongs_to_guard(const ir::Stmt& statement) const;
  void let(const ir::Let& let, ir::Loc loc);
  void assign(const ir::Assign& assign);
  /// Writes a tile to an array.
  template <class Change>
  void write_tile_change(std::string_view function, const Change& change) {
    std::vector<ir::ExprId> indices = change.indices;
    const std::string array = expression_writer_.tile_array(change.array, indices, function_.expr(change.value).type);
    const std::string tile = expression_writer_.write(change.value);
    if (ir::has_tile(function_, indices)) {
      const ir::Loc loc = function_.expr(change.array).loc;
      line(fmt::format("wp.{}_indexed({}, t={}, {})", function, array, tile,
                       expression_writer_.tile_indices(loc, indices)));
      return;
    }
    line(fmt::format("wp.{}({}, {}, offset={})", function, array, tile, expression_writer_.tile_offset(indices)));
  }
  void atomic(const ir::Atomic& atomic);
  /// An atomic addition of a number, vector, ... in a kernel with tiles: adds the tile of the values of the threads.
  void add_value_of_thread(const ir::Atomic& atomic);
  void call(const ir::Call& call);
  /// The assignment that belongs to a call which changes its first operand: Python text has the call only.
  void change_operand(const ir::Stmt& statement);
  void if_(const ir::If& branch, std::string_view keyword);
  void for_(const ir::For& loop);
  /// "place.field[i]" for the path.
  std::string part_of(std::string place, const std::vector<ir::ElementPartStep>& path);
  /// An assignment to the part of the place that changes.
  void write_assignment(std::string place, const ir::ChangedElementPart& part, bool is_augmented);
  /// A change of an element of a tile after a read of an element that may be the same, which must be scattered.
  void write_scattered(const ir::Assign& assign);
  bool is_literal_i32(ir::ExprId id, std::int64_t value) const;
  const std::string& name(ir::VarId variable) const { return variable_names_[static_cast<std::size_t>(variable)]; }
  std::string value_of(ir::VarId variable, ir::ExprId value);
  /// Adds a line that consists of the pieces.
  template <class... Pieces>
  void line(const Pieces&... pieces) {
    body_text_.append(static_cast<std::size_t>(4 * indent_level_), ' ');
    assay::append(body_text_, pieces...);
    body_text_ += '\n';
    ++line_count_;
  }
  /// The location of the next line.
  ir::Loc here() const { return {.line = line_count_, .column = 4 * indent_level_ + 1}; }

  const ir::Function& function_;             ///< function that is written
  std::vector<std::string> variable_names_;  ///< name of each variable
  /// Variables whose initial value must not be a bare number, because Warp treats such a variable as a constant. Warp
  /// rejects changes of a constant in a loop. A cast of a constant to another type changes the type of the constant
  /// itself, and the negative of a constant zero is a negative zero.
  std::set<ir::VarId> non_constant_variables_;
  ExpressionWriter expression_writer_;  ///< writes the expressions in the statements
  std::string decorator_;               ///< decorator without "@wp.": "kernel", "func_grad(f)"
  bool is_replay_ = false;              ///< whether the function is a custom replay of another one
  bool is_tiled_;                       ///< whether the function is a kernel with tiles
  /// Changes of elements of tiles that are written as wp.tile_scatter_add or wp.tile_scatter_masked.
  std::set<const ir::Assign*> scattered_changes_;
  UnassignedGuards guards_;  ///< statements that are not written
  /// Number of parameters in the signature; for a gradient without its adjoint arrays, which are written as
  /// wp.adjoint[...].
  int written_parameter_count_;
  std::vector<ir::VarId>
      adjoint_variables_;  ///< for a gradient: variables of the returned sums, written as wp.adjoint[...]
  const ir::Stmt* last_statement_ = nullptr;  ///< last statement of a gradient's body; null otherwise
  std::string body_text_;                     ///< lines of the body printed so far
  int indent_level_ = 1;                      ///< indentation level; each is four spaces
  int line_count_ = 0;                        ///< number of lines written so far
  int lines_before_def_ = 0;                  ///< number of lines above the "def" line
  /// Locations of the statements, in the order of the text; line numbers count from 0.
  std::vector<ir::Loc> statement_locations_;
  /// The variable that the call just written changes, and the result that is its new value.
  struct ChangedOperand {
    ir::VarId variable = ir::kNone;
    ir::VarId new_value = ir::kNone;
    ir::Loc loc;  ///< of the call
  };
  std::optional<ChangedOperand> changed_operand_;  ///< set until the next statement
};

}  // namespace assay::source::warp
