#include "backends/ptx/execute/fence_order.hpp"

#include <algorithm>

namespace assay::ptx {

void FenceOrder::clear() {
  locations_.clear();
  acquires_.clear();
  fences_until_barrier_ = nullptr;
  std::ranges::fill(fences_, 0);
  has_new_fence_ = false;
}

void FenceOrder::start_block(std::uint32_t epoch, std::uint32_t thread_count) {
  block_start_epoch_ = epoch;
  fences_.assign(thread_count, 0);
  phases_.assign(thread_count, 0);
  warp_synchronizations_.assign(thread_count, 0);
  fences_until_barrier_ = nullptr;
  has_new_fence_ = false;
  acquires_.clear();
}

void FenceOrder::fence(std::uint32_t thread, std::uint32_t epoch, std::uint32_t phase_start_epoch,
                       std::uint32_t warp_synchronization_epoch) {
  fences_[thread] = epoch;
  phases_[thread] = phase_start_epoch;
  warp_synchronizations_[thread] = warp_synchronization_epoch;
  has_new_fence_ = true;
  for (Acquire& acquire : acquires_) {
    if (acquire.thread == thread) {
      if (acquire.fence_epoch == 0) acquire.fence_epoch = epoch;
    } else if (acquire.other_fence_epoch == 0 && phase_start_epoch > acquire.epoch) {
      acquire.other_fence_epoch = epoch;
    }
  }
}

void FenceOrder::barrier() {
  if (!has_new_fence_) return;
  fences_until_barrier_ = std::make_shared<const EpochByThread>(fences_);
  has_new_fence_ = false;
}

void FenceOrder::access(StrongAccess kind, std::uint64_t address, std::uint32_t thread, std::uint32_t epoch) {
  const auto known = locations_.find(address);
  if (kind != StrongAccess::kStore && known != locations_.end()) acquire(address, known->second, thread, epoch);
  if (kind == StrongAccess::kLoad) return;
  // A store replaces the value that earlier releases wrote; atomics continue their sequence.
  if (kind == StrongAccess::kStore && known != locations_.end()) {
    known->second.first_readable = known->second.releases.size();
  }
  if (fences_[thread] == 0 && fences_until_barrier_ == nullptr) return;
  locations_[address].releases.push_back(
      {block_start_epoch_, epoch, thread, fences_[thread], phases_[thread], fences_until_barrier_});
}

void FenceOrder::acquire(std::uint64_t address, const Location& location, std::uint32_t thread, std::uint32_t epoch) {
  const std::size_t first = location.first_readable;
  const std::size_t end = location.releases.size();
  const bool is_known = std::ranges::any_of(acquires_, [&](const Acquire& known) {
    return known.thread == thread && known.location == &location && known.first_release == first &&
           known.end_release == end;
  });
  if (first < end && !is_known) acquires_.push_back({address, &location, first, end, thread, epoch, 0, 0});
}

bool FenceOrder::is_ordered(std::uint32_t epoch, std::uint32_t thread, const FenceActor& actor) const {
  return std::ranges::any_of(acquires_, [&](const Acquire& acquire) {
    return is_visible(acquire, actor) && is_released(acquire, epoch, thread, actor.address);
  });
}

/// Whether the actor is ordered after the acquire.
bool FenceOrder::is_visible(const Acquire& acquire, const FenceActor& actor) const {
  const bool needs_fence = !actor.is_strong && (actor.address != acquire.address || actor.thread != acquire.thread);
  constexpr std::uint32_t kLanes = 32;
  const bool is_same_warp = actor.thread / kLanes == acquire.thread / kLanes;
  const auto is_after = [&](std::uint32_t epoch) {
    return actor.thread == acquire.thread || actor.phase_start_epoch > epoch ||
           (is_same_warp && actor.warp_synchronization_epoch > epoch);
  };
  if (!needs_fence) return is_after(acquire.epoch);
  if (acquire.fence_epoch != 0 && is_after(acquire.fence_epoch)) return true;
  // A fence of the actor, or of another thread, after a barrier that follows the atomic.
  return phases_[actor.thread] > acquire.epoch ||
         (is_same_warp && warp_synchronizations_[actor.thread] > acquire.epoch) ||
         (acquire.other_fence_epoch != 0 && actor.phase_start_epoch > acquire.other_fence_epoch);
}

/// Whether an access precedes one of the releases that the acquire read.
bool FenceOrder::is_released(const Acquire& acquire, std::uint32_t epoch, std::uint32_t thread, std::uint64_t address) {
  const auto& releases = acquire.location->releases;
  const auto at = [&](std::size_t index) { return releases.begin() + static_cast<std::ptrdiff_t>(index); };
  const auto end = at(acquire.end_release);
  const auto first = std::ranges::lower_bound(at(acquire.first_release), end, epoch, {}, &Release::epoch);
  for (auto release = first; release != end && release->block_start_epoch <= epoch; ++release) {
    const bool by_atomic = address == acquire.address && thread == release->thread;
    const bool by_fence = thread == release->thread && epoch < release->fence_epoch;
    const bool by_other_fence = release->fences != nullptr && epoch < (*release->fences)[thread];
    if (by_atomic || by_fence || epoch < release->phase_start_epoch || by_other_fence) return true;
  }
  return false;
}

}  // namespace assay::ptx
