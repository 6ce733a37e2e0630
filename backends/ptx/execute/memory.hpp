// Allocations and their shadow. Private to the machine.
//
// A shadow cell stands for a word of 4 bytes and has 12: who wrote it last and who read it last, when, with which
// instruction and which of its bytes; and which bytes were ever written. "When" is a stamp, which goes up at each
// block, barrier and synchronisation of a warp: blocks run one after another, so stamps of a launch, of a block and of
// a phase between barriers each are a range. Of several readers the last is known, and whether there were others.
// Accesses to different bytes of a word never conflict; where threads share a word out among them, the cell knows the
// bytes of the last one only, and a conflict on the others is missed.
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

struct Cell {
  std::uint32_t write = 0;  ///< stamp << 14 | thread << 4 | bytes
  std::uint32_t read = 0;
  std::uint32_t info = 0;  ///< read instruction << 20 | write instruction << 8 | flags << 4 | initialised bytes
};
static_assert(sizeof(Cell) == 12, "3 bytes of shadow for each byte of memory");

inline constexpr std::uint32_t kMostStamp = (1U << 18U) - 1;
inline constexpr std::uint32_t kMostThreads = 1024;

/// What a cell's flags say.
inline constexpr std::uint32_t kWroteAtomically = 1U << 4U;
inline constexpr std::uint32_t kReadByMany = 1U << 5U;        ///< of the current block and phase
inline constexpr std::uint32_t kReadByOtherBlock = 1U << 6U;  ///< in this launch
inline constexpr std::uint32_t kReadNonCoherent = 1U << 7U;
inline constexpr std::uint32_t kReadFlags = kReadByMany | kReadByOtherBlock | kReadNonCoherent;

/// The cells of an allocation.
struct Shadow {
  std::unique_ptr<Cell[]> cells;
  std::size_t capacity = 0;
};

struct Allocation {
  std::string name;
  std::span<std::byte> bytes;
  std::unique_ptr<std::byte[]> owned;  ///< null for adopted memory
  AllocationFlags flags;
  Shadow shadow;  ///< made at the first checked access

  [[nodiscard]] std::size_t cell_count() const { return (bytes.size() + 3) / 4; }
};

class Memory {
 public:
  explicit Memory(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  Result<AllocationId> allocate(std::string name, std::size_t bytes, AllocationFlags flags);
  AllocationId adopt(std::string name, std::span<std::byte> bytes, AllocationFlags flags);
  [[nodiscard]] Allocation& at(AllocationId id) { return allocations_[id.index]; }
  [[nodiscard]] static std::uint64_t address(AllocationId id) {
    return ((id.index + kFirstAllocation) << kWindowBits) + kWindowMiddle;
  }
  /// The allocation that an address is meant for; null when there is none.
  [[nodiscard]] Allocation* meant_by(std::uint64_t address) {
    const std::uint64_t window = address >> kWindowBits;
    return window - kFirstAllocation < allocations_.size() ? &allocations_[window - kFirstAllocation] : nullptr;
  }
  void reset();

  /// The allocation's shadow, all zero at first.
  Cell* cells_of(Allocation& allocation);

  /// The addresses of a module's variables, which are made if need be.
  Result<std::vector<std::uint64_t>> variables_of(const std::shared_ptr<const Module>& module);

  /// A new stamp. When there is none left, the memory of earlier accesses is dropped and stamps begin anew.
  std::uint32_t next_stamp(bool& restarted);

 private:
  std::size_t most_bytes_;
  std::size_t used_bytes_ = 0;
  std::uint32_t stamp_ = 0;
  std::vector<Allocation> allocations_;
  std::vector<Shadow> unused_shadows_;  ///< of allocations that were freed: fresh pages cost more than a short launch
  std::map<std::shared_ptr<const Module>, std::vector<std::uint64_t>> variables_;
};

}  // namespace assay::ptx
