// A launch's arguments in memory of the worker's own, where addresses may be put into them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "backends/worker/record_reader.hpp"

namespace assay::worker {

/// Memory for one launch after another.
class PlacedArguments {
 public:
  /// Copies the launch's arguments, each aligned for any type, with `base` as the address of the first buffer's first
  /// byte. A pointer to each, valid until the next call; there is one more element in front, for the caller to set.
  std::span<void*> place(const RecordReader& launch, std::uint64_t base) {
    memory_.resize(launch.blob().size() / sizeof(Cell) + 1);
    std::byte* const blob = memory_.front().bytes;
    std::memcpy(blob, launch.blob().data(), launch.blob().size());
    for (const PointerRow& pointer : launch.pointers()) {
      const std::uint64_t address = base + pointer.target;
      std::memcpy(blob + pointer.at, &address, sizeof(address));
    }
    pointers_.assign(1, nullptr);
    for (const ArgumentRow& argument : launch.arguments()) {
      pointers_.push_back(blob + argument.at);
    }
    return pointers_;
  }

 private:
  struct alignas(64) Cell {
    std::byte bytes[64];
  };

  std::vector<Cell> memory_;
  std::vector<void*> pointers_;
};

}  // namespace assay::worker
