// A lowered kernel: registers as offsets into a warp's frame, instructions as handlers over 32 lanes.
//
// A frame holds every register of the entry and of the functions that it calls as a structure of arrays: 32 words of 4
// bytes, or of 8 for 64-bit types; a predicate is one word with a bit for each lane. Immediate operands are registers
// of a second frame shared by all warps, so handlers have only one kind of operand.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/container/static_vector.hpp>

#include "backends/ptx/parse/module.hpp"
#include "support/result.hpp"

namespace assay::ptx {

inline constexpr unsigned kLanesPerWarp = 32;           ///< number of lanes of a warp
inline constexpr std::uint32_t kAllLanes = 0xffffffff;  ///< mask of all lanes of a warp
/// The largest number that a memory instruction can have in the race check.
inline constexpr std::uint32_t kMaxRaceCheckNumber = 2047;

/// Calls `use` with the index of each lane of the mask.
template <class Use>
void each_lane(std::uint32_t lane_mask, Use use) {
  if (lane_mask == kAllLanes) {
    for (unsigned lane = 0; lane < kLanesPerWarp; ++lane)
      use(lane);
    return;
  }
  for (; lane_mask != 0; lane_mask &= lane_mask - 1)
    use(static_cast<unsigned>(std::countr_zero(lane_mask)));
}

/// The number of lanes if the mask holds the first lanes and no others; otherwise 0.
inline unsigned leading_lanes(std::uint32_t lane_mask) {
  const auto count = static_cast<unsigned>(std::countr_one(lane_mask));
  return count == kLanesPerWarp || lane_mask >> count == 0 ? count : 0;
}

/// Copies the values of the lanes of the mask. The arrays of 32 values must not overlap.
template <class T>
void copy_lanes(T* to, const T* from, std::uint32_t lane_mask) {
  // Most masks hold all lanes or the first ones.
  if (lane_mask == kAllLanes) std::memcpy(to, from, kLanesPerWarp * sizeof(T));
  else if (const unsigned count = leading_lanes(lane_mask); count != 0) std::memcpy(to, from, count * sizeof(T));
  else each_lane(lane_mask, [=](unsigned lane) { to[lane] = from[lane]; });
}

struct Op;

/// Replaces the correctly rounded results of approximate instructions, by measured results of a device or by results
/// with documented errors.
class ResultCorrection {
 public:
  /// The operands of all lanes. Each word has 64 bits for f64 and 32 bits for the other types.
  struct Operands {
    const std::byte* a = nullptr;  ///< first operand
    const std::byte* b = nullptr;  ///< second operand; null for a function of one operand
  };
  virtual ~ResultCorrection() = default;
  /// `results`: the words of all lanes, as for the operands.
  virtual void apply(const Op& op, std::uint32_t mask, const Operands& operands, std::byte* results) = 0;
};

/// The state of a warp that the handlers of instructions use.
struct WarpState {
  std::byte* frames[2] = {};      ///< frames of registers: that of the warp, and that of the constants
  std::uint32_t carry_flags = 0;  ///< carry flag of each lane, one bit for each
  /// Replaces results of approximate instructions; null: they stay correctly rounded.
  ResultCorrection* result_correction = nullptr;
};

/// Executes one instruction for the lanes of `mask`. The `full_warp_handler` handler may assume that all lanes are
/// active.
using Handler = void (*)(WarpState& lanes, const Op& op, std::uint32_t mask);
/// The two functions that execute an instruction; both null: unsupported.
struct InstructionHandlers {
  Handler full_warp_handler = nullptr;    ///< executes it if all lanes are active
  Handler masked_warp_handler = nullptr;  ///< executes it for any set of lanes
  explicit operator bool() const { return full_warp_handler != nullptr; }
};

/// The position of a register in one of the two frames.
struct FrameSlot {
  static constexpr std::uint32_t kConstantFrameBit = 0x80000000;  ///< bit that selects the frame of constants
  std::uint32_t bits = 0;  ///< offset in bytes into the frame; with kConstantFrameBit, into the frame of constants
};

/// Number of address bits below the index of the window. The upper bits identify an allocation. It starts in the middle
/// of its window, so that an out-of-bounds access is still attributed to it. The first windows are the null page and
/// the other state spaces.
inline constexpr unsigned kAddressWindowBits = 40;
/// Offset in its window at which an allocation starts.
inline constexpr std::uint64_t kAddressWindowMiddleOffset = std::uint64_t{1} << (kAddressWindowBits - 1);
inline constexpr std::uint64_t kSharedWindowIndex = 1;           ///< index of the window of shared memory
inline constexpr std::uint64_t kLocalWindowIndex = 2;            ///< index of the window of local memory
inline constexpr std::uint64_t kParamWindowIndex = 3;            ///< index of the window of the kernel's parameters
inline constexpr std::uint64_t kFirstAllocationWindowIndex = 4;  ///< index of the window of the first allocation
/// Number of bits for the offset in a shared variable: addresses in shared memory have 32 bits, and the upper 12
/// identify the variable. Addresses in local memory identify it by the upper bits in the window.
inline constexpr unsigned kSharedOffsetBits = 20;
/// Offset at which a shared variable starts.
inline constexpr std::uint64_t kSharedMiddleOffset = std::uint64_t{1} << (kSharedOffsetBits - 1);
inline constexpr unsigned kLocalOffsetBits = 24;  ///< number of bits for the offset in a local variable
/// Offset at which a local variable starts.
inline constexpr std::uint64_t kLocalMiddleOffset = std::uint64_t{1} << (kLocalOffsetBits - 1);

/// How the interpreter executes an instruction.
enum class DispatchKind : std::uint8_t {
  kHandlerOnly,  ///< by its handler only
  kMemory,       ///< memory access: ld, st, atom, red
  kBranch,       ///< branch: bra
  /// Branch to a target that an index selects: brx.idx.
  kIndexedBranch,
  kCall,    ///< call of a function
  kReturn,  ///< return from a function
  kExit,    ///< end of the thread: exit
  kTrap,    ///< end of the launch with an error: trap
  /// End of the launch with an error: call of __assertfail. The address of the condition's text is in local memory, in
  /// the words `immediate` and `immediate` + 1.
  kFailedAssertion,
  kBarrier,        ///< barrier of the block: bar.sync, bar.red
  kWarpOperation,  ///< operation that waits for all lanes of a mask: shfl, vote, match, redux, bar.warp
  kActiveMask,     ///< query of the active lanes: activemask
  /// Query of the time, shifted right by `immediate` bits: the number of instructions that all threads have executed.
  kTime,
  kFence,             ///< fence, which orders memory accesses for threads of all blocks
  kMatrixOperation,   ///< operation of all lanes on matrices: ldmatrix, stmatrix, mma, wmma
  kAsyncCopy,         ///< start of an asynchronous copy: cp.async
  kAsyncCopyControl,  ///< end of a group of asynchronous copies, or wait for groups
  kWarpgroupProduct,  ///< start of an asynchronous product: wgmma.mma_async
  kWarpgroupControl,  ///< fence of a warpgroup, end of a group of its products, or wait for groups
  kProxyFence,        ///< fence between accesses of threads and asynchronous accesses: fence.proxy
  kMbarrier,          ///< operation on an mbarrier object
  kBulkCopy,          ///< start of a bulk copy: cp.async.bulk
  kBulkCopyControl,   ///< end of a group of bulk copies, or wait for groups
  /// Change of a field of a tensor map: tensormap.replace.
  kTensorMapReplace,
  /// Copy of a tensor map by a warp: tensormap.cp_fenceproxy.
  kTensorMapCopy,
  /// Fence between accesses to a tensor map and its use: fence.proxy.tensormap.
  kTensorMapFence,
  /// Arrival or wait at the barrier of a cluster of blocks.
  kClusterBarrier,
  /// Address in the shared memory of a block of the cluster: mapa.
  kClusterAddress,
  /// Operation of all lanes on tensor memory: tcgen05.alloc, dealloc, ld, st, wait.
  kTensorMemory,
  /// Start of an asynchronous operation of a thread on tensor memory, or their commit.
  kTensorOperation,
  kUnsupported,  ///< instruction that the interpreter does not support
  kNoEffect,     ///< instruction without an effect on results
};

enum class Access : std::uint8_t { kLoad, kStore, kAtomic };
enum class Exactness : std::uint8_t { kExact, kApproximate, kOrderDependent, kContractible };

/// The details of a memory access that its Op does not contain.
struct MemoryOp {
  Access access = Access::kLoad;   ///< kind of access: load, store or atomic
  Space space = Space::kGeneric;   ///< state space that the instruction specifies; kGeneric if none
  Type type = Type::kNone;         ///< type of each element
  bool has_64_bit_base = true;     ///< whether the base register has 64 bits, not 32
  bool has_no_base = false;        ///< whether the address consists of the offset only
  bool non_coherent = false;       ///< whether it is a load with .nc
  bool is_strong = false;          ///< whether it is volatile or ordered, so that it cannot race with atomics
  bool is_volatile = false;        ///< whether it is volatile
  bool is_guess = false;           ///< whether it is a plain load that cannot race with atomics (guess_loads.hpp)
  bool has_block_scope = false;    ///< whether it is strong only towards threads of its own block
  bool releases = false;           ///< whether it acts like an access after a fence
  bool acquires = false;           ///< whether it acts like an access before a fence
  bool returns_old_value = true;   ///< whether an atomic returns the old value (atom, not red)
  std::uint8_t element_count = 1;  ///< number of elements; more than 1 for a vector
  /// For a load of a vector: number of elements at its end whose registers no other instruction uses. A compiler may
  /// load more than it needs, so these elements are checked for bounds only.
  std::uint8_t unused_element_count = 0;
  Modifier atomic_operation{};  ///< operation of an atomic, such as .add
  FrameSlot values[4];          ///< destinations or stored values; for an atomic: destination, operand, second operand
  /// For each element of `values` that is only copied between places in local memory: the number of its register among
  /// such registers, counted from 1; 0 for other elements. A load of a copied value may read bytes that nothing has
  /// written. A store leaves such bytes unwritten.
  std::uint16_t copy_numbers[4] = {};
  std::uint16_t race_check_number = 0;  ///< number of the instruction in the race check
};

/// A copy by cp.async from global to shared memory. Its Op contains the address of the destination.
struct AsyncCopyOp {
  std::uint32_t source_index = 0;       ///< index of the MemoryOp for reading the source
  std::uint32_t destination_index = 0;  ///< index of the MemoryOp for writing the destination
  FrameSlot source_base;                ///< register with the base address of the source
  std::uint64_t source_offset = 0;      ///< offset to add to the base address of the source
  FrameSlot read_bytes;      ///< register with the number of bytes to read; the remaining bytes are written as 0
  FrameSlot ignores_source;  ///< predicate that, if true, makes all written bytes 0
};

/// The role of a matrix in a product: m by k, k by n, or m by n.
enum class MatrixRole : std::uint8_t { kA, kB, kAccumulator };

/// A matrix whose elements are distributed over the registers of a warp.
struct Fragment {
  Type type = Type::kNone;           ///< type of the elements
  MatrixRole role = MatrixRole::kA;  ///< operand of a matrix product that it is
  MatrixShape shape;                 ///< extents of the matrix product
  /// Whether its elements are distributed as for wmma, which the PTX manual does not specify.
  bool has_wmma_layout = false;
  std::uint8_t register_count = 0;       ///< number of registers in each lane
  std::array<FrameSlot, 8> registers{};  ///< registers that hold the elements

