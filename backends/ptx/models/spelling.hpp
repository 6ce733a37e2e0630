// The spellings of instructions that are computed lane by lane, and kernels that execute them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/ptx/instructions/program.hpp"
#include "backends/ptx/parse/opcode.hpp"
#include "backends/ptx/parse/type.hpp"

namespace assay::ptx::models {

/// One form of an instruction, such as "setp.lt.and.f32": a row of the opcode table with a choice of its optional
/// modifiers and types.
struct InstructionForm {
  const OpcodeRow* opcode_row = nullptr;    ///< row of the opcode table that allows the form
  std::vector<std::string_view> modifiers;  ///< chosen modifiers, in order, without their dots
  Type type = Type::kNone;                  ///< type of the result
  Type source_type = Type::kNone;  ///< type of the source operands; equal to `type` if the row has only one type
  unsigned truth_table = 0;        ///< truth table of lop3, which is its last operand; otherwise 0

  [[nodiscard]] bool has(std::string_view word) const;
  [[nodiscard]] std::string text() const;
};

/// Whether each lane computes instructions of the row independently and exactly. This excludes memory, control, warp
/// and barrier operations, and approximations.
bool is_computed(const OpcodeRow& row);

/// All spellings of the row that PTX defines. Empty if the row has a modifier that is unknown here.
std::vector<InstructionForm> spellings_of(const OpcodeRow& row);

/// A source operand of an instruction form.
struct SourceOperand {
  Type type = Type::kNone;  ///< type of the operand; kPred for predicates
  /// Whether it is a shift amount, field position, length or selector, which always has 32 bits.
  bool is_control_operand = false;
};
std::vector<SourceOperand> sources_of(const InstructionForm& spelling);

/// Bytes of the result's register; 0 for a predicate.
unsigned result_bytes(const InstructionForm& spelling);
/// Whether it reads the carry flag, which the models take as their fourth operand.
bool reads_carry(const InstructionForm& spelling);
/// Whether it has a second result: the carry flag, or the other predicate of setp.
bool has_second_result(const InstructionForm& spelling);

/// The lanes that execute the instruction of the kernel of a spelling.
enum class ExecutingLanes : std::uint8_t {
  kAll,
  kMarked,  ///< only those with a word other than 0 in the last 4 bytes of their records; the others branch around it
};

/// What a lane that does not execute the instruction stores as its result, as many bytes of it as the result has; 0 for
/// a predicate.
inline constexpr std::uint64_t kUntouchedResult = 0x5a5b5c5d5e5f6061;

/// A kernel "k" that applies the instruction to each 48-byte record of its only argument, with one thread per record in
/// blocks of 256. A record is four operands of 8 bytes, the result and the second result. Null if the interpreter does
/// not support the spelling.
std::shared_ptr<const Kernel> kernel_of(const InstructionForm& spelling, ExecutingLanes lanes);

}  // namespace assay::ptx::models
