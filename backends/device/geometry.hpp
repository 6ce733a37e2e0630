// How a launch's threads are shared out among blocks, on the devices that have such.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

namespace assay::backends {

struct BlockGrid {
  std::uint32_t blocks = 1;
  std::uint32_t threads = 1;  ///< in a block
};

/// The grid of a launch over the range [0, count). `block` is what the launch asks for, 0 for any; `block_threads` what
/// the entry demands, in which case the range counts blocks' work and `block` is how much of it one block does, or 0.
/// Nothing when a number is out of range.
constexpr std::optional<BlockGrid> grid_of(std::int64_t count, std::int64_t block, std::int64_t block_threads) {
  constexpr std::int64_t kWarp = 32;
  constexpr std::int64_t kDefaultWarps = 4;  // at most
  constexpr std::int64_t kMostBlocks = 1 << 20;
  // A small launch gets a small block: threads without work cost time and blur profiles.
  const std::int64_t warps = std::clamp<std::int64_t>((count + kWarp - 1) / kWarp, 1, kDefaultWarps);
  const std::int64_t asked = block == 0 ? warps * kWarp : block;
  const std::int64_t threads = block_threads > 0 ? block_threads : asked;
  if (count < 0 || threads < 0 || threads > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
  // A grid-stride loop does the rest of what does not fit a grid.
  const std::int64_t in_block = block_threads > 0 ? std::max<std::int64_t>(block, 1) : threads;
  const std::int64_t blocks = std::clamp<std::int64_t>((count + in_block - 1) / in_block, 1, kMostBlocks);
  return BlockGrid{static_cast<std::uint32_t>(blocks), static_cast<std::uint32_t>(threads)};
}

}  // namespace assay::backends
