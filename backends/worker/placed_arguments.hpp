// A private copy of a launch's arguments in the worker, with device addresses filled in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "backends/worker/record_reader.hpp"

namespace assay::worker {

/// Reuses its memory for successive launches.
class RelocatedArguments {
 public:
  /// Copies the launch's arguments, aligned for any type, with `base` as the address of the first buffer. Returns a
  /// pointer to each argument, valid until the next call. One more element comes first, for the caller to set.
  std::span<void*> place(const RecordReader& launch, std::uint64_t base) {
    memory_.resize(launch.blob().size() / sizeof(AlignedBytes) + 1);
    std::byte* const blob = memory_.front().bytes;
    std::memcpy(blob, launch.blob().data(), launch.blob().size());
    for (const PointerRelocation& pointer : launch.pointers()) {
      const std::uint64_t address = base + pointer.target_offset;
      std::memcpy(blob + pointer.blob_offset, &address, sizeof(address));
    }
    pointers_.assign(1, nullptr);
    for (const ArgumentLocation& argument : launch.arguments()) {
      pointers_.push_back(blob + argument.blob_offset);
    }
    return pointers_;
  }

 private:
  struct alignas(64) AlignedBytes {
    std::byte bytes[64];
  };

  std::vector<AlignedBytes> memory_;  ///< copy of the arguments
  std::vector<void*> pointers_;       ///< address of each argument, after one element for the caller
};

}  // namespace assay::worker
