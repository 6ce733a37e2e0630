#include "ir/transforms/ssa.hpp"

#include <algorithm>
#include <bit>
#include <deque>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "ir/custom.hpp"
#include "ir/element_part.hpp"
#include "ir/transforms/refusal.hpp"
#include "ir/transforms/structure.hpp"

namespace assay::transforms {
namespace {

using namespace ir;

bool operator==(const Operand& a, const Operand& b) {
  return a.value == b.value && a.type == b.type && a.bits == b.bits;
}

/// Limit of inlining: a short chain of functions that each call the previous one twice grows exponentially.
constexpr std::size_t kMostNodes = std::size_t{1} << 16;

/// Enough for the nodes of most regions.
constexpr std::size_t kFirstNodes = 8;

/// A function being converted: the current value of each of its variables.
struct Frame {
  const Function* function = nullptr;
  std::vector<Operand> environment;  ///< by variable; type void while the variable is not declared
  std::vector<VarId> arrays;         ///< by variable: the kernel parameter to which an array parameter is bound
};

void collect_assigned(const Block& block, std::vector<VarId>& assigned) {
  for (const Stmt& statement : block.statements) {
    if (const auto* assign = std::get_if<Assign>(&statement.node)) {
      assigned.push_back(assign->variable);
    } else if (const auto* branch = std::get_if<If>(&statement.node)) {
      collect_assigned(branch->then_block, assigned);
      collect_assigned(branch->else_block, assigned);
    } else if (const auto* range = std::get_if<For>(&statement.node)) {
      collect_assigned(range->body, assigned);
    } else if (const auto* loop = std::get_if<While>(&statement.node)) {
      collect_assigned(loop->body, assigned);
    }
  }
}

class Converter {
 public:
  Converter(const Module& module, const Function& kernel, const FunctionAdjoints& adjoints)
      : module_(module), kernel_(kernel), adjoints_(adjoints) {
    if (!adjoints.empty()) uses_ = parameter_use(module, kernel);
  }

  Result<SsaKernel> run() {
    const JumpFreeFunction& body = structured_.emplace_back(structure(module_, kernel_));
    result_.values.reserve(2 * kernel_.expressions.size());
    Frame frame = new_frame(body.function);
    const int given = kernel_.parameter_count + kernel_.launch_rank;
    for (VarId v = 0; v < given; ++v) {
      const Variable& variable = kernel_.var(v);
      const ValueId value = add_value(variable.name, variable.type, variable.loc);
      frame.environment[static_cast<std::size_t>(v)] = operand(value);
      if (variable.type.is_array()) frame.arrays[static_cast<std::size_t>(v)] = v;
    }
    frame_ = &frame;
    region_ = &result_.body;
    block(body.function.body);
    if (error_) return *error_;
    for (const VarId variable : body.results)
      result_.results.push_back(binding(variable));
    return std::move(result_);
  }

 private:
  // ---- values
  ValueId add_value(std::string name, Type type, Loc loc) {
    result_.values.push_back({.name = std::move(name), .type = type, .loc = loc});
    return static_cast<ValueId>(result_.values.size()) - 1;
  }
  Operand operand(ValueId value) const {
    return {.value = value, .type = result_.values[static_cast<std::size_t>(value)].type};
  }
  static Operand constant(Type type, std::uint64_t bits) { return {.type = type, .bits = bits}; }
  Operand& binding(VarId variable) { return frame_->environment[static_cast<std::size_t>(variable)]; }

  template <class N>
  void append(N node) {
    if (++nodes_ > kMostNodes) fail(AdjointRejection::kKernelTooLarge, kernel_.name);
    if (region_->nodes.empty()) region_->nodes.reserve(kFirstNodes);
    region_->nodes.push_back(SsaNode{.node = std::move(node), .loc = loc_});
  }
  void fail(AdjointRejection rejection, const std::string& subject) {
    if (!error_) error_ = reject(rejection, module_, loc_, subject);
  }

  static Frame new_frame(const Function& function) {
    return {.function = &function,
            .environment = std::vector<Operand>(function.variables.size()),
            .arrays = std::vector<VarId>(function.variables.size(), kNone)};
  }

  template <class Body>
  auto in_region(Region& region, Body body) {
    Region* outer = std::exchange(region_, &region);
    if constexpr (std::is_void_v<decltype(body())>) {
      body();
      region_ = outer;
    } else {
      auto value = body();
      region_ = outer;
      return value;
    }
  }

