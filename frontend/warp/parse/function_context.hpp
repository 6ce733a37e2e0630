// The state shared by the parsers of statements and expressions of one function.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "frontend/warp/parse/bindings.hpp"
#include "frontend/warp/parse/dataflow.hpp"
#include "frontend/warp/parse/file_parser.hpp"
#include "ir/builder.hpp"

namespace assay::frontend {

/// One dimension of an array slice that has a name. Its indices were evaluated when it got the name.
struct ArrayViewDimension {
  DimensionSelection kind = DimensionSelection::kAllIndices;  ///< which indices the slice selects in this dimension
  ir::VarId index = ir::kNone;                                ///< for kSingleIndex: variable that holds the index
  ir::VarId start = ir::kNone;                                ///< for kRange: variable that holds the first index
  ir::VarId extent = ir::kNone;                               ///< for kRange: variable that holds the number of indices
  std::int64_t step = 1;                                      ///< for kRange: distance between indices
  ir::VarId indices = ir::kNone;                              ///< for kIndexed: array that contains the indices
};
/// An array slice that has a name.
struct ArrayView {
  ir::VarId array = ir::kNone;                 ///< the array it shows a part of; kNone: the array is missing
  ir::Type type;                               ///< type of the slice: an array with the dimensions that are not fixed
  std::vector<ArrayViewDimension> dimensions;  ///< selected indices in each dimension of the whole array
};
/// A struct with arrays, stored as one variable or alias for each field; or an array of such structs, stored as one
/// array for each field. The first dimensions of these arrays are those of the array of structs.
struct ArrayStruct {
  ir::Type type;                  ///< type of the struct or of the array
  std::vector<ir::VarId> fields;  ///< variable or alias of each field
};

/// Initial value of FunctionContext::hidden.
constexpr std::array<ir::VarId, kHiddenParameterCount> none_hidden() {
  std::array<ir::VarId, kHiddenParameterCount> none{};
  none.fill(ir::kNone);
  return none;
}

/// The extents of a tile, one for each dimension.
using TileExtents = std::vector<std::uint16_t>;

/// The state of parsing one function.
struct FunctionContext {
  WarpFileParser& file;       ///< parser of the file
  SourceFunction& entry;      ///< the function that is parsed
  ir::Function& function;     ///< the function that is built
  ir::Builder builder;        ///< appends to the function
  Dataflow data_flow;         ///< analysis of which block must declare each variable
  VariableBindings bindings;  ///< variable of each name at the current statement
  bool has_failed = false;    ///< whether an error was reported in this function
  bool has_results = false;   ///< whether a return statement was parsed

  /// By HiddenParameter: the parameter; kNone: the function has none.
  std::array<ir::VarId, kHiddenParameterCount> hidden = none_hidden();
  /// By syntax node of a call of wp.mesh_get: the alias of its arrays, a struct with arrays.
  std::map<const void*, ir::VarId> mesh_aliases_by_call;

  /// In a gradient: by parameter of the differentiated function, the variable that sums its adjoint.
  std::map<std::string_view, ir::VarId> adjoint_variables_by_parameter;
  /// In a gradient that adds to the adjoint of an array: by array parameter, the parameter that is its adjoint array.
  std::map<ir::VarId, ir::VarId> adjoint_arrays_by_parameter;

  /// Variables that are assigned only once, from a literal. Warp keeps all digits of such a literal.
  std::map<ir::VarId, Constant> literals_by_variable;
  /// Types of constants that were passed to the constructor of a 64-bit type, by name. Warp gives all later uses of the
  /// name that type.
  std::map<std::string_view, ir::Type> retyped_constant_types_by_name;
  std::set<std::string_view> used_constants;  ///< names of constants that have been used with their default type

  /// An assignment to a name as a whole. Python copies the value; where Warp gives the name the storage of another
  /// variable or of a part of an array or struct, `shared` is that variable or array (shared_storage.hpp).
  struct NameAssignment {
    SyntaxNode name;               ///< the assigned name
    ir::VarId shared = ir::kNone;  ///< variable or array whose storage the name shares; kNone: none
    bool is_part = false;          ///< whether it shares an element or a field, and not a whole variable
    bool is_first = false;         ///< whether it is the first of a statement whose values may share storage
    bool is_constant = false;      ///< whether Warp makes the name stand for a constant (changed_constants.hpp)
    ir::Type type = {};            ///< type of the value
  };
  /// By assigned variable, and by line and column of the assignment.
  std::map<std::tuple<ir::VarId, std::int32_t, std::int32_t>, NameAssignment> name_assignments;
  /// Loops that Warp unrolls: their number of iterations, by the variable of the loop.
  std::map<ir::VarId, std::int64_t> unrolled_loops;
  /// Names of the source that stand for the variables of loops.
  std::map<ir::VarId, std::string_view> loop_targets;

