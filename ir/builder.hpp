// Builds the body of one function or kernel and checks types on the way.
//
//     Builder b(module, kernel);
//     VarId x = b.parameter("x", kF32.array_of(1));
//     VarId i = b.thread_index("i");
//     VarId t = b.let("t", b.op(Op::kMul, {b.load(x, {b.var(i)}), b.f32(2.0)}));
//     b.store(x, {b.var(i)}, b.var(t));
//
// Order: all parameters, then all thread indices, then the body. Misuse (operand types that an operation does not
// support, an unknown variable) is a bug of the caller and aborts; check untrusted input with result_type first.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "ir/module.hpp"

namespace assay::ir {

/// Builds the body of one function.
class Builder {
 public:
  /// Keeps references to both; `function` is filled in place, `module` provides the types of structs and functions.
  Builder(const Module& module, Function& function);

  // ---- declarations
  VarId parameter(std::string name, Type type);
  VarId thread_index(std::string name);
  /// Creates a variable without a declaring statement, for statements that declare it themselves.
  VarId declare(std::string name, Type type);

  // ---- expressions; each gets the current location
  ExprId literal(Type type, double value);        ///< float scalar; rounded to the type
  ExprId literal(Type type, std::int64_t value);  ///< integer or bool scalar; wrapped to the type
  ExprId f32(double value) { return literal(kF32, value); }
  ExprId i32(std::int64_t value) { return literal(kI32, value); }
  ExprId boolean(bool value) { return literal(kBool, std::int64_t{value}); }
  ExprId zero(Type type);  ///< zero of a scalar, aggregate or tile type
  ExprId var(VarId variable);
  ExprId op(Op op, std::span<const ExprId> args, Type requested = kVoid, std::int32_t index = 0);
  /// Appends an operation. `requested` is the result type if it does not follow from the operands.
  ExprId op(Op op, std::initializer_list<ExprId> args, Type requested = kVoid, std::int32_t index = 0) {
    return this->op(op, std::span<const ExprId>(args.begin(), args.size()), requested, index);
  }
  /// The aggregate made of the components of the parts in order.
  ExprId make(Type type, std::span<const ExprId> parts) { return op(Op::kMake, parts, type); }
  ExprId make(Type type, std::initializer_list<ExprId> parts) { return op(Op::kMake, parts, type); }
  ExprId cast(Type type, ExprId value) { return op(Op::kCast, {value}, type); }
  ExprId load(VarId array, std::vector<ExprId> indices);
  /// The tile that starts at the indices; elements outside the array are zero.
  ExprId load_tile(Type tile, VarId array, std::vector<ExprId> indices);
  ExprId shape_of(VarId array, int dimension);
  ExprId field(ExprId object, int index);
  ExprId call(int function, std::vector<ExprId> args);

  // ---- statements, appended to the current block
  VarId let(std::string name, ExprId value);
  VarId let_zero(std::string name, Type type);
  void assign(VarId variable, ExprId value);
  /// Sets `is_augmented` of the last statement, an assignment or a store.
  void mark_as_augmented();
  void store(VarId array, std::vector<ExprId> indices, ExprId value);
  void atomic(AtomicOp op, VarId array, std::vector<ExprId> indices, ExprId value);
  /// Appends an atomic that updates the field to which `fields` lead from the element.
  void atomic_of_field(AtomicOp op, VarId array, std::vector<ExprId> indices, std::vector<std::int32_t> fields,
                       ExprId value);
  /// Appends an atomic that stores the previous value in a new variable.
  VarId atomic_result(std::string name, AtomicOp op, VarId array, std::vector<ExprId> indices, ExprId value,
                      ExprId compare_operand = kNone);
  std::vector<VarId> call_statement(int function, std::vector<ExprId> args, std::vector<std::string> names);
  void if_(ExprId condition, const std::function<void()>& then_body, const std::function<void()>& else_body = nullptr);
  void for_(std::string name, ExprId start, ExprId stop, ExprId step, const std::function<void(VarId)>& body);
  void while_(ExprId condition, const std::function<void()>& body);
  void break_();
  void continue_();
  void return_(std::vector<ExprId> values = {});
  /// Appends a finished statement.
  void append(Stmt statement);
  /// Runs `body` with a fresh current block and returns what it appended there.
  Block block(const std::function<void()>& body);

  void at(Loc loc) { loc_ = loc; }  ///< sets the location of what follows
  Loc at() const { return loc_; }
  Type type_of(ExprId expr) const { return function_.expr(expr).type; }
  const Module& module() const { return module_; }
  Function& function() { return function_; }

 private:
  ExprId add(Expr expr);  ///< appends an expression node
  template <class Node>
  void emit(Node node);  ///< appends a statement

  const Module& module_;  ///< module that defines the types of structs and functions
  Function& function_;    ///< function that is built
  Block* current_block_;  ///< block to which statements are appended
  Loc loc_;               ///< source location of the following expressions and statements
};

/// `value` rounded to a float scalar type, to nearest even; overflow gives infinity.
double round_to(Scalar scalar, double value);
/// `value` wrapped to an integer scalar type and sign- or zero-extended back; bool gives value != 0.
std::int64_t wrap_to(Scalar scalar, std::int64_t value);

}  // namespace assay::ir
