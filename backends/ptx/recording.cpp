#include <algorithm>
#include <set>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "backends/ptx/artifacts.hpp"
#include "backends/ptx/parse/module.hpp"

namespace assay::ptx {

namespace {

using backends::RecordedInstruction;
using backends::RecordingMode;

/// Calls `use` with the index of each register in the operand.
template <class Use>
void each_register(const Operand& operand, const Use& use) {
  if (operand.kind == Operand::Kind::kRegister) use(operand.index);
  for (const Operand& element : operand.elements)
    each_register(element, use);
}

/// The text with all whitespace replaced by single blanks.
std::string in_one_line(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool space = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!space) result += c;
    else if (!result.ends_with(' ')) result += ' ';
  }
  return result;
}

bool names_symbol(const Operand& operand) {
  return operand.kind == Operand::Kind::kSymbol || std::ranges::any_of(operand.elements, names_symbol);
}

/// Whether the first operand is the instruction's result.
bool has_result(const Instruction& instruction) {
  switch (instruction.category) {
    case InstructionCategory::kStore:
    case InstructionCategory::kControl:
    case InstructionCategory::kBarrier: return false;
    default: break;
  }
  if (instruction.opcode == Opcode::kRed || instruction.opcode == Opcode::kUnsupported) return false;
  if (instruction.operands.empty()) return false;
  const Operand::Kind kind = instruction.operands.front().kind;
  return kind == Operand::Kind::kRegister || kind == Operand::Kind::kVector || kind == Operand::Kind::kPair;
}

bool is_access(const Instruction& instruction) {
  return instruction.category == InstructionCategory::kLoad || instruction.category == InstructionCategory::kStore ||
         instruction.category == InstructionCategory::kAtomic;
}

/// The registers of an entry that may hold addresses: 64-bit parameters except the first (the number of threads),
/// addresses of variables, and values computed from these. This includes strides and 64-bit integer arguments.
class AddressRegisters {
 public:
  explicit AddressRegisters(const Function& function) : function_(function) {
    for (bool changed = true; changed;) {
      const std::size_t before = registers_.size();
      const bool stored_before = stored_;
      for (const Instruction& instruction : function.instructions)
        follow(instruction);
      changed = registers_.size() != before || stored_ != stored_before;
    }
  }

  [[nodiscard]] bool contains(std::uint32_t index) const { return registers_.contains(index); }

 private:
  [[nodiscard]] bool has_address(const Operand& operand) const {
    bool has = false;
    each_register(operand, [&](std::uint32_t index) { has = has || contains(index); });
    return has;
  }

  void follow(const Instruction& instruction) {
    const std::vector<Operand>& operands = instruction.operands;
    if (instruction.category == InstructionCategory::kStore) {
      stored_ = stored_ || has_address(operands.back());
    } else if (has_result(instruction) && !is_float(instruction.type) && gives_address(instruction)) {
      each_register(operands.front(), [&](std::uint32_t index) {
        if (function_.registers[index].type != Type::kPred) registers_.insert(index);
      });
    }
  }

  [[nodiscard]] bool gives_address(const Instruction& instruction) const {
    const auto sources = std::span(instruction.operands).subspan(1);
    if (instruction.category == InstructionCategory::kAtomic) return false;
    if (instruction.category != InstructionCategory::kLoad)
      return std::ranges::any_of(sources, [&](const Operand& from) { return names_symbol(from) || has_address(from); });
    if (bytes_of(instruction.type) != 8 || sources.empty() || sources.front().elements.empty()) return false;
    const Operand& base = sources.front().elements.front();
    const bool is_parameter = base.kind == Operand::Kind::kSymbol && base.symbol_kind == SymbolKind::kParameter;
    return is_parameter ? base.index != 0 : stored_;
  }

  const Function& function_;
  std::set<std::uint32_t> registers_;
  bool stored_ = false;  ///< an address was stored, so any loaded 64-bit integer may be an address
};

/// Inserts the recording code into one entry's text.
class Weaver {
 public:
  Weaver(const Module& module, const Function& entry, RecordingMode recording)
      : text_(*module.text), entry_(entry), recording_(recording), addresses_(entry) {}

  Result<backends::InstrumentedCode> weave() {
    const std::size_t start = offset_of_entry();
    const std::size_t parameters = text_.find(')', start);
    const std::size_t body = text_.find('{', parameters);
    if (parameters == std::string_view::npos || body == std::string_view::npos || entry_.parameters.empty())
      return Error{fmt::format("cannot record instruction results of '{}': the kernel has no parameters", entry_.name)};
    copy_to(parameters);
    code_.content += ",\n.param .u64 assay_records,\n.param .u64 assay_thread\n";
    copy_to(body + 1);
    code_.content += prologue();
    for (const Instruction& instruction : entry_.instructions) {
      if (!has_result(instruction)) continue;
      const auto end = static_cast<std::size_t>(instruction.text.data() + instruction.text.size() - text_.data());
      copy_to(text_.find(';', end) + 1);
      record(instruction);
    }
    copy_to(text_.size());
    return std::move(code_);
  }

 private:
  [[nodiscard]] std::size_t offset_of_entry() const {
    std::size_t offset = 0;
    for (std::uint32_t line = 1; line < entry_.position.line; ++line)
      offset = text_.find('\n', offset) + 1;
    return offset + entry_.position.column - 1;
  }

