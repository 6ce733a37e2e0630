#include <algorithm>
#include <string>

#include "backends/ptx/parse/body_parser.hpp"
#include "backends/ptx/parse/cursor.hpp"

namespace assay::ptx {

namespace {

using Kind = Operand::Kind;

[[noreturn]] void reject(const Operand& operand, const std::string& expected) {
  TokenCursor::fail_at("expected " + expected + " here", operand.position);
}

/// The allowed widths of an operand in bytes.
struct Widths {
  unsigned least = 0;
  unsigned most = 8;
};

class Validator {
 public:
  Validator(const Instruction& instruction, const Function& function)
      : instruction_(instruction), function_(function) {}

  void check(char letter, const Operand& operand) const {
    const unsigned bytes = bytes_of(instruction_.type);
    if (instruction_.type == Type::kPred && (letter == 'd' || letter == 's' || letter == 'D' || letter == 'i')) {
      return predicate(operand, letter != 'd' && letter != 'D');
    }
    switch (letter) {
      case 'd': return destination(operand, {bytes, bytes});
      case 'W': return destination(operand, {2 * bytes, 2 * bytes});
      case 'X': return destination(operand, {});
      case 'D': return each(operand, [&](const Operand& element) { destination(element, memory_widths()); });
      case 's': return source(operand, {bytes, bytes});
      case 'w': return source(operand, {2 * bytes, 2 * bytes});
      case 't': return source(operand, {bytes_of(instruction_.source_type), bytes_of(instruction_.source_type)});
      case 'u': return source(operand, {4, 4});
      case 'x': return source(operand, {});
      case 'S': return each(operand, [&](const Operand& element) { source(element, memory_widths()); });
      case 'F': return each(operand, [&](const Operand& element) { source(element, {4, 8}); });
      case 'i': return movable(operand);
      case 'p': return predicate(operand, true);
      case 'P': return predicate(operand, false);
      case 'q':
        if (operand.kind != Kind::kPair) return predicate(operand, false);
        return each(operand, [&](const Operand& element) { predicate(element, false); });
      case 'Q':
        if (operand.kind != Kind::kPair) return destination(operand, {bytes, bytes});
        destination(operand.elements[0], {bytes, bytes});
        return predicate(operand.elements[1], false);
      case 'a': return address(operand, false);
      case 'T': return address(operand, true);
      case 'n':
        if (operand.kind != Kind::kInteger) reject(operand, "an integer constant");
        return;
      case 'y':
        if (operand.kind == Kind::kRegister && type_of(operand) == Type::kPred) return;
        return source(operand, {4, 4});
      case 'l':
        if (operand.kind != Kind::kLabel) reject(operand, "a label");
        return;
      default: return;
    }
  }

 private:
  [[nodiscard]] Type type_of(const Operand& operand) const { return function_.registers[operand.index].type; }

  /// ld, st and mov of vectors accept registers wider than their type, or parts of it.
  [[nodiscard]] Widths memory_widths() const {
    if (instruction_.opcode == Opcode::kMov) return {};
    return {bytes_of(instruction_.type), 8};
  }

  void register_of(const Operand& operand, Widths widths) const {
    const Type type = type_of(operand);
    if (type == Type::kPred) reject(operand, "a non-predicate register");
    if (bytes_of(type) < widths.least || bytes_of(type) > widths.most) {
      const std::string range = widths.least == widths.most ? ""
                                : widths.most == 8          ? " or more"
                                                            : fmt::format(" to {}", 8 * widths.most);
      reject(operand, fmt::format("a register of {}{} bits", 8 * widths.least, range));
    }
  }

  void destination(const Operand& operand, Widths widths) const {
    if (operand.kind == Kind::kSink) return;
    if (operand.kind != Kind::kRegister) reject(operand, "a register");
    register_of(operand, widths);
  }

  void source(const Operand& operand, Widths widths) const {
    if (operand.kind == Kind::kRegister) return register_of(operand, widths);
    if (operand.kind != Kind::kInteger && operand.kind != Kind::kFloat && operand.kind != Kind::kSpecialRegister) {
      reject(operand, "a register or a number");
    }
    if (operand.kind == Kind::kFloat && !operand.is_double && is_float(instruction_.source_type) &&
        bytes_of(instruction_.source_type) == 8) {
      reject(operand, "a 64-bit number such as 0d3FF0000000000000");
    }
  }

