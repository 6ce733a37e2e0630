// The part of WarpExpressionParser that parses values which differ between the threads of a block: wp.tile, wp.untile,
// scattered values, stacks, and queries by the threads of a block together.
//
// A kernel with such values is judged with one thread per block, which is how Warp runs it on the CPU. A tile of the
// values of the threads then has one value, a stack gets and returns one value at a time, and a query returns one
// result at a time. A function cannot have tiles of the language, so it has a local array instead.
#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "frontend/warp/parse/tile_arguments.hpp"
#include "frontend/warp/parse/warp_names.hpp"
#include "ir/analysis.hpp"
#include "ir/limits.hpp"
#include "ir/verifier.hpp"

namespace assay::frontend {

using ir::ExprId;
using ir::kNone;
using ir::Op;
using ir::Type;
using ir::VarId;

namespace {

/// Value of the field `next` of a query by the threads of a block that has returned nothing.
constexpr std::int32_t kEnded = std::numeric_limits<std::int32_t>::max();

bool is_tiled_next(std::string_view name) { return untiled_query(name).ends_with("_next"); }

}  // namespace

// ---- tiles of the values of the threads

ExprId WarpExpressionParser::thread_value_call(SyntaxNode node, std::string_view name) {
  if (name == "tile") return tile_of_threads(node);
  if (name == "untile") return value_of_thread(node);
  if (name == "tile_query_valid") return query_is_valid(node);
  if (name == "tile_stack_push") return push(node);
  if (name == "tile_stack_count") {
    const FunctionContext::TileStack* const stack = tile_stack(node, TileArguments(node)(0, "s"));
    return stack == nullptr ? kNone : context_.builder.var(stack->count);
  }
  if (name == "tile_stack") return context_.error(node, "a stack must be assigned to a new variable");
  if (name == "tile_stack_pop") return context_.error(node, "unpack the results, as in value, slot = ...");
  const std::string query = untiled_query(name);
  if (query.empty()) return context_.error(node, "function returns no value");
  if (!is_tiled_next(name)) {
    return is_mesh_function(query) ? mesh_call(node, query) : spatial_call(node, query);
  }
  return next_of_tiled_query(node);
}

/// wp.tile(x): the last dimension of the tile is that of the threads.
ExprId WarpExpressionParser::tile_of_threads(SyntaxNode node) {
  const TileArguments given(node);
  if (const std::string_view unknown = given.unknown({"x", "preserve_type"}); !unknown.empty())
    return context_.error(node, fmt::format("argument '{}' is not supported", unknown));
  const ExprId number = given(0, "x") ? value(given(0, "x")) : context_.error(node, "argument 'x' is missing");
  if (number == kNone) return kNone;
  const auto keeps =
      given(1, "preserve_type") ? context_.constant(given(1, "preserve_type")) : Constant::boolean(false);
  if (!keeps || !keeps->type.is_bool()) return context_.error(node, "'preserve_type' must be a constant bool");
  const Type type = context_.type_of(number);
  ir::Builder& b = context_.builder;
  b.at(node.loc());
  if (type.is_scalar() && !type.is_bool() && context_.entry.is_kernel)
    return context_.operation(node, Op::kSplat, {number}, ir::tile_type(type.scalar, 1));
  if (!type.is_value() || context_.compound_tile(number))
    return context_.error(
        node, fmt::format("expected a number, vector, matrix, quaternion or struct, got {}", context_.type_name(type)));
  const bool has_parts = type.is_vector() || type.is_matrix() || type.is_quaternion();
  if (keeps->number().integer != 0 || !has_parts) return fill_elements(node, {1}, number);
  if (!can_loop(node)) return kNone;
  const VarId whole = b.let("whole", number);
  const auto part = [&](int row) { return b.op(Op::kExtract, {b.var(whole), b.i32(row)}); };
  if (!context_.entry.is_kernel) return context_.error(node, "in functions, 'preserve_type' must be True");
  if (type.is_matrix()) {
    const int columns = type.cols;
    const VarId tile = context_.new_compound_tile(
        "tile", type.component(),
        {static_cast<std::uint16_t>(type.parts()), static_cast<std::uint16_t>(columns), std::uint16_t{1}});
    for (int row = 0; row < type.parts(); ++row) {
      for (int column = 0; column < columns; ++column)
        b.store(tile, {b.i32(row * columns + column)}, b.op(Op::kExtract, {part(row), b.i32(column)}));
    }
    return b.var(tile);
  }
  const int count = type.components();
  const VarId tile = b.let("tile", b.zero(ir::tile_type(type.scalar, count, 1)));
  for (int k = 0; k < count; ++k)
    b.assign(tile, b.op(Op::kTileInsert, {b.var(tile), b.i32(k), b.i32(0), part(k)}));
  return b.var(tile);
}

/// wp.untile(t): the value of the only thread.
ExprId WarpExpressionParser::value_of_thread(SyntaxNode node) {
  const TileArguments given(node);
  const ExprId tile = any_tile(node, given(0, "a"));
  if (tile == kNone) return kNone;
  ir::Builder& b = context_.builder;
  b.at(node.loc());
  const auto compound = context_.compound_tile(tile);
  const Type type = context_.type_of(tile);
  const TileExtents extents = compound                ? *compound
                              : type.tile_rank() == 1 ? TileExtents{type.tile[0]}
                                                      : TileExtents{type.tile[0], type.tile[1]};
  if (extents.back() != 1)
    return context_.error(node, fmt::format("the last extent of the tile is {}, but must be the number of threads in a "
                                            "block; such kernels are judged with one thread per block, as Warp runs "
                                            "them on the CPU",
                                            extents.back()));
  // The IR has no wp.untile: Warp gets wp.tile_extract instead.
  const auto mark_replaced = [&](VarId variable) {
    context_.function.variables[static_cast<std::size_t>(variable)].replaces_tile = true;
  };
  if (!compound && extents.size() == 1 && !context_.may_hoist) {
    if (const ir::Expr& operand = context_.function.expr(tile); operand.kind == ir::ExprKind::kVariable)
      mark_replaced(operand.variable);
    return b.op(Op::kTileExtract, {tile, b.i32(0)});
  }
  if (!can_loop(node)) return kNone;
  const VarId held = compound ? context_.function.expr(tile).variable : b.let("tile", tile);
  mark_replaced(held);
  const auto element = [&](const std::vector<int>& indices, int position) {
    if (compound) return b.load(held, {b.i32(position)});
    std::vector<ExprId> operands{b.var(held)};
    for (const int index : indices)
      operands.push_back(b.i32(index));
    return b.op(Op::kTileExtract, std::move(operands));
  };
  ExprId result = kNone;
  if (extents.size() == 1) {
    result = element({0}, 0);
  } else {
    const Type part = compound ? type.element() : type.component();
    const int rows = extents[0];
    const int columns = extents.size() == 3 ? extents[1] : 1;
    const Type made =
        extents.size() == 3 ? ir::matrix_type(part.scalar, rows, columns) : ir::vector_type(part.scalar, rows);
    if (!part.is_scalar() || extents.size() > 3 || rows * columns > ir::kMaxMatrixSide)
      return context_.error(node, "the values of a thread must be a number, or the elements of a vector or matrix");
    std::vector<ExprId> parts;
    for (int k = 0; k < rows * columns; ++k)
      parts.push_back(element({k, 0}, k));
    result = b.make(made, std::move(parts));
  }
  const VarId value = b.let("value", result);
  context_.thread_variables.insert(value);
  return b.var(value);
}

/// A value for an element of the type: a literal takes it, unless it is a float and the element is an integer.
ExprId WarpExpressionParser::value_of_element(SyntaxNode node, Type element) {
  const auto number = known_number(node);
  const bool loses_digits = number && number->type.is_float_scalar() && !element.is_float_scalar();
  return element.is_scalar() && !loses_digits ? component(node, element) : value(node);
}

// ---- scattered values

/// wp.tile_scatter_add(a, i, ..., value, has_value, atomic) and wp.tile_scatter_masked(a, i, ..., value, has_value).
void WarpExpressionParser::scatter(SyntaxNode call, bool adds) {
  static const std::vector<std::string_view> kAdds = {"a i value has_value atomic", "a i j value has_value atomic",
                                                      "a i j k value has_value atomic",
                                                      "a i j k l value has_value atomic"};
  static const std::vector<std::string_view> kStores = {"a i value has_value", "a i j value has_value",
                                                        "a i j k value has_value", "a i j k l value has_value"};
  std::vector<SyntaxNode> given;
  if (!match_named_arguments(call, adds ? kAdds : kStores, given) || given.empty()) {
    context_.error(call, "expected a tile, its indices, a value and whether the thread has one");
    return;
  }
  if (!can_loop(call)) return;
  const ExprId tile = any_tile(call, given[0]);
  if (tile == kNone) return;
  const auto compound = context_.compound_tile(tile);
  const std::size_t rank = compound ? compound->size() : static_cast<std::size_t>(context_.type_of(tile).tile_rank());
  if (adds && given.size() == rank + 4) {
    const auto is_atomic = context_.constant(given.back());
    if (!is_atomic || !is_atomic->type.is_bool()) {
      context_.error(given.back(), "argument 'atomic' must be a constant bool");
      return;
    }
    given.pop_back();
  }
  if (given.size() != rank + 3) {
    context_.error(call, fmt::format("expected {} {}, a value and whether the thread has one", rank,
                                     rank == 1 ? "index" : "indices"));
    return;
  }
  std::vector<ExprId> indices;
  for (std::size_t d = 0; d < rank; ++d) {
    indices.push_back(tile_index(given[1 + d], compound ? (*compound)[d] : context_.type_of(tile).tile[d]));
    if (indices.back() == kNone) return;
  }
  const Type element = compound ? context_.type_of(tile).element() : context_.type_of(tile).component();
  const ExprId added = value_of_element(given[rank + 1], element);
  const ExprId has_value = added == kNone ? kNone : condition(given[rank + 2]);
  if (has_value == kNone) return;
  if (context_.type_of(added) != element || (adds && !can_add(call, element))) {
    if (context_.type_of(added) != element)
      context_.error(given[rank + 1], fmt::format("expected {}, got {}", context_.type_name(element),
                                                  context_.type_name(context_.type_of(added))));
    return;
  }
  ir::Builder& b = context_.builder;
  const ir::Expr& test = context_.function.expr(has_value);
  const bool is_certain = test.kind == ir::ExprKind::kLiteral && test.bits != 0;
  const auto if_has_value = [&](ExprId condition, const std::function<void()>& change) {
    if (is_certain) change();
    else b.if_(condition, change);
  };
  if (compound) {
    const VarId changed = context_.function.expr(tile).variable;
    if (!context_.named_compound_tiles.contains(changed)) {
      context_.error(given[0], "the changed tile must be a variable");
      return;
    }
    if (!can_change(call, changed)) return;
    b.at(call.loc());
    ExprId position = indices[0];
    for (std::size_t d = 1; d < rank; ++d)
      position = b.op(Op::kAdd, {b.op(Op::kMul, {position, b.i32((*compound)[d])}), indices[d]});
    const VarId at = b.let("position", b.cast(ir::scalar_type(ir::Scalar::kU32), position));
    const VarId given_value = b.let("scattered", added);
    if_has_value(has_value, [&] {
      const ExprId before = adds ? b.load(changed, {b.var(at)}) : kNone;
      b.store(changed, {b.var(at)}, adds ? b.op(Op::kAdd, {before, b.var(given_value)}) : b.var(given_value));
    });
    return;
  }
  const VarId changed = changed_tile(call, given[0]);
  if (changed == kNone) return;
  b.at(call.loc());
  // What is not a variable or a number is computed once, whether the thread has a value or not.
  const auto save = [&](const char* name, ExprId operand) {
    const ir::ExprKind kind = context_.function.expr(operand).kind;
    const bool is_simple = kind == ir::ExprKind::kVariable || kind == ir::ExprKind::kLiteral;
    return is_simple ? operand : b.var(b.let(name, operand));
  };
  std::vector<ExprId> saved;
  for (const ExprId index : indices)
    saved.push_back(save("index", index));
  const ExprId given_value = save("scattered", added);
  const auto operands = [&] {
    std::vector<ExprId> all{b.var(changed)};
    for (const ExprId index : saved)
      all.push_back(context_.copy(index));
    return all;
  };
  if_has_value(has_value, [&] {
    const ExprId next = adds ? b.op(Op::kAdd, {b.op(Op::kTileExtract, operands()), given_value}) : given_value;
    std::vector<ExprId> inserted = operands();
    inserted.push_back(next);
    b.assign(changed, b.op(Op::kTileInsert, std::move(inserted)));
  });
}

// ---- stacks

const FunctionContext::TileStack* WarpExpressionParser::tile_stack(SyntaxNode call, SyntaxNode node) {
  const VarId variable = node && node.is(SyntaxKind::kIdentifier) ? context_.bindings.find(node.text()) : kNone;
  const auto found = context_.tile_stacks.find(variable);
  if (found != context_.tile_stacks.end()) return &found->second;
  context_.error(call, "expected a variable that holds the result of wp.tile_stack");
  return nullptr;
}

VarId WarpExpressionParser::new_tile_stack(SyntaxNode call, const std::string& name) {
  const TileArguments given(call);
  const auto capacity = given(0, "capacity") ? context_.constant(given(0, "capacity")) : std::nullopt;
  const std::int64_t count = capacity && capacity->type.is_integer_scalar() ? capacity->number().integer : 0;
  if (count < 1 || count > std::int64_t{ir::kMaxLocalArraySize})
    return context_.error(
        call, fmt::format("the capacity of a stack must be a constant from 1 to {}", ir::kMaxLocalArraySize));
  const auto element = given(1, "dtype") ? type_of_node(given(1, "dtype")) : Result<Type>(Error{"no dtype"});
  if (!element.ok() || !element->is_value()) return context_.error(call, "dtype of a stack must be a Warp type");
  ir::Builder& b = context_.builder;
  b.at(call.loc());
  const VarId values = b.let_zero(name, element->local_array_of(static_cast<std::uint32_t>(count)));
  context_.function.variables[static_cast<std::size_t>(values)].replaces_tile = true;
  const VarId used = b.let(name + "_count", b.i32(0));
  context_.tile_stacks[values] = {.values = values, .count = used};
  return values;
}

/// wp.tile_stack_push(s, value, has_value): the slot of the value, or -1.
ExprId WarpExpressionParser::push(SyntaxNode call) {
  std::vector<SyntaxNode> given;
  if (!match_named_arguments(call, {"s value has_value"}, given) || given.size() != 3)
    return context_.error(call, "expected the arguments s value has_value");
  const FunctionContext::TileStack* const stack = can_loop(call) ? tile_stack(call, given[0]) : nullptr;
  if (stack == nullptr) return kNone;
  const Type values = context_.function.var(stack->values).type;
  const Type element = values.element();
  const ExprId pushed = value_of_element(given[1], element);
  const ExprId has_value = pushed == kNone ? kNone : condition(given[2]);
  if (has_value == kNone) return kNone;
  if (context_.type_of(pushed) != element)
    return context_.error(given[1], fmt::format("expected {}, got {}", context_.type_name(element),
                                                context_.type_name(context_.type_of(pushed))));
  ir::Builder& b = context_.builder;
  b.at(call.loc());
  const VarId added = b.let("pushed", pushed);
  const VarId slot = b.let("slot", b.i32(-1));
  context_.thread_variables.insert(slot);
  const ExprId has_room = b.op(Op::kLt, {b.var(stack->count), b.i32(static_cast<int>(values.extent))});
  b.if_(b.op(Op::kAnd, {has_value, has_room}), [&] {
    b.store(stack->values, {b.var(stack->count)}, b.var(added));
    b.assign(slot, b.var(stack->count));
    b.assign(stack->count, b.op(Op::kAdd, {b.var(stack->count), b.i32(1)}));
  });
  return b.var(slot);
}

/// value, slot = wp.tile_stack_pop(s): the last value and its slot, or zero and -1.
std::pair<VarId, VarId> WarpExpressionParser::pop(SyntaxNode call) {
  const TileArguments given(call);
  const FunctionContext::TileStack* const stack = can_loop(call) ? tile_stack(call, given(0, "s")) : nullptr;
  if (stack == nullptr) return {kNone, kNone};
  ir::Builder& b = context_.builder;
  b.at(call.loc());
  const Type element = context_.function.var(stack->values).type.element();
  const VarId popped = element.is_scalar() ? b.let("popped", b.zero(element)) : b.let_zero("popped", element);
  const VarId slot = b.let("slot", b.i32(-1));
  b.if_(b.op(Op::kLt, {b.i32(0), b.var(stack->count)}), [&] {
    b.assign(stack->count, b.op(Op::kSub, {b.var(stack->count), b.i32(1)}));
    b.assign(slot, b.var(stack->count));
    b.assign(popped, b.load(stack->values, {b.var(slot)}));
  });
  context_.thread_variables.insert({popped, slot});
  return {popped, slot};
}

bool WarpExpressionParser::thread_value_statement(SyntaxNode call, std::string_view name) {
  const bool adds = name == "tile_scatter_add";
  if (adds || name == "tile_scatter_masked") {
    if (context_.entry.is_kernel) scatter(call, adds);
    else context_.error(call, "tiles are supported in kernels only");
    return true;
  }
  if (name != "tile_stack_clear") return false;
  if (const FunctionContext::TileStack* const stack = tile_stack(call, TileArguments(call)(0, "s"))) {
    context_.builder.at(call.loc());
    context_.builder.assign(stack->count, context_.builder.i32(0));
  }
  return true;
}

// ---- queries by the threads of a block together

/// The query that the argument of the call names; kNone after a reported error.
VarId WarpExpressionParser::tiled_query(SyntaxNode call) {
  const SyntaxNode given = TileArguments(call)(0, "query");
  const VarId query = given && given.is(SyntaxKind::kIdentifier) ? context_.bindings.find(given.text()) : kNone;
  const auto step = step_of(query);
  if (step && step->kind != SpatialKind::kGrid) return query;
  return context_.error(call,
                        "query must be a variable that holds the result of a function such as "
                        "wp.tile_bvh_query_aabb or wp.tile_mesh_query_aabb");
}

/// wp.tile_query_valid(query): whether the query has not yet returned nothing.
ExprId WarpExpressionParser::query_is_valid(SyntaxNode call) {
  const VarId query = tiled_query(call);
  if (query == kNone) return kNone;
  ir::Builder& b = context_.builder;
  b.at(call.loc());
  return b.op(Op::kNe, {b.field(b.var(query), kNextField), b.i32(kEnded)});
}

/// The tile of the next result, or of -1.
ExprId WarpExpressionParser::next_of_tiled_query(SyntaxNode call) {
  const std::size_t loads_before = context_.loaded_arrays.size();
  const VarId query = tiled_query(call);
  if (query == kNone) return kNone;
  ir::Builder& b = context_.builder;
  b.at(call.loc());
  const VarId index = b.let("result", b.i32(-1));
  const VarId found = advance_query(call, query, index, kNone);
  if (found == kNone || !can_evaluate_effect(call, loads_before, kNone)) return kNone;
  const ExprId next = b.op(Op::kWhere, {b.var(found), b.field(b.var(query), kNextField), b.i32(kEnded)});
  b.assign(query, b.op(Op::kWithField, {b.var(query), next}, ir::kVoid, kNextField));
  return b.op(Op::kSplat, {b.var(index)}, ir::tile_type(ir::Scalar::kI32, 1));
}

// ---- atomics

namespace {

/// Finds the values of a kernel that may differ between the threads of a block: those of the thread indices, those that
/// the parser has noted, and what is computed from them.
class ThreadDependence {
 public:
  explicit ThreadDependence(const FunctionContext& context)
      : context_(context), function_(context.function), variables_(context.thread_variables) {
    for (std::size_t before = variables_.size() + 1; before != variables_.size();) {
      before = variables_.size();
      has_returned_ = false;
      visit(function_.body, false);
    }
  }
  /// Whether threads may execute the atomic or the call with different operands, or only some of them execute it.
  bool is_of_threads(const ir::Stmt& statement) const { return of_threads_.contains(&statement); }

