// The fast path of the race check. Private to the machine: accesses.cpp calls it first, and race_check.cpp handles the
// accesses that it cannot decide.
//
// Almost all accesses are on the fast path: nothing else accessed the word in this launch, or only this thread since
// the last barrier, or all accesses were atomic.
#pragma once

#include <algorithm>
#include <cstdint>

#include "backends/ptx/execute/memory.hpp"
#include "backends/ptx/instructions/program.hpp"

namespace assay::ptx {

/// Stamps of the start of the launch, the block, the phase between barriers and the phase of a warp.
struct StartStamps {
  std::uint32_t launch = 0;  ///< stamp of the launch's start
  std::uint32_t block = 0;   ///< stamp of the block's start
  std::uint32_t phase = 0;   ///< stamp of the last barrier
  std::uint32_t warp = 0;    ///< stamp of the warp's last synchronization
};

/// The fast race check for one instruction of a warp.
class FastRaceCheck {
 public:
  FastRaceCheck(const MemoryOp& memory, std::uint32_t now, const StartStamps& since)
      : current_stamp_(now << 14U),
        launch_start_(since.launch << 14U),
        block_start_(since.block << 14U),
        phase_start_(since.phase << 14U),
        ordering_start_(std::max(since.phase, since.warp) << 14U),
        instruction_number_(memory.number),
        is_atomic_(memory.access == Access::kAtomic),
        is_strong_(is_atomic_ || memory.is_strong),
        is_non_coherent_(memory.non_coherent) {}

  /// Records a read; returns false without effect if the full check must decide. `initialized`: whether the memory was
  /// initialized before the launch.
  bool read(ShadowCell& cell, std::uint32_t bytes, std::uint32_t thread, bool initialized) const {
    if (cell.write >= launch_start_ && (is_non_coherent_ || !was_made_by_thread(cell.write, thread))) return false;
    if (!initialized && (cell.packed_flags & bytes) != bytes) return false;
    if (is_strong_) return true;
    const std::uint32_t current_access = current_stamp_ | thread << 4U | bytes;
    const std::uint32_t encoded_read =
        std::uint32_t{instruction_number_} << 20U | (is_non_coherent_ ? kReadNonCoherent : 0U);
    if (cell.read < launch_start_) {
      cell.packed_flags = (cell.packed_flags & 0x000fff1fU) | encoded_read;
      cell.read = current_access;
      return true;
    }
    std::uint32_t reader_flags = 0;
    if (cell.read >= ordering_start_) {
      reader_flags = thread_of(cell.read) != thread ? kReadByManyThreads : 0U;
    } else if (cell.read < block_start_) {
      reader_flags = kReadByOtherBlock;
    } else {
      return false;
    }
    cell.packed_flags = (cell.packed_flags & 0x000fffffU) | encoded_read | reader_flags;
    cell.read = current_access | (cell.read & 15U);
    return true;
  }

  /// The same for a write or an atomic.
  bool write(ShadowCell& cell, std::uint32_t bytes, std::uint32_t thread, bool initialized) const {
    if (is_atomic_ && !initialized && (cell.packed_flags & bytes) != bytes) return false;
    if (cell.read >= launch_start_ && (!was_made_by_thread(cell.read, thread) || (cell.packed_flags & kReadFlags) != 0))
      return false;
    const bool atomically = (cell.packed_flags & kLastWriteIsAtomic) != 0;
    if (cell.write >= launch_start_ && !(is_strong_ && atomically) && !was_made_by_thread(cell.write, thread))
      return false;
    const std::uint32_t earlier = cell.write >= phase_start_ ? cell.write & 15U : 0U;
    // An earlier non-atomic write of this thread that is not ordered before this atomic still counts as non-atomic.
    const bool remains_non_atomic = earlier != 0 && !atomically && thread_of(cell.write) == thread;
    cell.packed_flags = (cell.packed_flags & 0xfff000efU) | std::uint32_t{instruction_number_} << 8U | bytes |
                        (is_strong_ && !remains_non_atomic ? kLastWriteIsAtomic : 0U);
    cell.write = current_stamp_ | thread << 4U | bytes | earlier;
    return true;
  }

 private:
  static std::uint32_t thread_of(std::uint32_t access) { return access >> 4U & (kMaxThreadsPerBlock - 1); }
  /// Whether the access is by the thread itself, since the last barrier.
  [[nodiscard]] bool was_made_by_thread(std::uint32_t access, std::uint32_t thread) const {
    return access >= phase_start_ && thread_of(access) == thread;
  }

  std::uint32_t current_stamp_;       ///< current stamp, shifted as in ShadowCell, like the next four
  std::uint32_t launch_start_;        ///< stamp of the launch's start
  std::uint32_t block_start_;         ///< stamp of the block's start
  std::uint32_t phase_start_;         ///< stamp of the last barrier
  std::uint32_t ordering_start_;      ///< stamp of the last barrier or synchronization of the warp
  std::uint16_t instruction_number_;  ///< MemoryOp::number of the instruction
  bool is_atomic_;                    ///< whether it is atomic
  bool is_strong_;                    ///< whether it is atomic, volatile or ordered, and so does not race with atomics
  bool is_non_coherent_;              ///< whether it is a load with .nc
};

}  // namespace assay::ptx
