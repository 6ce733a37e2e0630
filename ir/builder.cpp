#include "ir/builder.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory_resource>
#include <utility>

#include "ir/analysis.hpp"

namespace assay::ir {
namespace {

// Enough for most small functions and blocks: one allocation instead of three or more.
constexpr std::size_t kFirstExpressions = 64;
constexpr std::size_t kFirstVariables = 16;
constexpr std::size_t kFirstStatements = 4;

[[noreturn]] void misuse(const std::string& what) {
  std::fprintf(stderr, "ir::Builder misused: %s\n", what.c_str());
  std::abort();
}

void require(bool condition, const char* what) {
  if (!condition) misuse(what);
}

}  // namespace

double round_to(Scalar scalar, double value) {
  if (scalar == Scalar::kF64 || !std::isfinite(value) || value == 0) return value;
  if (scalar == Scalar::kF32) return static_cast<double>(static_cast<float>(value));
  const bool half = scalar == Scalar::kF16;
  const int digits = row(scalar).significant_bits;
  const int emin = half ? -14 : -126;
  const double largest = half ? 65504.0 : 0x1.FEp127;
  int exponent = 0;
  std::frexp(value, &exponent);
  const int unit = std::max(exponent - 1, emin) - (digits - 1);
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit);
  return std::abs(rounded) > largest ? std::copysign(HUGE_VAL, value) : rounded;
}

std::int64_t wrap_to(Scalar scalar, std::int64_t value) {
  switch (scalar) {
    case Scalar::kBool: return value != 0;
    case Scalar::kI8: return static_cast<std::int8_t>(value);
    case Scalar::kI16: return static_cast<std::int16_t>(value);
    case Scalar::kI32: return static_cast<std::int32_t>(value);
    case Scalar::kU8: return static_cast<std::uint8_t>(value);
    case Scalar::kU16: return static_cast<std::uint16_t>(value);
    case Scalar::kU32: return static_cast<std::uint32_t>(value);
    default: return value;
  }
}

Builder::Builder(const Module& module, Function& function)
    : module_(module), function_(function), current_block_(&function.body) {
  if (function.expressions.empty()) function.expressions.reserve(kFirstExpressions);
  if (function.variables.empty()) function.variables.reserve(kFirstVariables);
}

VarId Builder::declare(std::string name, Type type) {
  function_.variables.push_back({.name = std::move(name), .type = type, .loc = loc_});
  return static_cast<VarId>(function_.variables.size()) - 1;
}

VarId Builder::parameter(std::string name, Type type) {
  require(static_cast<std::size_t>(function_.parameter_count) == function_.variables.size(),
          "parameters must be declared before other variables");
  ++function_.parameter_count;
  return declare(std::move(name), type);
}

VarId Builder::thread_index(std::string name) {
  require(static_cast<std::size_t>(function_.parameter_count + function_.launch_rank) == function_.variables.size(),
          "thread indices must be declared before other variables");
  ++function_.launch_rank;
  return declare(std::move(name), kI32);
}

ExprId Builder::add(Expr expr) {
  expr.loc = loc_;
  function_.expressions.push_back(std::move(expr));
  return static_cast<ExprId>(function_.expressions.size()) - 1;
}

ExprId Builder::literal(Type type, double value) {
  require(type.is_float_scalar(), "type of a float literal must be a float scalar");
  return add(
      {.kind = ExprKind::kLiteral, .type = type, .bits = std::bit_cast<std::uint64_t>(round_to(type.scalar, value))});
}

ExprId Builder::literal(Type type, std::int64_t value) {
  if (type.is_float_scalar()) return literal(type, static_cast<double>(value));
  require(type.is_scalar(), "type of a literal must be a scalar");
  return add(
      {.kind = ExprKind::kLiteral, .type = type, .bits = static_cast<std::uint64_t>(wrap_to(type.scalar, value))});
}

ExprId Builder::zero(Type type) {
  if (type.is_scalar()) return literal(type, std::int64_t{0});
  require(type.is_aggregate() || type.is_tile(), "Builder::zero: type must be a scalar, aggregate or tile");
  return op(Op::kSplat, {literal(type.component(), std::int64_t{0})}, type);
}

ExprId Builder::var(VarId variable) {
  require(variable >= 0 && static_cast<std::size_t>(variable) < function_.variables.size(), "unknown variable");
  return add({.kind = ExprKind::kVariable, .type = function_.var(variable).type, .variable = variable});
}

ExprId Builder::op(Op op, std::span<const ExprId> args, Type requested, std::int32_t index) {
  std::array<std::byte, 16 * sizeof(Type)> few;  // enough for the operands of nearly all operations
  std::pmr::monotonic_buffer_resource memory(few.data(), few.size());
  std::pmr::vector<Type> types(&memory);
  types.reserve(args.size());
  for (const ExprId arg : args)
    types.push_back(type_of(arg));
  auto type = result_type(op, types, op == Op::kWithField ? type_of(args[0]) : requested);
  if (!type.ok()) misuse(type.error().message);
  return add({.kind = ExprKind::kOperation,
              .op = op,
              .type = type.value(),
              .index = index,
              .args = std::vector<ExprId>(args.begin(), args.end())});
}

ExprId Builder::load(VarId array, std::vector<ExprId> indices) {
  const Type type = function_.var(array).type;
  require(indices.size() == (type.is_local_array() ? 1U : type.rank) && !indices.empty(),
          "number of indices differs from the number of dimensions");
  indices.insert(indices.begin(), var(array));
  return add({.kind = ExprKind::kLoad, .type = type.element(), .args = std::move(indices)});
}

