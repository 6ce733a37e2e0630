// One launch. Private to the machine: execution.cpp runs blocks and warps, control_flow.cpp executes control flow,
// accesses.cpp memory accesses and warp_operations.cpp warp-wide operations; race_check.cpp checks accesses for races;
// grid_barrier.cpp runs cooperative launches.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <boost/container/small_vector.hpp>

#include "backends/ptx/execute/approximation_errors.hpp"
#include "backends/ptx/execute/fence_order.hpp"
#include "backends/ptx/execute/machine.hpp"
#include "backends/ptx/execute/memory.hpp"
#include "backends/ptx/execute/shared_matrices.hpp"
#include "backends/ptx/execute/tensor_map.hpp"
#include "backends/ptx/execute/tensor_memory.hpp"
#include "backends/ptx/execute/watch.hpp"
#include "backends/ptx/unrounded/arithmetic.hpp"

namespace assay::ptx {

inline constexpr std::uint64_t kWindowMask =
    (std::uint64_t{1} << kAddressWindowBits) - 1;  ///< bits of a generic address that are an address in its space
inline constexpr unsigned kSectorBits = 5;  ///< binary logarithm of the size of a sector of global memory in bytes

/// Position of the counter of the grid barrier in the memory to which %envreg1 and %envreg2 point.
inline constexpr std::uint64_t kGridBarrierOffset = 4;

/// Lanes of a warp that are at the same instruction and have the same return addresses.
struct LaneGroup {
  enum class Wait : std::uint8_t { kNone, kWarp, kBarrier, kMbarrier, kGrid };
  std::uint32_t next_op_index = 0;  ///< index of the next op in Kernel::ops
  std::uint32_t lane_mask = 0;      ///< one bit for each lane, set if it is in the group
  Wait waits_for = Wait::kNone;     ///< what the group waits for, such as other lanes of its warp or a barrier
  bool runs_without_missing_lanes =
      false;  ///< whether it continues without the missing lanes, because nothing else can run
  /// Return addresses of the active calls, the innermost last. Few calls are nested deeper than the capacity without
  /// an allocation.
  boost::container::small_vector<std::uint32_t, 6> return_addresses = {};
  std::uint32_t awaited_grid_barrier = 0;  ///< for kGrid: number of the grid barrier, counted from 0
  bool passes_grid_barrier = false;        ///< whether the grid barrier at which it waited is complete
};

/// A copy that one thread started with cp.async or cp.async.bulk and that is not complete.
struct AsyncCopy {
  const Op* op = nullptr;                 ///< the cp.async instruction
  std::uint64_t group = 0;                ///< number of its group, counted by its thread
  std::uint64_t source_address = 0;       ///< address of the source
  const std::byte* source = nullptr;      ///< source in host memory; null: the copy reads nothing
  std::uint64_t destination_address = 0;  ///< address of the destination
  unsigned read_bytes = 0;                ///< number of bytes to read from the source
  unsigned written_bytes = 0;             ///< number of bytes to write; bytes that are not read are written as 0
  std::byte* destination = nullptr;       ///< for a bulk copy to global memory: destination in host memory
  std::uint32_t start_epoch = 0;          ///< for a bulk copy to global memory: epoch that began with its start
  Type element_type = Type::kNone;        ///< for a box of a tensor or a reduction: type of the elements
};

/// The asynchronous copies of one thread.
struct ThreadCopies {
  /// Number of groups that are closed, which is also the number of the open group.
  std::uint64_t committed_group_count = 0;
  std::vector<AsyncCopy> pending;  ///< copies that are not complete
  /// The same as `committed_group_count` for bulk copies to global memory.
  std::uint64_t committed_bulk_group_count = 0;
  std::vector<AsyncCopy> pending_bulk;  ///< bulk copies to global memory that are not complete
};

/// An mbarrier object.
struct Mbarrier {
  /// An arrival that waits for the earlier cp.async copies of a thread.
  struct ArrivalOfCopies {
    std::uint32_t warp = 0;   ///< index of the thread's warp in the block
    unsigned lane = 0;        ///< lane of the thread
    std::uint64_t group = 0;  ///< number of the last group of copies that it waits for
  };
  /// A bulk copy to shared memory that completes on the object.
  struct BulkCopy {
    std::uint32_t warp = 0;  ///< index in the block of the warp of the thread that started the copy
    unsigned lane = 0;       ///< lane of this thread
    AsyncCopy copy;          ///< the copy
  };
  /// An arrival that waits for earlier products and copies of a thread in tensor memory.
  struct ArrivalOfTensorOperations {
    std::uint32_t thread = 0;       ///< index of the thread in its block
    std::uint32_t last_number = 0;  ///< number of the last operation that it waits for
  };
  std::uint32_t expected_count = 0;                 ///< number of arrivals in each phase
  std::uint32_t pending_count = 0;                  ///< number of arrivals that the current phase still needs
  std::int64_t pending_bytes = 0;                   ///< number of bytes of copies that the current phase still needs
  std::uint64_t phase = 0;                          ///< number of completed phases
  std::vector<ArrivalOfCopies> arrivals_of_copies;  ///< arrivals that have not happened
  std::vector<ArrivalOfTensorOperations> arrivals_of_tensor_operations;  ///< arrivals that have not happened
  std::vector<BulkCopy> copies;                                          ///< bulk copies that are not complete
  /// By warp: accesses with an earlier epoch are ordered before those of a warp that waits for the current phase.
  std::vector<std::uint32_t> arrived_order;
  std::vector<std::uint32_t> finished_order;  ///< the same for the last completed phase
};

/// A product that a warp started with wgmma.mma_async and has not waited for.
struct PendingProduct {
  const Op* op = nullptr;                     ///< the wgmma.mma_async instruction
  std::uint64_t group = 0;                    ///< number of its group, counted by the warp from 1
  std::uint32_t start_epoch = 0;              ///< epoch that began with its start
  std::vector<SharedChunk> read_chunks = {};  ///< shared memory that it reads
};
/// A register that a pending product reads or writes, or that a pending load from tensor memory writes.
struct PendingRegister {
  const Op* op = nullptr;   ///< the wgmma.mma_async or tcgen05.ld instruction
  std::uint64_t group = 0;  ///< number of its group
  bool is_source = false;   ///< whether the product only reads it
  bool is_derived = false;  ///< whether it is a copy of such a register, or computed from it
};
/// A use of a register that a load from tensor memory writes, before its warp has waited for the load.
struct EarlyUse {
  CheckFinding::Kind kind = CheckFinding::Kind::kReadWriteRace;  ///< kind of the finding, if it is one
  const Op* op = nullptr;                                        ///< the instruction that uses the register
  const Op* load = nullptr;                                      ///< the load
};
/// The asynchronous products of one warp, and its loads from tensor memory.
struct WarpgroupProducts {
  std::vector<EarlyUse> early_uses;                              ///< uses since the last wait for loads
  std::uint64_t committed_group_count = 0;                       ///< number of groups that are closed
  std::vector<PendingProduct> pending;                           ///< products that the warp has not waited for
  std::unordered_map<std::uint32_t, PendingRegister> registers;  ///< their registers and copies, by FrameSlot::bits
};

/// A register whose value is undefined in some lanes, because a shuffle read from a lane that did not participate.
struct UndefinedValue {
  FrameSlot place;              ///< the register
  std::uint32_t lane_mask = 0;  ///< one bit for each lane, set if its value is undefined
  const Op* shuffle = nullptr;  ///< the shuffle that the value comes from
};

/// The state of a warp during a launch.
struct Warp : WarpState {
  std::uint32_t index_in_block = 0;               ///< index of the warp in its block
  std::uint32_t live_lane_mask = 0;               ///< one bit for each lane, set until the lane exits the kernel
  std::uint32_t last_synchronization_epoch = 0;   ///< epoch that began with the last synchronization of the warp
  std::vector<LaneGroup> lane_groups;             ///< groups of lanes that run or wait separately
  std::unique_ptr<std::byte[]> storage;           ///< memory of the warp's frame
  std::vector<std::uint32_t> local_memory_words;  ///< local memory of all lanes: word w of lane i is at w * 32 + i
  std::array<ThreadCopies, kLanesPerWarp> copies_by_lane;  ///< asynchronous copies of each lane
  /// Written bytes of each word of local_memory_words, one bit for each byte.
  std::vector<std::uint8_t> written_local_byte_masks;
  /// The unwritten bytes of copied values, one bit for each byte: for the register with number n in
  /// MemoryOp::copy_numbers and lane i, at (n - 1) * 32 + i. Empty as long as no copied value has unwritten bytes.
  std::vector<std::uint8_t> unwritten_copied_bytes;
  WarpgroupProducts products;                    ///< asynchronous products of the warp
  std::vector<UndefinedValue> undefined_values;  ///< registers with undefined lanes; nearly always empty
  /// Unrounded values, by UnroundedPlan::register_index; empty if the launch does not compute them.
  std::vector<UnroundedRegister> unrounded_registers;
  std::vector<UnroundedWord> unrounded_local_words;  ///< the same for local_memory_words
};

/// Replaces results of approximate instructions by measured results from a device's tables, and counts the
/// replacements.
class TableCorrection final : public ResultCorrection {
 public:
  TableCorrection(const ApproximationTables& tables, const Kernel& kernel) : tables_(tables), kernel_(kernel) {}
  void apply(const Op& op, std::uint32_t lane_mask, const Operands& operands, std::byte* results) override;
  /// Returns how many executions of an op, summed over threads, a table covered.
  [[nodiscard]] std::uint64_t covered_execution_count(std::size_t op) const {
    return op < covered_execution_counts_.size() ? covered_execution_counts_[op] : 0;
  }