  // ---- expressions
  std::vector<Operand> operands(std::span<const ExprId> ids) {
    std::vector<Operand> result;
    result.reserve(ids.size());
    for (const ExprId id : ids)
      result.push_back(evaluate(id));
    return result;
  }

  Operand evaluate(ExprId id, const std::string& name = {}) {
    const Expr& expr = frame_->function->expr(id);
    switch (expr.kind) {
      case ExprKind::kLiteral: return constant(expr.type, expr.bits);
      case ExprKind::kVariable: return binding(expr.variable);
      case ExprKind::kOperation: return is_part_of_element(id) ? load_part(id, name) : operation(expr, name);
      case ExprKind::kLoad: return load(expr, name);
      case ExprKind::kShapeOf: return shape_of(expr, name);
      case ExprKind::kField: return is_part_of_element(id) ? load_part(id, name) : field(expr, name);
      case ExprKind::kCall: return inline_call(expr.index, operands(expr.args))[0];
    }
    return {};
  }

  Operand operation(const Expr& expr, const std::string& name) {
    if (is_lazy(expr.op)) return lazy(expr, name);
    std::vector<Operand> args = operands(expr.args);
    if (expr.op == Op::kNeg && args[0].is_constant() && args[0].type.is_scalar()) return negated(args[0]);
    return compute(expr, std::move(args), name);
  }

  /// In a function applied to a tile, the result of a scalar operation is a tile if an operand is a tile.
  Operand compute(const Expr& expr, std::vector<Operand> args, const std::string& name) {
    Type type = expr.type;
    for (const Operand& arg : args) {
      if (!arg.type.is_tile() || type.is_tile() || !is_inlined() || !is_elementwise(expr.op)) continue;
      if (!type.is_scalar()) fail(AdjointRejection::kAggregateOfTileElement, frame_->function->name);
      type = type.with_tile_extents_of(arg.type);
    }
    const ValueId result = add_value(name.empty() ? std::string(row(expr.op).mnemonic) : name, type, expr.loc);
    append(ComputeNode{.result = result, .op = expr.op, .index = expr.index, .args = std::move(args)});
    return operand(result);
  }
  bool is_inlined() const { return !frame_->function->is_kernel; }

  /// condition ? yes : no for each element of a tile.
  Operand choose(const Operand& condition, Operand yes, Operand no, const std::string& name, Loc loc) {
    const ValueId result = add_value(name, yes.type.tile_element_type().with_tile_extents_of(condition.type), loc);
    append(ComputeNode{.result = result, .op = Op::kWhere, .args = {condition, yes, no}});
    return operand(result);
  }
  /// Broadcasts a scalar to a tile; a tile is returned unchanged.
  Operand spread(const Operand& value, Type tile) {
    if (value.type.is_tile() || !tile.is_tile()) return value;
    if (!value.type.is_scalar()) {
      fail(AdjointRejection::kAggregateOfTileElement, frame_->function->name);
      return constant(value.type.with_tile_extents_of(tile), 0);
    }
    const ValueId result = add_value("spread", value.type.with_tile_extents_of(tile), loc_);
    append(ComputeNode{.result = result, .op = Op::kSplat, .args = {value}});
    return operand(result);
  }

  static Operand negated(const Operand& value) {
    if (is_float(value.type.scalar))
      return constant(value.type, std::bit_cast<std::uint64_t>(0.0 - std::bit_cast<double>(value.bits)));
    return constant(value.type, std::uint64_t{0} - value.bits);
  }

  /// Both sides are evaluated if the condition is a tile.
  Operand lazy_on_tile(const Expr& expr, const Operand& condition, const std::string& name) {
    const Operand second = evaluate(expr.args[1]);
    const std::string given = name.empty() ? std::string(row(expr.op).mnemonic) : name;
    if (expr.op == Op::kAnd) return choose(condition, second, constant(kBool, 0), given, expr.loc);
    if (expr.op == Op::kOr) return choose(condition, constant(kBool, 1), second, given, expr.loc);
    return choose(condition, second, evaluate(expr.args[2]), given, expr.loc);
  }