  [[nodiscard]] unsigned element_count() const { return register_count * elements_per_register(); }
  [[nodiscard]] unsigned elements_per_register() const { return bytes_of(type) >= 4 ? 1 : 4 / bytes_of(type); }
};

/// An operation of all lanes of a warp on matrices. For a load or store, its Op contains the address.
struct MatrixOp {
  std::array<Fragment, 3> sources{};  ///< the matrix to store; for a product a * b + c, its operands
  Fragment destination;               ///< the matrix that is loaded or computed
  /// Index of the MemoryOp for one row or element in memory; nullopt: no memory access.
  std::optional<std::uint32_t> memory_index{};
  FrameSlot stride{};          ///< register with the number of elements between the starts of rows in memory
  bool saturates = false;      ///< whether an integer sum is clamped to the range of its type (.satfinite)
  bool is_transposed = false;  ///< whether each row in memory becomes a column of the matrix
};

/// The part of wgmma.mma_async d, a, b that one warp of the warpgroup computes: 16 rows of d = a * b + d.
struct WarpgroupProductOp {
  Type a_type = Type::kNone;       ///< type of the elements of a
  Type b_type = Type::kNone;       ///< type of the elements of b
  Type sum_type = Type::kNone;     ///< type of the elements of d
  MatrixShape shape;               ///< extents of the product of the whole warpgroup
  std::vector<FrameSlot> sums;     ///< registers of d
  Fragment a;                      ///< the warp's rows of a; without registers if a is in shared memory
  FrameSlot a_descriptor;          ///< register that describes where a is in shared memory
  FrameSlot b_descriptor;          ///< register that describes where b is in shared memory
  FrameSlot adds_sums;             ///< predicate: whether the old value of d is added
  bool negates_a = false;          ///< whether a is negated
  bool negates_b = false;          ///< whether b is negated
  bool is_a_transposed = false;    ///< whether a column of a, not a row, is contiguous in shared memory
  bool is_b_transposed = false;    ///< whether a row of b, not a column, is contiguous in shared memory
  bool saturates = false;          ///< whether an integer sum is clamped to the range of its type
  std::uint32_t memory_index = 0;  ///< index of the MemoryOp for 16 bytes in shared memory
};

/// An operation on an mbarrier object. Its Op contains the address.
struct MbarrierOp {
  enum class Operation : std::uint8_t { kInit, kInvalidate, kExpect, kComplete, kArrive, kArriveOfCopies, kWait };
  Operation operation = Operation::kArrive;
  bool drops = false;          ///< whether an arrival also reduces the number of arrivals of all later phases
  bool expects_bytes = false;  ///< whether an arrival also expects bytes of bulk copies
  bool increments = false;     ///< whether an arrival of copies first increments the number of pending arrivals
  bool has_parity = false;     ///< whether a wait has the parity of the phase, not the state that an arrival returned
  bool suspends = false;       ///< whether a wait may suspend the thread (try_wait)
  std::uint32_t memory_index = 0;  ///< index of the MemoryOp for the object
  FrameSlot count;                 ///< register with the number of arrivals or bytes
  FrameSlot state;                 ///< register with the state or the parity of the phase to wait for
  FrameSlot result;                ///< register for the state that an arrival returns, or predicate of a wait
};

/// The part of a tensor that a bulk copy accesses: a box whose position in the tensor the coordinates state.
struct TensorBoxOp {
  std::uint8_t rank = 1;                  ///< number of dimensions
  std::array<FrameSlot, 5> coordinates;   ///< registers with the coordinates, that of the contiguous dimension first
  std::uint32_t map_index = 0;            ///< index of the MemoryOp for the tensor map
  FrameSlot map_base;                     ///< register with the base address of the tensor map
  std::uint64_t map_offset = 0;           ///< offset to add to the base address of the tensor map
  std::optional<FrameSlot> block_mask{};  ///< register with the mask of the blocks that receive the box (multicast)
};

/// A bulk copy. Its Op contains the address of the destination, or for a copy to a tensor, that of the tensor map.
struct BulkCopyOp {
  bool is_to_shared = false;            ///< whether it copies from global to shared memory, not the other way
  std::uint32_t source_index = 0;       ///< index of the MemoryOp for reading 16 bytes of the source
  std::uint32_t destination_index = 0;  ///< index of the MemoryOp for writing 16 bytes of the destination
  FrameSlot source_base;                ///< register with the base address of the source
  std::uint64_t source_offset = 0;      ///< offset to add to the base address of the source
  FrameSlot bytes;                      ///< register with the number of bytes
  FrameSlot mbarrier_base;              ///< register with the base address of the mbarrier object
  std::uint64_t mbarrier_offset = 0;    ///< offset to add to the base address of the mbarrier object
  std::uint32_t mbarrier_index = 0;     ///< index of the MemoryOp for the mbarrier object
  std::optional<TensorBoxOp> box{};     ///< box of the tensor in global memory; nullopt: contiguous bytes
  /// Operation that combines the source with the destination in global memory (cp.reduce); nullopt: a copy.
  std::optional<Modifier> reduction{};
};

/// A change of a field of a tensor map, or a copy of a tensor map. Its Op contains the address of the tensor map or of
/// the destination.
struct TensorMapOp {
  Modifier field{};                     ///< field to change
  std::uint32_t dimension = 0;          ///< for a field with several values: number of the value
  FrameSlot value;                      ///< register with the new value
  bool has_64_bit_value = false;        ///< whether the new value has 64 bits, not 32
  FrameSlot source_base;                ///< for a copy: register with the base address of the source
  std::uint64_t source_offset = 0;      ///< for a copy: offset to add to it
  std::uint32_t source_index = 0;       ///< index of the MemoryOp for reading the tensor map
  std::uint32_t destination_index = 0;  ///< index of the MemoryOp for writing the tensor map
};

/// An operation on tensor memory.
struct TensorMemoryOp {
  enum class Operation : std::uint8_t {
    kAllocate,
    kFree,
    kRelinquish,  ///< end of the allocations of the block
    kLoad,
    kStore,
    kWaitForLoads,
    kWaitForStores,
    kMultiply,
    kCopy,    ///< copy from shared memory
    kCommit,  ///< arrival at an mbarrier object when the earlier products and copies of the thread are complete
  };
  Operation operation = Operation::kAllocate;
  Modifier shape{};                       ///< shape of a load, store or copy, such as k32x32b
  Modifier kind{};                        ///< kind of a product, such as kKindF16
  Modifier replication{};                 ///< for a copy: which quarters of the lanes get the same rows
  bool packs_halves = false;              ///< whether a register of a load or store has the lower halves of two words
  bool is_weight_stationary = false;      ///< whether a product has .ws
  std::vector<FrameSlot> registers;       ///< registers that are loaded or stored
  std::uint32_t half_offset = 0;          ///< for .16x32bx2: number of columns between the two halves
  std::uint32_t scale_shift = 0;          ///< for a product: power of two by which the old sums are divided
  FrameSlot column_count;                 ///< for an allocation or its end: number of columns
  FrameSlot a_descriptor;                 ///< place of a, or of the source of a copy, in shared memory
  FrameSlot b_descriptor;                 ///< place of b in shared memory
  FrameSlot a_base;                       ///< base address of a in tensor memory
  std::uint64_t a_offset = 0;             ///< offset to add to `a_base`
  bool is_a_in_tensor_memory = false;     ///< whether a product reads a from tensor memory
  FrameSlot instruction_descriptor;       ///< types and extents of a product
  FrameSlot adds_sums;                    ///< predicate: whether a product adds to the old sums
  std::vector<FrameSlot> disabled_lanes;  ///< masks of the lanes of tensor memory that a product leaves unchanged
  FrameSlot block_mask;                   ///< for a commit with .multicast: mask of the blocks of the cluster
  std::uint32_t memory_index = 0;         ///< index of the MemoryOp for shared memory
  std::uint32_t tensor_load_index = 0;    ///< index of the MemoryOp for loads of words of tensor memory
  std::uint32_t tensor_store_index = 0;   ///< index of the MemoryOp for stores of words of tensor memory