 private:
  const ApproximationTables& tables_;  ///< measured results
  const Kernel& kernel_;               ///< kernel that is executed
  std::vector<std::uint64_t>
      covered_execution_counts_;  ///< number of executions that a table covered, summed over threads, by op
};

/// The execution of one launch.
class Execution {
 public:
  Execution(Memory& memory, const Kernel& kernel, const LaunchGeometry& geometry, std::vector<std::byte> parameters,
            const LaunchOptions& options);
  ~Execution();
  /// `variables`: addresses of the module's variables.
  RunResult run(std::span<const std::uint64_t> variables);

 private:
  /// The target of each lane's access; null if the access must not be performed.
  using Pointers = std::byte* [kLanesPerWarp];
  using Addresses = std::uint64_t[kLanesPerWarp];

  // execution.cpp
  void prepare(std::span<const std::uint64_t> variables);  ///< sets the state before the first block
  void start_block(std::uint64_t block);
  void start_block_epoch();  ///< starts the first epoch of the current block
  void clear_shared_memory();
  bool continue_block(bool starts_warps);  ///< false: the block waits for other blocks
  void start_warp(Warp& warp, std::uint32_t index);
  void set_special_registers(Warp& warp);  ///< sets special registers
  void finish_warp(Warp& warp);            ///< keeps its frame for reuse
  void run_warp(Warp& warp);
  [[nodiscard]] LaneGroup* next_group(Warp& warp);  ///< null: none can run
  [[nodiscard]] bool remains_next(const Warp& warp, std::size_t number) const;
  bool run_segment(Warp& warp, std::size_t number);                           ///< false: another group may have to run
  void merge(Warp& warp);                                                     ///< merges groups at the same instruction
  void count(std::uint32_t from, std::uint32_t to, std::uint32_t lane_mask);  ///< counts executed instructions
  void stop(RunResult::Status status, std::string message, const Op& op);
  void fill_profile();
  [[nodiscard]] ApproximateFunctionSet executed_approximate_functions() const;
  void advance_epoch();  ///< advances current_epoch_