ExprId Builder::load_tile(Type tile, VarId array, std::vector<ExprId> indices) {
  const ExprId id = load(array, std::move(indices));
  require(type_of(id) == tile.tile_element_type(), "tile and array have different element types");
  function_.expressions.back().type = tile;
  return id;
}

ExprId Builder::shape_of(VarId array, int dimension) {
  require(dimension >= 0 && dimension < function_.var(array).type.rank,
          "queried dimension does not exist in the array");
  return add({.kind = ExprKind::kShapeOf, .type = kI32, .index = dimension, .args = {var(array)}});
}

ExprId Builder::field(ExprId object, int index) {
  const Type type = type_of(object);
  require(type.is_struct(), "field access requires a struct");
  const auto& fields = module_.structs[type.struct_id].fields;
  require(index >= 0 && static_cast<std::size_t>(index) < fields.size(), "accessed field does not exist in the struct");
  return add({.kind = ExprKind::kField,
              .type = fields[static_cast<std::size_t>(index)].type,
              .index = index,
              .args = {object}});
}

ExprId Builder::call(int function, std::vector<ExprId> args) {
  const Function& callee = module_.functions[static_cast<std::size_t>(function)];
  require(callee.results.size() == 1, "a function called in an expression must return one value");
  const Type type = called_type(function_, callee, args);
  return add({.kind = ExprKind::kCall, .type = type, .index = function, .args = std::move(args)});
}

template <class Node>
void Builder::emit(Node node) {
  if (current_block_->statements.empty()) current_block_->statements.reserve(kFirstStatements);
  current_block_->statements.push_back(Stmt{.node = std::move(node), .loc = loc_});
}

void Builder::append(Stmt statement) { current_block_->statements.push_back(std::move(statement)); }

VarId Builder::let(std::string name, ExprId value) {
  const VarId variable = declare(std::move(name), type_of(value));
  emit(Let{variable, value});
  return variable;
}

VarId Builder::let_zero(std::string name, Type type) {
  const VarId variable = declare(std::move(name), type);
  emit(Let{variable, kNone});
  return variable;
}

void Builder::assign(VarId variable, ExprId value) {
  require(function_.var(variable).type == type_of(value), "assigned value and variable have different types");
  emit(Assign{variable, value});
}

void Builder::mark_as_augmented() {
  require(!current_block_->statements.empty(), "no statement to mark");
  Stmt& last = current_block_->statements.back();
  if (auto* assign = std::get_if<Assign>(&last.node)) assign->is_augmented = true;
  if (auto* store = std::get_if<Store>(&last.node)) store->is_augmented = true;
}

void Builder::store(VarId array, std::vector<ExprId> indices, ExprId value) {
  require(function_.var(array).type.element() == type_of(value).tile_element_type() ||
              function_.var(array).type.element() == type_of(value),
          "stored value and array element have different types");
  emit(Store{var(array), std::move(indices), value});
}

void Builder::atomic(AtomicOp op, VarId array, std::vector<ExprId> indices, ExprId value) {
  atomic_of_field(op, array, std::move(indices), {}, value);
}

void Builder::atomic_of_field(AtomicOp op, VarId array, std::vector<ExprId> indices, std::vector<std::int32_t> fields,
                              ExprId value) {
  emit(Atomic{
      .op = op, .array = var(array), .indices = std::move(indices), .fields = std::move(fields), .value = value});
}

VarId Builder::atomic_result(std::string name, AtomicOp op, VarId array, std::vector<ExprId> indices, ExprId value,
                             ExprId compare_operand) {
  const VarId result = declare(std::move(name), function_.var(array).type.element());
  emit(Atomic{.op = op,
              .array = var(array),
              .indices = std::move(indices),
              .value = value,
              .compare_operand = compare_operand,
              .result = result});
  return result;
}

std::vector<VarId> Builder::call_statement(int function, std::vector<ExprId> args, std::vector<std::string> names) {
  const Function& callee = module_.functions[static_cast<std::size_t>(function)];
  require(callee.results.size() == names.size(), "a call statement must have one name for each result of the function");
  std::vector<VarId> results;
  for (std::size_t i = 0; i < names.size(); ++i)
    results.push_back(declare(std::move(names[i]), callee.results[i]));
  emit(Call{.function = function, .args = std::move(args), .results = results});
  return results;
}

Block Builder::block(const std::function<void()>& body) {
  Block block;
  Block* outer = std::exchange(current_block_, &block);
  if (body) body();
  current_block_ = outer;
  return block;
}

void Builder::if_(ExprId condition, const std::function<void()>& then_body, const std::function<void()>& else_body) {
  const Loc loc = loc_;
  Block then_block = block(then_body);
  Block else_block = block(else_body);
  loc_ = loc;
  emit(If{condition, std::move(then_block), std::move(else_block)});
}

void Builder::for_(std::string name, ExprId start, ExprId stop, ExprId step, const std::function<void(VarId)>& body) {
  const Loc loc = loc_;
  const VarId variable = declare(std::move(name), type_of(start));
  Block inner = block([&] { body(variable); });
  loc_ = loc;
  emit(For{variable, start, stop, step, std::move(inner)});
}

void Builder::while_(ExprId condition, const std::function<void()>& body) {
  const Loc loc = loc_;
  Block inner = block(body);
  loc_ = loc;
  emit(While{condition, std::move(inner)});
}

void Builder::break_() { emit(Break{}); }
void Builder::continue_() { emit(Continue{}); }
void Builder::return_(std::vector<ExprId> values) { emit(Return{std::move(values)}); }

}  // namespace assay::ir
