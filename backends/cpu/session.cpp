#include "backends/cpu/session.hpp"

#include <algorithm>
#include <cassert>
#include <csignal>
#include <cstring>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "backends/cpu/command_writer.hpp"

namespace assay::cpu {

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

Crashed crashed(const WorkerDied& died) {
  return {.signal = died.signal,
          .exit_status = died.exit_status,
          .message = died.signal != 0 ? signal_text(died.signal)
                                      : fmt::format("exited early with status {}", died.exit_status),
          .output = died.output};
}

/// Why a launch cannot even be sent; nullptr when it can.
const char* reason_to_refuse(const LaunchRequest& launch) {
  if (launch.kernel == nullptr) {
    return "the launch names no kernel";
  }
  if (launch.kernel->find(launch.pass, launch.lane) == nullptr) {
    return "the kernel has no such entry";
  }
  if (launch.kernel->artifact(Artifact::Kind::kSharedLibrary, launch.lane) == nullptr) {
    return "the kernel was built for another device";
  }
  return nullptr;
}

std::uint32_t seconds_for(std::span<const milliseconds> limits) {
  milliseconds sum{};
  for (const milliseconds limit : limits) {
    sum += limit;
  }
  return static_cast<std::uint32_t>(std::chrono::ceil<std::chrono::seconds>(sum).count()) + 1;
}

}  // namespace

Result<std::unique_ptr<CpuSession>> CpuSession::open(const SessionLimits& limits,
                                                     const std::filesystem::path& worker_program) {
  Result<std::unique_ptr<SharedMemory>> memory = SharedMemory::create(limits.buffer_bytes, limits.process_bytes);
  if (!memory) {
    return memory.error();
  }
  std::unique_ptr<CpuSession> session(new CpuSession(memory.take(), worker_program));
  if (const Result<void> started = session->worker_.start(); !started) {
    return started.error();
  }
  return session;
}

CpuSession::CpuSession(std::unique_ptr<SharedMemory> memory, const std::filesystem::path& worker_program)
    : memory_(std::move(memory)), worker_(worker_program, *memory_) {}

Result<BufferId> CpuSession::allocate(std::size_t size) {
  const std::size_t offset = round_up(used_bytes_, kBufferAlignment);
  const std::size_t capacity = memory_->buffers().size();
  if (offset > capacity || size > capacity - offset) {
    return Error{fmt::format("no room for a buffer of {} bytes: {} of {} are in use", size, used_bytes_, capacity)};
  }
  used_bytes_ = offset + size;
  buffers_.push_back({offset, size});
  return BufferId{static_cast<std::uint32_t>(buffers_.size() - 1)};
}

std::span<std::byte> CpuSession::bytes(BufferId buffer) {
  assert(buffer.index < buffers_.size());
  return memory_->buffers().subspan(buffers_[buffer.index].offset, buffers_[buffer.index].size);
}

void CpuSession::reset() {
  if (used_bytes_ > kKeptBytes) {
    memory_->discard_buffers(used_bytes_);
  }
  buffers_.clear();
  used_bytes_ = 0;
}

std::vector<RunOutcome> CpuSession::run(std::span<const LaunchRequest> launches) {
  std::vector<RunOutcome> outcomes;
  outcomes.reserve(launches.size());
  while (outcomes.size() < launches.size()) {
    const auto rest = launches.subspan(outcomes.size());
    if (const char* reason = reason_to_refuse(rest.front()); reason != nullptr) {
      outcomes.emplace_back(LaunchFailed{reason});
      continue;
    }
    const std::vector<milliseconds> limits = write_round(rest);
    if (limits.empty()) {
      outcomes.emplace_back(LaunchFailed{"the arguments are larger than a round of commands"});
    } else {
      std::ranges::move(run_round(limits), std::back_inserter(outcomes));
    }
  }
  return outcomes;
}

/// Writes the first launches, as many as fit and can be sent; their time limits.
std::vector<milliseconds> CpuSession::write_round(std::span<const LaunchRequest> launches) {
  CommandWriter writer(memory_->commands(), [this](BufferId buffer) {
    assert(buffer.index < buffers_.size());
    return static_cast<std::uint64_t>(buffers_[buffer.index].offset);
  });
  std::vector<milliseconds> limits;
  for (const LaunchRequest& launch : launches) {
    if (reason_to_refuse(launch) != nullptr ||
        !writer.add_launch(launch, *launch.kernel->find(launch.pass, launch.lane),
                           launch.kernel->artifact(Artifact::Kind::kSharedLibrary, launch.lane)->path)) {
      break;
    }
    limits.push_back(launch.time_limit);
  }
  writer.finish(seconds_for(limits));
  return limits;
}

RunOutcome CpuSession::load(const std::filesystem::path& library, milliseconds limit) {
  CommandWriter writer(memory_->commands(), nullptr);
  writer.add_load(library);
  writer.finish(seconds_for({&limit, 1}));
  return run_round({&limit, 1}).front();
}

/// Has the round in the command area run; the outcomes of its first launches, of at least one.
std::vector<RunOutcome> CpuSession::run_round(std::span<const milliseconds> limits) {
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
    if (control.rows[i].progress.load(std::memory_order_acquire) != Progress::kCompleted) {
      outcomes.push_back(outcome_of_culprit(end, limits[i]));
      break;
    }
    outcomes.emplace_back(Completed{std::chrono::nanoseconds{control.rows[i].nanoseconds}});
  }
  return outcomes;
}

RunOutcome CpuSession::outcome_of_culprit(const RoundEnd& end, milliseconds limit) const {
  if (std::holds_alternative<WorkerExpired>(end)) {
    return TimedOut{limit};
  }
  if (const auto* died = std::get_if<WorkerDied>(&end)) {
    return died->signal == SIGXCPU ? RunOutcome{TimedOut{limit}} : RunOutcome{crashed(*died)};
  }
  // The message lies in memory that a kernel may have scribbled over: nothing guarantees its end.
  const char* const message = memory_->control().message;
  return LaunchFailed{std::string(message, ::strnlen(message, kMessageBytes))};
}

}  // namespace assay::cpu