  void copy_to(std::size_t end) {
    code_.content += text_.substr(copied_, end - copied_);
    copied_ = end;
  }

  [[nodiscard]] std::string prologue() const {
    std::string text =
        "\n.reg .pred %assay_on;\n.reg .b16 %assay_half;\n.reg .b32 %assay_block, %assay_size, %assay_place, "
        "%assay_word;\n.reg .b64 %assay_to, %assay_end, %assay_self, %assay_value, %assay_name, %assay_digest;\n"
        "ld.param.u64 %assay_to, [assay_records];\ncvta.to.global.u64 %assay_to, %assay_to;\n"
        "mov.u32 %assay_block, %ctaid.x;\nmov.u32 %assay_size, %ntid.x;\nmov.u32 %assay_place, %tid.x;\n"
        "mul.wide.u32 %assay_self, %assay_block, %assay_size;\ncvt.u64.u32 %assay_value, %assay_place;\n"
        "add.u64 %assay_self, %assay_self, %assay_value;\n";
    if (recording_ == RecordingMode::kThreadDigests) {
      text +=
          "shl.b64 %assay_value, %assay_self, 3;\nadd.u64 %assay_to, %assay_to, %assay_value;\n"
          "mov.u64 %assay_digest, -3750763034362895579;\n";  // the FNV-1a offset basis
    } else {
      text += fmt::format(
          "ld.param.u64 %assay_value, [assay_thread];\nsetp.eq.u64 %assay_on, %assay_self, %assay_value;\n"
          "add.u64 %assay_end, %assay_to, {};\n",
          backends::kMaxRecordedResults * sizeof(backends::RecordedInstructionResult));
    }
    return text;
  }

  void record(const Instruction& instruction) {
    bool named = false;
    each_register(instruction.operands.front(), [&](std::uint32_t index) {
      // If an instruction overwrites its own guard, the guard no longer shows whether it was executed.
      const bool own_guard = instruction.is_guarded && instruction.guard.index == index;
      if (addresses_.contains(index) || own_guard) return;
      if (!named) name(instruction);
      named = true;
      append_value(index, instruction);
      append_record();
    });
  }

  void name(const Instruction& instruction) {
    code_.instructions.push_back({.code_line = instruction.position.line,
                                  .source_line = instruction.debug_location.line,
                                  .text = in_one_line(instruction.text),
                                  .reads_memory_or_other_threads =
                                      is_access(instruction) || instruction.category == InstructionCategory::kWarp});
  }

  /// The result as 64 bits; 0 if the guard was false, because the register then holds an arbitrary value.
  void append_value(std::uint32_t index, const Instruction& instruction) {
    const auto& [reg, type] = entry_.registers[index];
    if (type == Type::kPred) {
      code_.content += fmt::format("\nselp.u64 %assay_value, 1, 0, {};", reg);
    } else if (bytes_of(type) == 8) {
      code_.content += fmt::format("\nmov.b64 %assay_value, {};", reg);
    } else if (bytes_of(type) == 4) {
      code_.content += fmt::format("\nmov.b32 %assay_word, {};\ncvt.u64.u32 %assay_value, %assay_word;", reg);
    } else {
      code_.content += fmt::format("\nmov.b16 %assay_half, {};\ncvt.u64.u16 %assay_value, %assay_half;", reg);
    }
    if (!instruction.is_guarded) return;
    const std::string& guard = entry_.registers[instruction.guard.index].name;
    code_.content += instruction.guard.is_negated ? fmt::format("\nselp.b64 %assay_value, 0, %assay_value, {};", guard)
                                                  : fmt::format("\nselp.b64 %assay_value, %assay_value, 0, {};", guard);
  }

  void append_record() {
    const std::size_t number = code_.instructions.size();
    if (recording_ == RecordingMode::kThreadDigests) {
      constexpr std::uint64_t kPrime = 1099511628211;  // the FNV-1a prime; odd, so that no difference is lost
      code_.content += fmt::format(
          "\nxor.b64 %assay_digest, %assay_digest, %assay_value;\nmul.lo.u64 %assay_digest, %assay_digest, {0};\n"
          "xor.b64 %assay_digest, %assay_digest, {1};\nmul.lo.u64 %assay_digest, %assay_digest, {0};\n"
          "st.global.u64 [%assay_to], %assay_digest;\n",
          kPrime, number);
    } else {
      code_.content += fmt::format(
          "\nmov.u64 %assay_name, {};\n@%assay_on st.global.v2.u64 [%assay_to], {{%assay_name, %assay_value}};\n"
          "@%assay_on add.u64 %assay_to, %assay_to, 16;\n@%assay_on setp.lt.u64 %assay_on, %assay_to, %assay_end;\n",
          number);
    }
  }

  std::string_view text_;
  const Function& entry_;
  RecordingMode recording_;
  AddressRegisters addresses_;
  backends::InstrumentedCode code_;
  std::size_t copied_ = 0;
};

}  // namespace

Result<backends::InstrumentedCode> make_recording_code(const backends::Artifact& ptx, const std::string& symbol,
                                                       RecordingMode recording) {
  const Result<Module> module = parse(ptx.content, symbol + ".ptx");
  if (!module) return module.error();
  const Function* const entry = module->find_entry(symbol);
  if (entry == nullptr) return Error{fmt::format("the PTX has no entry point '{}'", symbol)};
  return Weaver(*module, *entry, recording).weave();
}

}  // namespace assay::ptx
