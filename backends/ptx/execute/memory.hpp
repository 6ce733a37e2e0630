// Allocations and their shadow memory. Private to the machine.
//
// A shadow cell describes a word of 4 bytes in 12 bytes: its last writer and last reader, with the time, the
// instruction and the bytes accessed, and which bytes were ever written. The time is an epoch, which is incremented at
// each block, barrier and warp synchronization. Blocks run sequentially, so the epochs of a launch, of a block and of a
// phase between barriers each form a range. Of several readers, the cell stores the last one and whether there were
// others. Accesses to different bytes of a word never conflict. If threads access different bytes of a word, the cell
// stores only the bytes of the last one, so a conflict on the other bytes is missed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backends/ptx/execute/machine.hpp"
#include "backends/ptx/unrounded/numbers.hpp"

namespace assay::ptx {

/// The access history of one word of 4 bytes.
struct ShadowCell {
  std::uint32_t packed_last_write = 0;  ///< last write: epoch << 14 | thread << 4 | written bytes
  std::uint32_t packed_last_read = 0;   ///< last read: epoch << 14 | thread << 4 | read bytes
  /// Last flag << 31 | read instruction << 20 | write instruction << 9 | other flags << 4 | initialized bytes.
  std::uint32_t packed_flags = 0;
};
static_assert(sizeof(ShadowCell) == 12, "each byte of memory must have 3 bytes of shadow memory");

/// The greatest epoch. Epochs count synchronizations from 1, and have 18 bits in ShadowCell::packed_last_write and
/// packed_last_read. After it, Memory::next_epoch clears both and starts again at 1.
inline constexpr std::uint32_t kMaxEpoch = (1U << 18U) - 1;
inline constexpr std::uint32_t kMaxThreadsPerBlock = 1024;  ///< maximum number of threads of a block

/// Returns the epoch of a packed access of a cell.
constexpr std::uint32_t epoch_of(std::uint32_t access) { return access >> 14U; }
/// Returns the thread of a packed access of a cell, as its index in its block.
constexpr std::uint32_t thread_of(std::uint32_t access) { return access >> 4U & (kMaxThreadsPerBlock - 1); }

/// The flags of a cell.
inline constexpr std::uint32_t kLastWriteIsAtomicFlag = 1U << 4U;  ///< the last write was atomic
inline constexpr std::uint32_t kReadByManyThreadsFlag =
    1U << 5U;  ///< read by several threads in the current block and phase
/// Threads of several blocks have read the word in this launch.
inline constexpr std::uint32_t kReadByOtherBlockFlag = 1U << 6U;
inline constexpr std::uint32_t kLastReadIsNonCoherentFlag = 1U << 7U;  ///< the last read was a load with .nc
/// The several threads that have read the word are not all of the same warp.
inline constexpr std::uint32_t kReadByManyWarpsFlag = 1U << 8U;
/// The last write was atomic, and follows a write that was not. Only a synchronization of their warp is between them:
/// it orders the earlier write before the accesses of this warp, but not before those of other threads.
inline constexpr std::uint32_t kPlainForOtherWarpsFlag = 1U << 31U;
inline constexpr std::uint32_t kAllReadFlagsMask =
    kReadByManyThreadsFlag | kReadByOtherBlockFlag | kLastReadIsNonCoherentFlag | kReadByManyWarpsFlag;
/// The bits of ShadowCell::packed_flags that a write leaves unchanged.
inline constexpr std::uint32_t kKeptByWriteMask = 0x7ff0'000fU | kAllReadFlagsMask;
/// The bits of ShadowCell::packed_flags that a read leaves unchanged.
inline constexpr std::uint32_t kKeptByReadMask = 0x000f'ffffU | kPlainForOtherWarpsFlag;
/// Position in ShadowCell::packed_flags of the number of the instruction that wrote last.
inline constexpr unsigned kWriteInstructionShift = 9;
/// Position in ShadowCell::packed_flags of the number of the instruction that read last.
inline constexpr unsigned kReadInstructionShift = 20;

/// Returns whether two threads of a block, given by their indices, are in the same warp.
constexpr bool are_in_same_warp(std::uint32_t thread, std::uint32_t other_thread) {
  constexpr std::uint32_t kLanes = 32;
  return thread / kLanes == other_thread / kLanes;
}

/// Returns the read flags of a cell that `thread` reads after `earlier_thread` has read it, if nothing orders the two
/// reads.
constexpr std::uint32_t flags_of_second_reader(std::uint32_t earlier_thread, std::uint32_t thread) {
  if (earlier_thread == thread) return 0;
  return kReadByManyThreadsFlag | (are_in_same_warp(earlier_thread, thread) ? 0U : kReadByManyWarpsFlag);
}

/// The first epochs of the periods that decide whether a write still counts as not atomic.
struct AtomicityEpochs {
  std::uint32_t block_start = 0;           ///< first epoch of the block
  std::uint32_t last_barrier = 0;          ///< epoch that began with the last barrier of the block or of a part of it
  std::uint32_t warp_synchronization = 0;  ///< epoch that began with the last synchronization of the warp
};

/// Returns whether an atomic of `thread` does not race with the last write of the cell because that write was atomic.
constexpr bool is_last_write_atomic_for(const ShadowCell& cell, std::uint32_t thread, const AtomicityEpochs& epochs) {
  if ((cell.packed_flags & kLastWriteIsAtomicFlag) == 0) return false;
  return (cell.packed_flags & kPlainForOtherWarpsFlag) == 0 ||
         (epoch_of(cell.packed_last_write) >= epochs.block_start &&
          are_in_same_warp(thread_of(cell.packed_last_write), thread));
}

/// Returns the flags of the last write of a cell after an atomic of `thread`. An earlier write by the same thread that
/// is not atomic still counts for the threads for which nothing orders it before the atomic.
constexpr std::uint32_t write_flags_of_atomic(const ShadowCell& cell, std::uint32_t thread,
                                              const AtomicityEpochs& epochs) {
  const std::uint32_t earlier_epoch = epoch_of(cell.packed_last_write);
  const std::uint32_t earlier_thread = thread_of(cell.packed_last_write);
  if (earlier_epoch < epochs.last_barrier || (cell.packed_last_write & 15U) == 0) return kLastWriteIsAtomicFlag;
  const bool is_synchronized = earlier_epoch < epochs.warp_synchronization;
  if ((cell.packed_flags & kLastWriteIsAtomicFlag) == 0) {
    if (earlier_thread != thread) return kLastWriteIsAtomicFlag;
    return is_synchronized ? kLastWriteIsAtomicFlag | kPlainForOtherWarpsFlag : 0U;
  }
  const bool remains = (cell.packed_flags & kPlainForOtherWarpsFlag) != 0 &&
                       (earlier_thread == thread || (!is_synchronized && are_in_same_warp(earlier_thread, thread)));
  return kLastWriteIsAtomicFlag | (remains ? kPlainForOtherWarpsFlag : 0U);
}

/// The shadow cells of one allocation.
struct ShadowMemory {
  std::unique_ptr<ShadowCell[]> cells;
  std::size_t cell_capacity = 0;  ///< number of allocated cells
};

/// A block of memory that kernels can access, in an address window of its own.
struct Allocation {
  std::string name;                            ///< name of the allocation, for messages
  std::span<std::byte> bytes;                  ///< memory of the allocation, in host memory
  std::unique_ptr<std::byte[]> owned;          ///< null for adopted memory
  AllocationFlags flags;                       ///< flags that the caller set
  std::vector<UnroundedWord> unrounded_words;  ///< unrounded values of the words; empty if none are known
  ShadowMemory shadow_memory;                  ///< access history; created at the first checked access

