// Reads the expressions of one function. A failure has been reported when kNone (or a failed Place) comes back.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/warp/parse/function_context.hpp"
#include "frontend/warp/parse/target.hpp"

namespace assay::frontend {

/// A call of a function of the file, its arguments matched to the parameters.
struct ResolvedCall {
  const FunctionEntry* callee = nullptr;  ///< null after a failure
  std::vector<ir::ExprId> arguments;
};

/// One argument of a call: what it is to the callee, and the values that are passed.
struct Argument {
  Given given;
  std::vector<ir::ExprId> values;

  bool failed() const { return std::find(values.begin(), values.end(), ir::kNone) != values.end(); }
};

/// Reports atomics on scalars in a kernel with tiles: each thread of a block would do them.
void reject_scalar_updates(FunctionContext& context, Node definition);

/// Whether a function of Warp's module draws a random number or makes a generator's state.
bool is_random_function(std::string_view name);

class ExpressionReader {
 public:
  explicit ExpressionReader(FunctionContext& context) : context_(context) {}

  ir::ExprId value(Node node);
  /// A value as `if`, `while`, `and`, `or` and `not` take it: bool, a number that is not zero, or an array with
  /// elements.
  ir::ExprId condition(Node node);
  /// The same where it is not sure to be evaluated, so that nothing may be moved before the statement.
  ir::ExprId lazy_condition(Node node);
  Place place(Node node);
  /// The value as a literal of the source means it: a number, perhaps with a minus, or a name of Warp for one.
  bool is_of_variable(Node attribute) const;
  std::optional<Constant> literal(Node node) const;

  /// `left symbol right` for a binary operator, as in an augmented assignment.
  ir::ExprId binary(Node node, std::string_view symbol, ir::ExprId left, ir::ExprId right);

  /// What the call's function is in Warp's module, also for a bare name that neither Python nor the file defines.
  std::string warp_function_name(Node call) const;
  /// Whether the call names a function of the file.
  bool is_file_function(Node call) const;
  /// Finds the function of the file that the call means and reads the arguments.
  ResolvedCall resolve(Node call);
  /// x.p or x.q of a transform x.
  static Place transform_part(Place whole, bool translation);
  /// The atomic that the call names.
  std::optional<ir::AtomicOp> atomic(Node call) const;
  /// Appends the atomic. If `result` is not empty, a new variable of this name keeps the old content; gives it.
  ir::VarId atomic_call(Node call, ir::AtomicOp op, const std::string& result);
  /// The type that type(x), x.dtype or a name of the scope stands for.
  Result<ir::Type> type_of_node(Node node);
  std::optional<ir::Type> type_with_components(Node node);
  /// Whether the expression names an array, a part of one, or a struct with arrays.
  bool names_array(Node node);
  /// An alias for what such an expression names; kNone after a failure.
  ir::VarId alias(Node node, std::string_view name);
  /// Whether the node is wp.adjoint[...] or a part of it.
  bool is_adjoint(Node node) const;
  /// Reads a call of Warp's that does something with a tile and is no value: a store, an addition. False if it is none.
  bool tile_statement(Node call, std::string_view name);
  /// Whether evaluating has effects on arrays.
  bool has_effects(Node node) const;