  Operand lazy(const Expr& expr, const std::string& name) {
    const Operand condition = evaluate(expr.args[0]);
    if (condition.type.is_tile()) return lazy_on_tile(expr, condition, name);
    Branch branch{.condition = condition, .then_region = {}, .else_region = {}, .merges = {}};
    Operand then_value = constant(kBool, 1);
    Operand else_value = constant(kBool, 0);
    if (expr.op == Op::kAnd) {
      then_value = in_region(branch.then_region, [&] { return evaluate(expr.args[1]); });
    } else if (expr.op == Op::kOr) {
      else_value = in_region(branch.else_region, [&] { return evaluate(expr.args[1]); });
    } else {
      then_value = in_region(branch.then_region, [&] { return evaluate(expr.args[1]); });
      else_value = in_region(branch.else_region, [&] { return evaluate(expr.args[2]); });
    }
    unify(branch, then_value, else_value);
    const ValueId result =
        add_value(name.empty() ? std::string(row(expr.op).mnemonic) : name, then_value.type, expr.loc);
    branch.merges.push_back({.result = result, .then_value = then_value, .else_value = else_value});
    append(std::move(branch));
    return operand(result);
  }

  /// If one of the values of two branches is a tile, makes both tiles.
  void unify(Branch& branch, Operand& then_value, Operand& else_value) {
    const Type tile = then_value.type.is_tile() ? then_value.type : else_value.type;
    then_value = in_region(branch.then_region, [&] { return spread(then_value, tile); });
    else_value = in_region(branch.else_region, [&] { return spread(else_value, tile); });
  }

  /// The kernel array parameter that an array expression refers to.
  VarId array_of(ExprId id) {
    const Expr& expr = frame_->function->expr(id);
    const Variable& variable = frame_->function->var(expr.variable);
    if (variable.type.is_local_array()) {
      fail(AdjointRejection::kUnsupportedLocalArray, variable.name);
      return 0;
    }
    return frame_->arrays[static_cast<std::size_t>(expr.variable)];
  }

  Operand load(const Expr& expr, const std::string& name) {
    const VarId array = array_of(expr.args[0]);
    std::vector<Operand> indices = operands(std::span(expr.args).subspan(1));
    const ValueId result = add_value(name.empty() ? cell_name(array, indices) : name, expr.type, expr.loc);
    append(LoadNode{.result = result, .array = array, .indices = std::move(indices)});
    return operand(result);
  }

  bool is_part_of_element(ExprId id) const {
    const ExprId load = loaded_part(*frame_->function, id).load;
    return load != kNone && frame_->function->expr(frame_->function->expr(load).args[0]).type.is_array();
  }

  Operand load_part(ExprId id, const std::string& name) {
    const LoadedElementPart part = loaded_part(*frame_->function, id);
    const Expr& expr = frame_->function->expr(part.load);
    const VarId array = array_of(expr.args[0]);
    std::vector<Operand> indices = operands(std::span(expr.args).subspan(1));
    Path path = path_of(part.path);
    const ValueId result = add_value(name.empty() ? part_name(array, indices, path) : name,
                                     frame_->function->expr(id).type, frame_->function->expr(id).loc);
    append(LoadNode{.result = result, .array = array, .indices = std::move(indices), .path = std::move(path)});
    return operand(result);
  }

  /// The name of the field for s[i].field, and "v_i_2" for v[i][2].
  std::string part_name(VarId array, std::vector<Operand> indices, const Path& path) const {
    const ElementPathStep& last = path.back();
    if (last.field_index != kNone)
      return module_.structs[last.whole_type.struct_id].fields[static_cast<std::size_t>(last.field_index)].name;
    for (const ElementPathStep& step : path)
      if (step.field_index == kNone) indices.push_back(step.index);
    return cell_name(array, indices);
  }

  Path path_of(const std::vector<ElementPartStep>& steps) {
    Path path;
    for (const ElementPartStep& step : steps) {
      path.push_back({.whole_type = step.whole_type, .field_index = step.field_index});
      if (step.index != kNone) path.back().index = evaluate(step.index);
    }
    return path;
  }

  /// "x_i_0" for x[i, 0], if that is short.
  std::string cell_name(VarId array, const std::vector<Operand>& indices) const {
    std::string name = kernel_.var(array).name;
    for (const Operand& index : indices) {
      name += "_";
      name += index.is_constant() ? std::to_string(static_cast<std::int64_t>(index.bits))
                                  : result_.values[static_cast<std::size_t>(index.value)].name;
    }
    return name.size() > 24 ? kernel_.var(array).name + "_at" : name;
  }

