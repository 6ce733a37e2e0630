// A lowered kernel: registers as offsets into a warp's frame, instructions as handlers over 32 lanes.
//
// A frame holds every register of the entry and of the functions that it calls as a structure of arrays: 32 words of 4
// bytes, or of 8 for 64-bit types; a predicate is one word with a bit for each lane. Immediate operands are registers
// of a second frame shared by all warps, so handlers have only one kind of operand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backends/ptx/parse/module.hpp"
#include "support/result.hpp"

namespace assay::ptx {

inline constexpr unsigned kLanesPerWarp = 32;
inline constexpr std::uint32_t kAllLanes = 0xffffffff;
/// The largest number of a memory instruction in the race checker.
inline constexpr std::uint32_t kMaxMemoryOps = 4095;

struct Op;

/// Replaces the correctly rounded results of approximate instructions by a device's results.
class Correction {
 public:
  virtual ~Correction() = default;
  /// `operands` and `results` are the words of all lanes, of the instruction's type.
  virtual void apply(const Op& op, std::uint32_t mask, const std::byte* operands, std::byte* results) = 0;
};

/// A warp's state as seen by handlers.
struct Lanes {
  std::byte* frames[2] = {};         ///< registers of the warp, and constants
  std::uint32_t carry_flags = 0;     ///< the condition code's carry flag of each lane
  Correction* correction = nullptr;  ///< null: approximate instructions give correctly rounded results
};

/// Executes one instruction for the lanes of `mask`. The `full` handler may assume that all lanes are active.
using Handler = void (*)(Lanes& lanes, const Op& op, std::uint32_t mask);
struct Handlers {
  Handler full = nullptr;
  Handler masked = nullptr;
  explicit operator bool() const { return full != nullptr; }
};

/// A register: an offset in bytes into one of the two frames.
struct FrameSlot {
  static constexpr std::uint32_t kConstant = 0x80000000;
  std::uint32_t bits = 0;
};

/// Addresses. The upper bits identify an allocation, which starts in the middle of a window, so that an out-of-bounds
/// access can still be attributed to it. The first windows are the null page and the other spaces.
inline constexpr unsigned kWindowBits = 40;
inline constexpr std::uint64_t kWindowMiddle = std::uint64_t{1} << (kWindowBits - 1);
inline constexpr std::uint64_t kSharedWindow = 1;
inline constexpr std::uint64_t kLocalWindow = 2;
inline constexpr std::uint64_t kParamWindow = 3;
inline constexpr std::uint64_t kFirstAllocation = 4;
/// Shared addresses have 32 bits and identify a variable by the upper 12, local addresses by the window's upper bits.
inline constexpr unsigned kSharedBits = 20;
inline constexpr std::uint64_t kSharedMiddle = std::uint64_t{1} << (kSharedBits - 1);
inline constexpr unsigned kLocalBits = 24;
inline constexpr std::uint64_t kLocalMiddle = std::uint64_t{1} << (kLocalBits - 1);

/// How the interpreter's loop treats an instruction.
enum class Control : std::uint8_t {
  kPlain,   ///< call the handler
  kMemory,  ///< ld, st, atom, red
  kBranch,
  kCall,
  kReturn,
  kExit,
  kTrap,
  kBarrier,  ///< bar.sync, bar.red
  kWarp,     ///< waits for the lanes of a mask: shfl, vote, match, redux, bar.warp
  kActiveMask,
  kUnsupported,
  kNothing,
};

enum class Access : std::uint8_t { kLoad, kStore, kAtomic };
enum class FidelityClass : std::uint8_t { kExact, kApproximate, kOrderDependent, kContractible };

/// The details of a memory access, in addition to its Op.
struct MemoryOp {
  Access access = Access::kLoad;
  Space space = Space::kGeneric;
  Type type = Type::kNone;
  bool has_wide_address = true;   ///< the base register has 64 bits
  bool has_no_base = false;       ///< the address is only the offset
  bool non_coherent = false;      ///< ld.global.nc
  bool is_strong = false;         ///< volatile or ordered: does not race with atomics
  bool returns_old_value = true;  ///< atom, not red
  std::uint8_t elements = 1;
  Modifier operation{};      ///< of an atomic
  FrameSlot values[4];       ///< destinations or stored values; for an atomic: destination, operand, second operand
  std::uint16_t number = 0;  ///< identifies the instruction in shadow memory
};

/// A call: how to copy arguments from the caller's to the callee's part of local memory.
struct CallOp {
  struct Copy {
    std::uint32_t from = 0;  ///< words of local memory
    std::uint32_t to = 0;
    std::uint32_t words = 0;
  };
  std::vector<Copy> arguments;
  std::vector<Copy> results;
};

struct Op {
  Handler full = nullptr;
  Handler masked = nullptr;
  FrameSlot d, d2, a, b, c, e;
  FrameSlot guard;
  bool is_guarded = false;
  bool is_guard_negated = false;
  Control control = Control::kPlain;
  FidelityClass fidelity = FidelityClass::kExact;
  std::uint32_t target = 0;        ///< of a branch or call
  std::uint32_t detail_index = 0;  ///< index of the MemoryOp or CallOp
  std::uint64_t immediate = 0;     ///< of an address; the table of lop3
  const Instruction* instruction = nullptr;
};

struct Kernel {
  struct Variable {
    std::string name;
    std::uint64_t bytes = 0;       ///< shared: up to the next multiple of its alignment
    std::uint64_t padding = 0;     ///< how many of them are padding, which may be read without a finding
    std::uint32_t first_word = 0;  ///< for a local variable: position in each thread's local memory
    bool is_dynamic = false;       ///< shared memory whose size is set by the launch
  };
  struct Relocation {
    std::uint32_t constant = 0;  ///< offset into the constants
    std::uint32_t variable = 0;  ///< of the module
    std::uint64_t offset = 0;
  };
  struct SpecialRegisterSlot {
    SpecialRegister special;
    FrameSlot slot;
  };
  std::shared_ptr<const Module> module;
  const Function* function = nullptr;
  std::vector<Op> ops;
  std::vector<MemoryOp> memory_ops;
  std::vector<CallOp> calls;
  std::vector<std::byte> constants;
  std::vector<Relocation> relocations;
  std::vector<SpecialRegisterSlot> special_registers;
  std::vector<Variable> shared_variables;
  std::vector<Variable> local_variables;
  std::uint32_t local_words = 0;
  std::uint32_t frame_bytes = 0;
};

/// Lowers the entry `name` of a module. Fails if the entry is missing, if functions recurse, or if the kernel exceeds
/// the limits of the address space. An unsupported instruction fails only when it is executed.
Result<std::shared_ptr<const Kernel>> lower(std::shared_ptr<const Module> module, std::string_view name);

}  // namespace assay::ptx
