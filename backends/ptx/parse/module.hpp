// A parsed PTX module, with names resolved and each instruction's position. Immutable after parsing.
//
//     Result<Module> module = parse(text, "kernel.ptx");
#pragma once

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
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  friend bool operator==(Position, Position) = default;
};

/// A location in the source of the PTX, from `.loc`; line 0: unknown.
struct DebugLocation {
  std::uint32_t file = 0;
  std::uint32_t line = 0;
  std::uint32_t inlined_at = 0;  ///< the line of the call that was inlined; 0: none
};

enum class Space : std::uint8_t { kGeneric, kGlobal, kShared, kLocal, kConst, kParam, kRegister };
std::string_view to_text(Space space);
/// The space of an access; kGeneric if none is specified.
Space space_of(const Modifiers& modifiers);

/// The kind of entity that a symbol in an operand refers to.
enum class SymbolKind : std::uint8_t { kVariable, kBodyVariable, kParameter, kFunction };

struct Operand {
  enum class Kind : std::uint8_t {
    kSink,      ///< "_"
    kRegister,  ///< index: of Function::registers
    kInteger,   ///< value
    kFloat,     ///< value: the bits of a double, or of a float
    kSpecial,   ///< index: a SpecialRegister
    kSymbol,    ///< symbol and index; value: an offset that is added
    kAddress,   ///< elements[0]: base (register, symbol or number); value: offset
    kVector,    ///< elements
    kPair,      ///< elements: "d|p"
    kLabel,     ///< index: of the instruction after the label
  };
  Kind kind = Kind::kSink;
  bool is_negated = false;  ///< "!%p"
  bool is_double = false;   ///< of a kFloat
  SymbolKind symbol = SymbolKind::kVariable;
  std::uint32_t index = 0;
  std::uint64_t value = 0;
  std::vector<Operand> elements = {};
  Position at = {};
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
  Opcode opcode = Opcode::kUnsupported;
  Category category = Category::kControl;
  Modifiers modifiers;
  Type type = Type::kNone;         ///< the first type, of the result
  Type source_type = Type::kNone;  ///< the last type
  std::vector<Operand> operands;
  bool is_guarded = false;
  Operand guard;  ///< "@%p", "@!%p"
  Position at;
  DebugLocation source;
  std::string_view text;    ///< from the opcode to before the semicolon
  std::string unsupported;  ///< why the opcode is kUnsupported: "opcode wgmma", "modifier .foo of add is not supported"
};

/// A variable of any space, including parameters.
struct Variable {
  std::string name;
  Space space = Space::kGlobal;
  Type type = Type::kNone;
  std::uint32_t alignment = 1;
  std::uint64_t bytes = 0;  ///< 0: an array without extent, such as dynamic shared memory
  bool is_external = false;
  std::uint64_t offset = 0;                   ///< of a parameter: in the list of parameters
  std::vector<std::byte> initial_bytes = {};  ///< empty: zero for global and const
  Position at = {};
};

struct Register {
  std::string name;
  Type type = Type::kNone;
};

struct Function {
  std::string name;
  bool is_entry = false;
  bool is_defined = false;  ///< false: declared only
  std::vector<Variable> parameters;
  std::vector<Variable> return_values;
  std::vector<Register> registers;
  std::vector<Variable> variables;  ///< of the body: shared, local, param
  std::vector<Instruction> instructions;
  std::uint64_t parameter_bytes = 0;
  Position at;
};

struct Module {
  std::string name;
  std::shared_ptr<const std::string> text;  ///< what Instruction::text refers to
  std::string version;                      ///< "9.0"
  std::string target;                       ///< "sm_75"
  std::vector<Variable> variables;
  std::vector<Function> functions;
  std::map<std::uint32_t, std::string> files;

  /// Null if the entry is missing.
  [[nodiscard]] const Function* find_entry(std::string_view entry_name) const;
};

/// Parses a module; `name` is its file name in messages.
///
/// Fails on malformed text, with the location "name:line:column" and a message. An opcode, modifier or type that is not
/// in opcode.cpp does not fail: the instruction is kept as Opcode::kUnsupported and stops a run that executes it.
Result<Module> parse(std::string text, std::string_view name);

}  // namespace assay::ptx