  Operand shape_of(const Expr& expr, const std::string& name) {
    const VarId array = array_of(expr.args[0]);
    const ValueId result = add_value(
        name.empty() ? fmt::format("{}_shape_{}", kernel_.var(array).name, expr.index) : name, expr.type, expr.loc);
    append(ComputeNode{.result = result, .kind = ExprKind::kShapeOf, .index = expr.index, .array = array, .args = {}});
    return operand(result);
  }

  Operand field(const Expr& expr, const std::string& name) {
    const Operand object = evaluate(expr.args[0]);
    const Field& definition = module_.structs[object.type.struct_id].fields[static_cast<std::size_t>(expr.index)];
    const ValueId result = add_value(name.empty() ? definition.name : name, expr.type, expr.loc);
    append(ComputeNode{.result = result, .kind = ExprKind::kField, .index = expr.index, .args = {object}});
    return operand(result);
  }

  // ---- calls
  static std::vector<Operand> zeros(const std::vector<Type>& types) {
    std::vector<Operand> operands;
    for (const Type type : types)
      operands.push_back(constant(type, 0));
    return operands;
  }

  std::vector<Operand> inline_call(std::int32_t callee, const std::vector<Operand>& args) {
    const Function& called = module_.functions[static_cast<std::size_t>(callee)];
    const bool has_tiles = std::ranges::any_of(args, [](const Operand& arg) { return arg.type.is_tile(); });
    // The sweeps must not read an array at another time than the kernel.
    const bool reads_changed_array = !uses_.empty() && std::ranges::any_of(args, [&](const Operand& arg) {
      return arg.type.is_array() && uses_[static_cast<std::size_t>(arg.value)].changed();
    });
    if (const auto adjoint = adjoints_.find(callee); adjoint != adjoints_.end() && !has_tiles && !reads_changed_array) {
      const FunctionAdjoint& derivative = adjoint->second;
      CustomDerivativeNode node{.called_function = callee,
                                .gradient_function = derivative.function,
                                .args = args,
                                .targets = derivative.targets,
                                .varied_parts = derivative.varied_parts};
      if (node.gradient_function != kNone) node.adjoint_arrays = adjoint_array_targets(called);
      return results_of(std::move(node));
    }
    if (called.gradient_function_index == kNone && called.replay_function_index == kNone)
      return inline_body(callee, args);
    if (has_tiles) {
      fail(AdjointRejection::kTileCustomDerivative, called.name);
      return zeros(called.results);
    }
    CustomDerivativeNode node{.called_function = callee,
                              .gradient_function = called.gradient_function_index,
                              .args = args,
                              .primal_values = {},
                              .results = {},
                              .targets = {},
                              .adjoint_arrays = {},
                              .varied_parts = {}};
    if (called.gradient_function_index != kNone) {
      node.targets = gradient_targets(module_, called);
      node.adjoint_arrays = taken_adjoint_arrays(module_, called);
    }
    const Loc loc = loc_;
    node.primal_values =
        inline_body(called.replay_function_index == kNone ? callee : called.replay_function_index, args);
    loc_ = loc;
    return results_of(std::move(node));
  }

  /// Appends the node of a call.
  std::vector<Operand> results_of(CustomDerivativeNode node) {
    const Function& called = module_.functions[static_cast<std::size_t>(node.called_function)];
    std::vector<Operand> results;
    for (const Type type : called.results) {
      node.results.push_back(add_value(called.name, type, loc_));
      results.push_back(operand(node.results.back()));
    }
    append(std::move(node));
    return results;
  }

  std::vector<Operand> inline_body(std::int32_t callee, const std::vector<Operand>& args) {
    const Function& called = module_.functions[static_cast<std::size_t>(callee)];
    if (++nodes_ > kMostNodes) fail(AdjointRejection::kKernelTooLarge, kernel_.name);
    if (error_) return zeros(called.results);
    structured_.push_back(structure(module_, called));
    const JumpFreeFunction& body = structured_.back();
    Frame frame = new_frame(body.function);
    for (std::size_t p = 0; p < args.size(); ++p) {
      frame.environment[p] = args[p];
      if (!args[p].is_constant() && args[p].type.is_array()) frame.arrays[p] = args[p].value;
    }
    Frame* outer = std::exchange(frame_, &frame);
    block(body.function.body);
    std::vector<Operand> results;
    for (const VarId variable : body.results)
      results.push_back(binding(variable));
    frame_ = outer;
    return results;
  }

