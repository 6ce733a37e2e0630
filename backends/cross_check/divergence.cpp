#include "backends/cross_check/divergence.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "backends/device/artifact_files.hpp"
#include "backends/device/geometry.hpp"

namespace assay::backends {

namespace {

/// The maximum slowdown of recording code.
constexpr int kSlower = 16;

template <typename T>
std::vector<T> read(DeviceSession& session, BufferId buffer, std::size_t count) {
  std::vector<T> values(count);
  std::memcpy(values.data(), session.bytes(buffer).data(), count * sizeof(T));
  return values;
}

/// The first difference between the records of two threads, if any.
std::optional<DifferingInstruction> first_difference(std::span<const RecordedInstructionResult> here,
                                                     std::span<const RecordedInstructionResult> there,
                                                     std::span<const RecordedInstruction> instructions) {
  const auto [mine, theirs] = std::ranges::mismatch(here, there);
  if (mine == here.end()) return std::nullopt;
  DifferingInstruction divergence;
  if (mine->instruction_number != 0) divergence.device_result = mine->result_bits;
  if (theirs->instruction_number != 0) divergence.cross_check_result = theirs->result_bits;
  // Where the control flow differs, report the instruction that the device executed.
  const std::uint64_t number = mine->instruction_number != 0 ? mine->instruction_number : theirs->instruction_number;
  if (mine->instruction_number != theirs->instruction_number && divergence.device_result)
    divergence.cross_check_result.reset();
  if (number == 0 || number > instructions.size()) return std::nullopt;
  divergence.instruction = instructions[number - 1];
  return divergence;
}

}  // namespace

/// Allocates a buffer with the same number in both sessions.
Result<BufferId> DifferingInstructionSearch::allocate_on_both(SessionPair sessions, std::size_t bytes) {
  const Result<BufferId> there = sessions.cross_check.allocate(bytes);
  if (!there) return there;
  const Result<BufferId> here = sessions.device.allocate(bytes);
  if (here && here->index != there->index) return Error{"the two devices use different numbers for the same buffer"};
  return here;
}

Result<void> DifferingInstructionSearch::repeat_launch(SessionPair sessions, const LaunchRequest& launch,
                                                       RecordingMode recording, std::uint64_t thread, BufferId records,
                                                       const std::function<void()>& refill) {
  const BuiltEntryPoint& entry = *launch.kernel->find(launch.pass, launch.precision);
  const Artifact* const ptx = launch.kernel->artifact(Artifact::Kind::kPtx, launch.precision, launch.target);
  if (ptx == nullptr) return Error{"cannot record instruction results: the kernel has no PTX"};
  Result<InstrumentedCode> code = make_recording_code_(*ptx, entry.symbol, recording);
  if (!code) return code.error();
  recorded_instructions_ = std::move(code->instructions);

  Artifact artifact = *ptx;
  artifact.content = std::move(code->content);
  if (!recording_code_folder_) {
    Result<ScratchDirectory> folder = ScratchDirectory::create(std::filesystem::temp_directory_path());
    if (!folder) return folder.error();
    recording_code_folder_.emplace(folder.take());
  }
  // Use a new file name each time, because devices cache loaded code by file name.
  artifact.path = recording_code_folder_->path() / fmt::format("recording_{}.ptx", written_file_count_++);
  if (!write_file(artifact.path, artifact.content)) return Error{"cannot write the PTX file", artifact.path.string()};

  BuiltKernel kernel{
      .name = launch.kernel->name, .entry_points = {entry}, .artifacts = {}, .target_architectures = {}, .log = {}};
  kernel.entry_points.front().parameter_count += 2;
  kernel.artifacts.push_back(with_file(std::move(artifact)));
  LaunchRequest request = launch;
  request.kernel = &kernel;
  request.profile = false;
  request.time_limit *= kSlower;
  KernelArgument pointer;
  pointer.bytes.resize(sizeof(std::uint64_t));
  pointer.pointers.push_back({.byte_offset = 0, .address = {records, 0}, .region = {.name = "records"}});
  request.arguments.push_back(std::move(pointer));
  request.arguments.push_back(KernelArgument::value(thread));
  refill();
  for (DeviceSession* const session : {&sessions.device, &sessions.cross_check}) {
    std::ranges::fill(session->bytes(records), std::byte{0});
    const RunOutcome outcome = session->run({&request, 1}).front();
    if (!std::holds_alternative<Completed>(outcome))
      return Error{"running the code that records instruction results failed: " + describe(outcome)};
  }
  return {};
}

Result<std::optional<DifferingInstruction>> DifferingInstructionSearch::find(SessionPair sessions,
                                                                             const LaunchRequest& launch,
                                                                             const std::function<void()>& refill) {
  const BuiltEntryPoint& entry = *launch.kernel->find(launch.pass, launch.precision);
  const auto grid = block_grid_for(launch.threads, launch.threads_per_block, entry.required_block_threads);
  if (!grid) return Error{"the launch size or the block size is out of range"};
  const std::size_t threads = std::size_t{grid->block_count} * grid->threads_per_block;
  const auto records = allocate_on_both(
      sessions, std::max(threads * sizeof(std::uint64_t), kMaxRecordedResults * sizeof(RecordedInstructionResult)));
  if (!records) return records.error();
  if (const auto ran = repeat_launch(sessions, launch, RecordingMode::kThreadDigests, 0, *records, refill); !ran)
    return ran.error();
  const auto here = read<std::uint64_t>(sessions.device, *records, threads);
  const auto there = read<std::uint64_t>(sessions.cross_check, *records, threads);

  std::optional<DifferingInstruction> found;
  for (std::size_t t = 0, looked_at = 0; t < threads && looked_at < kMaxExaminedThreads; ++t) {
    if (here[t] == there[t]) continue;
    ++looked_at;
    if (const auto ran = repeat_launch(sessions, launch, RecordingMode::kResultsOfOneThread, t, *records, refill); !ran)
      return ran.error();
    std::optional<DifferingInstruction> of_thread = first_difference(
        read<RecordedInstructionResult>(sessions.device, *records, kMaxRecordedResults),
        read<RecordedInstructionResult>(sessions.cross_check, *records, kMaxRecordedResults), recorded_instructions_);
    if (!of_thread) continue;
    of_thread->thread = t;
    const bool computed = !of_thread->instruction.reads_memory_or_other_threads;
    if (!found || computed) found = std::move(of_thread);
    if (computed) break;
  }
  return found;
}

}  // namespace assay::backends
