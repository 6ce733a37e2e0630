// The tensor memory of a block. Private to the machine: tensor_memory.cpp executes allocations, loads, stores and
// waits, and tensor_products.cpp products and copies.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "backends/ptx/execute/memory.hpp"
#include "backends/ptx/instructions/program.hpp"
#include "backends/ptx/unrounded/numbers.hpp"

namespace assay::ptx {

inline constexpr unsigned kTensorLanes = 128;    ///< number of lanes (rows) of tensor memory
inline constexpr unsigned kTensorColumns = 512;  ///< number of columns of 32-bit words

/// 16 bytes of shared memory.
struct SharedChunk {
  std::uint32_t variable = 0;  ///< index of the variable in Kernel::shared_variables
  std::uint32_t offset = 0;    ///< offset in the variable, in bytes
};

/// A word of tensor memory.
struct TensorCell {
  unsigned lane = 0;
  unsigned column = 0;

  /// The position of the word in the vectors of TensorMemory. The words of a column are adjacent.
  [[nodiscard]] std::size_t index() const { return std::size_t{column} * kTensorLanes + lane; }
  /// The address as instructions specify it.
  [[nodiscard]] std::uint64_t address() const { return std::uint64_t{lane} << 16U | column; }
};

/// An asynchronous operation on tensor memory that is not complete: a store, a product or a copy.
struct PendingTensorOperation {
  const Op* op = nullptr;                         ///< the instruction
  std::uint32_t number = 0;                       ///< number of the operation in its block, counted from 1
  std::uint32_t thread = 0;                       ///< index in the block of the thread that started it
  bool is_store = false;                          ///< whether it is a store, which the wait of its warp completes
  std::uint32_t start_epoch = 0;                  ///< epoch that began with its start
  std::vector<std::uint32_t> written_cells = {};  ///< words that it writes, by TensorCell::index
  std::vector<std::uint32_t> read_cells = {};     ///< words that it reads as an operand
  std::vector<SharedChunk> read_chunks = {};      ///< shared memory that it reads
};

/// A load from tensor memory whose warp has not waited for it.
struct PendingTensorLoad {
  const Op* op = nullptr;                 ///< the instruction
  std::uint32_t warp = 0;                 ///< index of the warp in its block
  std::uint32_t start_epoch = 0;          ///< epoch of its start
  std::vector<std::uint32_t> cells = {};  ///< words that it reads, by TensorCell::index
};

/// The tensor memory of a block and its state.
struct TensorMemory {
  struct Allocation {
    std::uint32_t first_column = 0;
    std::uint32_t column_count = 0;
    const Op* op = nullptr;    ///< the instruction
    std::uint32_t thread = 0;  ///< index in the block of the first thread of its warp
  };
  std::vector<Allocation> allocations;  ///< allocations that are not freed
  std::array<bool, kTensorColumns> is_allocated_column{};
  bool may_not_allocate = false;               ///< whether a thread has relinquished the permit to allocate
  std::vector<std::uint32_t> words;            ///< content; empty until the first allocation, like the next ones
  std::vector<ShadowCell> shadow_cells;        ///< access history of each word
  std::vector<std::uint32_t> pending_numbers;  ///< number of the last pending operation that writes a word; 0: none
  std::vector<UnroundedWord> unrounded_words;  ///< unrounded values; empty if they are not computed
  std::vector<PendingTensorOperation> pending;
  std::vector<PendingTensorLoad> pending_loads;
  std::uint32_t operation_count = 0;  ///< number of stores, products and copies so far
};

}  // namespace assay::ptx
