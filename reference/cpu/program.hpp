// A kernel lowered for interpretation: a list of instructions on scalar registers, with jumps.
//
// Vectors, matrices, quaternions, transforms and structs use one register per scalar component. Functions are inlined;
// lazy operations and loops become jumps. Registers of literals are written once, before the first thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/module.hpp"
#include "reference/cpu/evaluators.hpp"
#include "reference/cpu/reference.hpp"
#include "support/result.hpp"

namespace assay::reference {

using RegisterId = std::int32_t;

/// The operations of the interpreter. Operand k is a register; "destination .." means several registers from
/// destination on.
enum class InstructionCode : std::uint8_t {
  kFloatOperation,  ///< destination = evaluator(operands), floats of type `scalar`
  kAdd,             ///< destination = operand 0 + operand 1, floats; a frequent operation that makes no decisions
  kSub,             ///< destination = operand 0 - operand 1, floats
  kMul,             ///< destination = operand 0 * operand 1, floats
  kFloatPredicate,  ///< destination = predicate(operands)
  /// destination = operand 0 / operand 1, a component of a vector divided by the vector's length: unit_component().
  kUnitComponent,
  kSum,               ///< destination = sum of any number of floats of type `scalar`, in any order
  kSumOfProducts,     ///< destination = operand 0 * operand n + operand 1 * operand (n + 1) + ..., floats, in any order
  kIntegerOperation,  ///< destination = op(operands), integers of type `scalar`
  kSelect,            ///< destination = operand 0 ? operand 1 : operand 2
  kMove,              ///< destination = operand 0
  kClear,             ///< sets `extent` registers from destination on to 0
  kFloatToFloat,  ///< destination = operand 0, converted from the float type `source_scalar` to the float type `scalar`
  kFloatToInteger,    ///< destination = operand 0, converted from a float to an integer
  kFloatToBits,       ///< destination = the bits of operand 0, a float, as an integer
  kBitsToFloat,       ///< destination = the float with the bits of operand 0, an integer
  kFloatToBool,       ///< destination = operand 0, converted from a float to a bool
  kIntegerToFloat,    ///< destination = operand 0, converted from an integer to a float
  kIntegerToInteger,  ///< destination = operand 0, converted from an integer to another integer type
  kExtract,           ///< destination = the operand with number 1 + i, where i is the value of operand 0
  kInsert,            ///< destination .. = operands from 2 on, with operand 1 at the index in operand 0
  kArrayExtent,       ///< destination = extent of dimension `extent` of the array parameter `target`
  /// destination .. = components of an element of the array parameter `target`; the first `index_count` operands are
  /// its indices. The number of the first component is `extent`, plus an additional operand if there is one.
  kLoad,
  /// Components of an element of the array parameter `target` = the operands after the indices. The first component is
  /// given as for kLoad.
  kStore,
  /// As kStore, but updates the components by `atomic_op`. For kCompareAndSwap, the expected value follows the new
  /// value, and the whole element is always changed. The previous value goes to destination .. unless that is kNone.
  kAtomic,
  /// destination .. = element [operand 0] of the local array with `extent` elements whose first register is `target`.
  kLocalLoad,
  kLocalStore,   ///< element [operand 0] of the local array at register `target` = operands from 1 on
  kJump,         ///< continues at instruction `target`
  kJumpIfEqual,  ///< continues at instruction `target` if operand 0 equals `extent`
  /// Continues at instruction `target` unless operand 0 (counter) is before operand 1 (stop) by operand 2 (step).
  kRangeLoopTest,
  kRangeLoopNext,  ///< adds operand 0 (step) to destination (counter), and continues at instruction `target`
  /// destination = operand 0, with other derivatives: those by operands 1 to n are the n operands after them. The
  /// derivative by operand 0 is propagated only if `extent` is 1.
  kCustomDerivative,
  /// Adds to the derivatives of destination: those by the components of an element of the array parameter `target` are
  /// the operands after the indices, with the sign of `atomic_op`. The element is given as for kStore.
  kElementDerivative,
  kEnd,  ///< ends the thread
};

/// One instruction of the interpreter.
struct Instruction {
  InstructionCode code = InstructionCode::kEnd;  ///< operation of the interpreter
  ir::Op op = ir::Op::kAdd;  ///< operation of the operation table, for kFloatOperation and similar codes
  ir::AtomicOp atomic_op = ir::AtomicOp::kAdd;  ///< for kAtomic: how the element is updated
  ir::Scalar scalar = ir::Scalar::kF32;         ///< type of the operands or, for a conversion, of the result
  ir::Scalar source_scalar = ir::Scalar::kF32;  ///< for a conversion: type of the operand
  std::uint8_t index_count = 0;                 ///< for an access to an array: number of its indices
  bool ignores_out_of_bounds =
      false;  ///< whether outside the array a load gives zero and other accesses do nothing (tiles)
  std::uint8_t leading_index_count = 0;  ///< if so: number of the first indices that must be inside nevertheless
  bool ignores_negative_indices =
      false;  ///< whether a negative index is outside the array and not an error (tiles at the indices in a tile)
  bool stores_constant = false;        ///< for a store: whether the value is a constant of the source
  bool starts_tile = false;            ///< for a store or an atomic of a tile: whether it is that of the first element
  std::uint16_t component_count = 1;   ///< number of scalar components of an element, and so of its registers
  RegisterId destination = ir::kNone;  ///< first register of the result; kNone: no result
  std::uint32_t first_operand = 0;     ///< index of the first operand in Program::operands
  std::uint32_t operand_count = 0;     ///< number of operands in Program::operands
  std::int32_t target = 0;             ///< parameter, instruction or register, depending on `code`
  std::int32_t extent = 0;             ///< dimension, component, value or number of registers, depending on `code`
  const Evaluator* evaluator = nullptr;   ///< implementation of a float operation; null for other codes
  std::int32_t branch_point = ir::kNone;  ///< index in Program::branch_points; kNone: the instruction does not branch
  ir::Loc loc = {};                       ///< location in the source
};

/// A register that holds a constant.
struct RegisterConstant {
  RegisterId destination;  ///< register of the constant
  ir::Scalar scalar;       ///< type of the constant
  std::uint64_t bits;      ///< value of the constant, as in ir::Expr::bits
  /// Whether it stands for an arbitrary number, so that products with it must not be treated as exact.
  bool is_inexact = false;
};

/// The properties of a parameter of the kernel.
struct ParameterProperties {
  bool is_array = false;                    ///< whether the parameter is an array
  bool is_written = false;                  ///< for an array: whether a statement stores to it or updates it
  bool has_partial_element_writes = false;  ///< for an array: whether a statement changes only a part of an element
  RegisterId first_register = ir::kNone;    ///< for a value: its first register
  std::vector<ir::Scalar> components;       ///< types of the scalar components of the value or of one element
};

/// A lowered kernel.
class Program {
 public:
  const ir::Module* module = nullptr;    ///< module of the kernel
  const ir::Function* kernel = nullptr;  ///< the kernel that was lowered
  std::vector<Instruction> code;         ///< instructions, in order
  std::vector<RegisterId> operands;  ///< registers of the operands of all instructions, one instruction after another
  /// Registers with constants, which are set before the first thread runs.
  std::vector<RegisterConstant> register_constants;
  std::vector<ParameterProperties> parameters;     ///< properties of each parameter
  std::vector<RegisterId> thread_index_registers;  ///< registers of the thread indices
  std::vector<BranchPoint> branch_points;          ///< branch points of the kernel, with counts of zero
  RegisterId register_count = 0;                   ///< number of registers of a thread

  /// Returns the registers of the operands of an instruction.
  std::span<const RegisterId> operands_of(const Instruction& instruction) const {
    return std::span(operands).subspan(instruction.first_operand, instruction.operand_count);
  }
};

/// Lowers a valid kernel. Fails for arrays inside structs and other constructs that the oracle does not support.
Result<Program> lower(const ir::Module& module, const ir::Function& kernel,
                      CustomReplays custom_replays = CustomReplays::kIgnored);

}  // namespace assay::reference
