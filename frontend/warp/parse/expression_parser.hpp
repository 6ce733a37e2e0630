// Parses the expressions of one function. After kNone or a failed AssignmentTarget, an error has been reported.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/warp/parse/function_context.hpp"
#include "frontend/warp/parse/mesh_queries.hpp"
#include "frontend/warp/parse/spatial_queries.hpp"
#include "frontend/warp/parse/target.hpp"
#include "frontend/warp/parse/volume_functions.hpp"

namespace assay::frontend {

/// A call of a function of the file, whose arguments are in the order of the parameters.
struct ResolvedCall {
  const SourceFunction* callee = nullptr;  ///< called function; null if an error was reported
  std::vector<ir::ExprId> arguments;       ///< arguments in the order of the parameters
  /// The arguments that are passed by reference, in the order of the parameters. The function returns their new values
  /// after its own results.
  std::vector<AssignmentTarget> references = {};
};

/// One argument of a call: its properties and its values.
struct CallArgument {
  ArgumentSpec spec;               ///< properties of the argument on which the callee's code depends
  std::vector<ir::ExprId> values;  ///< values to pass; several for a slice or a struct with arrays

  bool failed() const { return std::find(values.begin(), values.end(), ir::kNone) != values.end(); }
};

/// Rejects atomics on scalars in a kernel with tiles that each thread of a block would execute with the same operands.
void reject_scalar_updates(FunctionContext& context, SyntaxNode definition);
/// Reports changes of tiles that have views, which Warp would change too, because a view shares the tile's memory.
void reject_changes_of_viewed_tiles(FunctionContext& context);

/// Whether a function of Warp's module draws a random number or makes a generator's state.
bool is_random_function(std::string_view name);
/// Whether a call of this function of Warp queries a mesh, hash grid or hierarchy of boxes and changes variables that
/// it gets as arguments.
bool changes_query_arguments(SyntaxNode call, std::string_view name);
/// Whether the function draws a random point of a shape.
bool is_shape_sampler(std::string_view name);
/// Whether the function draws a number and changes the generator's state, in one call of Warp's library.
bool draws_from_state(std::string_view name);

/// Parses the expressions of one function.
class WarpExpressionParser {
 public:
  explicit WarpExpressionParser(FunctionContext& context) : context_(context) {}

  ir::ExprId value(SyntaxNode node);
  /// A value as `if`, `while`, `and`, `or` and `not` take it: bool, a number that is not zero, or an array with
  /// elements.
  ir::ExprId condition(SyntaxNode node);
  /// The condition of a conditional expression or of wp.where, for which Warp takes no floats.
  ir::ExprId choice_condition(SyntaxNode node);
  /// A condition that may not be evaluated, so that nothing may be moved before the statement.
  ir::ExprId lazy_condition(SyntaxNode node);
  AssignmentTarget place(SyntaxNode node);
  /// The value of a literal: a number, optionally with a minus, or a constant of Warp.
  bool is_of_variable(SyntaxNode attribute) const;
  std::optional<Constant> literal(SyntaxNode node) const;
  /// The value with all its digits if it is a literal, a named constant, the negative of one, a variable that holds a
  /// literal, or a wp.static(...) call.
  std::optional<Constant> known_number(SyntaxNode node) const;

  /// `left symbol right` for a binary operator, as in an augmented assignment: the function of the file that has the
  /// operator's name in Warp and accepts the operands, or the operator itself.
  ir::ExprId binary(SyntaxNode node, std::string_view symbol, ir::ExprId left, ir::ExprId right);