  // ---- statements
  void block(const Block& block) {
    for (const Stmt& statement : block.statements) {
      if (error_) return;
      loc_ = statement.loc;
      std::visit([&](const auto& node) { this->statement(node); }, statement.node);
    }
  }

  void statement(const Let& let) {
    const Variable& variable = frame_->function->var(let.variable);
    if (variable.type.is_local_array()) return fail(AdjointRejection::kUnsupportedLocalArray, variable.name);
    binding(let.variable) = let.value == kNone ? constant(variable.type, 0) : evaluate(let.value, variable.name);
  }
  void statement(const Assign& assign) {
    binding(assign.variable) = evaluate(assign.value, frame_->function->var(assign.variable).name);
  }
  void statement(const Store& store) {
    const VarId array = array_of(store.array);
    std::vector<Operand> indices = operands(store.indices);
    const ChangedElementPart part = stored_part(*frame_->function, store);
    const Operand value = evaluate(part.value);
    append(StoreNode{.array = array, .indices = std::move(indices), .value = value, .path = path_of(part.path)});
  }
  void statement(const Atomic& atomic) {
    const VarId array = array_of(atomic.array);
    std::vector<Operand> indices = operands(atomic.indices);
    const ChangedElementPart part = updated_part(module_, *frame_->function, atomic);
    const Operand value = evaluate(part.value);
    ValueId result = kNone;
    if (atomic.result != kNone) {
      const Variable& variable = frame_->function->var(atomic.result);
      result = add_value(variable.name, variable.type, loc_);
      binding(atomic.result) = operand(result);
    }
    append(AtomicNode{.op = atomic.op,
                      .array = array,
                      .indices = std::move(indices),
                      .value = value,
                      .result = result,
                      .path = path_of(part.path)});
  }
  void statement(const Call& call) {
    const std::vector<Operand> results = inline_call(call.function, operands(call.args));
    for (std::size_t i = 0; i < call.results.size(); ++i)
      binding(call.results[i]) = results[i];
  }
  /// An if whose condition is a tile: both blocks run, and each element of an assigned variable is selected from the
  /// block that its condition chooses. Functions applied to tiles have no side effects.
  void both_blocks(const If& branch, const Operand& condition) {
    const std::vector<Operand> before = frame_->environment;
    const Loc loc = loc_;
    block(branch.then_block);
    const std::vector<Operand> after_then = std::exchange(frame_->environment, before);
    block(branch.else_block);
    const std::vector<Operand> after_else = std::exchange(frame_->environment, before);
    loc_ = loc;
    for (std::size_t v = 0; v < before.size(); ++v) {
      if (before[v].type.is_void()) continue;
      const std::string& name = frame_->function->variables[v].name;
      frame_->environment[v] =
          after_then[v] == after_else[v] ? after_then[v] : choose(condition, after_then[v], after_else[v], name, loc);
    }
  }
  void statement(const If& branch) {
    const Operand condition = evaluate(branch.condition);
    if (condition.type.is_tile()) return both_blocks(branch, condition);
    Branch node{.condition = condition, .then_region = {}, .else_region = {}, .merges = {}};
    const std::vector<Operand> before = frame_->environment;
    const Loc loc = loc_;
    in_region(node.then_region, [&] { block(branch.then_block); });
    std::vector<Operand> after_then = std::exchange(frame_->environment, before);
    in_region(node.else_region, [&] { block(branch.else_block); });
    std::vector<Operand> after_else = std::exchange(frame_->environment, before);
    loc_ = loc;
    for (std::size_t v = 0; v < before.size(); ++v) {
      if (before[v].type.is_void() || after_then[v] == after_else[v]) {
        if (!before[v].type.is_void()) frame_->environment[v] = after_then[v];
        continue;
      }
      unify(node, after_then[v], after_else[v]);
      const ValueId result = add_value(frame_->function->variables[v].name, after_then[v].type, loc);
      node.merges.push_back({.result = result, .then_value = after_then[v], .else_value = after_else[v]});
      frame_->environment[v] = operand(result);
    }
    append(std::move(node));
  }

