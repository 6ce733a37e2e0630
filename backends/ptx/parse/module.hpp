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

/// A location in the source from which the PTX was compiled, as `.loc` states it; line 0: unknown.
struct DebugLocation {
  std::uint32_t file_number = 0;        ///< number of the file, as in the .file directives; 0: unknown
  std::uint32_t line = 0;               ///< line in the file, counted from 1; 0: unknown
  std::uint32_t inlined_call_line = 0;  ///< line of the call, if the code was inlined; 0: not inlined
};

enum class Space : std::uint8_t { kGeneric, kGlobal, kShared, kLocal, kConst, kParam, kRegister, kTensor };
std::string_view to_text(Space space);
/// The space of an access; kGeneric if none is specified.
Space space_of(const Modifiers& modifiers);

/// The kind of entity that a symbol in an operand refers to.
enum class SymbolKind : std::uint8_t { kVariable, kBodyVariable, kParameter, kFunction };

/// One operand of an instruction.
struct Operand {
  /// What an operand is.
  enum class Kind : std::uint8_t {
    kSink,             ///< the unused destination "_"
    kRegister,         ///< a register; `index` in Function::registers
    kInteger,          ///< an integer, in `value`
    kFloat,            ///< a floating-point number; `value` has the bits of a double or of a float
    kSpecialRegister,  ///< a special register; `index` is a SpecialRegister
    kSymbol,           ///< the address of a symbol: `symbol_kind` and `index`, plus the offset `value`
    /// an address in brackets: elements[0] is the base (register, symbol or number), `value` the offset, and
    /// elements[1] the vector of coordinates in a tensor, if any
    kAddress,
    kVector,  ///< a vector in braces, in `elements`
    kPair,    ///< a pair "d|p", in `elements`
    kLabel,   ///< a label; `index` of the instruction after it, or for brx.idx, `elements` for its targets
  };
  Kind kind = Kind::kSink;  ///< what the operand is
  bool is_negated = false;  ///< whether the operand is a negated predicate: "!%p"
  bool is_double = false;   ///< for kFloat: whether `value` has the bits of a double, not of a float
  SymbolKind symbol_kind = SymbolKind::kVariable;  ///< for kSymbol: what the symbol is
  std::uint32_t index = 0;             ///< index of the register, symbol or instruction, depending on `kind`
  std::uint64_t value = 0;             ///< number, bits or offset, depending on `kind`
  std::vector<Operand> elements = {};  ///< operands that a kAddress, kVector or kPair consists of
  Position position = {};              ///< position of the operand in the PTX
};

/// The special registers that the interpreter supports.
enum class SpecialRegister : std::uint8_t {
  kTidX,               ///< %tid.x: index of the thread in its block
  kTidY,               ///< %tid.y
  kTidZ,               ///< %tid.z
  kNtidX,              ///< %ntid.x: number of threads of a block
  kNtidY,              ///< %ntid.y
  kNtidZ,              ///< %ntid.z
  kCtaidX,             ///< %ctaid.x: index of the block in the grid
  kCtaidY,             ///< %ctaid.y
  kCtaidZ,             ///< %ctaid.z
  kNctaidX,            ///< %nctaid.x: number of blocks of the grid
  kNctaidY,            ///< %nctaid.y
  kNctaidZ,            ///< %nctaid.z
  kLaneid,             ///< %laneid: index of the lane in its warp
  kWarpid,             ///< %warpid: index of the warp in its block
  kNwarpid,            ///< %nwarpid: number of warps of a block
  kLanemaskEq,         ///< %lanemask_eq: bit of this lane
  kLanemaskLe,         ///< %lanemask_le: bits of this lane and all lower ones
  kLanemaskLt,         ///< %lanemask_lt: bits of all lower lanes
  kLanemaskGe,         ///< %lanemask_ge: bits of this lane and all higher ones
  kLanemaskGt,         ///< %lanemask_gt: bits of all higher lanes
  kWarpSize,           ///< WARP_SZ: number of lanes of a warp
  kEnvreg1,            ///< %envreg1: upper half of the address of the grid barrier; 0 without one
  kEnvreg2,            ///< %envreg2: lower half of this address
  kClusterCtaidX,      ///< %cluster_ctaid.x: index of the block in its cluster
  kClusterCtaidY,      ///< %cluster_ctaid.y
  kClusterCtaidZ,      ///< %cluster_ctaid.z
  kClusterNctaidX,     ///< %cluster_nctaid.x: number of blocks of a cluster
  kClusterNctaidY,     ///< %cluster_nctaid.y
  kClusterNctaidZ,     ///< %cluster_nctaid.z
  kClusterCtarank,     ///< %cluster_ctarank: linear index of the block in its cluster
  kClusterNctarank,    ///< %cluster_nctarank: number of blocks of a cluster
  kClusteridX,         ///< %clusterid.x: index of the cluster in the grid
  kClusteridY,         ///< %clusterid.y
  kClusteridZ,         ///< %clusterid.z
  kNclusteridX,        ///< %nclusterid.x: number of clusters of the grid
  kNclusteridY,        ///< %nclusterid.y
  kNclusteridZ,        ///< %nclusterid.z
  kIsExplicitCluster,  ///< %is_explicit_cluster: predicate
  kTime,      ///< %clock64, %globaltimer, and their lower halves %clock, %globaltimer_lo: grows during a launch
  kTimeHigh,  ///< %clock_hi, %globaltimer_hi: the upper half
};