  [[nodiscard]] std::size_t cell_count() const { return (bytes.size() + 3) / 4; }
};

/// All memory of a machine.
class Memory {
 public:
  explicit Memory(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  Result<AllocationId> allocate(std::string name, std::size_t bytes, AllocationFlags flags);
  AllocationId adopt(std::string name, std::span<std::byte> bytes, AllocationFlags flags);
  [[nodiscard]] std::uint64_t next_address() const {
    return address({static_cast<std::uint32_t>(allocations_.size())});
  }
  [[nodiscard]] Allocation& at(AllocationId id) { return allocations_[id.index]; }
  /// Returns the address of the first byte of an allocation, as kernels see it.
  [[nodiscard]] static std::uint64_t address(AllocationId id) {
    return ((id.index + kFirstAllocationWindowIndex) << kAddressWindowBits) + kAddressWindowMiddleOffset;
  }
  /// Returns the allocation in whose window the address lies; null if there is none.
  [[nodiscard]] Allocation* find_allocation(std::uint64_t address) {
    const std::uint64_t window = address >> kAddressWindowBits;
    return window - kFirstAllocationWindowIndex < allocations_.size()
               ? &allocations_[window - kFirstAllocationWindowIndex]
               : nullptr;
  }
  /// See Machine::release.
  void release(Allocation& allocation);
  void reset();

  /// The allocation's shadow, all zero at first.
  ShadowCell* cells_of(Allocation& allocation);

  /// The unrounded values of the word at this offset.
  static UnroundedWord* unrounded_word(Allocation& allocation, std::uint64_t offset) {
    std::vector<UnroundedWord>& words = allocation.unrounded_words;
    if (words.empty())
      words.resize(allocation.bytes.size() / 4 + 2);  // an access at the end may refer to one more word
    return &words[offset / 4];
  }

  /// Records that bytes of the allocation are initialized.
  void set_initialized(Allocation& allocation, std::uint64_t offset, std::size_t size);

  /// The addresses of a module's variables, which are created if necessary.
  Result<std::vector<std::uint64_t>> variables_of(const std::shared_ptr<const Module>& module);

  /// A new epoch. When epochs run out, the records of earlier accesses are dropped and epochs restart.
  std::uint32_t next_epoch(bool& restarted);

 private:
  std::size_t max_bytes_;                ///< maximum total size of all allocations
  std::size_t used_bytes_ = 0;           ///< total size of all allocations
  std::uint32_t latest_epoch_ = 0;       ///< epoch of the latest synchronization
  std::vector<Allocation> allocations_;  ///< all allocations, by AllocationId::index
  std::vector<ShadowMemory>
      unused_shadow_memory_;  ///< shadow memory of freed allocations, for reuse, because new pages cost time
  /// Addresses of the variables of each module that has been launched.
  std::map<std::shared_ptr<const Module>, std::vector<std::uint64_t>> variable_addresses_;
};

}  // namespace assay::ptx
