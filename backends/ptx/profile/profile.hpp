// What a run executed, independent of the machine that ran it.
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

struct Profile {
  std::uint64_t thread_instructions = 0;  ///< of active lanes, those whose guard fails included
  std::uint64_t warp_instructions = 0;
  std::array<std::uint64_t, kCategories> mix = {};  ///< thread-instructions by category
  std::uint64_t exact = 0;                          ///< thread-instructions whose bits PTX fixes
  std::uint64_t approximate = 0;                    ///< correctly rounded here, within a documented bound on hardware
  std::uint64_t order_dependent = 0;                ///< float atomics
  std::uint64_t contractible = 0;                   ///< mul and add without .rn, which a device may fuse
  bool approximation_reaches_result = false;        ///< see fidelity.hpp
  std::uint64_t global_accesses = 0;                ///< by warps
  std::uint64_t sectors = 0;                        ///< of 32 bytes, that these touched
  std::uint64_t global_bytes = 0;                   ///< that threads loaded and stored
  std::uint64_t flops = 0;                          ///< an fma counts as two
  std::uint64_t atomics = 0;                        ///< by threads
  std::uint64_t atomic_addresses = 0;               ///< distinct ones, summed over instructions of warps
  /// Of the atomics whose order shows, in the bits of a sum of floats or in a value that they give back and that is
  /// used, those that came to a cell behind another thread's; nothing where that was not asked for.
  std::optional<std::uint64_t> atomic_collisions;
  std::uint64_t barriers = 0;  ///< by warps
  std::uint64_t divergent_branches = 0;

  /// Counts an instruction that so many threads executed, `answered` of them with the bits of a device.
  void add(const Instruction& instruction, Fidelity fidelity, std::uint64_t threads, std::uint64_t answered = 0);

  /// Mean share of lanes that were active.
  [[nodiscard]] double lane_efficiency() const;
  [[nodiscard]] double sectors_per_access() const;
  /// Threads per distinct address of an atomic instruction: 1 without contention, up to 32.
  [[nodiscard]] double atomic_contention() const;
  /// Floating point operations per byte of global memory.
  [[nodiscard]] double arithmetic_intensity() const;
};

/// Every figure by name, ratios included: "lane_efficiency", and "mix_load", the share of instructions that are loads.
std::map<std::string, double> measures_of(const Profile& profile);

/// "12345 instructions: 12000 exact, 300 approximate, 45 order-dependent, 0 contractible; an
/// approximation reached the result".
std::string fidelity_line(const Profile& profile);

}  // namespace assay::ptx
