#include "backends/device/isolating_build.hpp"

#include <utility>

namespace assay::backends {

namespace {

/// A kernel to build and the destination of its outcome.
struct Slot {
  const EmittedKernel* kernel;
  BuildOutcome* outcome;
};

void keep(std::span<const Slot> slots, BuiltBatch& unit) {
  for (std::size_t i = 0; i < slots.size(); ++i) {
    *slots[i].outcome = std::move(unit.kernels[i]);
  }
}

void build_slots(std::span<const Slot> slots, const BatchBuilder& build_batch);

void build_blamed_alone(std::span<const Slot> slots, const std::set<std::size_t>& faulty_kernel_positions,
                        const BatchBuilder& build_batch) {
  std::vector<Slot> others;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (faulty_kernel_positions.contains(i)) {
      build_slots(slots.subspan(i, 1), build_batch);
    } else {
      others.push_back(slots[i]);
    }
  }
  build_slots(others, build_batch);
}

void build_slots(std::span<const Slot> slots, const BatchBuilder& build_batch) {
  if (slots.empty()) {
    return;
  }
  std::vector<const EmittedKernel*> kernels;
  for (const Slot& slot : slots) {
    kernels.push_back(slot.kernel);
  }
  BatchOutcome outcome = build_batch(kernels);
  if (auto* built = std::get_if<BuiltBatch>(&outcome)) {
    keep(slots, *built);
    return;
  }
  auto& failed = std::get<FailedBatch>(outcome);
  // A log may quote anything. Ignore positions that do not exist: they would not shrink the remaining batch.
  std::erase_if(failed.faulty_kernel_positions, [&](std::size_t position) { return position >= slots.size(); });
  if (slots.size() == 1 || failed.failure.kind == BuildFailed::Kind::kResourceFailure) {
    for (const Slot& slot : slots) {
      *slot.outcome = failed.failure;
    }
  } else if (!failed.faulty_kernel_positions.empty() && failed.faulty_kernel_positions.size() < slots.size()) {
    build_blamed_alone(slots, failed.faulty_kernel_positions, build_batch);
  } else {
    build_slots(slots.first(slots.size() / 2), build_batch);
    build_slots(slots.subspan(slots.size() / 2), build_batch);
  }
}

}  // namespace

std::vector<BuildOutcome> build_isolating_failures(std::span<const EmittedKernel* const> kernels,
                                                   const BatchBuilder& build_batch) {
  std::vector<BuildOutcome> outcomes(kernels.size(), BuildFailed{});
  std::vector<Slot> slots;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    slots.push_back({kernels[i], &outcomes[i]});
  }
  build_slots(slots, build_batch);
  return outcomes;
}

}  // namespace assay::backends
