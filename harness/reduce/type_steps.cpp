// Steps that simplify types in the whole module.
#include <array>
#include <bit>
#include <functional>
#include <utility>
#include <vector>

#include "harness/reduce/rewrite.hpp"
#include "harness/reduce/step.hpp"
#include "ir/builder.hpp"

namespace assay::reduce {
namespace {

using namespace ir;

/// Changes the types of a module and propagates them through its expressions. The verifier rejects an invalid result.
class Retyping {
 public:
  /// `change` maps the type of a value to another.
  Retyping(Module& module, std::function<Type(Type)> change) : module_(module), change_(std::move(change)) {}

  void run() {
    for (StructDef& definition : module_.structs)
      for (Field& field : definition.fields)
        field.type = changed(field.type);
    for (Function& function : module_.functions)
      retype(function);
    retype(module_.kernels.front());
  }

 private:
  Type changed(Type type) const {
    Type element = type.element().tile_element_type();
    if (element.shape == Shape::kVoid || element.shape == Shape::kStruct) return type;
    Type result = change_(element);
    result.rank = type.rank;
    result.extent = type.extent;
    result.tile = type.tile;
    return result;
  }

  void retype(Function& function) {
    for (VarId v = 0; v < static_cast<VarId>(function.variables.size()); ++v) {
      Type& type = function.variables[static_cast<std::size_t>(v)].type;
      if (!function.is_thread_index(v)) type = changed(type);
    }
    for (Type& result : function.results)
      result = changed(result);
    for (ExprId id = 0; id < static_cast<ExprId>(function.expressions.size()); ++id)
      retype(function, id);
  }

  void retype(Function& function, ExprId id) {
    Expr& expr = function.expressions[static_cast<std::size_t>(id)];
    const auto type_of = [&](std::size_t arg) { return function.expr(expr.args[arg]).type; };
    switch (expr.kind) {
      case ExprKind::kLiteral: return retype_literal(expr, changed(expr.type));
      case ExprKind::kVariable: expr.type = function.var(expr.variable).type; return;
      case ExprKind::kLoad: expr.type = expr.type.is_tile() ? changed(expr.type) : type_of(0).element(); return;
      case ExprKind::kField:
        expr.type = module_.structs[type_of(0).struct_id].fields[static_cast<std::size_t>(expr.index)].type;
        return;
      case ExprKind::kCall: expr.type = called_type(expr); return;
      case ExprKind::kShapeOf: return;
      case ExprKind::kOperation: break;
    }
    Type requested = changed(expr.type);
    std::vector<Type> operands;
    for (const ExprId arg : expr.args)
      operands.push_back(function.expr(arg).type);
    if (became_scalar(function, id, requested)) return;
    if (expr.op == Op::kWithField) requested = expr.type;
    if (Result<Type> type = result_type(expr.op, operands, requested); type.ok()) expr.type = *type;
  }

  Type called_type(const Expr& call) const {
    const Function& callee = module_.functions[static_cast<std::size_t>(call.index)];
    return callee.results.empty() || call.type.is_tile() ? changed(call.type) : callee.results.front();
  }

  static void retype_literal(Expr& expr, Type type) {
    if (is_float(type.scalar)) {
      expr.bits = std::bit_cast<std::uint64_t>(round_to(type.scalar, std::bit_cast<double>(expr.bits)));
    } else {
      expr.bits = static_cast<std::uint64_t>(wrap_to(type.scalar, static_cast<std::int64_t>(expr.bits)));
    }
    expr.type = type;
  }

  /// Replaces an operation on aggregates by the corresponding scalar operation. Returns false if that is not needed.
  static bool became_scalar(Function& function, ExprId id, Type requested) {
    Expr& expr = function.expressions[static_cast<std::size_t>(id)];
    if (expr.args.empty()) return false;
    const Type first = function.expr(expr.args.front()).type;
    if (expr.op == Op::kCast && first == requested) return become_operand(function, id, 0);
    const bool makes = (expr.op == Op::kMake || expr.op == Op::kSplat) && requested.is_scalar();
    if (!makes && !(first.is_scalar() && is_for_aggregates(expr.op))) return false;
    switch (expr.op) {
      case Op::kInsert: return become_operand(function, id, 2);
      case Op::kDot:
      case Op::kDoubleDot:
      case Op::kCross:
      case Op::kOuter:
      case Op::kCwMul: expr.op = Op::kMul; break;
      case Op::kCwDiv: expr.op = Op::kDiv; break;
      case Op::kLength: expr.op = Op::kAbs; break;
      default: return become_operand(function, id, 0);
    }
    expr.type = first;
    return true;
  }

  static constexpr bool is_for_aggregates(Op op) { return op >= Op::kExtract && op <= Op::kSpatialBottom; }

  static bool become_operand(Function& function, ExprId id, std::size_t operand) {
    replace(function, id, function.expr(id).args[operand]);
    return true;
  }

  Module& module_;
  std::function<Type(Type)> change_;
};

/// The distinct types of values and elements in the module, in a fixed order.
std::vector<Type> types_in(const Module& module) {
  std::vector<Type> types;
  const auto add = [&](Type type) {
    type = type.element().tile_element_type();
    for (const Type& known : types)
      if (known == type) return;
    types.push_back(type);
  };
  const auto add_function = [&](const Function& function) {
    for (const Variable& variable : function.variables)
      add(variable.type);
    for (const Expr& expr : function.expressions)
      add(expr.type);
  };
  for (const StructDef& definition : module.structs)
    for (const Field& field : definition.fields)
      add(field.type);
  for (const Function& function : module.functions)
    add_function(function);
  add_function(module.kernels.front());
  return types;
}

}  // namespace

void narrow_scalars(Module& module, const Choose& choose) {
  std::array<bool, kScalarCount> present{};
  for (const Type& type : types_in(module))
    if (type.shape != Shape::kStruct && !type.is_void()) present[static_cast<std::size_t>(type.scalar)] = true;
  std::array<bool, kScalarCount> narrowed{};
  for (const ScalarTypeProperties& row : kScalars) {
    const auto number = static_cast<std::size_t>(row.scalar);
    const bool is_usual = row.scalar == Scalar::kF32 || row.scalar == Scalar::kI32 || row.scalar == Scalar::kBool;
    if (present[number] && !is_usual) narrowed[number] = choose();
  }
  Retyping(module, [narrowed](Type type) {
    if (narrowed[static_cast<std::size_t>(type.scalar)])
      type.scalar = is_float(type.scalar) ? Scalar::kF32 : Scalar::kI32;
    return type;
  }).run();
}

void take_components(Module& module, const Choose& choose) {
  std::vector<Type> taken;
  for (const Type& type : types_in(module))
    if (type.is_aggregate() && choose()) taken.push_back(type);
  Retyping(module, [taken](Type type) {
    for (const Type& aggregate : taken)
      if (aggregate == type) return type.component();
    return type;
  }).run();
}

}  // namespace assay::reduce
