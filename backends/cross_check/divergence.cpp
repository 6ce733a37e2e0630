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

/// Recording takes so much longer, at most.
constexpr int kSlower = 16;

template <typename T>
std::vector<T> read(Session& session, BufferId buffer, std::size_t count) {
  std::vector<T> values(count);
  std::memcpy(values.data(), session.bytes(buffer).data(), count * sizeof(T));
  return values;
}

/// The first difference of two threads' records; nothing where there is none.
std::optional<Divergence> first_difference(std::span<const Record> here, std::span<const Record> there,
                                           std::span<const RecordedInstruction> instructions) {
  const auto [mine, theirs] = std::ranges::mismatch(here, there);
  if (mine == here.end()) return std::nullopt;
  Divergence divergence;
  if (mine->instruction != 0) divergence.here = mine->bits;
  if (theirs->instruction != 0) divergence.there = theirs->bits;
  // Where the paths differ, what the device came to.
  const std::uint64_t number = mine->instruction != 0 ? mine->instruction : theirs->instruction;
  if (mine->instruction != theirs->instruction && divergence.here) divergence.there.reset();
  if (number == 0 || number > instructions.size()) return std::nullopt;
  divergence.instruction = instructions[number - 1];
  return divergence;
}

}  // namespace

/// Room of the same number in both sessions.
Result<BufferId> DivergenceSearch::room(SessionPair sessions, std::size_t bytes) {
  const Result<BufferId> there = sessions.there.allocate(bytes);
  if (!there) return there;
  const Result<BufferId> here = sessions.here.allocate(bytes);
  if (here && here->index != there->index) return Error{"the buffers of the two sessions are not the same"};
  return here;
}

Result<void> DivergenceSearch::repeat(SessionPair sessions, const LaunchRequest& launch, Recording recording,
                                      std::uint64_t thread, BufferId records, const std::function<void()>& refill) {
  const BuiltEntry& entry = *launch.kernel->find(launch.pass, launch.precision);
  const Artifact* const ptx = launch.kernel->artifact(Artifact::Kind::kPtx, launch.precision, launch.target);
  if (ptx == nullptr) return Error{"there is no code to record with"};
  Result<RecordingCode> code = make_(*ptx, entry.symbol, recording);
  if (!code) return code.error();
  instructions_ = std::move(code->instructions);

  Artifact artifact = *ptx;
  artifact.content = std::move(code->content);
  if (!folder_) {
    Result<ScratchDirectory> folder = ScratchDirectory::create(std::filesystem::temp_directory_path());
    if (!folder) return folder.error();
    folder_.emplace(folder.take());
  }
  // A name of its own: devices keep what they loaded by the file's name.
  artifact.path = folder_->path() / fmt::format("recording_{}.ptx", files_++);
  if (!write_file(artifact.path, artifact.content)) return Error{"cannot be written", artifact.path.string()};

  BuiltKernel kernel{.name = launch.kernel->name, .entries = {entry}, .artifacts = {}, .targets = {}, .log = {}};
  kernel.entries.front().parameter_count += 2;
  kernel.artifacts.push_back(with_file(std::move(artifact)));
  LaunchRequest request = launch;
  request.kernel = &kernel;
  request.profile = false;
  request.time_limit *= kSlower;
  Argument pointer;
  pointer.bytes.resize(sizeof(std::uint64_t));
  pointer.pointers.push_back({.at = 0, .address = {records, 0}, .region = {.name = "records"}});
  request.arguments.push_back(std::move(pointer));
  request.arguments.push_back(Argument::value(thread));
  refill();
  for (Session* const session : {&sessions.here, &sessions.there}) {
    std::ranges::fill(session->bytes(records), std::byte{0});
    const RunOutcome outcome = session->run({&request, 1}).front();
    if (!std::holds_alternative<Completed>(outcome)) return Error{"with recording code: " + describe(outcome)};
  }
  return {};
}

Result<std::optional<Divergence>> DivergenceSearch::find(SessionPair sessions, const LaunchRequest& launch,
                                                         const std::function<void()>& refill) {
  const BuiltEntry& entry = *launch.kernel->find(launch.pass, launch.precision);
  const auto grid = grid_of(launch.threads, launch.block, entry.block_threads);
  if (!grid) return Error{"the number of threads is out of range"};
  const std::size_t threads = std::size_t{grid->blocks} * grid->threads;
  const auto records = room(sessions, std::max(threads * sizeof(std::uint64_t), kMostRecords * sizeof(Record)));
  if (!records) return records.error();
  if (const auto ran = repeat(sessions, launch, Recording::kDigests, 0, *records, refill); !ran) return ran.error();
  const auto here = read<std::uint64_t>(sessions.here, *records, threads);
  const auto there = read<std::uint64_t>(sessions.there, *records, threads);

  std::optional<Divergence> found;
  for (std::size_t t = 0, looked_at = 0; t < threads && looked_at < kMostThreads; ++t) {
    if (here[t] == there[t]) continue;
    ++looked_at;
    if (const auto ran = repeat(sessions, launch, Recording::kThread, t, *records, refill); !ran) return ran.error();
    std::optional<Divergence> of_thread =
        first_difference(read<Record>(sessions.here, *records, kMostRecords),
                         read<Record>(sessions.there, *records, kMostRecords), instructions_);
    if (!of_thread) continue;
    of_thread->thread = t;
    const bool computed = !of_thread->instruction.receives;
    if (!found || computed) found = std::move(of_thread);
    if (computed) break;
  }
  return found;
}

}  // namespace assay::backends
