#include "backends/cross_check/cross_checked_device.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "backends/cross_check/divergence.hpp"
#include "backends/device/differing_bits.hpp"
#include "backends/device/geometry.hpp"

namespace assay::backends {

namespace {

constexpr std::int64_t kWarp = 32;

/// Whether the results are independent of the order of atomics: either no two threads access the same element, or a
/// single warp without divergence executes the atomics in program order, each without two threads at one address.
bool are_atomics_ordered(const LaunchRequest& launch, const ExecutionProfile& profile) {
  const auto measure = [&](const char* name, double unknown) {
    const auto found = profile.measures.find(name);
    return found == profile.measures.end() ? unknown : found->second;
  };
  // Without the count, only the absence of float atomics is known.
  const double unknown = profile.exactness.order_dependent_instruction_count > 0 ? 1 : 0;
  if (measure("atomic_collisions", unknown) == 0) return true;
  const BuiltEntryPoint* const entry = launch.kernel->find(launch.pass, launch.precision);
  const bool one_warp = launch.threads <= kWarp &&
                        (launch.threads_per_block == 0 || launch.threads_per_block >= launch.threads) &&
                        entry != nullptr && entry->required_block_threads == 0;
  return one_warp && measure("atomic_contention", 2) <= 1 && measure("divergent_branches", 1) == 0;
}

/// Whether the executed instructions determine the result bits: all are exactly defined, and the order of atomics has
/// no effect.
bool are_bits_determined(const LaunchRequest& launch, const ExecutionProfile& profile) {
  const ExactnessCounts& exactness = profile.exactness;
  if (exactness.approximation_reaches_result || exactness.contractible_instruction_count > 0) return false;
  return are_atomics_ordered(launch, profile);
}

/// The 4-byte word, truncated at the end of the buffer, that contains the byte `at`.
std::string word_of(std::span<const std::byte> bytes, std::size_t at) {
  const std::size_t first = at / 4 * 4;
  std::uint32_t word = 0;
  std::memcpy(&word, bytes.data() + first, std::min<std::size_t>(4, bytes.size() - first));
  return fmt::format("0x{:08x}", word);
}

class CrossCheckedSession final : public DeviceSession {
 public:
  CrossCheckedSession(std::unique_ptr<DeviceSession> session, std::unique_ptr<DeviceSession> cross_check,
                      std::string cross_check_name, MakeRecording recording, std::shared_ptr<CrossCheckCounts> counts)
      : session_(std::move(session)),
        cross_check_(std::move(cross_check)),
        cross_check_name_(std::move(cross_check_name)),
        cross_check_counts_(std::move(counts)) {
    if (recording) search_.emplace(std::move(recording));
  }

  Result<BufferId> allocate(std::size_t size) override {
    const Result<BufferId> cross_checked = cross_check_->allocate(size);
    if (!cross_checked) return cross_checked;
    return session_->allocate(size);
  }
  std::span<std::byte> bytes(BufferId buffer) override { return session_->bytes(buffer); }
  void reset() override {
    session_->reset();
    cross_check_->reset();
  }

  std::vector<RunOutcome> run(std::span<const LaunchRequest> launches) override {
    std::vector<RunOutcome> outcomes;
    for (const LaunchRequest& launch : launches) {
      outcomes.push_back(run_both(launch));
      if (stops_later_launches(launch, outcomes.back())) break;
    }
    return outcomes;
  }

 private:
  /// The contents of a launch's buffers, by buffer number.
  using Contents = std::map<std::uint32_t, std::vector<std::byte>>;

  RunOutcome run_both(const LaunchRequest& request) {
    LaunchRequest launch = request;
    launch.checked_threads.clear();  // otherwise each device could skip different threads
    if (launch.precision != Precision::kNative) return session_->run({&launch, 1}).front();
    const Contents before = contents(launch);
    fill(*cross_check_, before);
    RunOutcome outcome = session_->run({&launch, 1}).front();
    if (!std::holds_alternative<Completed>(outcome)) return outcome;
    LaunchRequest observed = launch;
    observed.profile = true;
    const RunOutcome cross_checked = cross_check_->run({&observed, 1}).front();
    const auto* completed = std::get_if<Completed>(&cross_checked);
    if (completed == nullptr || !completed->profile || !are_bits_determined(launch, *completed->profile)) {
      ++cross_check_counts_->undetermined_launch_count;
      return outcome;
    }
    ++cross_check_counts_->compared_launch_count;
    std::optional<MemoryFinding> difference = first_difference(launch);
    if (!difference) return outcome;
    ++cross_check_counts_->differing_launch_count;
    const Contents after = contents(launch);
    trace(launch, before, *difference);
    fill(*session_, after);
    return MemoryFault{
        .message = difference->text, .kind = std::string(kDifferingBitsFault), .findings = {std::move(*difference)}};
  }

  Contents contents(const LaunchRequest& launch) {
    Contents result;
    for_each_pointer(launch, [&](const KernelArgument::Pointer& pointer) {
      const std::span<const std::byte> bytes = session_->bytes(pointer.address.buffer);
      result.try_emplace(pointer.address.buffer.index, bytes.begin(), bytes.end());
    });
    return result;
  }