  /// The registers that it reads, apart from those of its Op.
  [[nodiscard]] std::vector<FrameSlot> sources() const {
    std::vector<FrameSlot> slots = disabled_lanes;
    if (operation == Operation::kStore) slots = registers;
    for (const FrameSlot slot :
         {column_count, a_descriptor, b_descriptor, a_base, instruction_descriptor, adds_sums, block_mask})
      if (slot.bits != 0) slots.push_back(slot);
    return slots;
  }
  /// The registers that it writes.
  [[nodiscard]] std::vector<FrameSlot> destinations() const {
    return operation == Operation::kLoad ? registers : std::vector<FrameSlot>{};
  }
};

/// A call of a function: which words of local memory to copy between caller and callee.
struct CallOp {
  /// A copy between words of a thread's local memory.
  struct LocalWordCopy {
    std::uint32_t source_word_index = 0;       ///< position of the source in words
    std::uint32_t destination_word_index = 0;  ///< position of the destination in words
    std::uint32_t word_count = 0;              ///< number of words to copy
  };
  std::vector<LocalWordCopy> argument_copies;  ///< arguments, copied before the call
  std::vector<LocalWordCopy> result_copies;    ///< results, copied after the call
};

/// One instruction in the form that is executed.
struct Op {
  Handler full_warp_handler = nullptr;                      ///< handler if all lanes are active
  Handler masked_warp_handler = nullptr;                    ///< handler for any lanes
  FrameSlot d, d2, a, b, c, e;                              ///< registers: destinations d and d2, sources a, b, c and e
  FrameSlot guard;                                          ///< predicate register of the guard
  bool is_guarded = false;                                  ///< whether the instruction has a guard
  bool is_guard_negated = false;                            ///< whether the guard is negated: "@!%p"
  DispatchKind dispatch_kind = DispatchKind::kHandlerOnly;  ///< how the interpreter executes it
  Exactness exactness = Exactness::kExact;                  ///< what determines the bits of its result
  std::uint32_t target_op_index = 0;         ///< for a branch or call: index of the op that is executed next
  std::uint32_t memory_or_call_index = 0;    ///< index of its MemoryOp, AsyncCopyOp, MatrixOp or CallOp
  std::uint64_t immediate = 0;               ///< offset of an address, truth table of lop3, or another immediate
  const Instruction* instruction = nullptr;  ///< the instruction in the parsed PTX
};

/// A kernel in the form that is executed.
struct Kernel {
  /// A variable in shared or local memory.
  struct Variable {
    std::string name;         ///< name of the variable
    std::uint64_t bytes = 0;  ///< size in bytes; for a shared variable, rounded up to a multiple of its alignment
    std::uint64_t padding_bytes = 0;  ///< number of these bytes that are padding, whose reads are never reported
    /// For a local variable: index of its first word in the local memory of a thread.
    std::uint32_t first_word_index = 0;
    /// For a shared variable: number of bytes between the start of shared memory and its start. The lower 18 bits of
    /// its address are equal to this number, because the descriptors of matrices contain only these bits.
    std::uint32_t shared_offset = 0;
    bool is_dynamically_sized = false;  ///< whether the launch sets its size (dynamic shared memory)
  };
  /// A constant that contains the address of a module variable, which is only known at launch.
  struct Relocation {
    std::uint32_t constant_offset = 0;  ///< position in the frame of constants at which to write the address, in bytes
    std::uint32_t variable_index = 0;   ///< index of the variable in the module
    std::uint64_t offset = 0;           ///< number of bytes to add to the variable's address
  };
  /// A special register that the kernel reads, and the ordinary register that holds its value.
  struct SpecialRegisterSlot {
    SpecialRegister special_register;  ///< special register, such as %tid.x
    FrameSlot slot;                    ///< register with its value
  };
  std::shared_ptr<const Module> module;      ///< the parsed PTX
  const Function* entry_function = nullptr;  ///< the kernel in the module
  std::vector<Op> ops;                       ///< instructions of the kernel and of all functions that it calls
  std::vector<MemoryOp> memory_ops;          ///< memory accesses, which Op::memory_or_call_index refers to
  std::vector<AsyncCopyOp> async_copy_ops;   ///< copies, which Op::memory_or_call_index refers to
  std::vector<MatrixOp> matrix_ops;          ///< matrix operations, which Op::memory_or_call_index refers to
  std::vector<WarpgroupProductOp> warpgroup_product_ops;  ///< products, which Op::memory_or_call_index refers to
  std::vector<MbarrierOp> mbarrier_ops;     ///< mbarrier operations, which Op::memory_or_call_index refers to
  std::vector<BulkCopyOp> bulk_copy_ops;    ///< bulk copies, which Op::memory_or_call_index refers to
  std::vector<TensorMapOp> tensor_map_ops;  ///< tensor map operations, which Op::memory_or_call_index refers to
  std::vector<std::vector<std::uint32_t>> branch_targets;  ///< ops to which each brx.idx may branch
  /// Tensor memory operations, which Op::memory_or_call_index refers to.
  std::vector<TensorMemoryOp> tensor_memory_ops;
  std::vector<CallOp> call_ops;                        ///< calls, which Op::memory_or_call_index refers to
  std::vector<std::byte> initial_constant_frame;       ///< content of the frame of constants before relocation
  std::vector<Relocation> relocations;                 ///< constants that contain addresses of module variables
  std::vector<SpecialRegisterSlot> special_registers;  ///< special registers that the kernel reads
  std::vector<Variable> shared_variables;              ///< variables in shared memory
  std::vector<Variable> local_variables;               ///< variables in local memory
  std::uint32_t local_word_count = 0;                  ///< size of the local memory of a thread, in words of 4 bytes
  std::uint16_t copied_register_count = 0;             ///< number of registers with numbers in MemoryOp::copy_numbers
  std::uint32_t warp_frame_bytes = 0;                  ///< size of a warp's frame of registers, in bytes
  /// By MemoryOp::race_check_number: index of the op that performs the access. index_accesses() fills it.
  std::vector<std::uint32_t> op_indices_by_race_check_number;
  /// By index of the op: whether it is an atomic whose result or memory content may depend on the order of atomics.
  std::vector<bool> is_order_sensitive_by_op;
  bool has_fences = false;  ///< whether the kernel orders accesses by fences; index_accesses() sets it

