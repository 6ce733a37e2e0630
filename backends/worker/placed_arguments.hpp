// A private copy of a launch's arguments in the worker, with device addresses filled in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "backends/worker/record_reader.hpp"

namespace assay::worker {

/// The arguments of a launch with the addresses of the worker. Reuses its memory for successive launches.
class RelocatedArguments {
 public:
  /// Copies the arguments of the launch, aligned for any type. In the copy, pointers refer to buffers whose first one
  /// is at the address `base`. Returns a pointer to each argument, valid until the next call, after one additional
  /// element that the caller may set.
  std::span<void*> place(const LaunchRecordReader& launch, std::uint64_t base) {
    argument_storage_.resize(launch.argument_blob().size() / sizeof(AlignedBytes) + 1);
    std::byte* const argument_blob = argument_storage_.front().bytes;
    std::memcpy(argument_blob, launch.argument_blob().data(), launch.argument_blob().size());
    for (const PointerRelocation& pointer : launch.pointers()) {
      const std::uint64_t address = base + pointer.target_offset;
      std::memcpy(argument_blob + pointer.blob_offset, &address, sizeof(address));
    }
    argument_pointers_.assign(1, nullptr);
    for (const ArgumentLocation& argument : launch.arguments()) {
      argument_pointers_.push_back(argument_blob + argument.blob_offset);
    }
    return argument_pointers_;
  }

 private:
  /// A unit of memory that is aligned for any argument.
  struct alignas(64) AlignedBytes {
    std::byte bytes[64];
  };

  std::vector<AlignedBytes> argument_storage_;  ///< copy of the arguments
  std::vector<void*> argument_pointers_;        ///< pointer to each argument, after one element for the caller
};

}  // namespace assay::worker
