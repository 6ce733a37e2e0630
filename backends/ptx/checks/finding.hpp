// What the checks found wrong with a run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "backends/ptx/parse/module.hpp"

namespace assay::ptx {

struct Dim3 {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;
  [[nodiscard]] std::uint64_t count() const { return std::uint64_t{x} * y * z; }
  friend bool operator==(Dim3, Dim3) = default;
};

/// One access to memory, or one instruction, of one thread.
struct Site {
  std::uint32_t line = 0;  ///< of the PTX; 0: not known
  SourceLocation source;   ///< of the generated source
  std::string text;        ///< the instruction
  Dim3 thread{0, 0, 0};
  Dim3 block{0, 0, 0};
};

struct Finding {
  enum class Kind : std::uint8_t {
    kOutOfBounds,
    kMisaligned,
    kUninitialisedRead,
    kWriteWriteRace,
    kReadWriteRace,
    kAtomicRace,       ///< an atomic and another access, not ordered
    kReadOnlyWrite,    ///< a write to an allocation marked read-only
    kNonCoherentRead,  ///< .nc load of what the same launch writes
    kBarrierDivergence,
    kInactiveLane,  ///< a shuffle from, or a warp operation with, a lane that does not take part
    kInstructionBudget,
  };
  Kind kind = Kind::kOutOfBounds;
  std::string kernel;
  Site site;
  std::optional<Site> other;  ///< races: the earlier access, which it conflicts with
  Space space = Space::kGlobal;
  std::uint64_t address = 0;
  std::string allocation;   ///< empty when the address is meant for none
  std::int64_t offset = 0;  ///< in the allocation; may lie outside
  std::uint64_t size = 0;   ///< of the allocation
  std::uint32_t width = 0;  ///< of the access, in bytes
  std::uint64_t count = 1;  ///< how often the instruction had this finding
};

/// "out_of_bounds", "write_write_race": the kind of a memory fault.
std::string_view to_text(Finding::Kind kind);
/// One line for a person, with every place.
std::string describe(const Finding& finding);

}  // namespace assay::ptx