  void movable(const Operand& operand) const {
    if (operand.kind == Kind::kSymbol) return;
    if (operand.kind == Kind::kVector) {
      return each(operand, [&](const Operand& element) {
        if (element.kind != Kind::kSink) source(element, {});
      });
    }
    const unsigned bytes = bytes_of(instruction_.type);
    source(operand, instruction_.operands[0].kind == Kind::kVector ? Widths{} : Widths{bytes, bytes});
  }

  void predicate(const Operand& operand, bool is_source) const {
    if (!is_source && operand.kind == Kind::kSink) return;
    if (is_source && operand.kind == Kind::kInteger) return;
    if (is_source && operand.kind == Kind::kSpecialRegister &&
        operand.index == static_cast<std::uint32_t>(SpecialRegister::kIsExplicitCluster))
      return;
    if (operand.kind != Kind::kRegister || type_of(operand) != Type::kPred) reject(operand, "a predicate");
  }

  void address(const Operand& operand, bool has_coordinates) const {
    if (operand.kind != Kind::kAddress || (operand.elements.size() == 2) != has_coordinates)
      reject(operand, has_coordinates ? "an address such as [%rd1, {%r1, %r2}]" : "an address such as [%rd1+8]");
    if (has_coordinates) each(operand.elements[1], [&](const Operand& element) { source(element, {4, 4}); });
    const Operand& base = operand.elements[0];
    if (base.kind == Kind::kRegister) return register_of(base, {4, 8});
    if (base.kind != Kind::kSymbol && base.kind != Kind::kInteger) reject(base, "a register or a variable");
  }

  template <class Check>
  void each(const Operand& operand, Check check) const {
    if (operand.kind != Kind::kVector && operand.kind != Kind::kPair) return check(operand);
    for (const Operand& element : operand.elements)
      check(element);
  }

  const Instruction& instruction_;
  const Function& function_;
};

/// Whether the instruction has all modifiers that distinguish the row from others with its name.
bool has_required(const Instruction& instruction, std::string_view words) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    const std::string_view word = words.substr(0, end);
    const auto modifier = find_modifier(word);
    const auto type = find_type(word);
    const bool is_present =
        modifier ? instruction.modifiers.has(*modifier) : type == instruction.type || type == instruction.source_type;
    if (!is_present) return false;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return true;
}

const OpcodeRow* row_of(const Instruction& instruction) {
  for (const OpcodeRow& row : opcode_rows()) {
    if (row.opcode == instruction.opcode && has_required(instruction, row.required_modifiers) &&
        instruction.text.starts_with(row.name) &&
        instruction.text.substr(row.name.size(), 1).find_first_not_of(". ;\t\n\r") == std::string_view::npos) {
      return &row;
    }
  }
  return nullptr;
}

void check_vector(const Instruction& instruction, const Operand& operand) {
  const bool is_memory = instruction.opcode == Opcode::kLd || instruction.opcode == Opcode::kSt;
  if (!is_memory) return;
  const std::size_t wanted = instruction.modifiers.has(Modifier::kV4)   ? 4
                             : instruction.modifiers.has(Modifier::kV2) ? 2
                                                                        : 1;
  const std::size_t found = operand.kind == Kind::kVector ? operand.elements.size() : 1;
  if (found != wanted) reject(operand, fmt::format("a vector of {} registers", wanted));
}

}  // namespace

void validate(const Instruction& instruction, const Function& function) {
  if (instruction.is_guarded &&
      (instruction.guard.kind != Kind::kRegister || function.registers[instruction.guard.index].type != Type::kPred)) {
    reject(instruction.guard, "a predicate");
  }
  if (instruction.opcode == Opcode::kUnsupported || instruction.opcode == Opcode::kCall) return;
  const OpcodeRow* const row = row_of(instruction);
  if (row == nullptr || row->operands.starts_with('*')) return;
  const Validator validator(instruction, function);
  std::size_t required = std::min(row->operands.find('?'), row->operands.size());
  std::string letters(row->operands);
  std::erase(letters, '?');
  // mov accepts a vector of parts "{%r1, %r2}" on either side.
  if (instruction.operands.size() < required || instruction.operands.size() > letters.size()) {
    TokenCursor::fail_at(
        fmt::format("instruction {} has {} operands, expected {}", row->name, instruction.operands.size(),
                    letters.size() == required ? fmt::format("{}", required)
                                               : fmt::format("{} or {}", required, letters.size())),
        instruction.position);
  }
  for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
    validator.check(letters[i], instruction.operands[i]);
    if (letters[i] == 'D' || letters[i] == 'S') check_vector(instruction, instruction.operands[i]);
  }
}

}  // namespace assay::ptx
