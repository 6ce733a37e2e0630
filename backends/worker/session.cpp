#include "backends/worker/session.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <csignal>
#include <cstring>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace assay::worker {

using namespace backends;
using std::chrono::milliseconds;

namespace {

constexpr std::size_t kBufferAlignment = 256;
/// A session that used more memory than this releases it on reset().
constexpr std::size_t kKeptBytes = std::size_t{64} << 20;

std::string signal_text(int signal) {
  const char* const name = ::sigabbrev_np(signal);
  const char* const description = ::sigdescr_np(signal);
  return fmt::format("SIG{} ({})", name == nullptr ? std::to_string(signal) : name,
                     description == nullptr ? "unknown signal" : description);
}

std::string end_text(const WorkerDied& died) {
  if (died.has_disconnected) return "closed its connection without exiting and was killed";
  if (died.signal_number == SIGSYS) return signal_text(died.signal_number) + ": made a forbidden system call";
  // How a compiler ends a program that has undefined behavior.
  if (died.signal_number == SIGILL)
    return signal_text(died.signal_number) + ": an index of a vector, matrix or local array may be out of bounds";
  return died.signal_number != 0 ? signal_text(died.signal_number)
                                 : fmt::format("exited early with status {}", died.exit_status);
}

Crashed crashed(const WorkerDied& died) {
  return {.signal_number = died.signal_number,
          .exit_status = died.exit_status,
          .message = end_text(died),
          .output = died.output};
}

/// The code of a launch, or why the launch cannot be sent.
Result<std::string> code_of(const LaunchRequest& launch, const WorkerConfig& kind) {
  if (launch.kernel == nullptr) {
    return Error{"the launch has no kernel"};
  }
  if (launch.kernel->find(launch.pass, launch.precision) == nullptr) {
    return Error{"the kernel has no entry point for this pass and precision"};
  }
  return kind.code_of(launch);
}

std::uint32_t seconds_for(std::span<const milliseconds> limits) {
  milliseconds sum{};
  for (const milliseconds limit : limits) {
    sum += limit;
  }
  return static_cast<std::uint32_t>(std::chrono::ceil<std::chrono::seconds>(sum).count()) + 1;
}

}  // namespace

Result<std::unique_ptr<WorkerSession>> WorkerSession::open(const WorkerLimits& worker_limits, WorkerConfig kind) {
  Result<std::unique_ptr<SharedMemory>> memory = SharedMemory::create(worker_limits);
  if (!memory) {
    return memory.error();
  }
  std::error_code error;
  const std::string folder = std::filesystem::absolute(kind.code_folder, error).string();
  if (folder.size() >= kPathBufferBytes) {
    return Error{fmt::format("the path of the code folder has {} bytes, but at most {} are supported", folder.size(),
                             kPathBufferBytes - 1),
                 folder};
  }
  std::memcpy((*memory)->control().code_folder, folder.c_str(), folder.size() + 1);
  std::unique_ptr<WorkerSession> session(new WorkerSession(memory.take(), std::move(kind)));
  if (const Result<void> started = session->worker_.start(); !started) {
    return started.error();
  }
  // Read it now, because a kernel may overwrite it later.
  session->confinement_ = session->shared_memory_->control().confinement;
  return session;
}

WorkerSession::WorkerSession(std::unique_ptr<SharedMemory> memory, WorkerConfig kind)
    : shared_memory_(std::move(memory)),
      config_(std::move(kind)),
      worker_(config_.program, config_.role_argument, *shared_memory_) {}

Result<BufferId> WorkerSession::allocate(std::size_t size) {
  const std::size_t offset = round_up(used_bytes_, kBufferAlignment);
  const std::size_t capacity = shared_memory_->buffers().size();
  if (offset > capacity || size > capacity - offset) {
    return Error{
        fmt::format("cannot allocate a buffer of {} bytes: {} of {} bytes are in use", size, used_bytes_, capacity)};
  }
  used_bytes_ = offset + size;
  buffers_.push_back({offset, size});
  return BufferId{static_cast<std::uint32_t>(buffers_.size() - 1)};
}

std::span<std::byte> WorkerSession::bytes(BufferId buffer) {
  assert(buffer.index < buffers_.size());
  return shared_memory_->buffers().subspan(buffers_[buffer.index].offset, buffers_[buffer.index].size);
}

void WorkerSession::reset() {
  if (used_bytes_ > kKeptBytes) {
    shared_memory_->discard_buffers(used_bytes_);
  }
  buffers_.clear();
  used_bytes_ = 0;
}

std::vector<RunOutcome> WorkerSession::run(std::span<const LaunchRequest> launches) {
  std::vector<RunOutcome> outcomes;
  outcomes.reserve(launches.size());
  while (outcomes.size() < launches.size() &&
         (outcomes.empty() || !stops_later_launches(launches[outcomes.size() - 1], outcomes.back()))) {
    const auto rest = launches.subspan(outcomes.size());
    if (const Result<std::string> code = code_of(rest.front(), config_); !code) {
      outcomes.emplace_back(LaunchFailed{code.error().text()});
      continue;
    }
    const std::vector<milliseconds> limits = write_round(rest);
    if (limits.empty()) {
      outcomes.emplace_back(LaunchFailed{"the arguments are too large for the command buffer"});
    } else {
      std::vector<RunOutcome> round = run_round(limits);
      if (rest.front().sample_count > 0) read_measurement(rest.front(), round.front());
      std::ranges::move(round, std::back_inserter(outcomes));
    }
  }
  return outcomes;
}