  // grid_barrier.cpp
  struct SuspendedBlock;
  void run_cooperatively(std::span<const std::uint64_t> blocks);
  void prepare_grid_barrier();
  /// Follows an access to the grid barrier. Returns whether the group must wait before the access until all blocks have
  /// arrived.
  bool must_wait_for_grid(Warp& warp, LaneGroup& group, const Op& op, std::uint32_t lane_mask);
  [[nodiscard]] bool waits_for_grid() const;  ///< whether a thread of the current block waits for other blocks
  void complete_grid_barrier();
  void suspend_block();
  bool resume_block(SuspendedBlock& block);  ///< false: it must still wait
  void exchange_block(SuspendedBlock& block);
  [[nodiscard]] std::vector<std::uint32_t> order_of(std::size_t size, std::uint64_t salt) const;

  // control_flow.cpp
  bool control(Warp& warp, std::size_t number, std::uint32_t& next_op_index, std::uint32_t lane_mask);
  /// The text at an address in local memory of the first active lane; see DispatchKind::kFailedAssertion.
  std::string text_argument(const Warp& warp, const Op& op, std::uint32_t lane_mask);
  void branch(Warp& warp, std::size_t number, std::uint32_t lane_mask);
  void branch_by_index(Warp& warp, std::size_t number, std::uint32_t lane_mask);
  static void copy_local(Warp& warp, std::span<const CallOp::LocalWordCopy> copies, std::uint32_t lane_mask);
  void call(Warp& warp, std::size_t number, std::uint32_t lane_mask);
  bool leave(Warp& warp, std::size_t number, std::uint32_t lane_mask, bool exits);
  bool arrive(Warp& warp, std::size_t number, std::uint32_t lane_mask);  ///< true: the same group continues
  static constexpr std::uint32_t kBarriersPerBlock = 16;                 ///< number of barriers of a block
  /// The operands of a barrier instruction.
  struct BarrierOperands {
    std::uint32_t barrier_number = 0;         ///< number of the barrier, which is the first operand of bar.sync
    std::uint32_t expected_thread_count = 0;  ///< number of threads that must arrive; 0: all threads of the block
  };
  /// The threads that have arrived at a barrier.
  struct BarrierArrivals {
    const Op* instruction = nullptr;          ///< barrier instruction of the waiting threads; null: no thread waits
    std::uint32_t first_thread_index = 0;     ///< index of the first waiting thread
    std::uint32_t expected_thread_count = 0;  ///< number of threads that the barrier waits for
    std::uint32_t arrived_thread_count = 0;   ///< number of threads that have arrived so far
    std::uint32_t arrived_warp_count = 0;     ///< number of warps that have arrived
    /// Whether only part of a warp waits, or the waiting instructions expect different numbers of threads.
    bool is_divergent = false;
  };
  bool continue_waiting_warps();  ///< false: no warp waits
  /// Returns false if no warp waits, or if `needs_completion` is true and no barrier is complete.
  bool release_barrier(bool needs_completion);
  std::vector<LaneGroup*> groups_beyond(const BarrierArrivals& gathering, std::uint32_t number);
  void order_participants(std::uint32_t number);
  BarrierOperands barrier_of(Warp& warp, const LaneGroup& group);
  void gather(std::array<BarrierArrivals, kBarriersPerBlock>& arrivals, Warp& warp, const LaneGroup& group);
  void reduce_at_barrier(const Op& op, std::uint32_t number);
  void fence(const Warp& warp, std::uint32_t lane_mask);

  // accesses.cpp
  /// The allocation of the last access to global memory. The next lane usually accesses the same one.
  struct GlobalWindow {
    std::uint64_t index = 0;           ///< index of the address window; 0: none
    Allocation* allocation = nullptr;  ///< allocation in the window; null: there is none
    ShadowCell* cells = nullptr;       ///< shadow memory of the allocation; null: accesses are not checked
  };
  /// What lanes access: an allocation, or a variable in shared memory.
  struct AccessedMemory {
    std::uint64_t first_address = 0;  ///< address of the first byte
    std::span<std::byte> bytes;       ///< the memory, in host memory
    ShadowCell* cells = nullptr;      ///< its shadow memory; null: accesses are not checked for races
    bool was_initialized = false;     ///< whether all of it was initialized before the launch
  };
  /// A position in shared memory.
  struct SharedOffset {
    std::uint64_t variable = 0;  ///< index of the variable in Kernel::shared_variables
    std::uint64_t offset = 0;    ///< offset in the variable, in bytes
  };
  /// Computes the address of each lane: base register plus offset.
  static void find_addresses(Warp& warp, const MemoryOp& memory, FrameSlot base_slot, std::uint64_t offset,
                             Addresses& addresses);
  void enter_window(GlobalWindow& window, std::uint64_t address);
  static std::uint32_t check_whole_words(const FastRaceCheck& watch, const MemoryOp& memory, std::uint32_t first_thread,
                                         std::uint32_t lane_mask, const Addresses& addresses,
                                         const AccessedMemory& accessed, Pointers& pointers);
  [[nodiscard]] std::optional<SharedOffset> find_shared(std::uint64_t address, unsigned width) const;
  void access(Warp& warp, const Op& op, std::uint32_t lane_mask);
  void access_rounded(Warp& warp, const Op& op, std::uint32_t lane_mask);
  /// Performs the access of the lanes to the given state space.
  void access_space(Warp& warp, const Op& op, const MemoryOp& memory, Space space, std::uint32_t lane_mask,
                    const Addresses& addresses);
  /// Performs the access of the lanes to global memory.
  void access_global(Warp& warp, const Op& op, const MemoryOp& memory, std::uint32_t lane_mask,
                     const Addresses& addresses);
  /// Performs the access of the lanes to shared memory.
  void access_shared(Warp& warp, const Op& op, const MemoryOp& memory, std::uint32_t lane_mask,
                     const Addresses& addresses);
  bool access_equal_local_words(Warp& warp, const MemoryOp& memory, std::uint32_t lane_mask, std::uint64_t address);
  bool access_parts_of_local_words(Warp& warp, const MemoryOp& memory, std::uint32_t lane_mask,
                                   const Kernel::Variable& variable, std::uint64_t offset);
  /// Performs the access of the lanes to local memory.
  void access_local(Warp& warp, const Op& op, const MemoryOp& memory, std::uint32_t lane_mask,
                    const Addresses& addresses);
  bool load_equal_parameters(Warp& warp, const MemoryOp& memory, std::uint32_t lane_mask, std::uint64_t address);
  /// Performs the access of the lanes to the kernel's parameters.
  void access_parameters(Warp& warp, const Op& op, const MemoryOp& memory, std::uint32_t lane_mask,
                         const Addresses& addresses);
  void transfer(Warp& warp, const MemoryOp& memory, std::uint32_t lane_mask, const Pointers& pointers, bool is_global);
  /// Counts atomics whose result depends on their order with other threads' atomics on the same address.
  void count_collisions(const Warp& warp, const Op& op, Space space, std::uint32_t lane_mask,
                        const Addresses& addresses);
  /// Reports atomic, volatile and ordered accesses to the order that fences establish.
  void record_strong_accesses(const Warp& warp, const MemoryOp& memory, std::uint32_t lane_mask,
                              const Addresses& addresses);
  /// Counts the access for the profile, if one is computed.
  void count_global(const MemoryOp& memory, std::uint32_t lane_mask, const Addresses& addresses, unsigned width);