  /// Notes which ops perform which memory accesses, when all ops are known.
  void index_accesses() {
    op_indices_by_race_check_number.assign(memory_ops.size() + 1, kUnknownOp);
    for (std::uint32_t k = 0; k < ops.size(); ++k) {
      const DispatchKind kind = ops[k].dispatch_kind;
      has_fences |=
          kind == DispatchKind::kFence || kind == DispatchKind::kTensorMapCopy || kind == DispatchKind::kTensorMapFence;
      for (const std::uint32_t index : memory_ops_of(ops[k])) {
        const MemoryOp& memory = memory_ops[index];
        has_fences |= memory.releases || memory.acquires;
        if (memory.race_check_number < kMaxRaceCheckNumber)
          op_indices_by_race_check_number[memory.race_check_number] = k;
      }
    }
  }
  /// The op that performs the access with this MemoryOp::race_check_number; null if it is unknown.
  [[nodiscard]] const Op* op_of_access(std::size_t number) const {
    const bool is_known =
        number < op_indices_by_race_check_number.size() && op_indices_by_race_check_number[number] != kUnknownOp;
    return is_known ? &ops[op_indices_by_race_check_number[number]] : nullptr;
  }

  /// Returns the operation on tensor memory that an op executes; null: none.
  [[nodiscard]] const TensorMemoryOp* tensor_memory_op(const Op& op) const {
    const bool is_one =
        op.dispatch_kind == DispatchKind::kTensorMemory || op.dispatch_kind == DispatchKind::kTensorOperation;
    return is_one ? &tensor_memory_ops[op.memory_or_call_index] : nullptr;
  }
  static constexpr std::uint32_t kUnknownOp = ~0U;  ///< in op_indices_by_race_check_number: no op
  /// The memory accesses of one op.
  using AccessIndices = boost::container::static_vector<std::uint32_t, 4>;
  /// Returns the indices in memory_ops of the memory accesses that an op performs.
  [[nodiscard]] AccessIndices memory_ops_of(const Op& op) const {
    if (op.dispatch_kind == DispatchKind::kMemory) return {op.memory_or_call_index};
    if (op.dispatch_kind == DispatchKind::kMatrixOperation) {
      const std::optional<std::uint32_t> index = matrix_ops[op.memory_or_call_index].memory_index;
      return index ? AccessIndices{*index} : AccessIndices{};
    }
    if (op.dispatch_kind == DispatchKind::kWarpgroupProduct)
      return {warpgroup_product_ops[op.memory_or_call_index].memory_index};
    if (op.dispatch_kind == DispatchKind::kMbarrier) return {mbarrier_ops[op.memory_or_call_index].memory_index};
    if (op.dispatch_kind == DispatchKind::kBulkCopy) {
      const BulkCopyOp& copy = bulk_copy_ops[op.memory_or_call_index];
      AccessIndices indices{copy.source_index, copy.destination_index};
      if (copy.is_to_shared) indices.push_back(copy.mbarrier_index);
      if (copy.box) indices.push_back(copy.box->map_index);
      return indices;
    }
    if (op.dispatch_kind == DispatchKind::kTensorMapReplace || op.dispatch_kind == DispatchKind::kTensorMapCopy) {
      const TensorMapOp& map = tensor_map_ops[op.memory_or_call_index];
      return {map.source_index, map.destination_index};
    }
    if (const TensorMemoryOp* const tensor = tensor_memory_op(op))
      return {tensor->memory_index, tensor->tensor_load_index, tensor->tensor_store_index};
    if (op.dispatch_kind != DispatchKind::kAsyncCopy) return {};
    const AsyncCopyOp& copy = async_copy_ops[op.memory_or_call_index];
    return {copy.source_index, copy.destination_index};
  }
};

/// Lowers the entry `name` of a module. Fails if the entry is missing, if functions recurse, or if the kernel exceeds
/// the limits of the address space. An unsupported instruction fails only when it is executed.
Result<std::shared_ptr<const Kernel>> lower(std::shared_ptr<const Module> module, std::string_view name);

}  // namespace assay::ptx