  /// The name of the called function in Warp's module, also for a bare name that neither Python nor the file defines.
  std::string warp_function_name(SyntaxNode call) const;
  /// Whether the call names a function of the file.
  bool is_file_function(SyntaxNode call) const;
  /// The results of a call of a function of the file, as operands of a statement; empty after an error.
  std::vector<ir::ExprId> call_results(SyntaxNode node);
  /// Finds the called function of the file and parses the arguments.
  ResolvedCall resolve(SyntaxNode call);
  /// Types of the results of the call, without the new values of arguments that are passed by reference.
  std::span<const ir::Type> returned_types(const ResolvedCall& resolved) const;
  /// Appends the call, assigns the new values of arguments that are passed by reference, and returns the variables that
  /// hold the results. `names` has a name for each of them.
  std::vector<ir::VarId> run(SyntaxNode call, const ResolvedCall& resolved, std::vector<std::string> names);
  /// x.p or x.q of a transform x.
  static AssignmentTarget transform_part(AssignmentTarget whole, bool translation);
  /// The atomic that the call names.
  std::optional<ir::AtomicOp> atomic(SyntaxNode call) const;
  /// Appends the atomic. If `result` is not empty, declares and returns a variable of this name for the old value.
  ir::VarId atomic_call(SyntaxNode call, ir::AtomicOp op, const std::string& result);
  /// The type that type(x), x.dtype or a name of the scope stands for.
  Result<ir::Type> type_of_node(SyntaxNode node);
  std::optional<ir::Type> type_with_components(SyntaxNode node);
  /// The number that x.length or type(x).length stands for: the components of a vector, matrix, quaternion or
  /// transform.
  std::optional<int> component_count(SyntaxNode node);
  /// The number that x.ndim stands for: the dimensions of an array or of a part of one.
  std::optional<int> rank_constant(SyntaxNode node);
  /// Whether the expression names an array, a part of one, or a struct with arrays.
  bool is_array_expression(SyntaxNode node);
  /// The alias that s.a stands for if `a` is an array field of a struct s with arrays; otherwise null.
  ir::VarId* array_field(SyntaxNode node);
  /// An alias for such an expression; kNone after a reported error.
  ir::VarId alias(SyntaxNode node, std::string_view name);
  /// Whether the node is wp.adjoint[...] or a part of it.
  bool is_adjoint(SyntaxNode node) const;
  /// Advances the query that a variable holds, and assigns the face, point or box that it finds to `index`. Returns a
  /// variable that tells whether it found one; kNone after a reported error. `limit` is the greatest distance along a
  /// ray; kNone: none.
  ir::VarId advance_query(SyntaxNode node, ir::VarId query, ir::VarId index, ir::ExprId limit = ir::kNone);
  /// Whether the expression is a query that visits faces, points or boxes, or a variable that holds one.
  bool is_query_iteration(SyntaxNode node) const;
  /// The variable that holds such a query; kNone after a reported error.
  ir::VarId iterated_query(SyntaxNode node);
  /// Whether a statement may change a tile of compound elements; reports an error if not.
  bool can_change(SyntaxNode node, ir::VarId tile);
  /// Declares the empty stack that a call of wp.tile_stack makes; kNone after a reported error.
  ir::VarId new_tile_stack(SyntaxNode call, const std::string& name);
  /// The value and the slot that a call of wp.tile_stack_pop returns; kNone after a reported error.
  std::pair<ir::VarId, ir::VarId> pop(SyntaxNode call);
  /// Parses a Warp call that has an effect on a tile and no value: a store or an addition. False if it is another call.
  bool tile_statement(SyntaxNode call, std::string_view name);
  /// Whether evaluation has side effects on arrays.
  bool has_side_effects(SyntaxNode node) const;
  /// Whether evaluation appends statements: side effects on arrays or draws of random numbers.
  bool needs_statements(SyntaxNode node) const { return has_side_effects(node) || draws(node); }
  /// A call of a random function. The number is stored in a new variable with the name `result`.
  ir::ExprId random(SyntaxNode node, std::string_view name, const std::string& result);