  // race_check.cpp
  /// A plain store of a warp to shared or global memory while the lanes are checked one by one. If a lane may race, the
  /// lanes before it store first, and its own value is then compared with the value in memory.
  struct PlainStore {
    Warp& warp;                         ///< warp that stores
    Pointers& targets;                  ///< addresses in host memory of the lanes in `lane_mask` that have been checked
    const std::uint32_t& lane_mask;     ///< lanes whose stores are performed
    std::uint32_t performed_lane_mask;  ///< one bit for each lane, set if its store has been performed early
    std::array<std::byte, 16> previous;  ///< content of the last lane's memory before its store
  };
  /// A row that stmatrix stores, while its access is checked.
  struct StoredRow {
    std::array<std::byte, 16> bytes{};  ///< new content
    const std::byte* target = nullptr;  ///< its memory
  };
  /// One lane's access, as input of the checks.
  struct LaneAccess {
    const Op& op;
    const MemoryOp& memory_op;                 ///< details of the access
    std::uint32_t thread;                      ///< index of the thread in its block
    std::uint32_t warp_synchronization_epoch;  ///< epoch that began with the last synchronization of the warp
    std::uint64_t address;                     ///< accessed address
    Space space;                               ///< state space of the address
    bool was_initialized;                      ///< whether the memory was initialized before the launch
    PlainStore* plain_store = nullptr;         ///< the store if it is a plain store; otherwise null
    StoredRow* stored_row = nullptr;           ///< the row if stmatrix stores it; otherwise null

    /// Of the accessed bytes, those up to the last one that an instruction uses.
    unsigned used_bytes(unsigned width) const {
      return width - memory_op.unused_element_count * bytes_of(memory_op.type);
    }
  };
  /// Returns the access of one lane.
  static LaneAccess lane_access(const Warp& warp, const Op& op, const MemoryOp& memory, unsigned lane,
                                std::uint64_t address, Space space) {
    return {op,    memory, warp.index_in_block * kLanesPerWarp + lane, warp.last_synchronization_epoch, address,
            space, false};
  }
  /// Checks an access to global memory; returns its memory, or null if it must not be performed.
  std::byte* check_global_access(GlobalWindow& window, const FastRaceCheck& watch, LaneAccess& actor, unsigned width,
                                 unsigned alignment);
  /// Checks an access to shared memory; returns its memory, or null if it must not be performed.
  std::byte* check_shared_access(const FastRaceCheck& watch, const LaneAccess& actor, unsigned width,
                                 unsigned alignment);
  void check_access(const FastRaceCheck& watch, ShadowCell* cells, std::uint64_t offset, unsigned width,
                    const LaneAccess& actor);
  void check_cells(ShadowCell* cells, std::uint64_t offset, unsigned position, unsigned width, const LaneAccess& actor);
  void check_read(ShadowCell& cell, std::uint32_t bytes, const LaneAccess& actor);
  void check_write(ShadowCell& cell, std::uint32_t bytes, unsigned position, const LaneAccess& actor);
  static bool repeats_row(const StoredRow& row, unsigned position, std::uint32_t bytes, std::uint32_t compared);
  bool repeats_value(const LaneAccess& actor, unsigned position, std::uint32_t bytes, std::uint32_t compared);
  /// Returns the fast race check for one instruction of the warp.
  [[nodiscard]] FastRaceCheck make_fast_race_check(const Warp& warp, const MemoryOp& memory) const {
    return {memory,
            current_epoch_,
            {memory.non_coherent ? kernel_start_epoch_ : launch_start_epoch_, block_start_epoch_, phase_start_epoch_,
             partial_barrier_epoch_, warp.last_synchronization_epoch}};
  }
  [[nodiscard]] bool is_unordered(std::uint32_t earlier, const LaneAccess& actor) const;
  [[nodiscard]] bool is_ordered_by_warp(std::uint32_t last_read, std::uint32_t flags, const LaneAccess& actor) const;
  [[nodiscard]] bool assumes_lockstep(std::uint32_t writing_thread, std::uint32_t writer,
                                      const LaneAccess& actor) const;
  /// Adds a finding about the access of a lane. `other` is the packed earlier access of a race, if any, and `number`
  /// its instruction.
  void add_access_finding(CheckFinding::Kind kind, const LaneAccess& actor, const std::uint32_t* other = nullptr,
                          std::uint32_t number = 0);

  /// Adds a finding about an instruction of a thread.
  void add_finding(CheckFinding::Kind kind, const Op& op, std::uint32_t thread, Space space = Space::kGeneric,
                   std::uint64_t address = 0, unsigned width = 0, std::optional<InstructionSite> other = std::nullopt);
  void locate(CheckFinding& finding);  ///< sets allocation and offset
  [[nodiscard]] InstructionSite site_of(const Op* op, std::uint32_t thread, std::uint64_t block) const;
  [[nodiscard]] Dim3 thread_position(std::uint32_t thread) const;
  [[nodiscard]] Dim3 block_position(std::uint64_t block) const;