 private:
  bool depends(ExprId id) const {
    if (id == kNone) return false;
    const ir::Expr& expr = function_.expr(id);
    if (expr.kind == ir::ExprKind::kVariable)
      return function_.is_thread_index(expr.variable) || variables_.contains(expr.variable);
    return any_depends(expr.args);
  }
  bool any_depends(std::span<const ExprId> ids) const {
    return std::ranges::any_of(ids, [&](ExprId id) { return depends(id); });
  }
  void note(const ir::Stmt& statement, VarId variable, bool differs) {
    if (differs) of_threads_.insert(&statement);
    note(variable, differs);
  }
  void note(VarId variable, bool differs) {
    if (differs && !is_shared(variable)) variables_.insert(variable);
  }
  /// Whether the threads of a block share the variable: a tile, or a part of a stack.
  bool is_shared(VarId variable) const {
    const auto is_part = [&](const auto& stack) {
      return stack.second.values == variable || stack.second.count == variable;
    };
    return function_.var(variable).type.is_tile() || context_.compound_tiles.contains(variable) ||
           std::ranges::any_of(context_.tile_stacks, is_part);
  }
  void visit(const ir::Block& block, bool is_divergent) {
    for (const ir::Stmt& statement : block.statements)
      visit(statement, is_divergent || has_returned_);
  }
  void visit(const ir::Stmt& statement, bool is_divergent) {
    if (const auto* let = std::get_if<ir::Let>(&statement.node)) {
      note(statement, let->variable, is_divergent || depends(let->value));
    } else if (const auto* assign = std::get_if<ir::Assign>(&statement.node)) {
      note(statement, assign->variable, is_divergent || depends(assign->value));
    } else if (const auto* store = std::get_if<ir::Store>(&statement.node)) {
      const VarId array = function_.expr(store->array).variable;
      const bool is_local = function_.var(array).type.is_local_array();
      if (is_local) note(array, is_divergent || depends(store->value) || any_depends(store->indices));
    } else if (const auto* branch = std::get_if<ir::If>(&statement.node)) {
      const bool differs = is_divergent || depends(branch->condition);
      visit(branch->then_block, differs);
      visit(branch->else_block, differs);
    } else if (const auto* loop = std::get_if<ir::For>(&statement.node)) {
      const bool differs = is_divergent || any_depends(std::array{loop->start, loop->stop, loop->step});
      note(loop->variable, differs);
      visit(loop->body, differs);
    } else if (const auto* repeat = std::get_if<ir::While>(&statement.node)) {
      visit(repeat->body, is_divergent || depends(repeat->condition));
    } else if (const auto* call = std::get_if<ir::Call>(&statement.node)) {
      const bool differs = is_divergent || any_depends(call->args);
      if (differs) of_threads_.insert(&statement);
      for (const VarId result : call->results)
        note(result, differs);
    } else if (const auto* atomic = std::get_if<ir::Atomic>(&statement.node)) {
      if (is_divergent || depends(atomic->value) || any_depends(atomic->indices)) of_threads_.insert(&statement);
      if (atomic->result != kNone) note(atomic->result, true);
    } else if (std::holds_alternative<ir::Return>(statement.node)) {
      has_returned_ = has_returned_ || is_divergent;
    }
  }

