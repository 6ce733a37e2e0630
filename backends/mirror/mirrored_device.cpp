#include "backends/mirror/mirrored_device.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "backends/differing_bits.hpp"

namespace assay::backends {

namespace {

constexpr std::int64_t kWarp = 32;

/// Whether the float atomics of a launch have one order: one warp that never splits executes them one after another,
/// and each by threads that meet in no address.
bool are_atomics_ordered(const LaunchRequest& launch, const ExecutionProfile& profile) {
  const BuiltEntry* const entry = launch.kernel->find(launch.pass, launch.lane);
  const bool one_warp = launch.threads <= kWarp && (launch.block == 0 || launch.block >= launch.threads) &&
                        entry != nullptr && entry->block_threads == 0;
  const auto contention = profile.measures.find("atomic_contention");
  const auto divergent = profile.measures.find("divergent_branches");
  return one_warp && contention != profile.measures.end() && contention->second <= 1 &&
         divergent != profile.measures.end() && divergent->second == 0;
}

/// Whether the instructions that ran fix the results: each exactly defined, and no float atomics whose order is open.
bool are_bits_determined(const LaunchRequest& launch, const ExecutionProfile& profile) {
  const Fidelity& fidelity = profile.fidelity;
  if (fidelity.approximation_reaches_result || fidelity.contractible > 0) return false;
  return fidelity.order_dependent == 0 || are_atomics_ordered(launch, profile);
}

/// The word of four bytes, or what there is of it, in which `at` lies.
std::string word_of(std::span<const std::byte> bytes, std::size_t at) {
  const std::size_t first = at / 4 * 4;
  std::uint32_t word = 0;
  std::memcpy(&word, bytes.data() + first, std::min<std::size_t>(4, bytes.size() - first));
  return fmt::format("0x{:08x}", word);
}

class MirroredSession final : public Session {
 public:
  MirroredSession(std::unique_ptr<Session> session, std::unique_ptr<Session> mirror, std::string mirror_name,
                  std::shared_ptr<MirrorCounts> counts)
      : session_(std::move(session)),
        mirror_(std::move(mirror)),
        mirror_name_(std::move(mirror_name)),
        counts_(std::move(counts)) {}

  Result<BufferId> allocate(std::size_t size) override {
    const Result<BufferId> mirrored = mirror_->allocate(size);
    if (!mirrored) return mirrored;
    return session_->allocate(size);
  }
  std::span<std::byte> bytes(BufferId buffer) override { return session_->bytes(buffer); }
  void reset() override {
    session_->reset();
    mirror_->reset();
  }

  std::vector<RunOutcome> run(std::span<const LaunchRequest> launches) override {
    std::vector<RunOutcome> outcomes;
    for (const LaunchRequest& launch : launches)
      outcomes.push_back(run_both(launch));
    return outcomes;
  }

 private:
  RunOutcome run_both(const LaunchRequest& launch) {
    for_each_pointer(launch, [&](const Argument::Pointer& pointer) {
      std::ranges::copy(session_->bytes(pointer.address.buffer), mirror_->bytes(pointer.address.buffer).begin());
    });
    RunOutcome outcome = session_->run({&launch, 1}).front();
    if (!std::holds_alternative<Completed>(outcome) || launch.lane != Lane::kNative) return outcome;
    LaunchRequest observed = launch;
    observed.profile = true;
    const RunOutcome mirrored = mirror_->run({&observed, 1}).front();
    const auto* completed = std::get_if<Completed>(&mirrored);
    if (completed == nullptr || !completed->profile || !are_bits_determined(launch, *completed->profile)) {
      ++counts_->undetermined;
      return outcome;
    }
    ++counts_->compared;
    if (std::optional<std::string> difference = first_difference(launch)) {
      ++counts_->differing;
      return MemoryFault{.message = std::move(*difference), .kind = std::string(kDifferingBits)};
    }
    return outcome;
  }

  template <typename Visit>
  static void for_each_pointer(const LaunchRequest& launch, const Visit& visit) {
    for (const Argument& argument : launch.arguments) {
      for (const Argument::Pointer& pointer : argument.pointers)
        visit(pointer);
    }
  }

  /// "'out' differs from the device ptx in byte 12: 0x3f800001, there 0x3f800000".
  std::optional<std::string> first_difference(const LaunchRequest& launch) {
    std::optional<std::string> difference;
    for_each_pointer(launch, [&](const Argument::Pointer& pointer) {
      const auto rest = [&](Session& session) {
        return session.bytes(pointer.address.buffer).subspan(pointer.address.offset);
      };
      const std::span<const std::byte> here = rest(*session_);
      const std::span<const std::byte> there = rest(*mirror_);
      const auto [mine, theirs] = std::ranges::mismatch(here, there);
      if (difference || mine == here.end()) return;
      const auto at = static_cast<std::size_t>(mine - here.begin());
      difference = fmt::format("'{}' of '{}' differs from the device {} in byte {}: {}, there {}", pointer.region.name,
                               launch.kernel->name, mirror_name_, at, word_of(here, at), word_of(there, at));
    });
    return difference;
  }

  std::unique_ptr<Session> session_;
  std::unique_ptr<Session> mirror_;
  std::string mirror_name_;
  std::shared_ptr<MirrorCounts> counts_;
};

}  // namespace

Capability MirroredDevice::can_run() const {
  const Capability device = device_->can_run();
  return device.available ? (mirror_->can_run().available ? device : mirror_->can_run()) : device;
}

Result<std::unique_ptr<Session>> MirroredDevice::open(const SessionLimits& limits) {
  Result<std::unique_ptr<Session>> session = device_->open(limits);
  if (!session) return session;
  Result<std::unique_ptr<Session>> mirror = mirror_->open(limits);
  if (!mirror) return mirror;
  return std::unique_ptr<Session>(
      std::make_unique<MirroredSession>(session.take(), mirror.take(), std::string(mirror_->name()), counts_));
}

}  // namespace assay::backends