  /// Makes the variables assigned by the body carried values, converts the body and finishes the loop. In a function
  /// applied to a tile, a variable may start as a scalar and become a tile. It must then be carried as a tile, which is
  /// known only after the body has been converted.
  template <class Prepare>
  void loop(const Loop& node, const Block& body, Prepare prepare) {
    const std::vector<Operand> before = frame_->environment;
    for (std::vector<VarId> grown; !error_;) {
      for (const VarId variable : grown)
        binding(variable) = spread(binding(variable), tile_);
      grown = try_loop(node, body, prepare);
      if (grown.empty()) return;
      if (!is_inlined()) return fail(AdjointRejection::kAggregateOfTileElement, frame_->function->name);
      frame_->environment = before;
    }
  }

  /// The carried variables that started as scalars and became tiles; empty if the loop was appended.
  template <class Prepare>
  std::vector<VarId> try_loop(Loop node, const Block& body, Prepare prepare) {
    const Loc loc = loc_;
    std::vector<VarId> assigned;
    collect_assigned(body, assigned);
    const std::vector<Operand> before = frame_->environment;
    std::vector<VarId> variables;
    for (const VarId variable : assigned) {
      const Operand initial = before[static_cast<std::size_t>(variable)];
      const bool seen = std::find(variables.begin(), variables.end(), variable) != variables.end();
      if (initial.type.is_void() || seen) continue;
      const std::string& name = frame_->function->var(variable).name;
      const ValueId argument = add_value(name, initial.type, loc);
      variables.push_back(variable);
      node.carried_values.push_back({.argument = argument,
                                     .initial_value = initial,
                                     .next_value = {},
                                     .result = add_value(name, initial.type, loc)});
      binding(variable) = operand(argument);
    }
    prepare(node, variables);
    in_region(node.body, [&] { block(body); });
    std::vector<VarId> grown;
    for (std::size_t i = 0; i < variables.size(); ++i) {
      CarriedValue& carried = node.carried_values[i];
      const Type type = carried.initial_value.type;
      carried.next_value = in_region(node.body, [&] { return spread(binding(variables[i]), type); });
      if (carried.next_value.type == type) continue;
      tile_ = carried.next_value.type;
      grown.push_back(variables[i]);
    }
    frame_->environment = before;
    loc_ = loc;
    if (!grown.empty()) return grown;
    for (std::size_t i = 0; i < variables.size(); ++i)
      binding(variables[i]) = operand(node.carried_values[i].result);
    append(std::move(node));
    return {};
  }

  void statement(const For& range) {
    Loop node{.is_range_loop = true,
              .start = evaluate(range.start),
              .stop = evaluate(range.stop),
              .step = evaluate(range.step)};
    const Variable& variable = frame_->function->var(range.variable);
    node.index = add_value(variable.name, variable.type, loc_);
    const ValueId index = node.index;
    for (const Operand& bound : {node.start, node.stop, node.step}) {
      if (bound.type.is_tile()) fail(AdjointRejection::kElementDependentTripCount, frame_->function->name);
    }
    loop(node, range.body, [&](Loop&, const auto&) { binding(range.variable) = operand(index); });
  }
  void statement(const While& repeat) {
    const VarId more = frame_->function->expr(repeat.condition).variable;
    loop(Loop{}, repeat.body, [&](Loop& node, const std::vector<VarId>& variables) {
      const auto at = std::find(variables.begin(), variables.end(), more);
      node.condition = static_cast<std::size_t>(at - variables.begin());
      if (node.carried_values[node.condition].initial_value.type.is_tile())
        fail(AdjointRejection::kElementDependentTripCount, frame_->function->name);
    });
  }
  void statement(const Break&) {}
  void statement(const Continue&) {}
  void statement(const Return&) {}

  const Module& module_;
  const Function& kernel_;
  const FunctionAdjoints& adjoints_;
  ParameterUses uses_;                       ///< of the kernel, if there are adjoints
  std::deque<JumpFreeFunction> structured_;  ///< keeps the functions that frames point to
  SsaKernel result_;
  Frame* frame_ = nullptr;
  Region* region_ = nullptr;
  Type tile_;  ///< tile type for the loop that is converted again
  Loc loc_;
  std::size_t nodes_ = 0;
  std::optional<Error> error_;
};

}  // namespace

Result<SsaKernel> to_ssa(const Module& module, const Function& kernel, const FunctionAdjoints& adjoints) {
  return Converter(module, kernel, adjoints).run();
}

}  // namespace assay::transforms
