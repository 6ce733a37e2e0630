// The state shared by the parsers of statements and expressions of one function.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/warp/parse/bindings.hpp"
#include "frontend/warp/parse/dataflow.hpp"
#include "frontend/warp/parse/file_parser.hpp"
#include "ir/builder.hpp"

namespace assay::frontend {

/// One dimension of a View, whose indices were evaluated when it was made.
struct ArrayViewDimension {
  DimensionSelection kind = DimensionSelection::kAllIndices;  ///< how the slice selects indices in this dimension
  ir::VarId index = ir::kNone;                                ///< variable with the index of a kSingleIndex
  ir::VarId start = ir::kNone;                                ///< variable with the first index of a kRange
  ir::VarId extent = ir::kNone;                               ///< variable with the number of indices of a kRange
  std::int64_t step = 1;                                      ///< distance between the indices of a kRange
  ir::VarId indices = ir::kNone;                              ///< array of the indices of a kIndexed
};
/// An alias of an array slice.
struct ArrayView {
  ir::VarId array = ir::kNone;                 ///< the whole array
  ir::Type type;                               ///< type of the slice: an array with the dimensions that are left
  std::vector<ArrayViewDimension> dimensions;  ///< selection in each dimension of the whole array
};
/// An alias of a struct with arrays: a variable or an alias for each field.
struct ArrayStruct {
  ir::Type type;                  ///< type of the struct
  std::vector<ir::VarId> fields;  ///< variable or alias of each field
};

struct FunctionContext {
  WarpFileParser& file;       ///< parser of the file
  SourceFunction& entry;      ///< parsed function and its state
  ir::Function& function;     ///< resulting function of the kernel language
  ir::Builder builder;        ///< builder of this function
  Dataflow data_flow;         ///< blocks that must declare the variables
  VariableBindings bindings;  ///< variables of the names at the current statement
  bool has_failed = false;    ///< whether an error was reported
  bool has_results = false;   ///< whether a return was parsed

  /// In a gradient: the variables that sum the adjoints of the function's parameters, by name.
  std::map<std::string_view, ir::VarId> adjoint_variables_by_parameter;

  /// Variables that are assigned once, from a literal: Warp keeps all digits of these.
  std::map<ir::VarId, Constant> literals_by_variable;
  /// Constants that a 64-bit type's constructor was given. Warp gives all later uses of their names that type.
  std::map<std::string_view, ir::Type> retyped_constant_types_by_name;
  /// Names of constants that were used with their default type.
  std::set<std::string_view> used_constants;

  /// For variables with reads that may come before any assignment: a bool that says whether the variable is assigned,
  /// and an array of one element. Such a read also reads this array, past its end if the variable is not assigned, so
  /// that launches with such reads are invalid.
  struct AssignedFlag {
    ir::VarId flag_variable = ir::kNone;  ///< bool variable that is true once the variable is assigned
    ir::VarId guard_array = ir::kNone;    ///< array of one element
  };
  std::map<ir::VarId, AssignedFlag> assigned_flags_by_variable;  ///< flags of these variables
  std::set<const void*> guarded_reads;  ///< syntax nodes of the names that such reads consist of

  /// False inside conditionally evaluated expressions, where nothing may be moved before the statement.
  bool may_hoist = true;
  /// Arrays that the statement has loaded from so far; a side effect on one of them would come too early.
  std::vector<ir::VarId> loaded_arrays;

  FunctionContext(WarpFileParser& file_reader, SourceFunction& function_entry, ir::Function& into, Dataflow dataflow)
      : file(file_reader),
        entry(function_entry),
        function(into),
        builder(file_reader.module(), into),
        data_flow(std::move(dataflow)) {}

  /// Names may also be aliases of array slices and of structs with arrays. An alias is a number below kNone.
  ir::VarId add(ArrayView view) {
    array_views_.push_back(std::move(view));
    return -2 * static_cast<ir::VarId>(array_views_.size());
  }
  ir::VarId add(ArrayStruct array_struct) {
    array_structs_.push_back(std::move(array_struct));
    return -2 * static_cast<ir::VarId>(array_structs_.size()) - 1;
  }
  const ArrayView* find_array_view(ir::VarId name) const {
    return name < ir::kNone && name % 2 == 0 ? &array_views_[static_cast<std::size_t>(-name / 2 - 1)] : nullptr;
  }
  const ArrayStruct* find_array_struct(ir::VarId name) const {
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
  /// The call of the library function if it supports the operands; else reports an error.
  ir::ExprId library_call(SyntaxNode node, std::string_view name, const std::vector<ir::ExprId>& args);
  /// A copy of the expression: trees do not share nodes.
  ir::ExprId copy(ir::ExprId expr);
  /// A type as Warp's user writes it: "float32", "vec3", "array(dtype=float32, ndim=2)".
  std::string type_name(ir::Type type) const;

 private:
  std::deque<ArrayView> array_views_;           ///< aliases of array slices
  std::deque<ArrayStruct> array_structs_;       ///< aliases of structs with arrays
  std::deque<ModuleScope> copied_loop_scopes_;  ///< one for each loop that is being copied, the innermost last

  ir::ExprId call(SyntaxNode node, int function_index, const std::vector<ir::ExprId>& args);
};

}  // namespace assay::frontend