  static void fill(DeviceSession& session, const Contents& contents) {
    for (const auto& [index, bytes] : contents)
      std::ranges::copy(bytes, session.bytes({index}).begin());
  }

  /// Appends to the difference the first differing instruction, or why none could be found.
  void trace(const LaunchRequest& launch, const Contents& before, MemoryFinding& difference) {
    if (!search_) return;
    const auto refill = [&] {
      fill(*session_, before);
      fill(*cross_check_, before);
    };
    const auto found = search_->find({*session_, *cross_check_}, launch, refill);
    if (!found) {
      difference.text += fmt::format("; cannot locate the differing instruction: {}", found.error().text());
    } else if (!*found) {
      difference.text +=
          "; both devices agree when instruction results are recorded, so no differing instruction was found";
    } else {
      name_instruction(launch, **found, difference);
    }
  }

  static void name_instruction(const LaunchRequest& launch, const DifferingInstruction& divergence,
                               MemoryFinding& difference) {
    const BuiltEntryPoint& entry = *launch.kernel->find(launch.pass, launch.precision);
    const std::uint32_t in_block =
        block_grid_for(launch.threads, launch.threads_per_block, entry.required_block_threads)->threads_per_block;
    const RecordedInstruction& instruction = divergence.instruction;
    difference.site = {.code_line = instruction.code_line,
                       .source_line = instruction.source_line,
                       .instruction = instruction.text,
                       .thread = {static_cast<std::uint32_t>(divergence.thread % in_block), 0, 0},
                       .block = {static_cast<std::uint32_t>(divergence.thread / in_block), 0, 0}};
    const auto result = [](const std::optional<std::uint64_t>& bits) {
      return bits ? fmt::format("0x{:08x}", *bits) : std::string("no result");
    };
    difference.text += fmt::format(
        "; first differing instruction '{}', PTX line {}, source line {}, thread {} of block {}: {} "
        "instead of {}",
        instruction.text, instruction.code_line, instruction.source_line, difference.site.thread[0],
        difference.site.block[0], result(divergence.device_result), result(divergence.cross_check_result));
  }

  template <typename Visit>
  static void for_each_pointer(const LaunchRequest& launch, const Visit& visit) {
    for (const KernelArgument& argument : launch.arguments) {
      for (const KernelArgument::Pointer& pointer : argument.pointers)
        visit(pointer);
    }
  }

  /// "array 'out' of kernel 'k' differs from device ptx at byte 12: 0x3f800001 instead of 0x3f800000".
  std::optional<MemoryFinding> first_difference(const LaunchRequest& launch) {
    std::optional<MemoryFinding> difference;
    for_each_pointer(launch, [&](const KernelArgument::Pointer& pointer) {
      const auto rest = [&](DeviceSession& session) {
        return session.bytes(pointer.address.buffer).subspan(pointer.address.offset);
      };
      const std::span<const std::byte> here = rest(*session_);
      const std::span<const std::byte> there = rest(*cross_check_);
      const auto [mine, theirs] = std::ranges::mismatch(here, there);
      if (difference || mine == here.end()) return;
      const auto at = static_cast<std::size_t>(mine - here.begin());
      const Artifact* const code = launch.kernel->artifact(Artifact::Kind::kPtx, launch.precision, launch.target);
      difference = {.kind = std::string(kDifferingBitsFault),
                    .kernel = launch.kernel->find(launch.pass, launch.precision)->symbol,
                    .target = code != nullptr ? code->architecture : "",
                    .text = fmt::format("array '{}' of kernel '{}' differs from device {} at byte {}: {} instead of {}",
                                        pointer.region.name, launch.kernel->name, cross_check_name_, at,
                                        word_of(here, at), word_of(there, at))};
    });
    return difference;
  }

  std::unique_ptr<DeviceSession> session_;
  std::unique_ptr<DeviceSession> cross_check_;
  std::string cross_check_name_;
  std::optional<DifferingInstructionSearch> search_;
  std::shared_ptr<CrossCheckCounts> cross_check_counts_;
};

}  // namespace

Capability CrossCheckedDevice::can_run() const {
  const Capability device = primary_device_->can_run();
  return device.is_available ? (cross_check_device_->can_run().is_available ? device : cross_check_device_->can_run())
                             : device;
}

Result<std::unique_ptr<DeviceSession>> CrossCheckedDevice::open(const SessionLimits& limits) {
  Result<std::unique_ptr<DeviceSession>> session = primary_device_->open(limits);
  if (!session) return session;
  Result<std::unique_ptr<DeviceSession>> cross_check = cross_check_device_->open(limits);
  if (!cross_check) return cross_check;
  return std::unique_ptr<DeviceSession>(std::make_unique<CrossCheckedSession>(
      session.take(), cross_check.take(), std::string(cross_check_device_->name()), make_recording_code_,
      cross_check_counts_));
}

std::string CrossCheckedDevice::remark() const {
  if (!can_run().is_available) return "";
  return fmt::format(
      "cross-check: compared {} launches bit by bit, {} differ; did not compare {} launches whose results are not "
      "defined bit by bit (approximate functions, order of atomics)",
      cross_check_counts_->compared_launch_count.load(), cross_check_counts_->differing_launch_count.load(),
      cross_check_counts_->undetermined_launch_count.load());
}

}  // namespace assay::backends
