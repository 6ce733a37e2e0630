#include "backends/source/operation_programs.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>

#include <fmt/format.h>

#include "ir/builder.hpp"
#include "ir/operations/operations.hpp"

namespace assay::source::testing {
namespace {

using ir::Builder;
using ir::Op;
using ir::Scalar;
using ir::Type;
using ir::TypeRule;

/// The element types of the programs, without half precision, which is not supported.
std::vector<Type> types(const ir::Module& module) {
  std::vector<Type> types;
  for (const ir::ScalarTypeProperties& row : ir::kScalars) {
    if (row.scalar != Scalar::kF16 && row.scalar != Scalar::kBF16) types.push_back(ir::scalar_type(row.scalar));
  }
  types.push_back(ir::vector_type(Scalar::kF32, 2));
  types.push_back(ir::vector_type(Scalar::kF32, 3));
  types.push_back(ir::vector_type(Scalar::kF64, 3));
  types.push_back(ir::vector_type(Scalar::kI32, 4));
  types.push_back(ir::vector_type(Scalar::kU8, 2));
  types.push_back(ir::matrix_type(Scalar::kF32, 2, 3));
  types.push_back(ir::matrix_type(Scalar::kF32, 3, 2));
  for (const int n : {2, 3, 4})
    types.push_back(ir::matrix_type(Scalar::kF32, n, n));
  types.push_back(ir::vector_type(Scalar::kF32, 6));
  for (const Scalar scalar : {Scalar::kF32, Scalar::kF64})
    types.push_back(ir::quaternion_type(scalar));
  types.push_back(ir::transform_type(Scalar::kF32));
  if (!module.structs.empty()) types.push_back(ir::struct_type(0));
  return types;
}

/// A kernel with two arrays of each type, "in" and "out", with one element per thread.
class Program {
 public:
  Program(const ir::Module& module, ir::Function& kernel, std::string name) : builder_(module, kernel) {
    kernel.name = std::move(name);
    kernel.is_kernel = true;
    const std::vector<Type> all = types(module);
    for (std::size_t i = 0; i < all.size(); ++i) {
      arrays_.push_back({all[i], builder_.parameter(fmt::format("in_{}", i), all[i].array_of(1)),
                         builder_.parameter(fmt::format("out_{}", i), all[i].array_of(1))});
    }
    index_ = builder_.thread_index("i");
  }

  Builder& builder() { return builder_; }
  ir::ExprId in(Type type) { return builder_.load(of(type).in, {builder_.var(index_)}); }
  void out(ir::ExprId value) { builder_.store(of(builder_.type_of(value)).out, {builder_.var(index_)}, value); }
  /// A tile of four elements of the array of scalars, and values derived from it.
  ir::ExprId in_tile(Scalar scalar) {
    return builder_.load_tile(ir::tile_type(scalar, 4), of(ir::scalar_type(scalar)).in, {builder_.var(index_)});
  }
  void out_tile(ir::ExprId value) {
    const Type type = builder_.type_of(value);
    if (!type.is_tile()) return out(value);
    const ir::ExprId flat = builder_.op(Op::kTileReshape, {value}, ir::tile_type(type.scalar, type.tile_size()));
    builder_.store(of(type.component()).out, {builder_.var(index_)}, flat);
  }
  ir::VarId out_array(Type type) { return of(type).out; }
  ir::ExprId index() { return builder_.var(index_); }

 private:
  struct Arrays {
    Type type;
    ir::VarId in, out;
  };
  const Arrays& of(Type type) const {
    for (const Arrays& arrays : arrays_) {
      if (arrays.type == type) return arrays;
    }
    std::abort();
  }