  // async_copies.cpp
  void start_copies(Warp& warp, const Op& op, std::uint32_t lane_mask);
  void commit_or_await_copies(Warp& warp, const Op& op, std::uint32_t lane_mask);
  void complete(const Warp& warp, unsigned lane, const AsyncCopy& copy);
  bool conflicts_with_pending_copy(const SharedOffset& place, unsigned width, const LaneAccess& actor);
  void mark_pending(const SharedOffset& place, const AsyncCopy& copy, std::uint32_t thread);

  // matrix_operations.cpp
  void matrix_operation(Warp& warp, const Op& op, std::uint32_t lane_mask);
  void move_matrices(Warp& warp, const Op& op, std::uint32_t lane_mask);
  /// A matrix in global or shared memory.
  struct MatrixPlace {
    Space space = Space::kGlobal;  ///< global or shared
    std::uint64_t address = 0;     ///< address of the first element
    std::uint64_t stride = 0;      ///< number of elements between the starts of rows
  };
  void move_elements(Warp& warp, const Op& op, std::uint32_t lane_mask);
  void check_matrix_alignment(const Warp& warp, const Op& op, const MatrixPlace& place, unsigned lane);
  void count_matrix_access(std::vector<std::uint64_t> addresses, unsigned bytes);

  // mbarriers.cpp
  std::optional<std::uint64_t> check_mbarrier_access(const Warp& warp, const Op& op, std::uint32_t memory_index,
                                                     unsigned lane, std::uint64_t address);
  bool operate_on_mbarrier(Warp& warp, LaneGroup& group, const Op& op, std::uint32_t lane_mask);
  void record_arrival(const Warp& warp, Mbarrier& object);
  void finish_phase(Mbarrier& object);
  void order_after_phase(Warp& warp, const Mbarrier& object);
  void complete_copies(Mbarrier& object);
  bool retry_mbarrier_waits(bool has_progress);  ///< false: no group waits for a phase
  void start_bulk_copies(Warp& warp, const Op& op, std::uint32_t lane_mask);
  void commit_or_await_bulk_copies(Warp& warp, const Op& op, std::uint32_t lane_mask);
  void finish_bulk_copies(Warp& warp, unsigned lane, std::uint64_t unfinished_group_count);
  void write_bulk_copy(const Warp& warp, unsigned lane, const AsyncCopy& copy);

  // tensor_copies.cpp
  /// Contiguous bytes of a box.
  struct BoxPiece {
    std::uint64_t shared_address = 0;  ///< address in shared memory
    std::uint64_t global_address = 0;  ///< address in global memory; 0: outside of the tensor
    unsigned bytes = 0;                ///< number of bytes
  };
  std::optional<TensorMap> read_tensor_map(const Warp& warp, const Op& op, unsigned lane, std::uint64_t address);
  void check_tensor_map_fence(const LaneAccess& reader);
  static std::vector<BoxPiece> pieces_of_box(const TensorMap& map, std::span<const std::int32_t> coordinates,
                                             std::uint64_t shared_address);
  void start_tensor_copies(Warp& warp, const Op& op, std::uint32_t lane_mask);
  void load_box(Warp& warp, const Op& op, unsigned lane, const TensorMap& map, std::span<const BoxPiece> pieces,
                std::uint64_t shared_address, std::uint64_t mbarrier_address);
  void store_box(Warp& warp, const Op& op, unsigned lane, const TensorMap& map, std::span<const BoxPiece> pieces,
                 std::uint64_t shared_address);
  void reduce_bulk_copy(const AsyncCopy& copy, Modifier operation);
  void copy_unrounded_elements(const AsyncCopy& copy, Space source_space, Space destination_space);
  std::byte* check_tensor_map_access(const Warp& warp, const Op& op, std::uint32_t memory_index, unsigned lane,
                                     std::uint64_t address);
  void replace_tensor_map_field(Warp& warp, const Op& op, std::uint32_t lane_mask);
  void copy_tensor_map(Warp& warp, const Op& op, std::uint32_t lane_mask);
  void fence_tensor_map(Warp& warp, const Op& op, std::uint32_t lane_mask);

  // clusters.cpp
  bool pass_cluster_barrier(Warp& warp, LaneGroup& group, const Op& op, std::uint32_t lane_mask);
  void finish_cluster_phase();
  void find_cluster_addresses(Warp& warp, const Op& op, std::uint32_t lane_mask);

  // warpgroup_products.cpp
  /// A matrix to read from shared memory, as lines of elements along k.
  struct SharedMatrix {
    MatrixDescriptor descriptor;     ///< where it is
    Type type = Type::kNone;         ///< type of the elements
    unsigned length = 0;             ///< number of elements along k
    std::uint32_t memory_index = 0;  ///< index of the MemoryOp for 16 bytes
    unsigned lane = 0;               ///< lane that reads it, for messages
    unsigned first_line = 0;         ///< number of lines of the whole matrix before the first one
    unsigned line_count = 0;         ///< number of lines
    bool is_transposed = false;      ///< whether adjacent lines, not the elements of a line, are contiguous in memory
  };
  /// The factors of a product, as lines of elements along k: the warp's rows of a, and the columns of b.
  struct WarpgroupFactors {
    std::vector<double> a;                     ///< rounded elements of a
    std::vector<double> b;                     ///< rounded elements of b
    std::vector<UnroundedNumber> unrounded_a;  ///< unrounded values of a; empty if they are not computed
    std::vector<UnroundedNumber> unrounded_b;  ///< unrounded values of b; empty if they are not computed
  };

