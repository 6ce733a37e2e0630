// The quick answer to whether an access to a word is in order. Private to the machine: accesses.cpp asks here first,
// and race_check.cpp for what is not plain to see.
//
// Of nearly all accesses it is plain: nothing else touched the word in this launch, or this thread alone did since the
// last barrier, or all did by atomics.
#pragma once

#include <algorithm>
#include <cstdint>

#include "backends/ptx/execute/memory.hpp"
#include "backends/ptx/instructions/program.hpp"

namespace assay::ptx {

/// Since when the launch, the block, the phase between barriers and the phase of a warp have been running, as stamps.
struct Since {
  std::uint32_t launch = 0;
  std::uint32_t block = 0;
  std::uint32_t phase = 0;
  std::uint32_t warp = 0;
};

/// One instruction's accesses by the lanes of a warp.
class Watch {
 public:
  Watch(const MemoryOp& memory, std::uint32_t now, const Since& since)
      : now_(now << 14U),
        launch_(since.launch << 14U),
        block_(since.block << 14U),
        phase_(since.phase << 14U),
        order_(std::max(since.phase, since.warp) << 14U),
        number_(memory.number),
        atomic_(memory.access == Access::kAtomic),
        strong_(atomic_ || memory.strong),
        non_coherent_(memory.non_coherent) {}

  /// Notes a read, or does nothing and is false when it must be looked at. `initialised`: the memory was before the
  /// launch.
  bool read(Cell& cell, std::uint32_t bytes, std::uint32_t thread, bool initialised) const {
    if (cell.write >= launch_ && (non_coherent_ || !is_own(cell.write, thread))) return false;
    if (!initialised && (cell.info & bytes) != bytes) return false;
    if (strong_) return true;
    const std::uint32_t self = now_ | thread << 4U | bytes;
    const std::uint32_t noted = std::uint32_t{number_} << 20U | (non_coherent_ ? kReadNonCoherent : 0U);
    if (cell.read < launch_) {
      cell.info = (cell.info & 0x000fff1fU) | noted;
      cell.read = self;
      return true;
    }
    std::uint32_t others = 0;
    if (cell.read >= order_) {
      others = thread_of(cell.read) != thread ? kReadByMany : 0U;
    } else if (cell.read < block_) {
      others = kReadByOtherBlock;
    } else {
      return false;
    }
    cell.info = (cell.info & 0x000fffffU) | noted | others;
    cell.read = self | (cell.read & 15U);
    return true;
  }

  /// The same for a write or an atomic.
  bool write(Cell& cell, std::uint32_t bytes, std::uint32_t thread, bool initialised) const {
    if (atomic_ && !initialised && (cell.info & bytes) != bytes) return false;
    if (cell.read >= launch_ && (!is_own(cell.read, thread) || (cell.info & kReadFlags) != 0)) return false;
    const bool atomically = (cell.info & kWroteAtomically) != 0;
    if (cell.write >= launch_ && !(strong_ && atomically) && !is_own(cell.write, thread)) return false;
    const std::uint32_t earlier = cell.write >= phase_ ? cell.write & 15U : 0U;
    // A plain write of this thread that nothing orders before this atomic still counts as plain.
    const bool stays_plain = earlier != 0 && !atomically && thread_of(cell.write) == thread;
    cell.info = (cell.info & 0xfff000efU) | std::uint32_t{number_} << 8U | bytes |
                (strong_ && !stays_plain ? kWroteAtomically : 0U);
    cell.write = now_ | thread << 4U | bytes | earlier;
    return true;
  }

 private:
  static std::uint32_t thread_of(std::uint32_t access) { return access >> 4U & (kMostThreads - 1); }
  /// By the thread itself, since the last barrier.
  [[nodiscard]] bool is_own(std::uint32_t access, std::uint32_t thread) const {
    return access >= phase_ && thread_of(access) == thread;
  }

  std::uint32_t now_;
  std::uint32_t launch_;
  std::uint32_t block_;
  std::uint32_t phase_;
  std::uint32_t order_;
  std::uint16_t number_;
  bool atomic_;
  bool strong_;
  bool non_coherent_;
};

}  // namespace assay::ptx