  Builder builder_;
  std::vector<Arrays> arrays_;
  ir::VarId index_ = ir::kNone;
};

using Visit = std::function<void(const std::vector<Type>& operands, Type requested)>;

/// Calls visit for every combination of operand types that the operation accepts and whose result type is in `all`.
void for_each_combination(const ir::OperationEntry& row, const std::vector<Type>& all, const Visit& visit) {
  const int arity = row.arity >= 0 ? row.arity : 2;
  std::vector<Type> requested{ir::kVoid};
  if (ir::takes_requested_type(row.rule)) requested = all;
  std::vector<std::size_t> digits(static_cast<std::size_t>(arity));
  while (true) {
    std::vector<Type> operands;
    for (const std::size_t digit : digits)
      operands.push_back(all[digit]);
    for (const Type wanted : requested) {
      const auto result = ir::result_type(row.op, operands, wanted);
      const bool usable = result.ok() && std::find(all.begin(), all.end(), *result) != all.end();
      if (usable) visit(operands, wanted);
    }
    std::size_t at = 0;
    while (at < digits.size() && ++digits[at] == all.size())
      digits[at++] = 0;
    if (at == digits.size()) return;
  }
}

/// The operation applied to a tile of four elements.
ir::ExprId tile_result(Builder& b, Op op, ir::ExprId four) {
  const Scalar scalar = b.type_of(four).scalar;
  const auto square = [&] { return b.op(Op::kTileReshape, {four}, ir::tile_type(scalar, 2, 2)); };
  switch (op) {
    case Op::kTileProduct: return b.op(op, {square(), square()});
    case Op::kTileSum: return b.op(op, {square()}, ir::tile_type(scalar, 2, 1));
    case Op::kTileBroadcast: return b.op(op, {four}, ir::tile_type(scalar, 3, 4));
    case Op::kTileReshape: return square();
    case Op::kTileTranspose: return b.op(op, {square()});
    case Op::kTileExtract: return b.op(op, {square(), b.i32(1), b.i32(0)});
    case Op::kTileInsert: return b.op(op, {four, b.i32(1), b.literal(ir::scalar_type(scalar), std::int64_t{7})});
    case Op::kTileArange: {
      const ir::ExprId first = b.op(Op::kTileExtract, {four, b.i32(0)});
      return b.op(op, {first, b.op(Op::kTileExtract, {four, b.i32(1)})}, ir::tile_type(scalar, 5));
    }
    case Op::kTileView: return b.op(op, {square(), b.i32(1), b.i32(0)}, ir::tile_type(scalar, 1, 2));
    case Op::kTileAssign: return b.op(op, {b.op(Op::kTileScan, {four}), b.i32(0), four});
    case Op::kTileDiagAdd: return b.op(op, {square(), b.op(Op::kTileSum, {square()}, ir::tile_type(scalar, 2))});
    case Op::kTileRunSums:
    case Op::kTileRunSpread: return b.op(op, {b.op(Op::kTileScanMax, {four}), four});
    default: return b.op(op, {four});
  }
}

ir::Module module_with_struct() {
  ir::Module module;
  module.structs.push_back({"Pair", {{"number", ir::kI32}, {"place", ir::vector_type(Scalar::kF32, 3)}}});
  return module;
}

}  // namespace

ir::Module every_operation() {
  ir::Module module = module_with_struct();
  for (const ir::OperationEntry& row : ir::kOperations) {
    ir::Function kernel;
    Program program(module, kernel, fmt::format("op_{}", row.mnemonic));
    Builder& b = program.builder();
    if (row.op == Op::kWithField) {
      const Type pair = ir::struct_type(0);
      program.out(b.op(Op::kWithField, {program.in(pair), program.in(ir::kI32)}, pair, 0));
    } else if (!ir::is_elementwise(row.op) && row.op != Op::kSplat) {
      for (const Scalar scalar : {Scalar::kF32, Scalar::kF64, Scalar::kI32})
        program.out_tile(tile_result(b, row.op, program.in_tile(scalar)));
    } else {
      for_each_combination(row, types(module), [&](const std::vector<Type>& operands, Type requested) {
        std::vector<ir::ExprId> args;
        for (const Type operand : operands)
          args.push_back(program.in(operand));
        program.out(b.op(row.op, args, requested));
      });
    }
    module.kernels.push_back(std::move(kernel));
  }
  return module;
}

ir::Module every_atomic(backends::SourceTarget target) {
  ir::Module module;
  for (const ir::AtomicOperationEntry& row : ir::kAtomics) {
    ir::Function kernel;
    Program program(module, kernel, std::string(row.mnemonic));
    Builder& b = program.builder();
    for (const Type type : types(module)) {
      const bool integer = ir::is_integer(type.scalar);
      const bool narrow = ir::row(type.scalar).bytes < 4;
      const bool componentwise = row.op == ir::AtomicOp::kAdd || row.op == ir::AtomicOp::kSub ||
                                 row.op == ir::AtomicOp::kMin || row.op == ir::AtomicOp::kMax;
      if (type.is_bool() || (row.is_integer_only && !integer)) continue;
      if (!type.is_scalar() && !(type.is_aggregate() && componentwise)) continue;
      if (narrow && target == backends::SourceTarget::kCuda) continue;
      const ir::ExprId compare = row.op == ir::AtomicOp::kCompareAndSwap ? program.in(type) : ir::kNone;
      b.atomic_result("old", row.op, program.out_array(type), {program.index()}, program.in(type), compare);
    }
    module.kernels.push_back(std::move(kernel));
  }
  return module;
}

ir::Function elementwise(const ir::Module& module, Op op, Type type, Form form) {
  ir::Function kernel;
  kernel.name = fmt::format("{}_{}", ir::row(op).mnemonic, ir::row(type.scalar).name);
  kernel.is_kernel = true;
  Builder b(module, kernel);
  std::vector<ir::VarId> arrays;
  for (const char* name : {"a", "b", "c", "out"})
    arrays.push_back(b.parameter(name, type.array_of(1)));
  const ir::VarId i = b.thread_index("i");
  const auto load = [&](int k) { return b.load(arrays[static_cast<std::size_t>(k)], {b.var(i)}); };
  std::vector<ir::ExprId> args;
  for (int k = 0; k < ir::row(op).arity; ++k) {
    const ir::ExprId always = b.op(Op::kGe, {b.var(i), b.i32(0)});
    args.push_back(form == Form::kPlain ? load(k) : b.op(Op::kConditional, {always, load(k), load((k + 1) % 3)}));
  }
  ir::ExprId value = b.op(op, args);
  if (b.type_of(value) != type) value = b.cast(type, value);
  if (form == Form::kNested) value = b.op(Op::kMul, {b.literal(type, std::int64_t{1}), value});
  b.store(arrays[3], {b.var(i)}, value);
  return kernel;
}

std::span<const ExtremumOperand> extremum_operands() {
  static constexpr ExtremumOperand kExtremumOperands[] = {
      {"f32", "add(mul(x[i], y[i]), z[i])"},
      {"f32", "sub(mul(x[i], y[i]), z[i])"},
      {"f32", "frac(mul(x[i], y[i]))"},
      {"f32", "lerp(x[i], y[i], z[i])"},
      {"f32", "smoothstep(x[i], y[i], z[i])"},
      {"f32", "dot(v[i], w[i])"},
      {"f32", "ddot(m[i], n[i])"},
      {"f32", "length_sq(v[i])"},
      {"f32", "length(v[i])"},
      {"vec<f32,3>", "add(mul(v[i], x[i]), w[i])"},
      {"vec<f32,3>", "sub(mul(v[i], x[i]), w[i])"},
      {"vec<f32,3>", "cross(v[i], w[i])"},
      {"vec<f32,3>", "normalize(v[i])"},
      {"vec<f32,3>", "mul(m[i], v[i])"},
      {"vec<f32,3>", "mul(v[i], m[i])"},
      {"mat<f32,3,3>", "mul(m[i], n[i])"},
      {"mat<f32,2,2>", "inverse(two[i])"},
      {"mat<f32,3,3>", "inverse(m[i])"},
      {"mat<f32,4,4>", "inverse(four[i])"},
      {"f32", "extract(mul(p[i], q[i]), 1)"},
  };
  return kExtremumOperands;
}

std::string extremum_kernel(const ExtremumOperand& operand, std::string_view name) {
  return fmt::format(
      "kernel {0}(x: array<f32,1>, y: array<f32,1>, z: array<f32,1>, v: array<vec<f32,3>,1>, w: array<vec<f32,3>,1>, "
      "m: array<mat<f32,3,3>,1>, n: array<mat<f32,3,3>,1>, two: array<mat<f32,2,2>,1>, four: array<mat<f32,4,4>,1>, "
      "p: array<quat<f32>,1>, q: array<quat<f32>,1>, out: array<{1},1>, most: array<{1},1>; i) {{\n"
      "  out[i] = {2}\n  atomic_max(most[i], {2})\n}}\n",
      name, operand.type, operand.expression);
}

}  // namespace assay::source::testing
