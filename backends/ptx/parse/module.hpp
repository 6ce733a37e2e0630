// A parsed PTX module, with names resolved and each instruction's position. Immutable after parsing.
//
//     Result<Module> module = parse(text, "kernel.ptx");
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/ptx/parse/opcode.hpp"
#include "backends/ptx/parse/type.hpp"
#include "support/result.hpp"

namespace assay::ptx {

/// A position in the PTX text, counted from 1.
struct Position {
  std::uint32_t line = 0;    ///< number of the line
  std::uint32_t column = 0;  ///< number of the byte in the line
  friend bool operator==(Position, Position) = default;
};

/// A location in the source of the PTX, from `.loc`; line 0: unknown.
struct DebugLocation {
  std::uint32_t file_number = 0;        ///< number of the file, as in the .file directives; 0: unknown
  std::uint32_t line = 0;               ///< line in the file, counted from 1; 0: unknown
  std::uint32_t inlined_call_line = 0;  ///< line of the inlined call; 0: none
};

enum class Space : std::uint8_t { kGeneric, kGlobal, kShared, kLocal, kConst, kParam, kRegister };
std::string_view to_text(Space space);
/// The space of an access; kGeneric if none is specified.
Space space_of(const Modifiers& modifiers);

/// The kind of entity that a symbol in an operand refers to.
enum class SymbolKind : std::uint8_t { kVariable, kBodyVariable, kParameter, kFunction };

struct Operand {
  enum class Kind : std::uint8_t {
    kSink,             ///< the unused destination "_"
    kRegister,         ///< register; `index` in Function::registers
    kInteger,          ///< integer, in `value`
    kFloat,            ///< float, in `value` as the bits of a double, or of a float
    kSpecialRegister,  ///< special register; `index` is a SpecialRegister
    kSymbol,           ///< address of a symbol: `symbol_kind` and `index`, plus the offset `value`
    kAddress,          ///< address: elements[0] is the base (register, symbol or number), `value` the offset
    kVector,           ///< vector, in `elements`
    kPair,             ///< pair "d|p", in `elements`
    kLabel,            ///< label; `index` of the instruction after it
  };
  Kind kind = Kind::kSink;
  bool is_negated = false;                         ///< whether the predicate is negated: "!%p"
  bool is_double = false;                          ///< for kFloat: whether `value` has the bits of a double
  SymbolKind symbol_kind = SymbolKind::kVariable;  ///< for kSymbol: what the symbol is
  std::uint32_t index = 0;                         ///< index of what the operand refers to, by Kind
  std::uint64_t value = 0;                         ///< number, bits or offset, by Kind
  std::vector<Operand> elements = {};              ///< operands that a kAddress, kVector or kPair consists of
  Position position = {};                          ///< position of the operand in the PTX
};

enum class SpecialRegister : std::uint8_t {
  kTidX,
  kTidY,
  kTidZ,
  kNtidX,
  kNtidY,
  kNtidZ,
  kCtaidX,
  kCtaidY,
  kCtaidZ,
  kNctaidX,
  kNctaidY,
  kNctaidZ,
  kLaneid,
  kWarpid,
  kNwarpid,
  kLanemaskEq,
  kLanemaskLe,
  kLanemaskLt,
  kLanemaskGe,
  kLanemaskGt,
  kWarpSize,
};

struct Instruction {
  Opcode opcode = Opcode::kUnsupported;                          ///< opcode; kUnsupported: see `unsupported_reason`
  InstructionCategory category = InstructionCategory::kControl;  ///< category in a profile
  Modifiers modifiers;
  Type type = Type::kNone;         ///< first type of the spelling, which is the type of the result
  Type source_type = Type::kNone;  ///< last type of the spelling
  std::array<Type, 4> types{};     ///< all types of the spelling, in its order
  std::vector<Operand> operands;
  bool is_guarded = false;         ///< whether a predicate guards the instruction
  Operand guard;                   ///< predicate of the guard: "@%p", "@!%p"
  Position position;               ///< position of the opcode in the PTX
  DebugLocation debug_location;    ///< location in the generated source
  std::string_view text;           ///< text from the opcode to before the semicolon
  std::string unsupported_reason;  ///< reason for kUnsupported: "opcode wgmma", "modifier .foo of add is not supported"
};

/// A variable of any space, including parameters.
struct Variable {
  std::string name;
  Space space = Space::kGlobal;               ///< state space
  Type type = Type::kNone;                    ///< type of the elements
  std::uint32_t alignment = 1;                ///< alignment in bytes
  std::uint64_t bytes = 0;                    ///< size; 0: an array without extent, such as dynamic shared memory
  bool is_external = false;                   ///< whether it is declared .extern
  std::uint64_t offset = 0;                   ///< for a parameter: offset in the list of parameters, in bytes
  std::vector<std::byte> initial_bytes = {};  ///< initial value; empty: zero for global and const
  Position position = {};                     ///< position of the name in the PTX
};

struct Register {
  std::string name;
  Type type = Type::kNone;
};

struct Function {
  std::string name;
  bool is_entry = false;
  bool is_defined = false;  ///< whether it has a body; otherwise it is only declared
  std::vector<Variable> parameters;
  std::vector<Variable> return_values;
  std::vector<Register> registers;  ///< declared registers
  std::vector<Variable> variables;  ///< variables of the body, in shared, local and param space
  std::vector<Instruction> instructions;
  std::uint64_t parameter_bytes = 0;  ///< total size of the parameters
  Position position;                  ///< position of the name in the PTX
};

struct Module {
  std::string name;                         ///< file name, for messages
  std::shared_ptr<const std::string> text;  ///< whole PTX, which Instruction::text refers to
  std::string ptx_version;                  ///< PTX version: "9.0"
  std::string target_architecture;          ///< architecture: "sm_75"
  std::vector<Variable> variables;          ///< variables at module scope
  std::vector<Function> functions;
  std::map<std::uint32_t, std::string> file_names_by_number;  ///< file names of the .file directives, by number

  /// Null if the entry is missing.
  [[nodiscard]] const Function* find_entry(std::string_view entry_name) const;
};

/// Parses a module; `name` is its file name in messages.
///
/// Fails on malformed text, with the location "name:line:column" and a message. An opcode, modifier or type that is not
/// in opcode.cpp does not fail: the instruction is kept as Opcode::kUnsupported and stops a run that executes it.
Result<Module> parse(std::string text, std::string_view name);

}  // namespace assay::ptx