  /// The flag and the guard array of a variable that may be read before it is assigned. The flag says whether the
  /// variable is assigned. Each such read also reads the guard array, past its end if the variable is not assigned, so
  /// that a launch with such a read is invalid.
  struct AssignedFlag {
    ir::VarId flag_variable = ir::kNone;  ///< bool variable that is true after the variable was assigned
    ir::VarId guard_array = ir::kNone;    ///< array of one element, which is read together with the variable
  };
  /// Flags of variables that may be read before they are assigned.
  std::map<ir::VarId, AssignedFlag> assigned_flags_by_variable;
  /// Copies of the parameters that are passed by reference; their values are the last results of the function.
  std::vector<ir::VarId> references;
  /// Syntax node of the call, if any, whose result is the whole value that the current statement assigns or returns. A
  /// call elsewhere in an expression must not change variables, which the expression may have read before.
  const void* whole_value = nullptr;
  /// Syntax node of the last condition or operand of `and`, `or` or `not` in a condition.
  const void* whole_condition = nullptr;

  /// The tile variables whose elements a statement changes, with this statement. In Warp, such a statement also changes
  /// the views of the tile.
  std::vector<std::pair<ir::VarId, SyntaxNode>> changed_tiles;

  /// By local array that holds a tile of compound elements or of more than two dimensions: the extents of the tile.
  std::map<ir::VarId, TileExtents> compound_tiles;
  /// Those that a name of the source stands for.
  std::set<ir::VarId> named_compound_tiles;
  /// Those that share their memory with another tile in Warp, because one is a reshape or the transpose of the other.
  std::set<ir::VarId> shared_compound_tiles;
  /// A read of one element of a tile, by every thread of a block.
  struct TileElementRead {
    ir::VarId tile = ir::kNone;                        ///< variable that holds the tile
    std::vector<std::optional<std::int64_t>> indices;  ///< indices of the element; nullopt: known only at run time
    SyntaxNode node;                                   ///< where it is read
  };
  /// Such reads since each tile got its value as a whole. A change of the element after the read is not safe.
  std::vector<TileElementRead> tile_element_reads;
  /// Operands of atomics that a block executes once, although it has several threads.
  std::set<ir::ExprId> block_updates;
  /// Whether the threads of a block may have different values. Such a kernel is judged with one thread per block.
  bool has_thread_values = false;
  /// Variables that hold such values.
  std::set<ir::VarId> thread_variables;
  /// A stack that the threads of a block share.
  struct TileStack {
    ir::VarId values = ir::kNone;  ///< local array with the capacity of the stack
    ir::VarId count = ir::kNone;   ///< number of values that are on the stack
  };
  std::map<ir::VarId, TileStack> tile_stacks;  ///< by variable that holds the values

  std::set<const void*> guarded_reads;  ///< syntax nodes whose reads of such variables are already guarded

  /// Whether code may be moved before the current statement; false inside conditionally evaluated expressions.
  bool may_hoist = true;
  /// Arrays that the current statement has read so far. A side effect on one of them would have to come after the read.
  std::vector<ir::VarId> loaded_arrays;

  FunctionContext(WarpFileParser& file_reader, SourceFunction& function_entry, ir::Function& into, Dataflow dataflow)
      : file(file_reader),
        entry(function_entry),
        function(into),
        builder(file_reader.module(), into),
        data_flow(std::move(dataflow)) {}

