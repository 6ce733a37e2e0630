// The errors that the checks found in a run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "backends/ptx/parse/module.hpp"

namespace assay::ptx {

/// The extents of a grid or block, or the index of a block or thread.
struct Dim3 {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;
  [[nodiscard]] std::uint64_t count() const { return std::uint64_t{x} * y * z; }
  friend bool operator==(Dim3, Dim3) = default;
};

/// One instruction of one thread, such as a memory access.
struct InstructionSite {
  std::uint32_t ptx_line = 0;      ///< line of the PTX; 0: unknown
  DebugLocation source_location;   ///< location of the instruction in the generated source
  std::string instruction_text;    ///< text of the instruction
  Dim3 thread{0, 0, 0};            ///< index of the thread in its block
  Dim3 block{0, 0, 0};             ///< index of the block in the grid
  bool lacks_proxy_fence = false;  ///< whether a write of a thread, which an asynchronous read needs a fence for
  /// Whether a write to a tensor map, which a copy that uses the map needs a fence for.
  bool lacks_tensor_map_fence = false;
  bool is_pending_copy =
      false;  ///< whether it is an asynchronous operation whose completion its thread has not waited for
};

/// An error that one instruction caused once or several times.
struct CheckFinding {
  /// What is wrong.
  enum class Kind : std::uint8_t {
    kOutOfBounds,        ///< an access outside of its allocation
    kLocalAtomic,        ///< an atomic on local memory, for which GPUs have none
    kMisaligned,         ///< an access to an address that is not a multiple of the access size
    kUninitializedRead,  ///< a read of bytes that nothing has written
    kWriteWriteRace,     ///< two unordered writes of different threads
    kReadWriteRace,      ///< an unordered read and write of different threads
    kAtomicRace,         ///< an atomic and a non-atomic access of different threads, without an order
    kWriteToReadOnly,    ///< a write to an allocation marked read-only
    kNonCoherentRead,    ///< a load with .nc of memory that the same launch writes
    kBarrierDivergence,  ///< a barrier that only some of its threads reach
    kInactiveLane,       ///< a warp operation whose mask or source includes a lane that does not take part
    kNotFreed,           ///< tensor memory that the block has not freed when it ends
    kInstructionLimit,   ///< the launch exceeded its instruction limit
  };
  Kind kind = Kind::kOutOfBounds;  ///< what is wrong
  std::string kernel;              ///< name of the kernel's entry point
  InstructionSite site;            ///< the access or instruction that caused the finding
  std::optional<InstructionSite>
      conflicting_access;        ///< the earlier conflicting access of a race; nullopt for other kinds
  Space space = Space::kGlobal;  ///< state space of the access
  std::uint64_t address = 0;     ///< address as the kernel computed it
  std::string allocation_name;   ///< name of the memory allocation that the address belongs to; empty if none
  /// Offset of the address from the start of the allocation, in bytes; may be outside of the allocation.
  std::int64_t offset = 0;
  std::uint64_t allocation_bytes = 0;  ///< size of the allocation in bytes
  std::uint32_t access_bytes = 0;      ///< number of bytes accessed
  std::uint64_t count = 1;             ///< how often the instruction caused this finding
};

/// The kind of a memory fault: "out_of_bounds", "write_write_race".
std::string_view to_text(CheckFinding::Kind kind);
/// A description in one line, with all locations.
std::string describe(const CheckFinding& finding);

}  // namespace assay::ptx
