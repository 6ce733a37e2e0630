// A lowered kernel: registers as offsets into a warp's frame, instructions as handlers over 32 lanes.
//
// A frame holds every register of the entry and of the functions that it calls as a structure of arrays: 32 words of 4
// bytes, or of 8 for 64-bit types; a predicate is one word with a bit for each lane. Immediate operands are registers
// of a second frame shared by all warps, so handlers have only one kind of operand.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/ptx/parse/module.hpp"
#include "support/result.hpp"

namespace assay::ptx {

inline constexpr unsigned kLanesPerWarp = 32;
inline constexpr std::uint32_t kAllLanes = 0xffffffff;
/// The largest number of a memory instruction in the race checker.
inline constexpr std::uint32_t kMaxRaceCheckNumber = 2047;

struct Op;

/// Replaces the correctly rounded results of approximate instructions by a device's results.
class ResultCorrection {
 public:
  virtual ~ResultCorrection() = default;
  /// `operands` and `results` are the words of all lanes, of the instruction's type.
  virtual void apply(const Op& op, std::uint32_t mask, const std::byte* operands, std::byte* results) = 0;
};

/// A warp's state as seen by handlers.
struct WarpState {
  std::byte* frames[2] = {};                      ///< frames of registers: that of the warp, and that of the constants
  std::uint32_t carry_flags = 0;                  ///< the condition code's carry flag of each lane
  ResultCorrection* result_correction = nullptr;  ///< null: approximate instructions give correctly rounded results
};

/// Executes one instruction for the lanes of `mask`. The `full_warp_handler` handler may assume that all lanes are
/// active.
using Handler = void (*)(WarpState& lanes, const Op& op, std::uint32_t mask);
/// The two handlers of an instruction; both null: none.
struct InstructionHandlers {
  Handler full_warp_handler = nullptr;    ///< handler if all lanes are active
  Handler masked_warp_handler = nullptr;  ///< handler for any lanes
  explicit operator bool() const { return full_warp_handler != nullptr; }
};

/// A register: an offset in bytes into one of the two frames.
struct FrameSlot {
  static constexpr std::uint32_t kConstantFrameBit = 0x80000000;  ///< bit that selects the frame of constants
  std::uint32_t bits = 0;  ///< offset in bytes into the frame, with or without kConstantFrameBit
};

/// Addresses. The upper bits identify an allocation, which starts in the middle of a window, so that an out-of-bounds
/// access can still be attributed to it. The first windows are the null page and the other spaces.
inline constexpr unsigned kAddressWindowBits = 40;
inline constexpr std::uint64_t kAddressWindowMiddleOffset = std::uint64_t{1} << (kAddressWindowBits - 1);
inline constexpr std::uint64_t kSharedWindowIndex = 1;
inline constexpr std::uint64_t kLocalWindowIndex = 2;
inline constexpr std::uint64_t kParamWindowIndex = 3;
inline constexpr std::uint64_t kFirstAllocationWindowIndex = 4;
/// Shared addresses have 32 bits and identify a variable by the upper 12, local addresses by the window's upper bits.
inline constexpr unsigned kSharedOffsetBits = 20;
inline constexpr std::uint64_t kSharedMiddleOffset = std::uint64_t{1} << (kSharedOffsetBits - 1);
inline constexpr unsigned kLocalOffsetBits = 24;
inline constexpr std::uint64_t kLocalMiddleOffset = std::uint64_t{1} << (kLocalOffsetBits - 1);

/// How the interpreter's loop treats an instruction.
enum class DispatchKind : std::uint8_t {
  kHandlerOnly,  ///< call of the handler only
  kMemory,       ///< memory access: ld, st, atom, red
  kBranch,
  kCall,
  kReturn,
  kExit,
  kTrap,
  kBarrier,        ///< barrier of the block: bar.sync, bar.red
  kWarpOperation,  ///< operation that waits for the lanes of a mask: shfl, vote, match, redux, bar.warp
  kActiveMask,
  kFence,             ///< fence for the threads of all blocks
  kMatrixOperation,   ///< operation of all lanes on matrices: ldmatrix, stmatrix, mma, wmma
  kAsyncCopy,         ///< start of an asynchronous copy: cp.async
  kAsyncCopyControl,  ///< end of a group of asynchronous copies, or wait for groups
  kUnsupported,
  kNoEffect,
};

enum class Access : std::uint8_t { kLoad, kStore, kAtomic };
enum class Exactness : std::uint8_t { kExact, kApproximate, kOrderDependent, kContractible };

/// The details of a memory access, in addition to its Op.
struct MemoryOp {
  Access access = Access::kLoad;   ///< whether it loads, stores or updates
  Space space = Space::kGeneric;   ///< state space, if the instruction specifies it
  Type type = Type::kNone;         ///< type of each element
  bool has_64_bit_base = true;     ///< whether the base register has 64 bits
  bool has_no_base = false;        ///< whether the address is only the offset
  bool non_coherent = false;       ///< whether it is a load with .nc
  bool is_strong = false;          ///< whether it is volatile or ordered, and so does not race with atomics
  bool has_block_scope = false;    ///< whether it is strong only for the threads of the block
  bool releases = false;           ///< whether it has the effect of a fence before it
  bool acquires = false;           ///< whether it has the effect of a fence after it
  bool returns_old_value = true;   ///< whether an atomic returns the old value: atom, not red
  std::uint8_t element_count = 1;  ///< number of vector elements
  Modifier atomic_operation{};     ///< operation of an atomic
  FrameSlot values[4];  ///< destinations or stored values; for an atomic: destination, operand, second operand
  std::uint16_t race_check_number = 0;  ///< number of the instruction in shadow memory
};

/// A copy by cp.async from global to shared memory. The address of the destination is that of its Op.
struct AsyncCopyOp {
  std::uint32_t source_index = 0;       ///< index of the MemoryOp that reads the source
  std::uint32_t destination_index = 0;  ///< index of the MemoryOp that writes the destination
  FrameSlot source_base;                ///< register with the address of the source, without the offset
  std::uint64_t source_offset = 0;      ///< offset of the address of the source
  FrameSlot read_bytes;                 ///< number of bytes to read; the remaining bytes become 0
  FrameSlot ignores_source;             ///< predicate that replaces all bytes by 0
};

/// The role of a matrix in a product: m by k, k by n, or m by n.
enum class MatrixRole : std::uint8_t { kA, kB, kAccumulator };

/// A matrix whose elements are distributed over the registers of a warp.
struct Fragment {
  Type type = Type::kNone;               ///< type of the elements
  MatrixRole role = MatrixRole::kA;      ///< role of the matrix in a product
  MatrixShape shape;                     ///< shape of this product
  bool has_wmma_layout = false;          ///< whether its layout is that of wmma, which PTX leaves open
  std::uint8_t register_count = 0;       ///< number of registers of each lane
  std::array<FrameSlot, 8> registers{};  ///< registers, of 32 bits or of the type

