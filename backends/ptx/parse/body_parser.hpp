// Parses the body of a function: registers, variables, labels and instructions. Private to the parser. body_parser.cpp
// parses statements, operands.cpp operands.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "backends/ptx/parse/cursor.hpp"
#include "backends/ptx/parse/module.hpp"

namespace assay::ptx {

/// Instructions without operands, by spelling: "add.rn.f32". A module spells thousands of instructions in few ways. The
/// keys refer to the text of the module.
using SpelledInstructions = std::unordered_map<std::string_view, Instruction>;

/// Parses the body of one function.
class BodyParser {
 public:
  /// `function` must be module.functions.back(), with its parameters set. `spelled` belongs to the module.
  BodyParser(TokenCursor& cursor, const Module& module, SpelledInstructions& spelled, Function& function);

  /// Parses from after the opening brace to after the closing brace.
  void parse();

 private:
  /// The names declared in one pair of braces.
  struct Scope {
    std::uint32_t number = 0;  ///< index in BodyParser::outer_scopes_
    /// Registers that are declared together, as in "%r<4>".
    struct RegisterRange {
      std::uint32_t first = 0;  ///< index in Function::registers of "%r0"
      std::uint32_t count = 0;  ///< number of registers: "%r0" to "%r<count - 1>"
    };
    /// Index in Function::registers of each register that is declared alone.
    std::map<std::string, std::uint32_t, std::less<>> registers;
    std::map<std::string, RegisterRange, std::less<>>
        register_ranges;  ///< registers that are declared together, by prefix: "%r"
    std::map<std::string, std::uint32_t, std::less<>> variables;  ///< index in Function::variables of each variable
  };
  /// A use of a label, which may come before its definition.
  struct PendingLabel {
    std::size_t instruction_index;  ///< index of the instruction that uses the label
    std::string name;               ///< name of the label
    Position position;              ///< position of the use, for messages
    std::uint32_t scope;            ///< number of the innermost scope that contains the use
  };
  /// A definition of a label.
  struct Label {
    std::uint32_t instruction_index = 0;  ///< index of the instruction after the label
    std::vector<PendingLabel> targets;    ///< for a label of .branchtargets: the labels in its list
  };

  void open_scope();
  void parse_statement();
  void parse_label();
  void parse_directive();
  void parse_registers();
  void parse_location();
  void parse_instruction();
  void parse_call(Instruction& instruction);
  const Instruction& spelled_instruction(std::string_view spelling);
  void resolve_labels();
  [[nodiscard]] const Label& find_label(const PendingLabel& pending) const;
  [[nodiscard]] std::uint32_t innermost_scope() const { return scopes_.back().number; }

  Operand operand();
  Operand named_operand();
  Operand address();
  Operand vector(std::string_view open, std::string_view close);
  bool find_register(std::string_view name, std::uint32_t& index) const;
  bool find_symbol(std::string_view name, Operand& symbol) const;
  void skip_to_semicolon();

  TokenCursor& cursor_;           ///< tokens of the PTX
  const Module& module_;          ///< module that contains the function
  SpelledInstructions& spelled_;  ///< the instructions whose spelling is known
  Function& function_;            ///< function that is filled
  std::vector<Scope> scopes_;     ///< scopes of the enclosing braces, the innermost last
  /// By number of a scope: number of the scope around it; for the first scope, its own.
  std::vector<std::uint32_t> outer_scopes_;
  std::map<std::pair<std::uint32_t, std::string>, Label> labels_;  ///< labels, by number of the scope and name
  std::vector<PendingLabel> pending_labels_;  ///< uses of labels, which are resolved at the end of the body
  DebugLocation debug_location_;              ///< location of the last .loc directive
  /// Name of an unknown special register in the current instruction; empty: none.
  std::string_view unknown_special_register_;
};

/// The special register with a name such as "%tid.x".
const SpecialRegister* find_special(std::string_view name);

/// Validates an instruction's operands against the opcode table: throws SyntaxError for an invalid number, kind or
/// width of operands.
void validate(const Instruction& instruction, const Function& function);

}  // namespace assay::ptx
