// Distributes the threads of a launch over blocks, for devices with blocks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

namespace assay::backends {

/// A one-dimensional grid of blocks.
struct BlockGrid {
  std::uint32_t block_count = 1;        ///< number of blocks
  std::uint32_t threads_per_block = 1;  ///< number of threads per block
};

/// Returns the grid of a launch over the range [0, count). `block` is the requested number of threads per block, or 0
/// for the default. `required_block_threads` is the number of threads that the entry point requires, or 0. If it is not
/// 0, the range counts work items of one block each, and `block` is how many of them a block processes (0: one).
/// Returns nullopt if a number is out of range.
constexpr std::optional<BlockGrid> block_grid_for(std::int64_t count, std::int64_t block,
                                                  std::int64_t required_block_threads) {
  constexpr std::int64_t kWarpSize = 32;
  constexpr std::int64_t kMaxDefaultWarps = 4;  // at most
  constexpr std::int64_t kMaxBlocks = 1 << 20;
  // A small launch gets a small block, because idle threads cost time and distort profiles.
  const std::int64_t default_warps = std::clamp<std::int64_t>((count + kWarpSize - 1) / kWarpSize, 1, kMaxDefaultWarps);
  const std::int64_t requested_threads = block == 0 ? default_warps * kWarpSize : block;
  const std::int64_t threads = required_block_threads > 0 ? required_block_threads : requested_threads;
  if (count < 0 || threads < 0 || threads > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
  // A grid-stride loop covers the threads that do not fit the grid.
  const std::int64_t items_per_block = required_block_threads > 0 ? std::max<std::int64_t>(block, 1) : threads;
  const std::int64_t blocks = std::clamp<std::int64_t>((count + items_per_block - 1) / items_per_block, 1, kMaxBlocks);
  return BlockGrid{static_cast<std::uint32_t>(blocks), static_cast<std::uint32_t>(threads)};
}

}  // namespace assay::backends