 private:
  // operators
  ir::ExprId name(Node node);
  ir::ExprId constant(Node node, const Constant& constant);
  ir::ExprId unary(Node node);
  /// A chain of & and ^ without parentheses.
  ir::ExprId and_and_xor(Node node);
  void collect_and_and_xor(Node node, std::vector<ir::ExprId>& operands, std::vector<std::string_view>& symbols);
  ir::ExprId boolean(Node node);
  ir::ExprId comparison(Node node);
  ir::ExprId compare(Node node, std::string_view symbol, ir::ExprId left, ir::ExprId right);
  ir::ExprId conditional(Node node);
  ir::ExprId lazy_value(Node node);
  ir::ExprId truth(Node node, ir::ExprId value);
  ir::ExprId presence(Node node);
  // places
  Place name_place(Node node);
  Place subscript_place(Node node);
  Place attribute_place(Node node);
  Place adjoint_place(Node node);
  Place shape_element(Node node, const Place& measured);
  ir::ExprId index_value(Node index);
  void add_index(Node node, Place& place, Node index, std::size_t& passed);
  // parts of arrays and vectors (view_reader.cpp)
  ir::ExprId as_i32(Node node, ir::ExprId value);
  bool index_dimension(Place& place, Node index, std::size_t& passed);
  ir::ExprId position_in(Node node, const Dimension& range, ir::ExprId position);
  bool cut(Place& place, Dimension& dimension, Node slice, int number);
  Place slice_of(Node node, const Place& whole, Node slice);
  int array_rank_of(Node node);
  ir::VarId name_of(Node node);
  // calls
  ir::ExprId call(Node node);
  ir::ExprId convert(Node node, ir::Type type);
  ir::ExprId construct_struct(Node node, ir::Type type);
  ir::ExprId type_call(Node node, ir::Type type);
  ir::ExprId length_of(Node node);
  ir::ExprId thread_index(Node node);
  ir::ExprId call_file_function(Node node);
  bool is_callable(Node call, const FunctionEntry* callee);
  FunctionEntry* resolve_overload(Node call, const std::vector<FunctionEntry*>& candidates,
                                  std::vector<Argument>& values);
  bool takes(const FunctionEntry& callee, const std::vector<Argument>& arguments, std::size_t& misfit) const;
  FunctionEntry* specialised(Node call, FunctionEntry* callee, const std::vector<Argument>& arguments);
  bool read_arguments(Node call, const FunctionEntry& callee, std::vector<Argument>& values);
  std::string_view called_name(Node call) const;
  std::optional<Given> function_argument(Node node);
  Argument argument(Node node);
  Argument array_argument(Node node, const Place& place);
  ir::ExprId warp_call(Node node, std::string_view name);
  // construct_reader.cpp
  /// Whether wp.<name> makes a vector or matrix of a size that its arguments say.
  static bool is_maker(std::string_view name);
  ir::ExprId make(Node node, std::string_view name);
  ir::ExprId sized(Node node, std::string_view name, const Arguments& arguments);
  ir::ExprId identity(Node node, const Arguments& arguments);
  ir::ExprId general(Node node, std::string_view name, const Arguments& arguments);
  ir::ExprId from_vectors(Node node, std::string_view name, const Arguments& arguments);
  ir::ExprId construct(Node node, ir::Type type, std::span<const Node> arguments);
  bool takes(ir::Type type, const std::vector<ir::ExprId>& values) const;
  bool spread(Node starred, std::vector<ir::ExprId>& values);
  ir::ExprId convert_components(Node node, ir::ExprId whole, ir::Type type);
  ir::ExprId component(Node node, ir::Type type);
  // tiles (tile_reader.cpp)
  ir::ExprId tile_call(Node node, std::string_view name);
  ir::Type tile_shape(Node call, Node shape, ir::Type element);
  std::vector<ir::ExprId> tile_offset(Node call, Node offset, int rank);
  Place tile_array(Node node, ir::Type tile);
  ir::ExprId tile_value(Node call, Node node);
  ir::ExprId tile_load(Node node);
  ir::ExprId tile_filled(Node node, std::string_view name);
  ir::ExprId tile_sum(Node node, Node tile, Node axis);
  ir::ExprId tile_reduce(Node node);
  ir::ExprId tile_map(Node node);
  ir::ExprId tile_extract(Node node);
  void tile_accumulate(Node call);
  // random numbers (random_reader.cpp)
  ir::ExprId random(Node node, std::string_view name);
  ir::ExprId generator_state(Node node, std::span<const Node> given);
  ir::VarId state_variable(Node node);
  ir::ExprId next_state(ir::ExprId state);
  void advance(ir::VarId state);
  ir::ExprId integer(ir::VarId state, const std::vector<ir::ExprId>& bounds, bool is_unsigned);
  ir::ExprId uniform(ir::VarId state, const std::vector<ir::ExprId>& bounds);
  ir::ExprId normal(ir::VarId state);
  /// Reports if the effect of `node` would come before something that the source puts before it.
  bool may_take_effect(Node node, std::size_t loads_before, ir::VarId array);

  FunctionContext& context_;
};

}  // namespace assay::frontend
