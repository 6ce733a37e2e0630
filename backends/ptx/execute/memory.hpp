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

namespace assay::ptx {

struct ShadowCell {
  std::uint32_t packed_last_write = 0;  ///< last write: epoch << 14 | thread << 4 | bytes
  std::uint32_t packed_last_read = 0;   ///< last read, encoded in the same way
  /// A flag << 31 | read instruction << 20 | write instruction << 8 | flags << 4 | initialized bytes.
  std::uint32_t packed_flags = 0;
};
static_assert(sizeof(ShadowCell) == 12, "each byte of memory must have 3 bytes of shadow memory");

/// The greatest epoch: epochs count synchronizations from 1, and ShadowCell::packed_last_write and
/// ShadowCell::packed_last_read have 18 bits for them. After it, Memory::next_epoch clears these and starts again at 1.
inline constexpr std::uint32_t kMaxEpoch = (1U << 18U) - 1;
inline constexpr std::uint32_t kMaxThreadsPerBlock = 1024;

/// The flags of a cell.
inline constexpr std::uint32_t kLastWriteIsAtomicFlag = 1U << 4U;  ///< the last write was atomic
inline constexpr std::uint32_t kReadByManyThreadsFlag =
    1U << 5U;  ///< read by several threads in the current block and phase
inline constexpr std::uint32_t kReadByOtherBlockFlag = 1U << 6U;  ///< read by threads of several blocks in this launch
inline constexpr std::uint32_t kLastReadIsNonCoherentFlag = 1U << 7U;  ///< the last read was a load with .nc
inline constexpr std::uint32_t kReadByManyWarpsFlag =
    1U << 31U;  ///< with kReadByManyThreadsFlag: the threads are of several warps
inline constexpr std::uint32_t kAllReadFlagsMask =
    kReadByManyThreadsFlag | kReadByOtherBlockFlag | kLastReadIsNonCoherentFlag | kReadByManyWarpsFlag;
/// The bits of ShadowCell::packed_flags other than the number of the read instruction.
inline constexpr std::uint32_t kAllButReaderMask = 0x800fffffU;

/// The cells of an allocation.
struct ShadowMemory {
  std::unique_ptr<ShadowCell[]> cells;
  std::size_t cell_capacity = 0;  ///< number of cells
};

/// A block of memory that kernels can access, with its own window of addresses.
struct Allocation {
  std::string name;                    ///< name of the allocation, for findings
  std::span<std::byte> bytes;          ///< memory of the allocation
  std::unique_ptr<std::byte[]> owned;  ///< null for adopted memory
  AllocationFlags flags;               ///< flags that the caller set
  ShadowMemory shadow_memory;          ///< created at the first checked access

  [[nodiscard]] std::size_t cell_count() const { return (bytes.size() + 3) / 4; }
};

class Memory {
 public:
  explicit Memory(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  Result<AllocationId> allocate(std::string name, std::size_t bytes, AllocationFlags flags);
  AllocationId adopt(std::string name, std::span<std::byte> bytes, AllocationFlags flags);
  [[nodiscard]] Allocation& at(AllocationId id) { return allocations_[id.index]; }
  [[nodiscard]] static std::uint64_t address(AllocationId id) {
    return ((id.index + kFirstAllocationWindowIndex) << kAddressWindowBits) + kAddressWindowMiddleOffset;
  }
  /// The allocation in whose window the address lies; null if there is none.
  [[nodiscard]] Allocation* find_allocation(std::uint64_t address) {
    const std::uint64_t window = address >> kAddressWindowBits;
    return window - kFirstAllocationWindowIndex < allocations_.size()
               ? &allocations_[window - kFirstAllocationWindowIndex]
               : nullptr;
  }
  void reset();

  /// The allocation's shadow, all zero at first.
  ShadowCell* cells_of(Allocation& allocation);

  /// Records that bytes of the allocation are initialized.
  void set_initialized(Allocation& allocation, std::uint64_t offset, std::size_t size);

  /// The addresses of a module's variables, which are created if necessary.
  Result<std::vector<std::uint64_t>> variables_of(const std::shared_ptr<const Module>& module);

  /// A new epoch. When epochs run out, the records of earlier accesses are dropped and epochs restart.
  std::uint32_t next_epoch(bool& restarted);

 private:
  std::size_t max_bytes_;                ///< limit of the total size of all allocations
  std::size_t used_bytes_ = 0;           ///< total size of all allocations
  std::uint32_t latest_epoch_ = 0;       ///< the latest epoch
  std::vector<Allocation> allocations_;  ///< all allocations, by AllocationId::index
  std::vector<ShadowMemory>
      unused_shadow_memory_;  ///< of freed allocations, for reuse: new pages cost more than a short launch
  /// Addresses of the variables of each module.
  std::map<std::shared_ptr<const Module>, std::vector<std::uint64_t>> variable_addresses_;
};

}  // namespace assay::ptx