  // tensor_memory.cpp
  bool operate_on_tensor_memory(Warp& warp, LaneGroup& group, const Op& op, std::uint32_t lane_mask);
  bool allocate_tensor_memory(Warp& warp, LaneGroup& group, const Op& op, std::uint32_t lane_mask);
  void free_tensor_memory(const Warp& warp, const Op& op, std::uint32_t address, std::uint32_t column_count);
  void move_tensor_words(Warp& warp, const Op& op, std::uint32_t address, std::uint32_t lane_mask);
  /// Checks an access to a word of tensor memory. Returns whether it may be performed.
  bool check_tensor_access(const FastRaceCheck& watch, const LaneAccess& actor, TensorCell cell);
  void report_early_uses(const Warp& warp);
  void wait_for_tensor_loads(Warp& warp);
  void wait_for_tensor_stores(const Warp& warp);
  void start_tensor_operation(Warp& warp, const Op& op, std::uint32_t lane_mask);
  void commit_tensor_operations(Warp& warp, const Op& op, unsigned lane, std::uint64_t address);
  void complete_tensor_operations(Mbarrier& object);
  void complete_tensor_operation(const PendingTensorOperation& operation);
  void report_lost_tensor_memory();
  void start_tensor_memory();
  void forget_tensor_accesses();

  // tensor_products.cpp
  /// A product of a thread in tensor memory, decoded from its descriptors.
  struct TensorProduct {
    MatrixShape shape;                  ///< extents of the product
    Type a_type = Type::kNone;          ///< type of the elements of a
    Type b_type = Type::kNone;          ///< type of the elements of b
    Type sum_type = Type::kNone;        ///< type of the elements of d
    bool negates = false;               ///< whether the products are negated
    bool is_a_transposed = false;       ///< whether a column of a, not a row, is contiguous in shared memory
    bool is_b_transposed = false;       ///< whether a row of b, not a column, is contiguous in shared memory
    bool saturates = false;             ///< whether an integer sum is clamped to the range of its type
    bool is_weight_stationary = false;  ///< whether the parts of d with different columns are in different lanes
    bool adds = false;                  ///< whether the old value of d is added
    double old_factor = 1;              ///< factor of the old value of d
    TensorCell first_cell;              ///< where d starts

    /// The number of parts of d, each with some of the columns, that are in different lanes.
    [[nodiscard]] unsigned part_count() const { return is_weight_stationary ? kTensorLanes / shape.m : 1; }
    /// The lane that holds a row of a part of a matrix which starts in the lane `first_lane`.
    [[nodiscard]] unsigned lane_of(unsigned first_lane, unsigned part, unsigned row) const {
      if (is_weight_stationary) return part * shape.m + row;
      constexpr unsigned kRowsOfQuarter = 16;  // in a product with 64 rows
      return first_lane + (shape.m == kTensorLanes ? row : row / kRowsOfQuarter * 32 + row % kRowsOfQuarter);
    }
  };
  /// Rows of a and columns of b, in vectors of elements. Those of b are ordered by k.
  struct TensorFactors {
    std::vector<double> a, b;                  ///< rounded elements
    std::vector<UnroundedNumber> unrounded_a;  ///< unrounded values of a; empty if they are not computed
    std::vector<double> unrounded_b, error_b;  ///< unrounded values of b and their constant errors
  };
  bool decode_product(const Op& op, std::uint32_t descriptor, TensorProduct& product);
  std::optional<MatrixDescriptor> decode_tensor_descriptor(const Op& op, std::uint64_t bits, bool is_transposed);
  void multiply_in_tensor_memory(Warp& warp, const Op& op, unsigned lane, std::uint32_t address);
  void read_tensor_matrix(Warp& warp, const Op& op, unsigned lane, const TensorProduct& product, unsigned part,
                          TensorFactors& factors, std::vector<std::uint32_t>& read_cells);
  void add_tensor_products(Warp& warp, const Op& op, unsigned lane, const TensorProduct& product, unsigned part,
                           const TensorFactors& factors, std::vector<std::uint32_t>& written_cells);
  void copy_to_tensor_memory(Warp& warp, const Op& op, unsigned lane, std::uint32_t address);

  // warpgroup_products.cpp
  void start_product(Warp& warp, const Op& op, std::uint32_t lane_mask);
  void add_products(Warp& warp, const WarpgroupProductOp& product, const WarpgroupFactors& factors, unsigned lane,
                    bool adds_old);
  void read_shared_matrix(Warp& warp, const Op& op, const SharedMatrix& wanted, std::vector<SharedChunk>& read_chunks,
                          std::vector<double>& rounded, std::vector<UnroundedNumber>& unrounded);
  /// Checks a read of a chunk, whose lower 18 address bits are given, by the asynchronous proxy. Returns its content;
  /// null if it must not be read.
  const std::byte* read_shared_chunk(Warp& warp, const Op& op, const SharedMatrix& wanted, std::uint32_t address,
                                     std::vector<SharedChunk>& read_chunks);
  void read_fragment(Warp& warp, const Fragment& fragment, std::uint32_t lane_mask, std::vector<double>& rounded,
                     std::vector<UnroundedNumber>& unrounded);
  void check_proxy_fence(const LaneAccess& reader, const SharedOffset& place, unsigned bytes);
  void control_products(Warp& warp, const Op& op);
  void check_writes_since_start(const Warp& warp, const PendingProduct& pending);
  bool check_writes_since(const LaneAccess& reader, const SharedOffset& place, unsigned bytes,
                          std::uint32_t start_epoch);
  void check_pending_registers(Warp& warp, const Op& op, std::uint32_t lane_mask);

