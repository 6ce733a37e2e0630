// The simulated GPU as the candidate's library sees it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "call.hpp"

namespace assay::candidate {

/// The functions of the worker; set before the first call.
extern const DeviceFunctions* device;

inline std::uint64_t allocate(std::size_t bytes) {
  const std::uint64_t address = device->allocate(bytes);
  if (address == 0) throw std::runtime_error("the host code allocates more memory than the simulated GPU has");
  return address;
}

inline std::byte* host_bytes(std::uint64_t address, std::size_t size, bool writes) {
  void* const bytes = device->bytes(address, size, writes ? 1 : 0);
  if (bytes == nullptr) throw std::runtime_error("the host code accesses device memory outside of any allocation");
  return static_cast<std::byte*>(bytes);
}

}  // namespace assay::candidate