 private:
  // operators
  ir::ExprId name(SyntaxNode node);  ///< value of an identifier
  ir::ExprId if_assigned(SyntaxNode node, ir::ExprId value);
  ir::ExprId constant(SyntaxNode node, const Constant& constant);  ///< literal or named constant
  ir::ExprId unary(SyntaxNode node);
  ir::ExprId builtin_binary(SyntaxNode node, std::string_view symbol, ir::ExprId left, ir::ExprId right);
  std::optional<ir::ExprId> call_operator_function(SyntaxNode node, std::string_view symbol, ir::ExprId left,
                                                   ir::ExprId right);
  ir::ExprId call_operator(SyntaxNode node, SourceFunction* function, std::vector<CallArgument> arguments);
  /// A chain of & and ^ without parentheses.
  ir::ExprId and_and_xor(SyntaxNode node);
  void collect_and_and_xor(SyntaxNode node, std::vector<ir::ExprId>& operands, std::vector<std::string_view>& symbols);
  ir::ExprId boolean(SyntaxNode node);
  bool is_reference(SyntaxNode node, ir::ExprId value) const;
  ir::ExprId comparison(SyntaxNode node);
  ir::ExprId compare(SyntaxNode node, std::string_view symbol, ir::ExprId left, ir::ExprId right);
  ir::ExprId boolean_statement(SyntaxNode node, ir::ExprId left);
  ir::ExprId equal_parts(SyntaxNode node, ir::Op op, ir::ExprId left, ir::ExprId right);
  ir::ExprId conditional(SyntaxNode node);
  ir::ExprId conditional_statement(SyntaxNode node, ir::ExprId test);
  ir::ExprId lazy_value(SyntaxNode node);
  ir::ExprId truth(SyntaxNode node, ir::ExprId value);  ///< the value as a condition
  ir::ExprId presence(SyntaxNode node);                 ///< whether an array has elements
  // places
  AssignmentTarget name_target(SyntaxNode node);
  AssignmentTarget subscript_target(SyntaxNode node);
  AssignmentTarget attribute_target(SyntaxNode node);
  AssignmentTarget adjoint_target(SyntaxNode node);
  AssignmentTarget shape_element(SyntaxNode node, const AssignmentTarget& measured);
  AssignmentTarget object_target(SyntaxNode node);
  ir::ExprId index_value(SyntaxNode index);
  ir::ExprId component_index(SyntaxNode index, ir::Type type);
  ir::ExprId index_below(SyntaxNode index, ir::Type type, int parts, std::string_view what);
  void add_index(SyntaxNode node, AssignmentTarget& place, SyntaxNode index, std::size_t& passed);
  // parts of arrays and vectors (view_parser.cpp)
  ir::ExprId as_i32(SyntaxNode node, ir::ExprId value);
  bool index_dimension(AssignmentTarget& place, SyntaxNode index, std::size_t& passed);
  ir::ExprId position_in(SyntaxNode node, const SliceDimension& range, ir::ExprId position);
  bool cut(AssignmentTarget& place, SliceDimension& dimension, SyntaxNode slice, int number);
  // slices of vectors and matrices (slice_parser.cpp)
  AssignmentTarget slice_of(SyntaxNode node, AssignmentTarget whole, std::span<const SyntaxNode> indices);
  std::vector<ir::ExprId> selected(SyntaxNode index, ir::Type type, int parts, std::string_view what);
  std::vector<ir::ExprId> range(SyntaxNode slice, int parts);
  /// A struct with arrays, or part of an array of such structs.
  struct StructPart {
    const ArrayStruct* array_struct = nullptr;  ///< the struct or the array of structs; null: there is none
    int fixed_dimensions = 0;                   ///< number of dimensions of the array that are indexed
  };
  StructPart struct_part(SyntaxNode node);
  ir::VarId field_of(const ArrayStruct& array_struct, SyntaxNode name) const;
  bool index_missing_array(AssignmentTarget& place, SyntaxNode index);
  int array_rank_of(SyntaxNode node);
  ir::VarId name_of(SyntaxNode node);
  // calls
  ir::ExprId call(SyntaxNode node);
  ir::ExprId convert(SyntaxNode node, ir::Type type);
  ir::ExprId reinterpret(SyntaxNode node);
  /// Converts a known number. Reports a named constant that Warp would give a second type.
  ir::ExprId convert_constant(SyntaxNode node, const Constant& number, ir::Type type);
  ir::ExprId named_constant(SyntaxNode node, std::string_view name, const Constant& number);
  ir::ExprId type_call(SyntaxNode node, ir::Type type);
  ir::ExprId length_of(SyntaxNode node);
  ir::ExprId thread_index(SyntaxNode node);
  ir::ExprId hidden_parameter(SyntaxNode call, HiddenParameter parameter);
  // meshes (mesh_parser.cpp)
  static bool is_mesh_function(std::string_view name);
  ir::ExprId mesh_call(SyntaxNode node, std::string_view name);
  // queries of meshes (mesh_query_parser.cpp)
  ir::ExprId mesh_query(SyntaxNode node, const MeshQuery& query);
  ir::ExprId assign_outputs(SyntaxNode call, const MeshQuery& query, ir::ExprId result,
                            std::span<const SyntaxNode> outputs, std::size_t loads_before);
  bool can_change_variables(SyntaxNode call, std::size_t loads_before, ir::VarId variable);
  ir::VarId changed_variable(SyntaxNode node, ir::Type type);
  void note_whole_condition(SyntaxNode node);
  ir::VarId mesh_alias(SyntaxNode call);  ///< alias of the arrays that wp.mesh_get returns
  // hash grids and hierarchies of boxes, and what they share with meshes (spatial_parser.cpp)
  static bool is_spatial_function(std::string_view name);
  ir::ExprId spatial_call(SyntaxNode node, std::string_view name);
  bool restricts(SyntaxNode node, const SpatialQuery& query) const;
  ir::ExprId spatial_query(SyntaxNode node, const SpatialQuery& query);
  ir::ExprId continue_query(SyntaxNode call, SpatialKind kind);
  /// How the query that a variable holds continues; nullopt if the variable holds none.
  std::optional<QueryStep> step_of(ir::VarId query) const;
  /// The value of an identifier of a mesh, hash grid or hierarchy of boxes; kNone after a reported error.
  ir::ExprId spatial_id(SyntaxNode node, SpatialKind kind);
  void note_id_range(ir::ExprId id, HiddenParameter array);
  /// Appends arrays of all structures to the arguments. Returns false after a reported error.
  bool pass_spatial_arrays(SyntaxNode call, const std::vector<HiddenParameter>& arrays,
                           std::vector<ir::ExprId>& arguments);
  /// The arguments of a function of a structure: the arrays, the identifier and the operands, whose types are not
  /// checked. Empty after a reported error.
  std::vector<ir::ExprId> spatial_arguments(SyntaxNode call, SpatialKind kind,
                                            const std::vector<HiddenParameter>& arrays,
                                            std::span<const SyntaxNode> given);
  /// Whether the last arguments, which were given after an identifier, have these types. Reports an error if not.
  bool have_types(std::span<const SyntaxNode> given, const std::vector<ir::ExprId>& arguments,
                  const std::vector<ir::Type>& operands);
  ir::ExprId single_result(SyntaxNode node, const ResolvedCall& resolved);
  ir::ExprId call_file_function(SyntaxNode node);
  bool pass_references(SyntaxNode call, const SourceFunction& callee, ResolvedCall& resolved);
  AssignmentTarget fixed(SyntaxNode node, AssignmentTarget target);
  bool is_callable(SyntaxNode call, const SourceFunction* callee);
  /// Returns the arguments in the order of the callee's parameters; nullopt if they do not match.
  static std::optional<std::vector<CallArgument>> match_arguments(
      const SourceFunction& callee, const std::vector<CallArgument>& positional,
      const std::map<std::string_view, CallArgument>& by_name);
  /// Returns the overload that accepts the arguments; null if there is none.
  SourceFunction* resolve_overload(SyntaxNode call, const std::vector<SourceFunction*>& candidates,
                                   std::vector<CallArgument>& values);
  bool takes(const SourceFunction& callee, const std::vector<CallArgument>& arguments, std::size_t& misfit) const;
  SourceFunction* specialize(SyntaxNode call, SourceFunction* callee, const std::vector<CallArgument>& arguments);
  std::vector<CallArgument> positional_arguments(const CallArguments& arguments);
  bool read_arguments(SyntaxNode call, const SourceFunction& callee, std::vector<CallArgument>& values);
  std::string_view called_name(SyntaxNode call) const;
  std::optional<ArgumentSpec> function_argument(SyntaxNode node);
  std::optional<ir::Type> array_struct_without_arguments(SyntaxNode node) const;
  CallArgument argument(SyntaxNode node);
  CallArgument array_argument(SyntaxNode node, const AssignmentTarget& place);
  ir::ExprId warp_call(SyntaxNode node, std::string_view name);
  /// Puts the arguments into the order of the first of the parameter lists that they match. Returns false if they match
  /// none or are starred.
  static bool match_named_arguments(SyntaxNode call, const std::vector<std::string_view>& lists,
                                    std::vector<SyntaxNode>& given);
  ir::ExprId approximate_quotient(SyntaxNode node);
  // searches (search_parser.cpp)
  ir::ExprId search(SyntaxNode node);
  /// The place of a one-dimensional array or row of numbers. Failed after a reported error.
  AssignmentTarget searched(SyntaxNode node);
  /// Searches the elements bounds[0] to bounds[1] - 1 or, without bounds, all elements.
  ir::ExprId search_position(SyntaxNode node, const AssignmentTarget& array, std::vector<ir::ExprId> bounds,
                             ir::ExprId value);
  // construct_parser.cpp
  /// Whether wp.<name> constructs a vector or matrix whose size depends on its arguments.
  static bool is_maker(std::string_view name);
  ir::ExprId make(SyntaxNode node, std::string_view name);
  ir::ExprId sized(SyntaxNode node, std::string_view name, const CallArguments& arguments);
  ir::ExprId identity(SyntaxNode node, const CallArguments& arguments);
  ir::ExprId identity_of(ir::Type type);
  ir::ExprId general(SyntaxNode node, std::string_view name, const CallArguments& arguments);
  ir::ExprId from_vectors(SyntaxNode node, std::string_view name, const CallArguments& arguments);
  ir::ExprId construct(SyntaxNode node, ir::Type type, std::span<const SyntaxNode> arguments);
  ir::ExprId construct_struct(SyntaxNode node, ir::Type type);
  bool takes(ir::Type type, const std::vector<ir::ExprId>& values, bool is_spatial) const;
  /// What a starred matrix gives: its rows, as arguments of functions, or its components, as those of constructors.
  enum class Spread : std::uint8_t { kParts, kComponents };
  bool spread(SyntaxNode starred, std::vector<ir::ExprId>& values, Spread kind);
  ir::ExprId of_same_size(SyntaxNode node, SyntaxNode argument, bool is_vector, SyntaxNode dtype);
  ir::ExprId convert_components(SyntaxNode node, ir::ExprId whole, ir::Type type);
  ir::ExprId component(SyntaxNode node, ir::Type type);
  // textures (texture_parser.cpp)
  ir::ExprId texture_sample(SyntaxNode node);
  ir::ExprId texture_extent(SyntaxNode node, std::string_view attribute);
  // volumes (volume_parser.cpp)
  static bool is_volume_function(std::string_view name);
  ir::ExprId volume_call(SyntaxNode node, std::string_view name);
  ir::ExprId volume_mapping(SyntaxNode node, std::string_view name, std::span<const SyntaxNode> given);
  ir::ExprId volume_store(SyntaxNode node, std::span<const SyntaxNode> given, std::optional<ir::Type> type);
  std::vector<ir::ExprId> volume_arguments(SyntaxNode call, const std::vector<HiddenParameter>& arrays, SyntaxNode id);
  bool choose_mode(SyntaxNode argument, volumes::Sampling& sampling);
  bool volume_data(SyntaxNode data, SyntaxNode background, std::vector<ir::ExprId>& arguments);
  bool append_values(std::span<const SyntaxNode> given, std::span<const ir::Type> types,
                     std::vector<ir::ExprId>& arguments);
  // tiles (tile_parser.cpp)
  ir::ExprId tile_call(SyntaxNode node, std::string_view name);
  ir::Type tile_shape(SyntaxNode call, SyntaxNode shape, ir::Type element);
  std::optional<TileExtents> tile_extents(SyntaxNode call, SyntaxNode shape);
  std::vector<ir::ExprId> tile_offset(SyntaxNode call, SyntaxNode offset, int rank);
  AssignmentTarget tile_array(SyntaxNode node, ir::Type tile);
  bool fits(SyntaxNode node, const AssignmentTarget& array, ir::Type tile);
  ir::ExprId tile_value(SyntaxNode call, SyntaxNode node);
  ir::ExprId any_tile(SyntaxNode call, SyntaxNode node);
  bool is_any_tile(ir::ExprId value) const;
  ir::ExprId tile_load(SyntaxNode node);
  ir::ExprId tile_load_indexed(SyntaxNode node);
  std::vector<ir::ExprId> tile_indices(SyntaxNode call, SyntaxNode indices, SyntaxNode offset, SyntaxNode axis,
                                       ir::Type tile);
  ir::ExprId tile_filled(SyntaxNode node, std::string_view name);
  ir::ExprId compound_filled(SyntaxNode node, std::string_view name, ir::Type type, const TileExtents& extents);
  ir::ExprId tile_from_thread(SyntaxNode node);
  ir::ExprId tile_sum(SyntaxNode node, SyntaxNode tile, SyntaxNode axis);
  ir::ExprId tile_reduce(SyntaxNode node);
  ir::ExprId extremes_along(SyntaxNode node, ir::ExprId tile, ir::Op op, SyntaxNode axis);
  ir::ExprId tile_map(SyntaxNode node);
  ir::ExprId tile_extract(SyntaxNode node);
  ir::ExprId tile_arange(SyntaxNode node);
  ir::ExprId tile_scan(SyntaxNode node, ir::Op op, ir::ExprId tile);
  ir::ExprId tile_squeeze(SyntaxNode node);
  ir::ExprId tile_view(SyntaxNode node);
  ir::ExprId tile_slice(SyntaxNode node, ir::VarId tile, std::span<const SyntaxNode> indices);
  // tiles of vectors, matrices and structs, and of more dimensions (compound_tiles.cpp)
  void change_element(SyntaxNode call, bool adds);
  bool can_loop(SyntaxNode node);
  ir::ExprId map_elements(SyntaxNode node, const std::vector<ir::ExprId>& values,
                          const std::function<ir::ExprId(const std::vector<ir::ExprId>&)>& apply);
  ir::ExprId fill_elements(SyntaxNode node, const TileExtents& extents, ir::ExprId element);
  std::vector<ir::VarId> saved_offset(SyntaxNode call, const std::vector<ir::ExprId>& offset);
  ir::ExprId load_elements(SyntaxNode node, const AssignmentTarget& array, const TileExtents& extents,
                           const std::vector<ir::ExprId>& offset);
  void store_elements(SyntaxNode call, const AssignmentTarget& array, ir::ExprId tile,
                      const std::vector<ir::ExprId>& offset, bool adds);
  bool can_add(SyntaxNode node, ir::Type element);
  ir::ExprId sum_elements(SyntaxNode node, ir::ExprId tile);
  ir::ExprId extreme_element(SyntaxNode node, ir::ExprId tile, ir::Op op);
  void share(ir::VarId source, ir::VarId view);
  ir::ExprId transpose_elements(SyntaxNode node, ir::ExprId tile);
  ir::ExprId sum_along(SyntaxNode axis, ir::ExprId tile, std::int64_t along);
  ir::ExprId reshape_elements(SyntaxNode node, ir::ExprId tile, const TileExtents& extents);
  void tile_fourier(SyntaxNode call, bool is_inverse);
  bool index_compound_tile(AssignmentTarget& place, SyntaxNode index, const TileExtents& extents);
  ir::ExprId extract_element(SyntaxNode node, ir::ExprId tile, const std::vector<ir::ExprId>& indices);
  // tiles that are changed in place (tile_changes.cpp)
  std::vector<ir::ExprId> part_offset(SyntaxNode call, SyntaxNode offset, ir::Type tile, ir::Type part);
  ir::ExprId tile_index(SyntaxNode node, int extent);
  ir::VarId changed_tile(SyntaxNode call, SyntaxNode node);
  ir::ExprId scaled_tile(SyntaxNode call, SyntaxNode factor, ir::ExprId tile);
  ir::ExprId tile_product(SyntaxNode call, ir::Type element, SyntaxNode alpha);
  void tile_accumulate(SyntaxNode call);
  void tile_axpy(SyntaxNode call);
  void tile_assign(SyntaxNode call);
  // values that differ between the threads of a block (thread_values.cpp)
  ir::ExprId thread_value_call(SyntaxNode node, std::string_view name);
  ir::ExprId tile_of_threads(SyntaxNode node);
  ir::ExprId value_of_thread(SyntaxNode node);
  ir::ExprId value_of_element(SyntaxNode node, ir::Type element);
  void scatter(SyntaxNode call, bool adds);
  const FunctionContext::TileStack* tile_stack(SyntaxNode call, SyntaxNode node);
  ir::ExprId push(SyntaxNode call);
  bool thread_value_statement(SyntaxNode call, std::string_view name);
  ir::VarId tiled_query(SyntaxNode call);
  ir::ExprId query_is_valid(SyntaxNode call);
  ir::ExprId next_of_tiled_query(SyntaxNode call);
  // linear solvers for tiles (tile_solvers.cpp)
  /// Whether it is the name of such a solver: "tile_cholesky", "tile_lower_solve_inplace".
  static bool is_tile_solver(std::string_view name);
  ir::ExprId square_tile(SyntaxNode call, SyntaxNode node);
  std::optional<bool> fills_upper(SyntaxNode call, SyntaxNode mode);
  ir::ExprId tile_solver(SyntaxNode call, std::string_view name);
  void tile_solver_in_place(SyntaxNode call, std::string_view name);
  // random numbers (random_parser.cpp)
  bool draws(SyntaxNode node) const;
  ir::ExprId generator_state(SyntaxNode node, std::span<const SyntaxNode> given);
  ir::VarId state_variable(SyntaxNode node);
  ir::ExprId drawn(SyntaxNode node, std::string_view name, ir::VarId state, const std::vector<ir::ExprId>& bounds,
                   const std::string& result);
  ir::ExprId sample_of_distribution(SyntaxNode node, std::span<const SyntaxNode> given);
  /// False, with a reported error, if the effect of `node` would precede an evaluation that comes first in the source.
  bool can_evaluate_effect(SyntaxNode node, std::size_t loads_before, ir::VarId array);

  FunctionContext& context_;  ///< state of the function that is parsed
};

}  // namespace assay::frontend
