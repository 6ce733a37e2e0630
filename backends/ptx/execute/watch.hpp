// The fast path of the race check. Private to the machine: accesses.cpp calls it first, and race_check.cpp handles the
// accesses that it cannot decide.
//
// Almost all accesses are on the fast path: nothing else accessed the word in this launch, or only this thread since
// the last barrier, or only this block before the last barrier, or all accesses were atomic.
#pragma once

#include <algorithm>
#include <cstdint>

#include "backends/ptx/execute/memory.hpp"
#include "backends/ptx/instructions/program.hpp"

namespace assay::ptx {

/// The first epochs of the periods that contain an access.
struct StartEpochs {
  std::uint32_t launch_start = 0;          ///< first epoch of the launch
  std::uint32_t block_start = 0;           ///< first epoch of the block
  std::uint32_t phase_start = 0;           ///< epoch that began with the last barrier of the block
  std::uint32_t partial_barrier = 0;       ///< epoch that began with the last barrier of a part of the block
  std::uint32_t warp_synchronization = 0;  ///< epoch that began with the last synchronization of the warp
};

/// The race check for one instruction of a warp; it decides the frequent cases fast.
class FastRaceCheck {
 public:
  FastRaceCheck(const MemoryOp& memory, std::uint32_t now, const StartEpochs& since)
      : current_epoch_(now << 14U),
        launch_start_epoch_(since.launch_start << 14U),
        block_start_epoch_(since.block_start << 14U),
        phase_start_epoch_(since.phase_start << 14U),
        ordering_start_epoch_(std::max({since.phase_start, since.partial_barrier, since.warp_synchronization}) << 14U),
        atomicity_epochs_{since.block_start, std::max(since.phase_start, since.partial_barrier),
                          since.warp_synchronization},
        instruction_number_(memory.race_check_number),
        is_atomic_(memory.access == Access::kAtomic),
        is_strong_(is_atomic_ || memory.is_strong || memory.is_guess),
        is_non_coherent_(memory.non_coherent) {}

  /// Records a read. Returns false and records nothing if the full check must decide. `initialized`: whether the memory
  /// was initialized before the launch.
  bool try_record_read(ShadowCell& cell, std::uint32_t bytes, std::uint32_t thread, bool initialized) const {
    if (cell.packed_last_write >= launch_start_epoch_ &&
        (is_non_coherent_ ||
         !(was_made_by_thread(cell.packed_last_write, thread) || was_made_before_barrier(cell.packed_last_write))))
      return false;
    if (!initialized && (cell.packed_flags & bytes) != bytes) return false;
    if (is_strong_) return true;
    const std::uint32_t current_access = current_epoch_ | thread << 4U | bytes;
    const std::uint32_t encoded_read = std::uint32_t{instruction_number_} << kReadInstructionShift |
                                       (is_non_coherent_ ? kLastReadIsNonCoherentFlag : 0U);
    if (cell.packed_last_read < launch_start_epoch_) {
      cell.packed_flags = (cell.packed_flags & kKeptByReadMask & ~kAllReadFlagsMask) | encoded_read;
      cell.packed_last_read = current_access;
      return true;
    }
    std::uint32_t reader_flags = 0;
    if (cell.packed_last_read >= ordering_start_epoch_) {
      reader_flags = flags_of_second_reader(thread_of(cell.packed_last_read), thread);
    } else if (cell.packed_last_read < block_start_epoch_) {
      reader_flags = kReadByOtherBlockFlag;
    } else if (cell.packed_last_read < phase_start_epoch_) {
      cell.packed_flags =
          (cell.packed_flags & kKeptByReadMask & ~(kReadByManyThreadsFlag | kReadByManyWarpsFlag)) | encoded_read;
      cell.packed_last_read = current_access;
      return true;
    } else {
      return false;
    }
    cell.packed_flags = (cell.packed_flags & kKeptByReadMask) | encoded_read | reader_flags;
    cell.packed_last_read = current_access | (cell.packed_last_read & 15U);
    return true;
  }

  /// Records a write or an atomic. Returns false and records nothing if the full check must decide. `initialized`:
  /// whether the memory was initialized before the launch.
  bool try_record_write(ShadowCell& cell, std::uint32_t bytes, std::uint32_t thread, bool initialized) const {
    if (is_atomic_ && !initialized && (cell.packed_flags & bytes) != bytes) return false;
    if (cell.packed_last_read >= launch_start_epoch_ && !was_read_only_by_thread(cell, thread) &&
        !was_read_before_barrier(cell))
      return false;
    if (cell.packed_last_write >= launch_start_epoch_ &&
        !(is_strong_ && is_last_write_atomic_for(cell, thread, atomicity_epochs_)) &&
        !was_made_by_thread(cell.packed_last_write, thread) && !was_made_before_barrier(cell.packed_last_write))
      return false;
    const std::uint32_t earlier_written_bytes =
        cell.packed_last_write >= phase_start_epoch_ ? cell.packed_last_write & 15U : 0U;
    cell.packed_flags = (cell.packed_flags & kKeptByWriteMask) |
                        std::uint32_t{instruction_number_} << kWriteInstructionShift | bytes |
                        (is_strong_ ? write_flags_of_atomic(cell, thread, atomicity_epochs_) : 0U);
    cell.packed_last_write = current_epoch_ | thread << 4U | bytes | earlier_written_bytes;
    return true;
  }

 private:
  /// Returns whether the thread itself made the access, since the last barrier.
  [[nodiscard]] bool was_made_by_thread(std::uint32_t access, std::uint32_t thread) const {
    return access >= phase_start_epoch_ && thread_of(access) == thread;
  }
  /// Returns whether a thread of this block made the access before the last barrier, which orders it before all
  /// accesses after the barrier.
  [[nodiscard]] bool was_made_before_barrier(std::uint32_t access) const {
    return access >= block_start_epoch_ && access < phase_start_epoch_;
  }
  /// Returns whether this thread alone has read the word, since the last barrier.
  [[nodiscard]] bool was_read_only_by_thread(const ShadowCell& cell, std::uint32_t thread) const {
    return was_made_by_thread(cell.packed_last_read, thread) && (cell.packed_flags & kAllReadFlagsMask) == 0;
  }
  /// Returns whether only threads of this block have read the word, before the last barrier and by coherent loads.
  [[nodiscard]] bool was_read_before_barrier(const ShadowCell& cell) const {
    return was_made_before_barrier(cell.packed_last_read) &&
           (cell.packed_flags & (kReadByOtherBlockFlag | kLastReadIsNonCoherentFlag)) == 0;
  }

  std::uint32_t current_epoch_;         ///< current epoch, shifted as in ShadowCell, like the next four
  std::uint32_t launch_start_epoch_;    ///< epoch of the launch's start
  std::uint32_t block_start_epoch_;     ///< epoch of the block's start
  std::uint32_t phase_start_epoch_;     ///< epoch of the last barrier
  std::uint32_t ordering_start_epoch_;  ///< epoch of the last barrier or synchronization of the warp
  AtomicityEpochs atomicity_epochs_;    ///< epochs for the checks of atomics
  std::uint16_t instruction_number_;    ///< MemoryOp::race_check_number of the instruction
  bool is_atomic_;                      ///< whether it is atomic
  bool is_strong_;        ///< whether it is atomic, volatile, ordered or a guess, and so does not race with atomics
  bool is_non_coherent_;  ///< whether it is a load with .nc
};

}  // namespace assay::ptx