  // unrounded_memory.cpp
  /// The first word of unrounded values that each lane accesses. Its next word is `stride` elements further.
  struct UnroundedPlaces {
    std::array<UnroundedWord*, kLanesPerWarp> words{};       ///< by lane; null: nothing is known
    std::array<std::uint8_t, kLanesPerWarp> byte_offsets{};  ///< by lane: position in the word, from 0 to 3
    std::size_t stride = 1;
  };
  void access_with_unrounded_values(Warp& warp, const Op& op, std::uint32_t lane_mask);
  UnroundedWord* find_unrounded_word(Space space, std::uint64_t address, bool creates);
  UnroundedPlaces find_unrounded_places(Warp& warp, const MemoryOp& memory, std::uint32_t lane_mask,
                                        const Addresses& addresses);
  void move_unrounded(Warp& warp, const Op& op, std::uint32_t lane_mask, const UnroundedPlaces& places);
  /// The unrounded effect of an atomic on one lane, after the atomic; `old_bits` and `new_bits`: content of the memory.
  void apply_unrounded_atomic(Warp& warp, std::uint32_t memory_index, unsigned lane, std::uint64_t old_bits,
                              std::uint64_t new_bits);
  /// Loads or stores one element of a matrix: a part of a register, whose rounded content in memory is `bits`.
  void move_unrounded_element(Warp& warp, FrameSlot slot, unsigned lane, Part part, const MemoryOp& memory, Space space,
                              std::uint64_t address, std::uint64_t bits);
  /// Moves the unrounded value of a whole register from or to a word in shared memory.
  void move_unrounded_word(Warp& warp, FrameSlot slot, unsigned lane, bool is_load, std::uint64_t address);
  void copy_unrounded(const AsyncCopy& copy, const SharedOffset& destination);
  void shuffle_unrounded(Warp& warp, const Op& op, std::uint32_t lane_mask,
                         const std::array<std::uint32_t, kLanesPerWarp>& source_lanes);

  // warp_operations.cpp
  void warp_operation(Warp& warp, const Op& op, std::uint32_t lane_mask);
  void shuffle(Warp& warp, const Op& op, std::uint32_t lane_mask);
  void match(Warp& warp, const Op& op, std::uint32_t lane_mask);
  void reduce(Warp& warp, const Op& op, std::uint32_t lane_mask);
  void reduce_floats(Warp& warp, const Op& op, std::uint32_t lane_mask);

  // undefined_values.cpp
  /// Follows undefined values through an instruction before it is executed, and reports those that decide an effect: an
  /// address, a stored value, a branch. `active_lane_mask`: the lanes of the group; `lane_mask`: those that its guard
  /// selects.
  void follow_undefined_values(Warp& warp, const Op& op, std::uint32_t active_lane_mask, std::uint32_t lane_mask);
  /// Reports the lanes among `lane_mask` whose value in the register is undefined, and forgets that it is.
  void report_undefined(Warp& warp, FrameSlot place, const Op& user, std::uint32_t lane_mask);

  Memory& memory_;  ///< allocations of the machine
  const Kernel& kernel_;
  const LaunchGeometry& geometry_;     ///< number of blocks, and of threads in a block
  std::vector<std::byte> parameters_;  ///< bytes of the kernel's parameters
  const LaunchOptions& options_;       ///< options of the launch
  RunResult result_;                   ///< outcome so far
  bool is_stopped_ = false;            ///< whether the launch must stop
  bool has_interrupted_warp_ = false;  ///< whether a warp of the block can run, but its turn has ended
  /// Replaces results by a device's measured results; nullopt: no tables.
  std::optional<TableCorrection> table_correction_;
  std::optional<ApproximationErrors> approximation_errors_;  ///< nullopt: results have no errors

  std::unique_ptr<std::byte[]> constants_storage_;    ///< owns constant_frame_
  std::byte* constant_frame_ = nullptr;               ///< frame of constants that all warps share
  std::vector<Warp> warps_;                           ///< warps of the current block
  std::vector<std::unique_ptr<std::byte[]>> frames_;  ///< frames of ended warps, for reuse
  std::uint32_t threads_in_block_ = 0;                ///< number of threads in a block
  std::array<std::uint32_t, kBarriersPerBlock>
      arrived_thread_counts_{};  ///< number of threads that have passed bar.arrive, by barrier
  /// The order established by barriers of a part of the block, for each warp: accesses of each other warp with an
  /// earlier epoch are ordered before the warp's current accesses. Likewise for accesses after a barrier, of warps that
  /// passed bar.arrive.
  using BarrierOrder = std::vector<std::uint32_t>;
  /// By warp: the order that barriers of a part of the block have established for its accesses.
  std::vector<BarrierOrder> partial_barrier_order_by_warp_;
  /// By barrier: the order that warps which passed bar.arrive will establish for the waiting warps.
  std::array<BarrierOrder, kBarriersPerBlock> arrival_order_by_barrier_;
  std::uint64_t current_block_index_ = 0;  ///< linear index of the current block
  std::vector<std::uint32_t> lane_order_;  ///< order in which the lanes of an atomic instruction run

  std::vector<std::vector<std::byte>> shared_memory_by_variable_;  ///< shared memory of the current block, by variable
  std::vector<std::vector<ShadowCell>>
      shared_shadow_cells_by_variable_;  ///< shadow memory of shared_memory_by_variable_, by variable

  /// The asynchronous copy that will write a word of shared memory.
  struct PendingWord {
    const Op* copy = nullptr;        ///< the cp.async instruction; null: no copy
    std::uint32_t thread_index = 0;  ///< index of its thread in the block
  };
  /// Pending copy of each word of shared memory, by variable.
  std::vector<std::vector<PendingWord>> pending_words_by_variable_;
  std::optional<UnroundedPlan> unrounded_plan_;  ///< nullopt: the launch does not compute unrounded values
  UnroundedLosses unrounded_losses_;             ///< facts that limit what the unrounded values say
  /// Unrounded values of shared_memory_by_variable_, by variable.
  std::vector<std::vector<UnroundedWord>> shared_unrounded_words_by_variable_;
  const UnroundedPlaces* atomic_places_ = nullptr;  ///< places of the current atomic; null: not computed

  TensorMemory tensor_memory_;                             ///< tensor memory of the block
  std::unordered_map<std::uint64_t, Mbarrier> mbarriers_;  ///< mbarrier objects of the block, by shared address
  Mbarrier cluster_barrier_;                               ///< barrier of the cluster, which is the block
  /// By thread of the block: number of its arrivals at the cluster's barrier.
  std::vector<std::uint64_t> cluster_arrival_counts_;
  bool has_new_phase_ = false;           ///< whether a phase has completed since the waits were last retried
  std::uint32_t futile_wait_count_ = 0;  ///< number of waits for a phase that failed in a row
  bool has_pending_words_ = false;       ///< whether a thread of the block has started an asynchronous copy

