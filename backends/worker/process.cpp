#include "backends/worker/process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace assay::worker {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr auto kStartLimit = std::chrono::seconds{20};
/// The duration of a round after which its time limits are checked.
constexpr auto kUnwatched = milliseconds{20};
constexpr off_t kOutputTail = 4096;
/// Descriptors are created above the numbers that the worker expects.
constexpr int kLowestOwnFd = 10;

FileDescriptor moved_above_reserved(int fd) {
  const FileDescriptor low(fd);
  return FileDescriptor(::fcntl(low.get(), F_DUPFD_CLOEXEC, kLowestOwnFd));
}

std::string system_message() { return std::system_category().message(errno); }

/// The descriptor operations for posix_spawn.
class FileActions {
 public:
  FileActions() { ::posix_spawn_file_actions_init(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  ~FileActions() { ::posix_spawn_file_actions_destroy(&actions_); }

  void place(int fd, int at) { ::posix_spawn_file_actions_adddup2(&actions_, fd, at); }
  void open(int at, const char* path) { ::posix_spawn_file_actions_addopen(&actions_, at, path, O_RDONLY, 0); }
  [[nodiscard]] const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

/// The environment variable that every worker has.
constexpr const char* kWorkerVariable = "ASSAY_IN_WORKER";

enum class Wait : std::uint8_t { kByte, kClosed, kTimeout };

Wait wait_for_byte(int fd, milliseconds limit) {
  pollfd descriptor{.fd = fd, .events = POLLIN, .revents = 0};
  const int ready = ::poll(&descriptor, 1, static_cast<int>(std::max(limit, milliseconds{1}).count()));
  if (ready == 0 || (ready < 0 && errno == EINTR)) {
    return Wait::kTimeout;
  }
  char byte = 0;
  return ::recv(fd, &byte, 1, 0) == 1 ? Wait::kByte : Wait::kClosed;
}

}  // namespace

WorkerProcess::WorkerProcess(std::filesystem::path program, std::string role_argument, const SharedMemory& memory)
    : worker_executable_(std::move(program)), role_argument_(std::move(role_argument)), shared_memory_(memory) {}

Result<void> WorkerProcess::start() {
  if (running() && !has_unexpected_message()) {
    return {};
  }
  stop();
  shared_memory_.control().message[0] = '\0';
  if (const Result<void> spawned = spawn(); !spawned) {
    return spawned;
  }
  const Wait answer = wait_for_byte(control_socket_.get(), kStartLimit);
  if (answer == Wait::kByte) {
    return {};
  }
  const std::string printed = output();
  stop();
  if (const char* const reason = shared_memory_.control().message; *reason != '\0') {
    return Error{std::string(reason, ::strnlen(reason, kMessageBufferBytes))};
  }
  return Error{fmt::format("the worker process did not start: {}",
                           !printed.empty()           ? printed
                           : answer == Wait::kTimeout ? fmt::format("no answer within {} s", kStartLimit.count())
                                                      : "the program is not an Assay worker"),
               worker_executable_.string()};
}

Result<void> WorkerProcess::spawn() {
  // Without this, a program that lacks the call of run_if_worker() in main() starts itself without end.
  if (std::getenv(kWorkerVariable) != nullptr)
    return Error{"a worker cannot start a worker; main() of the program must call run_if_worker() first"};
  std::array<int, 2> sockets{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0) {
    return Error{"cannot create a socket pair: " + system_message()};
  }
  control_socket_ = moved_above_reserved(sockets[0]);
  const FileDescriptor theirs = moved_above_reserved(sockets[1]);
  const FileDescriptor memory(::fcntl(shared_memory_.fd(), F_DUPFD_CLOEXEC, kLowestOwnFd));
  output_file_ = moved_above_reserved(::memfd_create("assay-worker-output", MFD_CLOEXEC));
  FileActions actions;
  actions.open(0, "/dev/null");
  actions.place(output_file_.get(), 1);
  actions.place(output_file_.get(), 2);
  actions.place(theirs.get(), kControlSocketFd);
  actions.place(memory.get(), kSharedMemoryFd);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  std::string name = worker_executable_.string();
  std::array<char*, 3> arguments{name.data(), role_argument_.data(), nullptr};
  std::string variable = std::string(kWorkerVariable) + "=1";
  std::vector<char*> environment{variable.data()};
  for (char** at = environ; *at != nullptr; ++at)
    environment.push_back(*at);
  environment.push_back(nullptr);
  const int error = ::posix_spawn(&pid_, worker_executable_.c_str(), actions.get(), &attributes, arguments.data(),
                                  environment.data());
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    pid_ = -1;
    return Error{"cannot start the worker process: " + std::system_category().message(error), name};
  }
  return {};
}

RoundEnd WorkerProcess::run_commands(std::span<const milliseconds> limits) {
  const char byte = 1;
  if (::send(control_socket_.get(), &byte, 1, MSG_NOSIGNAL) != 1) {
    return reap();
  }
  struct Watch {
    std::size_t launch;
    Clock::time_point since;
    std::chrono::nanoseconds processor;
  };
  std::optional<Watch> watch;
  milliseconds patience = kUnwatched;
  while (true) {
    switch (wait_for_byte(control_socket_.get(), patience)) {
      case Wait::kByte: return RoundDone{};
      case Wait::kClosed: return reap();
      case Wait::kTimeout: break;
    }
    const std::size_t launch = std::min(completed(watch ? watch->launch : 0, limits.size()), limits.size() - 1);
    const auto now = Clock::now();
    const auto processor = processor_time();
    if (!watch || watch->launch != launch) {
      watch = Watch{launch, now, processor};
    }
    const auto left = limits[launch] - (processor - watch->processor);
    const auto left_on_clock = limits[launch] * kWallClockToCpuLimitRatio - (now - watch->since);
    if (left <= left.zero() || left_on_clock <= left_on_clock.zero()) {
      stop();
      return WorkerExpired{};
    }
    patience = std::chrono::ceil<milliseconds>(std::min<std::chrono::nanoseconds>(left, left_on_clock));
  }
}

bool WorkerProcess::has_unexpected_message() const {
  char byte = 0;
  return ::recv(control_socket_.get(), &byte, 1, MSG_DONTWAIT | MSG_PEEK) >= 0 || errno != EAGAIN;
}

/// The number of completed launches; the first `from` are known to be completed.
std::size_t WorkerProcess::completed(std::size_t from, std::size_t count) const {
  while (from < count &&
         shared_memory_.control().rows[from].progress.load(std::memory_order_acquire) == LaunchProgress::kCompleted) {
    ++from;
  }
  return from;
}

std::chrono::nanoseconds WorkerProcess::processor_time() const {
  clockid_t clock{};
  timespec time{};
  if (::clock_getcpuclockid(pid_, &clock) != 0 || ::clock_gettime(clock, &time) != 0) {
    return {};
  }
  return std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
}

std::string WorkerProcess::output() const {
  struct stat status {};
  if (::fstat(output_file_.get(), &status) != 0) {
    return {};
  }
  const off_t from = std::max<off_t>(status.st_size - kOutputTail, 0);
  std::string text(static_cast<std::size_t>(status.st_size - from), '\0');
  const ssize_t got = ::pread(output_file_.get(), text.data(), text.size(), from);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

/// Collects a process that has closed its socket. If the process does not exit, it is killed.
WorkerDied WorkerProcess::reap() {
  WorkerDied died;
  int status = 0;
  const auto deadline = Clock::now() + kUnwatched * 50;
  pid_t collected = 0;
  while ((collected = ::waitpid(pid_, &status, WNOHANG)) == 0 && Clock::now() < deadline) {
    ::poll(nullptr, 0, 1);
  }
  died.output = output();
  if (collected == pid_) {
    died.signal_number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    died.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    ::kill(-pid_, SIGKILL);  // its child processes; fails if there are none
    pid_ = -1;
  } else {
    died.has_disconnected = true;
    stop();
  }
  return died;
}

void WorkerProcess::stop() {
  if (!running()) {
    return;
  }
  ::kill(-pid_, SIGKILL);
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

}  // namespace assay::worker
