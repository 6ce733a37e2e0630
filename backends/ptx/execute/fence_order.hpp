// The order between accesses that fences and atomics establish. Private to the machine.
//
// A thread that executes a fence and then an atomic on some address releases the accesses before the fence. A thread
// that later executes an atomic on this address and then a fence acquires them: they are ordered before its accesses
// after the fence. The PTX ISA calls this a release pattern that synchronizes with an acquire pattern ("Memory
// Consistency Model").
//
// The two fences may also be those of other threads of the same blocks, if a barrier is between the fence and the
// atomic: the accesses before a fence, a barrier and then the atomic are released, and the accesses after the atomic, a
// barrier and then a fence are ordered after them. If both fences are fence.sc, as __threadfence() is, this follows
// from the axioms of the PTX ISA. Fence-SC order relates the two fences. If the second came first, it would synchronize
// with the first; the atomic that reads would then precede the atomic that it reads from in causality order, and
// therefore in coherence order, although it follows it. So the first fence comes first, and synchronizes with the
// second.
//
// This class goes beyond the PTX ISA in three cases that all GPUs execute in order:
// - fences that are not fence.sc have the same effect if a barrier separates them from the atomics;
// - a volatile or ordered load needs no fence after the atomic, because it does not read from the L1 cache;
// - nor does an access to the address of the atomic itself.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace assay::ptx {

/// The properties of the current access that determine its order.
struct FenceActor {
  std::uint32_t thread;                      ///< index of the thread in its block
  std::uint32_t phase_start_epoch;           ///< epoch that began with the last barrier of the block
  std::uint32_t warp_synchronization_epoch;  ///< epoch that began with the last synchronization of the thread's warp
  std::uint64_t address;                     ///< accessed address
  bool is_strong;  ///< whether the access is atomic, volatile or ordered (.acquire, .release and the like)
};

/// Records fences and atomics, and finds out which accesses they order.
class FenceOrder {
 public:
  enum class StrongAccess : std::uint8_t { kLoad, kStore, kAtomic };

  /// Forgets all accesses: they are ordered before the launch, or epochs have restarted.
  void clear();
  /// `epoch`: the first epoch of the block.
  void start_block(std::uint32_t epoch, std::uint32_t thread_count);
  /// A fence of the thread: its accesses in earlier epochs are before the fence.
  void fence(std::uint32_t thread, std::uint32_t epoch, std::uint32_t phase_start_epoch,
             std::uint32_t warp_synchronization_epoch);
  /// All threads of the block passed a barrier.
  void barrier();
  /// An atomic, volatile or ordered access to global memory.
  void access(StrongAccess kind, std::uint64_t address, std::uint32_t thread, std::uint32_t epoch);
  /// Whether an access in `epoch` by the thread with index `thread` in the block that ran then is ordered before the
  /// current access.
  [[nodiscard]] bool is_ordered(std::uint32_t epoch, std::uint32_t thread, const FenceActor& actor) const;

 private:
  using EpochByThread = std::vector<std::uint32_t>;
  /// A release: an atomic after a fence, and the accesses that precede the fence.
  struct Release {
    std::uint32_t block_start_epoch;  ///< first epoch of the block that contains the thread
    std::uint32_t epoch;              ///< epoch of the atomic
    std::uint32_t thread;             ///< thread that executed the atomic
    std::uint32_t fence_epoch;        ///< accesses of `thread` in epochs before this one are released
    std::uint32_t phase_start_epoch;  ///< accesses of all threads of the block in earlier epochs are released
    /// For each thread: accesses in epochs before this one are released; may be null.
    std::shared_ptr<const EpochByThread> fences;
  };
  /// The atomics on one address.
  struct Location {
    std::vector<Release> releases;  ///< releases at this address, ordered by epoch
    /// Index of the first release that an atomic can still read, because no store has overwritten its value.
    std::size_t first_readable = 0;
  };
  /// A possible acquire: an atomic or load of the current block that read values of earlier atomics on its address.
  struct Acquire {
    std::uint64_t address;      ///< address of the atomic
    const Location* location;   ///< the atomics on the address
    std::size_t first_release;  ///< index of the first release whose value it read
    std::size_t end_release;    ///< index after the last release whose value it read
    std::uint32_t thread;       ///< thread that executed the atomic
    std::uint32_t epoch;        ///< epoch of the atomic
    std::uint32_t fence_epoch;  ///< epoch of the first fence after it by the same thread; 0: none yet
    /// Epoch of the first fence by another thread that a barrier orders after the atomic; 0: none yet.
    std::uint32_t other_fence_epoch;
  };
  void acquire(std::uint64_t address, const Location& location, std::uint32_t thread, std::uint32_t epoch);
  [[nodiscard]] bool is_visible(const Acquire& acquire, const FenceActor& actor) const;
  /// Returns whether the acquired releases cover an access by the thread in the epoch.
  [[nodiscard]] static bool is_released(const Acquire& acquire, std::uint32_t epoch, std::uint32_t thread,
                                        std::uint64_t address);

  std::unordered_map<std::uint64_t, Location> locations_;  ///< atomics by address, for addresses with a release
  std::uint32_t block_start_epoch_ = 0;                    ///< first epoch of the current block
  EpochByThread fences_;                                   ///< for each thread: epoch of its last fence; 0: none
  EpochByThread phases_;                 ///< for each thread: first epoch of the phase in which it executed that fence
  EpochByThread warp_synchronizations_;  ///< for each thread: the same for the last synchronization of its warp
  std::shared_ptr<const EpochByThread> fences_until_barrier_;  ///< copy of `fences_` at the last barrier; may be null
  bool has_new_fence_ = false;                                 ///< whether `fences_` has changed since the last barrier
  std::vector<Acquire> acquires_;                              ///< possible acquires of the current block
};

}  // namespace assay::ptx