  // Epochs: now, and the start of the launch, the block and the phase between barriers.
  std::uint32_t current_epoch_ = 0;       ///< epoch of accesses now
  std::uint32_t launch_start_epoch_ = 0;  ///< first epoch of the launch
  std::uint32_t block_start_epoch_ = 0;   ///< first epoch of the block
  std::uint32_t phase_start_epoch_ = 0;   ///< epoch that began with the last barrier of the whole block
  std::uint32_t proxy_fence_epoch_ = 0;   ///< epoch that began with the last fence.proxy.async of a thread
  /// By block and address of a tensor map: epoch that began with the last fence.proxy.tensormap.
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t> tensor_map_fence_epochs_;
  std::uint32_t partial_barrier_epoch_ = 0;  ///< epoch that began with the last barrier of a part of the block
  std::vector<std::pair<std::uint32_t, std::uint64_t>>
      started_block_epochs_;  ///< first epoch and linear index of each block so far

  /// First epoch of the kernel. launch_start_epoch_ is the first epoch after the last grid barrier.
  std::uint32_t kernel_start_epoch_ = 0;

  std::uint64_t grid_barrier_address_ = 0;        ///< address of the counter of the grid barrier; 0: there is none
  std::uint64_t arrived_block_count_ = 0;         ///< number of blocks that have arrived at the current grid barrier
  std::uint32_t completed_grid_barriers_ = 0;     ///< number of grid barriers that all blocks have reached
  std::vector<SuspendedBlock> suspended_blocks_;  ///< blocks that wait for others

  bool orders_by_fences_ = false;  ///< whether the kernel has a fence, so that fence_order_ is used
  FenceOrder fence_order_;         ///< order of accesses that fences establish

  /// Index in RunResult::findings of each finding, by kind and instruction; repeated findings are only counted.
  std::map<std::pair<CheckFinding::Kind, const Op*>, std::size_t> finding_indices_;
  /// For each address: the thread that executed the first order-sensitive atomic on it.
  std::unordered_map<std::uint64_t, std::uint64_t> first_atomic_thread_by_address_;
  // Stored as differences: the execution count of an instruction is the sum of the entries up to it.
  /// Number of executions by warps, stored as differences between successive ops.
  std::vector<std::int64_t> warp_execution_deltas_;
  /// Number of executions by threads, stored as differences between successive ops.
  std::vector<std::int64_t> thread_execution_deltas_;
  std::uint64_t instructions_left_ = 0;  ///< number of instructions left until the limit, summed over threads
};

/// The state of a block that waits for other blocks.
struct Execution::SuspendedBlock {
  std::uint64_t index = 0;  ///< linear index of the block
  std::vector<Warp> warps;
  std::array<std::uint32_t, kBarriersPerBlock> arrived_thread_counts{};
  std::array<BarrierOrder, kBarriersPerBlock> arrival_order_by_barrier;
  std::vector<std::vector<std::byte>> shared_memory_by_variable;
  std::vector<std::vector<ShadowCell>> shared_shadow_cells_by_variable;
  std::vector<std::vector<PendingWord>> pending_words_by_variable;
  std::vector<std::vector<UnroundedWord>> shared_unrounded_words_by_variable;
  bool has_pending_words = false;
  std::unordered_map<std::uint64_t, Mbarrier> mbarriers;
  Mbarrier cluster_barrier;
  std::vector<std::uint64_t> cluster_arrival_counts;
  TensorMemory tensor_memory;
};

/// Checks one lane's access; whole words take the fast path first.
[[gnu::always_inline]] inline void Execution::check_access(const FastRaceCheck& watch, ShadowCell* cells,
                                                           std::uint64_t offset, unsigned width,
                                                           const LaneAccess& actor) {
  if (((offset | width) & 3U) != 0) return check_cells(cells, offset, 0, width, actor);
  for (std::uint64_t at = offset; at < offset + width; at += 4) {
    ShadowCell& cell = cells[at / 4];
    const bool fine = actor.memory_op.access == Access::kLoad
                          ? watch.try_record_read(cell, 15, actor.thread, actor.was_initialized)
                          : watch.try_record_write(cell, 15, actor.thread, actor.was_initialized);
    if (!fine) check_cells(cells, at, static_cast<unsigned>(at - offset), 4, actor);
  }
}

/// The undefined lanes of a register; null if it has none.
inline const UndefinedValue* find_undefined(const Warp& warp, FrameSlot place) {
  for (const UndefinedValue& value : warp.undefined_values)
    if (value.place.bits == place.bits) return &value;
  return nullptr;
}
/// Records that an instruction wrote the lanes of `lane_mask` of the register `value.place`. Of these lanes, those of
/// `value.lane_mask` are undefined now.
void set_undefined(Warp& warp, std::uint32_t lane_mask, const UndefinedValue& value);

/// Returns the 32 words of a register with 32 bits or less.
inline std::uint32_t* slot_words32(WarpState& lanes, FrameSlot slot) {
  return reinterpret_cast<std::uint32_t*>(lanes.frames[slot.bits >> 31U] + (slot.bits & ~FrameSlot::kConstantFrameBit));
}
/// Returns the 32 words of a register with 64 bits.
inline std::uint64_t* slot_words64(WarpState& lanes, FrameSlot slot) {
  return reinterpret_cast<std::uint64_t*>(lanes.frames[slot.bits >> 31U] + (slot.bits & ~FrameSlot::kConstantFrameBit));
}
/// Sets the predicate of the lanes in `lane_mask` to their bits of `value`.
inline void set_predicate(WarpState& lanes, FrameSlot slot, std::uint32_t value, std::uint32_t lane_mask) {
  std::uint32_t& word = *slot_words32(lanes, slot);
  word = (word & ~lane_mask) | (value & lane_mask);
}

}  // namespace assay::ptx
