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
/// A session that used more memory than this gives it back when it is reset.
constexpr std::size_t kKeptBytes = std::size_t{64} << 20;

std::string signal_text(int signal) {
  const char* const name = ::sigabbrev_np(signal);
  const char* const description = ::sigdescr_np(signal);
  return fmt::format("SIG{} ({})", name == nullptr ? std::to_string(signal) : name,
                     description == nullptr ? "unknown signal" : description);
}

std::string end_text(const WorkerDied& died) {
  if (died.cut_off) return "closed its connection, lived on and was killed";
  if (died.signal == SIGSYS) return signal_text(died.signal) + ": kernels have no need of the system call it made";
  return died.signal != 0 ? signal_text(died.signal) : fmt::format("exited early with status {}", died.exit_status);
}

Crashed crashed(const WorkerDied& died) {
  return {.signal = died.signal, .exit_status = died.exit_status, .message = end_text(died), .output = died.output};
}

/// The code of a launch, or why it cannot even be sent.
Result<std::string> code_of(const LaunchRequest& launch, const WorkerKind& kind) {
  if (launch.kernel == nullptr) {
    return Error{"the launch names no kernel"};
  }
  if (launch.kernel->find(launch.pass, launch.precision) == nullptr) {
    return Error{"the kernel has no such entry"};
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

Result<std::unique_ptr<WorkerSession>> WorkerSession::open(const Allowance& allowance, WorkerKind kind) {
  Result<std::unique_ptr<SharedMemory>> memory = SharedMemory::create(allowance);
  if (!memory) {
    return memory.error();
  }
  std::error_code error;
  const std::string folder = std::filesystem::absolute(kind.folder, error).string();
  if (folder.size() >= kPathBytes) {
    return Error{fmt::format("the path of the folder for code has {} bytes, at most {} are possible", folder.size(),
                             kPathBytes - 1),
                 folder};
  }
  std::memcpy((*memory)->control().code_folder, folder.c_str(), folder.size() + 1);
  std::unique_ptr<WorkerSession> session(new WorkerSession(memory.take(), std::move(kind)));
  if (const Result<void> started = session->worker_.start(); !started) {
    return started.error();
  }
  // Read now: later a kernel may have scribbled over it.
  session->confinement_ = session->memory_->control().confinement;
  return session;
}

WorkerSession::WorkerSession(std::unique_ptr<SharedMemory> memory, WorkerKind kind)
    : memory_(std::move(memory)), kind_(std::move(kind)), worker_(kind_.program, kind_.role, *memory_) {}

Result<BufferId> WorkerSession::allocate(std::size_t size) {
  const std::size_t offset = round_up(used_bytes_, kBufferAlignment);
  const std::size_t capacity = memory_->buffers().size();
  if (offset > capacity || size > capacity - offset) {
    return Error{fmt::format("no room for a buffer of {} bytes: {} of {} are in use", size, used_bytes_, capacity)};
  }
  used_bytes_ = offset + size;
  buffers_.push_back({offset, size});
  return BufferId{static_cast<std::uint32_t>(buffers_.size() - 1)};
}

std::span<std::byte> WorkerSession::bytes(BufferId buffer) {
  assert(buffer.index < buffers_.size());
  return memory_->buffers().subspan(buffers_[buffer.index].offset, buffers_[buffer.index].size);
}

void WorkerSession::reset() {
  if (used_bytes_ > kKeptBytes) {
    memory_->discard_buffers(used_bytes_);
  }
  buffers_.clear();
  used_bytes_ = 0;
}

std::vector<RunOutcome> WorkerSession::run(std::span<const LaunchRequest> launches) {
  std::vector<RunOutcome> outcomes;
  outcomes.reserve(launches.size());
  while (outcomes.size() < launches.size() &&
         (outcomes.empty() || !ends_all(launches[outcomes.size() - 1], outcomes.back()))) {
    const auto rest = launches.subspan(outcomes.size());
    if (const Result<std::string> code = code_of(rest.front(), kind_); !code) {
      outcomes.emplace_back(LaunchFailed{code.error().text()});
      continue;
    }
    const std::vector<milliseconds> limits = write_round(rest);
    if (limits.empty()) {
      outcomes.emplace_back(LaunchFailed{"the arguments are larger than a round of commands"});
    } else {
      std::vector<RunOutcome> round = run_round(limits);
      if (rest.front().samples > 0) take_measured(rest.front(), round.front());
      std::ranges::move(round, std::back_inserter(outcomes));
    }
  }
  return outcomes;
}

/// Adds what the worker left of a launch with samples.
void WorkerSession::take_measured(const LaunchRequest& launch, RunOutcome& outcome) const {
  auto* const completed = std::get_if<Completed>(&outcome);
  if (completed == nullptr || kind_.target.empty()) return;
  // As with all that lies in memory of the worker's: copied once, and then not believed.
  const auto block = std::make_unique<MeasuredBlock>(memory_->control().measured);
  const auto text = [](const auto& place) { return std::string(place, ::strnlen(place, sizeof(place))); };
  Measurement measurement{
      .target = kind_.target, .threads = launch.threads, .measures = {}, .remark = text(block->remark)};
  for (std::size_t i = 0; i < std::min<std::size_t>(block->count, kMaxMeasures); ++i)
    if (std::isfinite(block->rows[i].value))
      measurement.measures.insert_or_assign(text(block->rows[i].name), block->rows[i].value);
  completed->measurement = std::move(measurement);
}

/// Writes the first launches, as many as fit and can be sent; their time limits. One with samples goes alone.
std::vector<milliseconds> WorkerSession::write_round(std::span<const LaunchRequest> launches) {
  CommandWriter writer(memory_->commands(), [this](BufferId buffer) {
    assert(buffer.index < buffers_.size());
    return buffers_[buffer.index];
  });
  std::vector<milliseconds> limits;
  for (const LaunchRequest& launch : launches) {
    if (!limits.empty() && (launch.samples > 0 || launches.front().samples > 0)) break;
    const Result<std::string> code = code_of(launch, kind_);
    if (!code || !writer.add_launch(launch, *launch.kernel->find(launch.pass, launch.precision), *code)) {
      break;
    }
    limits.push_back(launch.time_limit);
  }
  writer.finish(seconds_for(limits));
  return limits;
}

RunOutcome WorkerSession::load(const std::string& code, milliseconds limit) {
  CommandWriter writer(memory_->commands(), nullptr);
  writer.add_load(code);
  writer.finish(seconds_for({&limit, 1}));
  return run_round({&limit, 1}).front();
}

/// Has the round in the command area run; the outcomes of its first launches, of at least one.
std::vector<RunOutcome> WorkerSession::run_round(std::span<const milliseconds> limits) {
  if (const Result<void> started = worker_.start(); !started) {
    return std::vector<RunOutcome>(limits.size(), ResourceError{started.error().text()});
  }
  ControlBlock& control = memory_->control();
  for (std::size_t i = 0; i < limits.size(); ++i) {
    control.rows[i].progress.store(Progress::kPending, std::memory_order_relaxed);
  }
  const RoundEnd end = worker_.run_commands(limits);
  std::vector<RunOutcome> outcomes;
  for (std::size_t i = 0; i < limits.size(); ++i) {
    if (const Progress progress = control.rows[i].progress.load(std::memory_order_acquire);
        progress != Progress::kCompleted) {
      outcomes.push_back(outcome_of_culprit(progress, end, limits[i]));
      // A worker that is done has told how each launch ended: this one was spoken for by its kernel.
      if (progress <= Progress::kStarted) worker_.stop();
      break;
    }
    outcomes.emplace_back(Completed{std::chrono::nanoseconds{control.rows[i].nanoseconds}});
  }
  return outcomes;
}

RunOutcome WorkerSession::outcome_of_culprit(Progress progress, const RoundEnd& end, milliseconds limit) const {
  // The message lies in memory that a kernel may have scribbled over: nothing guarantees its end.
  const char* const text = memory_->control().message;
  std::string message(text, ::strnlen(text, kMessageBytes));
  switch (progress) {
    case Progress::kRejected: return LaunchFailed{std::move(message)};
    case Progress::kFaulted: return MemoryFault{std::move(message)};
    case Progress::kCrashed: return Crashed{.message = std::move(message)};
    case Progress::kExpired: return TimedOut{limit};
    case Progress::kLacking: return ResourceError{std::move(message)};
    default: break;
  }
  if (std::holds_alternative<WorkerExpired>(end)) {
    return TimedOut{limit};
  }
  if (const auto* died = std::get_if<WorkerDied>(&end)) {
    return died->signal == SIGXCPU ? RunOutcome{TimedOut{limit}} : RunOutcome{crashed(*died)};
  }
  return LaunchFailed{"the worker ran fewer launches than it was given"};
}

}  // namespace assay::worker