/// Adds the measurements that the worker wrote for a launch with samples.
void WorkerSession::read_measurement(const LaunchRequest& launch, RunOutcome& outcome) const {
  auto* const completed = std::get_if<Completed>(&outcome);
  if (completed == nullptr || config_.target.empty()) return;
  // Like everything in shared memory, it is copied once and then validated.
  const auto block = std::make_unique<MeasurementBlock>(shared_memory_->control().measurements);
  const auto text = [](const auto& place) { return std::string(place, ::strnlen(place, sizeof(place))); };
  Measurement measurement{
      .target = config_.target, .threads = launch.threads, .measures = {}, .remark = text(block->remark)};
  for (std::size_t i = 0; i < std::min<std::size_t>(block->count, kMaxMeasuredValues); ++i)
    if (std::isfinite(block->rows[i].value))
      measurement.measures.insert_or_assign(text(block->rows[i].name), block->rows[i].value);
  completed->measurement = std::move(measurement);
}

/// Writes as many of the first launches as fit and can be sent; returns their time limits. A launch with samples gets
/// its own round.
std::vector<milliseconds> WorkerSession::write_round(std::span<const LaunchRequest> launches) {
  CommandWriter writer(shared_memory_->commands(), [this](BufferId buffer) {
    assert(buffer.index < buffers_.size());
    return buffers_[buffer.index];
  });
  std::vector<milliseconds> limits;
  for (const LaunchRequest& launch : launches) {
    if (!limits.empty() && (launch.sample_count > 0 || launches.front().sample_count > 0)) break;
    const Result<std::string> code = code_of(launch, config_);
    if (!code || !writer.add_launch(launch, *launch.kernel->find(launch.pass, launch.precision), *code)) {
      break;
    }
    limits.push_back(launch.time_limit);
  }
  writer.finish(seconds_for(limits));
  return limits;
}

RunOutcome WorkerSession::load(const std::string& code, milliseconds limit) {
  CommandWriter writer(shared_memory_->commands(), nullptr);
  writer.add_load(code);
  writer.finish(seconds_for({&limit, 1}));
  return run_round({&limit, 1}).front();
}

/// Runs the round in the command area. Returns the outcomes of its first launches, at least one.
std::vector<RunOutcome> WorkerSession::run_round(std::span<const milliseconds> limits) {
  if (const Result<void> started = worker_.start(); !started) {
    return std::vector<RunOutcome>(limits.size(), ResourceError{started.error().text()});
  }
  ControlBlock& control = shared_memory_->control();
  for (std::size_t i = 0; i < limits.size(); ++i) {
    control.rows[i].progress.store(LaunchProgress::kPending, std::memory_order_relaxed);
  }
  const RoundEnd end = worker_.run_commands(limits);
  std::vector<RunOutcome> outcomes;
  for (std::size_t i = 0; i < limits.size(); ++i) {
    if (const LaunchProgress progress = control.rows[i].progress.load(std::memory_order_acquire);
        progress != LaunchProgress::kCompleted) {
      outcomes.push_back(outcome_of_failed_launch(progress, end, limits[i]));
      // A worker that is done has reported the end of each launch; here a kernel has sent the byte instead.
      if (progress <= LaunchProgress::kStarted) worker_.stop();
      break;
    }
    outcomes.emplace_back(Completed{std::chrono::nanoseconds{control.rows[i].nanoseconds}});
  }
  return outcomes;
}

RunOutcome WorkerSession::outcome_of_failed_launch(LaunchProgress progress, const RoundEnd& end,
                                                   milliseconds limit) const {
  // A kernel may have overwritten the message, so it may not be zero-terminated.
  const char* const text = shared_memory_->control().message;
  std::string message(text, ::strnlen(text, kMessageBufferBytes));
  switch (progress) {
    case LaunchProgress::kRejected: return LaunchFailed{std::move(message)};
    case LaunchProgress::kFaulted: return MemoryFault{std::move(message)};
    case LaunchProgress::kCrashed: return Crashed{.message = std::move(message)};
    case LaunchProgress::kTimedOut: return TimedOut{limit};
    case LaunchProgress::kResourceError: return ResourceError{std::move(message)};
    default: break;
  }
  if (std::holds_alternative<WorkerExpired>(end)) {
    return TimedOut{limit};
  }
  if (const auto* died = std::get_if<WorkerDied>(&end)) {
    return died->signal_number == SIGXCPU ? RunOutcome{TimedOut{limit}} : RunOutcome{crashed(*died)};
  }
  return LaunchFailed{"the worker reported completion but ran fewer launches than requested"};
}

}  // namespace assay::worker
