// Faults of the interpreter, for tests of the search for culprits (harness/blame/injected_faults_test.cpp).
#include <array>
#include <deque>
#include <mutex>
#include <string_view>
#include <utility>

#include "backends/ptx/lower/lowering.hpp"
#include "support/fault_injection.hpp"

namespace assay::ptx {

namespace {

/// Replaces an instruction by another, or exchanges its sources.
struct InstructionFault {
  std::string_view name;
  Opcode from;
  Opcode to;
  bool exchanges_sources = false;
};
constexpr std::array<InstructionFault, 5> kInstructionFaults{
    {{"interpreter_selp_exchanged", Opcode::kSelp, Opcode::kSelp, true},
     {"interpreter_min_is_max", Opcode::kMin, Opcode::kMax},
     {"interpreter_shl_is_shr", Opcode::kShl, Opcode::kShr},
     {"interpreter_sub_exchanged", Opcode::kSub, Opcode::kSub, true},
     {"interpreter_neg_is_abs", Opcode::kNeg, Opcode::kAbs}}};

/// A copy that lives as long as the program, because lowered kernels refer to it.
Instruction& copy_of(const Instruction& instruction) {
  static std::mutex mutex;
  static std::deque<Instruction> copies;
  const std::lock_guard lock(mutex);
  return copies.emplace_back(instruction);
}

}  // namespace

const Instruction& interpreted(const Instruction& instruction) {
  if constexpr (!kFaultInjectionEnabled) return instruction;
  for (const InstructionFault& fault : kInstructionFaults) {
    if (instruction.opcode != fault.from || !fault_is_active(fault.name)) continue;
    Instruction& changed = copy_of(instruction);
    changed.opcode = fault.to;
    if (fault.exchanges_sources) std::swap(changed.operands[1], changed.operands[2]);
    return changed;
  }
  return instruction;
}

}  // namespace assay::ptx