  const FunctionContext& context_;
  const ir::Function& function_;
  std::set<VarId> variables_;
  std::set<const ir::Stmt*> of_threads_;
  bool has_returned_ = false;  ///< whether some threads may have returned before the visited statement
};

}  // namespace

void reject_scalar_updates(FunctionContext& context, SyntaxNode definition) {
  if (!ir::uses_tiles(context.function) && context.compound_tiles.empty() && !context.has_thread_values) return;
  const ThreadDependence dependence(context);
  std::vector<ir::ParameterUses> uses;
  for (const ir::Function& function : context.file.module().functions)
    uses.push_back(ir::parameter_use(function, uses));
  const auto updates = [&](std::int32_t function) {
    return std::ranges::any_of(uses[static_cast<std::size_t>(function)], &ir::ParameterUse::is_atomically_updated);
  };
  ir::for_each_statement(context.function.body, [&](const ir::Stmt& statement) {
    const auto called = [&]() -> std::int32_t {
      if (const auto* call = std::get_if<ir::Call>(&statement.node)) return call->function;
      const auto* let = std::get_if<ir::Let>(&statement.node);
      const auto* assign = std::get_if<ir::Assign>(&statement.node);
      const ExprId value = let != nullptr ? let->value : assign != nullptr ? assign->value : kNone;
      const bool is_call = value != kNone && context.function.expr(value).kind == ir::ExprKind::kCall;
      return is_call ? context.function.expr(value).index : kNone;
    }();
    const auto* atomic = std::get_if<ir::Atomic>(&statement.node);
    const bool is_call = called != kNone && updates(called);
    if (!is_call && (atomic == nullptr || context.function.expr(atomic->value).type.is_tile())) return;
    if (atomic != nullptr && context.block_updates.contains(atomic->value)) return;
    if (context.has_thread_values && dependence.is_of_threads(statement)) return;
    context.error(definition, fmt::format("line {}: every thread of the block would execute {} on a GPU, but only one "
                                          "on the CPU; use wp.tile_atomic_add",
                                          statement.loc.line, is_call ? "the atomics of this call" : "this atomic"));
  });
}

}  // namespace assay::frontend
