#include "backends/ptx/execute/memory.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include <fmt/format.h>

namespace assay::ptx {

namespace {

/// How many shadows of freed allocations are kept for reuse.
constexpr std::size_t kMaxUnusedShadows = 32;

}  // namespace

ShadowCell* Memory::cells_of(Allocation& allocation) {
  if (allocation.shadow_memory.cells != nullptr) return allocation.shadow_memory.cells.get();
  const std::size_t count = allocation.cell_count();
  const auto fits = [&](const ShadowMemory& shadow) {
    return shadow.cell_capacity >= count && shadow.cell_capacity <= 4 * count + 64;
  };
  const auto unused = std::ranges::find_if(unused_shadow_memory_, fits);
  if (unused == unused_shadow_memory_.end()) {
    allocation.shadow_memory = {std::make_unique<ShadowCell[]>(count), count};
  } else {
    allocation.shadow_memory = std::move(*unused);
    unused_shadow_memory_.erase(unused);
    std::fill_n(allocation.shadow_memory.cells.get(), count, ShadowCell{});
  }
  return allocation.shadow_memory.cells.get();
}

Result<AllocationId> Memory::allocate(std::string name, std::size_t bytes, AllocationFlags flags) {
  if (bytes > max_bytes_ - used_bytes_) {
    return Error{
        fmt::format("allocating '{}' of {} bytes exceeds the memory limit of {} bytes", name, bytes, max_bytes_)};
  }
  used_bytes_ += bytes;
  auto owned = std::make_unique<std::byte[]>(bytes);
  const std::span<std::byte> view(owned.get(), bytes);
  const AllocationId id = adopt(std::move(name), view, flags);
  allocations_.back().owned = std::move(owned);
  return id;
}

AllocationId Memory::adopt(std::string name, std::span<std::byte> bytes, AllocationFlags flags) {
  const auto index = static_cast<std::uint32_t>(allocations_.size());
  allocations_.push_back({.name = std::move(name),
                          .bytes = bytes,
                          .owned = nullptr,
                          .flags = flags,
                          .unrounded_words = {},
                          .shadow_memory = {}});
  return {index};
}

void Memory::release(Allocation& allocation) {
  if (allocation.owned != nullptr) used_bytes_ -= allocation.bytes.size();
  allocation.name = "released " + allocation.name;
  allocation.bytes = {};
  allocation.owned = nullptr;
  allocation.unrounded_words.clear();
}

void Memory::reset() {
  for (Allocation& allocation : allocations_) {
    const bool keep = allocation.shadow_memory.cells != nullptr && unused_shadow_memory_.size() < kMaxUnusedShadows;
    if (keep) unused_shadow_memory_.push_back(std::move(allocation.shadow_memory));
  }
  allocations_.clear();
  variable_addresses_.clear();
  used_bytes_ = 0;
}

void Memory::set_initialized(Allocation& allocation, std::uint64_t offset, std::size_t size) {
  if (!allocation.flags.uninitialized || size == 0) return;
  ShadowCell* const cells = cells_of(allocation);
  for (std::uint64_t byte = offset; byte < offset + size; ++byte)
    cells[byte / 4].packed_flags |= 1U << (byte % 4);
}

Result<std::vector<std::uint64_t>> Memory::variables_of(const std::shared_ptr<const Module>& module) {
  if (const auto found = variable_addresses_.find(module); found != variable_addresses_.end()) return found->second;
  std::vector<std::uint64_t> addresses;
  for (const Variable& variable : module->variables) {
    if (variable.space == Space::kShared) {
      addresses.push_back(0);
      continue;
    }
    Result<AllocationId> id = allocate(variable.name, variable.bytes, {.read_only = variable.space == Space::kConst});
    if (!id) return id.error();
    if (!variable.initial_bytes.empty()) {
      std::memcpy(at(*id).bytes.data(), variable.initial_bytes.data(), variable.initial_bytes.size());
    }
    addresses.push_back(address(*id));
  }
  variable_addresses_.emplace(module, addresses);
  return addresses;
}

std::uint32_t Memory::next_epoch(bool& restarted) {
  restarted = latest_epoch_ == kMaxEpoch;
  if (restarted) {
    latest_epoch_ = 0;
    for (Allocation& allocation : allocations_) {
      if (allocation.shadow_memory.cells == nullptr) continue;
      const std::span cells(allocation.shadow_memory.cells.get(), allocation.cell_count());
      for (ShadowCell& cell : cells)
        cell.packed_last_write = cell.packed_last_read = 0;
    }
  }
  return ++latest_epoch_;
}

}  // namespace assay::ptx