  /// Stores a named array slice, or a struct with arrays, and returns its alias: a number below kNone that is used in
  /// place of a variable.
  ir::VarId add(ArrayView view) {
    array_views_.push_back(std::move(view));
    return -2 * static_cast<ir::VarId>(array_views_.size());
  }
  ir::VarId add(ArrayStruct array_struct) {
    array_structs_.push_back(std::move(array_struct));
    return -2 * static_cast<ir::VarId>(array_structs_.size()) - 1;
  }
  /// Returns the array slice with this alias; null if `name` is not such an alias.
  const ArrayView* find_array_view(ir::VarId name) const {
    return name < ir::kNone && name % 2 == 0 ? &array_views_[static_cast<std::size_t>(-name / 2 - 1)] : nullptr;
  }
  /// Returns the struct with arrays that has this alias; null if `name` is not such an alias.
  const ArrayStruct* find_array_struct(ir::VarId name) const {
    return name < ir::kNone && name % 2 != 0 ? &array_structs_[static_cast<std::size_t>((-name - 1) / 2 - 1)] : nullptr;
  }
  ArrayStruct* find_array_struct(ir::VarId name) {
    return name < ir::kNone && name % 2 != 0 ? &array_structs_[static_cast<std::size_t>((-name - 1) / 2 - 1)] : nullptr;
  }
  static bool is_alias(ir::VarId name) { return name < ir::kNone; }

  const ModuleScope& scope() const { return entry.environment->scope; }
  /// The scope of the argument of wp.static(...), which also knows the variables of loops that are copied for each
  /// value.
  const ModuleScope& static_scope() const { return copied_loop_scopes_.empty() ? scope() : copied_loop_scopes_.back(); }
  /// The value of a constant expression or of a wp.static(...) call.
  std::optional<Constant> constant(SyntaxNode node) const;
  /// Makes a loop variable known in wp.static(...), until leave_static().
  void enter_static(std::string_view name, std::int64_t value);
  void leave_static() { copied_loop_scopes_.pop_back(); }
  bool defines(std::string_view name) const { return WarpFileParser::find(*entry.environment, name) != nullptr; }
  /// The global name of a node: an identifier, or a member of another file's module, "physics.f". Empty for variables
  /// and for any other node.
  std::string_view global_name(SyntaxNode node) const;
  /// The functions of this name visible in the current function, parsed as far as possible.
  std::vector<SourceFunction*> functions(std::string_view name) { return file.functions(*entry.environment, name); }
  ir::Type type_of(ir::ExprId expr) const { return builder.type_of(expr); }

  /// In a gradient: its results, in the order of the parameters.
  std::vector<ir::ExprId> adjoint_values();
  /// The values of the parameters that are passed by reference.
  std::vector<ir::ExprId> reference_values();

  /// Reports an error and returns kNone.
  ir::ExprId error(SyntaxNode node, std::string reason);
  void note(SyntaxNode node, std::string reason);  ///< reports a note at the node

  /// Appends an expression for which the builder has no function.
  ir::ExprId add(SyntaxNode node, ir::Expr expr);
  /// The operation, or the library function of its name, if it supports the operands; else reports an error with the
  /// operand types.
  ir::ExprId operation(SyntaxNode node, ir::Op op, const std::vector<ir::ExprId>& args, ir::Type requested = ir::kVoid);
  /// Applies any scalar operation to each element of tiles; `operation` supports only tile operators of Warp.
  ir::ExprId apply_by_element(SyntaxNode node, ir::Op op, const std::vector<ir::ExprId>& args);
  /// An index of a tile that counts from the end if it is below zero.
  ir::ExprId wrapped_index(SyntaxNode node, ir::ExprId index, int extent);
  /// The extents of such a tile (compound_tiles.cpp); nullopt for other values.
  std::optional<TileExtents> compound_tile(ir::ExprId value) const;
  /// Declares such a tile, whose elements are zero.
  ir::VarId new_compound_tile(std::string name, ir::Type element, const TileExtents& extents);
  void copy_compound_tile(ir::VarId target, ir::VarId source);
  /// The call of the library function if it supports the operands; else reports an error.
  ir::ExprId library_call(SyntaxNode node, std::string_view name, const std::vector<ir::ExprId>& args);
  /// A copy of the expression: trees do not share nodes.
  ir::ExprId copy(ir::ExprId expr);
  /// A type as Warp's user writes it: "float32", "vec3", "array(dtype=float32, ndim=2)".
  std::string type_name(ir::Type type) const;

 private:
  std::deque<ArrayView> array_views_;      ///< aliases of array slices
  std::deque<ArrayStruct> array_structs_;  ///< aliases of structs with arrays
  /// Scope of each loop that is being copied for each iteration, the innermost last.
  std::deque<ModuleScope> copied_loop_scopes_;

  ir::ExprId call(SyntaxNode node, int function_index, const std::vector<ir::ExprId>& args);
};

}  // namespace assay::frontend
