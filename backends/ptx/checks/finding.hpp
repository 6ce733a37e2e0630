// The errors that the checks found in a run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "backends/ptx/parse/module.hpp"

namespace assay::ptx {

/// Extents of a grid or block, or the index of a block or thread.
struct Dim3 {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;
  [[nodiscard]] std::uint64_t count() const { return std::uint64_t{x} * y * z; }
  friend bool operator==(Dim3, Dim3) = default;
};

/// One memory access, or one instruction, of one thread.
struct InstructionSite {
  std::uint32_t ptx_line = 0;     ///< line of the PTX; 0: unknown
  DebugLocation source_location;  ///< location of the instruction in the generated source
  std::string instruction_text;   ///< text of the instruction
  Dim3 thread{0, 0, 0};           ///< index of the thread in its block
  Dim3 block{0, 0, 0};            ///< index of the block in the grid
  bool is_pending_copy = false;   ///< whether it is an asynchronous copy that its thread has not waited for
};

/// An error, found once or several times at one instruction.
struct CheckFinding {
  enum class Kind : std::uint8_t {
    kOutOfBounds,
    kMisaligned,
    kUninitializedRead,
    kWriteWriteRace,
    kReadWriteRace,
    kAtomicRace,       ///< unordered atomic and non-atomic accesses
    kWriteToReadOnly,  ///< a write to an allocation marked read-only
    kNonCoherentRead,  ///< .nc load of memory that the same launch writes
    kBarrierDivergence,
    kInactiveLane,      ///< a warp operation that involves a non-participating lane
    kInstructionLimit,  ///< the instruction limit was reached
  };
  Kind kind = Kind::kOutOfBounds;  ///< error that was found
  std::string kernel;              ///< name of the kernel's entry point
  InstructionSite site;            ///< the access or instruction that caused the finding
  std::optional<InstructionSite>
      conflicting_access;        ///< the earlier conflicting access of a race; nullopt for other kinds
  Space space = Space::kGlobal;  ///< state space of the access
  std::uint64_t address = 0;     ///< address as the kernel computed it
  std::string allocation_name;   ///< name of the allocation that the address belongs to; empty if none
  std::int64_t offset = 0;       ///< position of the address in bytes from the start of the allocation; may be outside
  std::uint64_t allocation_bytes = 0;  ///< size of the allocation
  std::uint32_t access_bytes = 0;      ///< size of the access
  std::uint64_t count = 1;             ///< how often the instruction caused this finding
};

/// The kind of a memory fault: "out_of_bounds", "write_write_race".
std::string_view to_text(CheckFinding::Kind kind);
/// A description in one line, with all locations.
std::string describe(const CheckFinding& finding);

}  // namespace assay::ptx
