// Statistics of a run, independent of the host machine.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "backends/ptx/instructions/program.hpp"
#include "backends/ptx/parse/module.hpp"
#include "backends/ptx/parse/opcode.hpp"

namespace assay::ptx {

/// What a run executed. A thread-instruction is one execution of an instruction by one thread, a warp-instruction one
/// by a warp.
struct InstructionProfile {
  /// Thread-instructions of active lanes, including those whose guard is false.
  std::uint64_t thread_instruction_count = 0;
  std::uint64_t warp_instruction_count = 0;  ///< warp-instructions
  std::array<std::uint64_t, kInstructionCategoryCount> thread_instructions_by_category =
      {};                                     ///< thread-instructions by category
  std::uint64_t exact_instruction_count = 0;  ///< thread-instructions whose result PTX defines bit for bit
  std::uint64_t approximate_instruction_count =
      0;  ///< thread-instructions rounded correctly here, within a documented bound on hardware
  /// Thread-instructions that are atomics on floats, whose result bits depend on their order.
  std::uint64_t order_dependent_instruction_count = 0;
  std::uint64_t contractible_instruction_count =
      0;  ///< thread-instructions mul and add without .rn, which a device may fuse
  /// Whether an approximate result affects a stored value; see checks/data_flow.hpp.
  bool approximation_reaches_result = false;
  std::uint64_t global_access_count = 0;  ///< warp-instructions that access global memory
  /// 32-byte sectors that a warp-instruction accesses, summed over these warp-instructions.
  std::uint64_t accessed_sector_count = 0;
  std::uint64_t global_bytes = 0;            ///< bytes loaded and stored in global memory, summed over threads
  std::uint64_t flop_count = 0;              ///< number of floating-point operations; an fma counts as two
  std::uint64_t atomic_operation_count = 0;  ///< number of atomic operations, summed over threads
  /// Number of different addresses of the atomics of a warp-instruction, summed over warp-instructions.
  std::uint64_t distinct_atomic_address_count = 0;
  /// The number of order-sensitive atomics (float sums, or atomics whose returned value is used) on an element that an
  /// atomic of another thread accessed earlier; nullopt if collisions were not counted.
  std::optional<std::uint64_t> atomic_collision_count;
  std::uint64_t barrier_instruction_count = 0;  ///< warp-instructions that are barriers
  /// Warp-instructions that are branches which only some of the active lanes take.
  std::uint64_t divergent_branch_count = 0;

  /// Counts an instruction executed by `threads` threads, `answered` of them with the bits of a device.
  void add(const Instruction& instruction, Exactness exactness, std::uint64_t threads, std::uint64_t answered = 0);

  /// The mean fraction of active lanes.
  [[nodiscard]] double lane_efficiency() const;
  [[nodiscard]] double sectors_per_access() const;
  /// Threads per distinct address of an atomic instruction: 1 without contention, up to 32.
  [[nodiscard]] double atomic_contention() const;
  /// Floating point operations per byte of global memory.
  [[nodiscard]] double arithmetic_intensity() const;
};

/// Every measure by name, including ratios such as "lane_efficiency" and "mix_load", the fraction of loads.
std::map<std::string, double> measures_of(const InstructionProfile& profile);

/// "12345 instructions: 12000 exact, 300 approximate, 45 order-dependent, 0 contractible; an
/// approximation reached the result".
std::string exactness_line(const InstructionProfile& profile);

}  // namespace assay::ptx
