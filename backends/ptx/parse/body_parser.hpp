// Parses the body of a function: registers, variables, labels and instructions. Private to the parser. body_parser.cpp
// parses statements, operands.cpp operands.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "backends/ptx/parse/cursor.hpp"
#include "backends/ptx/parse/module.hpp"

namespace assay::ptx {

class BodyParser {
 public:
  /// `function` must be module.functions.back(), with its parameters set.
  BodyParser(TokenCursor& cursor, const Module& module, Function& function);

  /// Parses from after the opening brace to after the closing brace.
  void parse();

 private:
  /// The names declared in one pair of braces.
  struct Scope {
    struct RegisterRange {
      std::uint32_t first = 0;  ///< index of "%r0" in Function::registers
      std::uint32_t count = 0;  ///< number of registers, "%r0" to "%r<count-1>"
    };
    std::map<std::string, std::uint32_t, std::less<>> registers;  ///< indices of registers declared one by one
    std::map<std::string, RegisterRange, std::less<>>
        register_ranges;                                          ///< registers declared as "%r<count>", by prefix
    std::map<std::string, std::uint32_t, std::less<>> variables;  ///< indices in Function::variables
  };
  /// A reference to a label, which may be defined later.
  struct PendingLabel {
    std::size_t instruction_index;  ///< index of the instruction that refers to the label
    std::string name;               ///< name of the label
    Position position;              ///< position of the reference, for messages
  };

  void parse_statement();
  void parse_directive();
  void parse_registers();
  void parse_location();
  void parse_instruction();
  void parse_call(Instruction& instruction);
  void read_spelling(Instruction& instruction, std::string_view spelling);
  void resolve_labels();

  Operand operand();
  Operand named_operand();
  Operand address();
  Operand vector(std::string_view open, std::string_view close);
  bool find_register(std::string_view name, std::uint32_t& index) const;
  bool find_symbol(std::string_view name, Operand& symbol) const;
  void skip_to_semicolon();

  TokenCursor& cursor_;
  const Module& module_;
  Function& function_;
  std::vector<Scope> scopes_;  ///< open scopes, the innermost last
  std::map<std::string, std::uint32_t, std::less<>>
      instruction_index_by_label_;             ///< index of the instruction after the label
  std::vector<PendingLabel> pending_labels_;   ///< labels to resolve at the end of the body
  DebugLocation debug_location_;               ///< location of the last .loc directive
  std::string_view unknown_special_register_;  ///< in the operands of the current instruction; empty: none
};

/// The special register with a name such as "%tid.x".
const SpecialRegister* find_special(std::string_view name);

/// Validates an instruction's operands against the opcode table: throws SyntaxError for an invalid number, kind or
/// width of operands.
void validate(const Instruction& instruction, const Function& function);

}  // namespace assay::ptx