/// One instruction of a function body.
struct Instruction {
  Opcode opcode = Opcode::kUnsupported;                          ///< opcode; for kUnsupported, see `unsupported_reason`
  InstructionCategory category = InstructionCategory::kControl;  ///< category in which a profile counts the instruction
  Modifiers modifiers;                                           ///< modifiers of the opcode, such as .rn
  MatrixShape warpgroup_shape;                                   ///< for wgmma: its shape, such as m64n128k16
  Type type = Type::kNone;         ///< first type of the spelling, which is the type of the result
  Type source_type = Type::kNone;  ///< last type of the spelling, which is that of the source if there are several
  std::array<Type, 4> types{};     ///< all types of the spelling, in its order
  std::vector<Operand> operands;   ///< operands in their order in the text
  bool is_guarded = false;         ///< whether the instruction is executed only if a predicate is true or false
  Operand guard;                   ///< predicate of the guard, without the "@": "%p", "!%p"
  Position position;               ///< position of the opcode in the PTX
  DebugLocation debug_location;    ///< location in the generated source
  std::string_view text;           ///< its text, without the guard and the semicolon
  /// For kUnsupported: the reason, such as "opcode wgmma" or "modifier .foo of add is not supported".
  std::string unsupported_reason;
};

/// A variable in any state space, including parameters.
struct Variable {
  std::string name;              ///< name of the variable
  Space space = Space::kGlobal;  ///< state space
  Type type = Type::kNone;       ///< type of the elements
  std::uint32_t alignment = 1;   ///< alignment in bytes
  std::uint64_t bytes = 0;       ///< size in bytes; 0: an array without extent, such as dynamic shared memory
  bool is_external = false;      ///< whether it is declared .extern
  std::uint64_t offset = 0;      ///< for a parameter: its position in the list of parameters, in bytes
  std::vector<std::byte> initial_bytes = {};  ///< initial value; empty: zero in global and constant memory
  Position position = {};                     ///< position of the name in the PTX
};

/// A declared register.
struct Register {
  std::string name;
  Type type = Type::kNone;
};

/// A kernel (entry) or a function.
struct Function {
  std::string name;
  bool is_entry = false;                         ///< whether it is a kernel, which can be launched
  bool is_defined = false;                       ///< whether it has a body; otherwise it is only declared
  std::vector<Variable> parameters;              ///< parameters, in order
  std::vector<Variable> return_values;           ///< results, in order; none for a kernel
  std::vector<Register> registers;               ///< declared registers
  std::vector<Variable> variables;               ///< variables that the body declares, in shared, local or param space
  std::vector<Instruction> instructions;         ///< instructions of the body, in order
  std::uint64_t max_threads_per_block = 0;       ///< greatest number of threads of a block (.maxntid); 0: not stated
  std::uint64_t required_threads_per_block = 0;  ///< number of threads of a block (.reqntid); 0: not stated
  std::uint64_t blocks_per_cluster = 1;          ///< number of blocks of a cluster that it requires
  bool is_in_explicit_cluster = false;           ///< whether its blocks are always grouped into clusters explicitly
  std::uint64_t parameter_bytes = 0;             ///< total size of the parameters in bytes
  Position position;                             ///< position of the name in the PTX
};

/// A parsed PTX module.
struct Module {
  std::string name;                                           ///< file name, for messages
  std::shared_ptr<const std::string> text;                    ///< whole PTX, which Instruction::text refers to
  std::string ptx_version;                                    ///< version of the PTX language: "9.0"
  std::string target_architecture;                            ///< target architecture: "sm_75"
  std::vector<Variable> variables;                            ///< variables at module scope
  std::vector<Function> functions;                            ///< kernels and functions, in order
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