  [[nodiscard]] unsigned element_count() const { return register_count * elements_per_register(); }
  [[nodiscard]] unsigned elements_per_register() const { return bytes_of(type) >= 4 ? 1 : 4 / bytes_of(type); }
};

/// An operation of all lanes of a warp on matrices. The address of a memory access is that of its Op.
struct MatrixOp {
  std::array<Fragment, 3> sources{};            ///< matrix that is stored, or a, b and c of the product a * b + c
  Fragment destination;                         ///< matrix that is loaded or computed
  std::optional<std::uint32_t> memory_index{};  ///< index of the MemoryOp for a row or an element in memory
  FrameSlot stride{};                           ///< number of elements between the starts of rows in memory
  bool saturates = false;                       ///< whether an integer sum is clamped to the range of its type
  bool is_transposed = false;                   ///< whether the rows in memory are columns of the matrix
};

/// A call: how to copy arguments from the caller's to the callee's part of local memory.
struct CallOp {
  /// A copy between words of a thread's local memory.
  struct LocalWordCopy {
    std::uint32_t source_word_index = 0;       ///< position of the source, in words of local memory
    std::uint32_t destination_word_index = 0;  ///< position of the destination, in words of local memory
    std::uint32_t word_count = 0;              ///< number of words
  };
  std::vector<LocalWordCopy> argument_copies;  ///< copies before the call
  std::vector<LocalWordCopy> result_copies;    ///< copies after the call
};

/// One lowered instruction.
struct Op {
  Handler full_warp_handler = nullptr;                      ///< handler if all lanes are active
  Handler masked_warp_handler = nullptr;                    ///< handler for any lanes
  FrameSlot d, d2, a, b, c, e;                              ///< registers: destinations d and d2, sources a, b, c and e
  FrameSlot guard;                                          ///< predicate of the guard
  bool is_guarded = false;                                  ///< whether the instruction has a guard
  bool is_guard_negated = false;                            ///< whether the guard is "@!%p"
  DispatchKind dispatch_kind = DispatchKind::kHandlerOnly;  ///< how the interpreter treats it
  Exactness exactness = Exactness::kExact;                  ///< what determines the bits of its result
  std::uint32_t target_op_index = 0;                        ///< index of the op that a branch or call continues at
  std::uint32_t memory_or_call_index = 0;                   ///< index of the MemoryOp, AsyncCopyOp, MatrixOp or CallOp
  std::uint64_t immediate = 0;               ///< offset of an address, table of lop3, or another immediate
  const Instruction* instruction = nullptr;  ///< the parsed instruction
};

/// A lowered kernel.
struct Kernel {
  /// A variable in shared or local memory.
  struct Variable {
    std::string name;                 ///< name of the variable
    std::uint64_t bytes = 0;          ///< size; for a shared variable, rounded up to a multiple of its alignment
    std::uint64_t padding_bytes = 0;  ///< number of these bytes that are padding, which may be read without a finding
    std::uint32_t first_word_index = 0;  ///< for a local variable: first word in each thread's local memory
    bool is_dynamically_sized = false;   ///< whether the launch sets its size (dynamic shared memory)
  };
  /// A constant that is the address of a module variable, which is known only at launch.
  struct Relocation {
    std::uint32_t constant_offset = 0;  ///< position of the address in the constants, in bytes
    std::uint32_t variable_index = 0;   ///< index of the variable in the module
    std::uint64_t offset = 0;           ///< number of bytes added to the variable's address
  };
  /// Where a special register's value is stored in the frame.
  struct SpecialRegisterSlot {
    SpecialRegister special_register;  ///< special register to read
    FrameSlot slot;                    ///< register that holds its value
  };
  std::shared_ptr<const Module> module;                ///< the parsed PTX
  const Function* entry_function = nullptr;            ///< the entry in the module
  std::vector<Op> ops;                                 ///< instructions of the entry and of all functions that it calls
  std::vector<MemoryOp> memory_ops;                    ///< memory accesses, which Op::memory_or_call_index refers to
  std::vector<AsyncCopyOp> async_copy_ops;             ///< copies, which Op::memory_or_call_index refers to
  std::vector<MatrixOp> matrix_ops;                    ///< matrix operations, which Op::memory_or_call_index refers to
  std::vector<CallOp> call_ops;                        ///< calls, which Op::memory_or_call_index refers to
  std::vector<std::byte> initial_constant_frame;       ///< initial frame of constants
  std::vector<Relocation> relocations;                 ///< addresses of module variables to write into the constants
  std::vector<SpecialRegisterSlot> special_registers;  ///< special registers that the kernel reads
  std::vector<Variable> shared_variables;              ///< variables in shared memory
  std::vector<Variable> local_variables;               ///< variables in local memory
  std::uint32_t local_word_count = 0;                  ///< local memory of each thread, in words
  std::uint32_t warp_frame_bytes = 0;                  ///< size of the frame of a warp

  /// The indices of the memory accesses that an op performs.
  [[nodiscard]] std::vector<std::uint32_t> memory_ops_of(const Op& op) const {
    if (op.dispatch_kind == DispatchKind::kMemory) return {op.memory_or_call_index};
    if (op.dispatch_kind == DispatchKind::kMatrixOperation) {
      const std::optional<std::uint32_t> index = matrix_ops[op.memory_or_call_index].memory_index;
      return index ? std::vector{*index} : std::vector<std::uint32_t>{};
    }
    if (op.dispatch_kind != DispatchKind::kAsyncCopy) return {};
    const AsyncCopyOp& copy = async_copy_ops[op.memory_or_call_index];
    return {copy.source_index, copy.destination_index};
  }
};

/// Lowers the entry `name` of a module. Fails if the entry is missing, if functions recurse, or if the kernel exceeds
/// the limits of the address space. An unsupported instruction fails only when it is executed.
Result<std::shared_ptr<const Kernel>> lower(std::shared_ptr<const Module> module, std::string_view name);

}  // namespace assay::ptx
