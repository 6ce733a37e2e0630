#include "backends/python/confined_process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/worker/confinement.hpp"
#include "backends/worker/descriptor.hpp"

namespace assay::python {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using worker::FileDescriptor;

constexpr rlim_t kMaxFileBytes = rlim_t{1} << 30;

struct Pipe {
  FileDescriptor read;
  FileDescriptor write;
};

Pipe make_pipe() {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return Pipe{FileDescriptor(), FileDescriptor()};
  // Above the numbers that the child uses.
  constexpr int kLowestOwnFd = 10;
  const FileDescriptor read(ends[0]);
  const FileDescriptor write(ends[1]);
  return {FileDescriptor(::fcntl(read.get(), F_DUPFD_CLOEXEC, kLowestOwnFd)),
          FileDescriptor(::fcntl(write.get(), F_DUPFD_CLOEXEC, kLowestOwnFd))};
}

/// Memory that parent and child share: the confinement that the child reports.
class SharedConfinement {
 public:
  SharedConfinement()
      : place_(
            ::mmap(nullptr, sizeof(worker::Confinement), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (ok()) new (place_) worker::Confinement();
  }
  SharedConfinement(const SharedConfinement&) = delete;
  SharedConfinement& operator=(const SharedConfinement&) = delete;
  ~SharedConfinement() {
    if (ok()) ::munmap(place_, sizeof(worker::Confinement));
  }
  [[nodiscard]] bool ok() const { return place_ != MAP_FAILED; }
  [[nodiscard]] worker::Confinement& value() const { return *static_cast<worker::Confinement*>(place_); }

 private:
  void* place_;
};

void limit_resource(__rlimit_resource resource, rlim_t value) {
  rlimit limit{};
  if (::getrlimit(resource, &limit) != 0) return;
  limit.rlim_max = std::min(limit.rlim_max, value);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(resource, &limit);
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts)
    result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

/// In the child: becomes the confined program.
[[noreturn]] void become(const ConfinedProgram& program, const Pipe& answer, const Pipe& printed,
                         worker::Confinement& confinement) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (int signal = 1; signal < NSIG; ++signal)
    std::signal(signal, SIG_DFL);
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(printed.write.get(), STDOUT_FILENO);
  ::dup2(printed.write.get(), STDERR_FILENO);
  ::dup2(answer.write.get(), kAnswerFileDescriptor);
  ::syscall(SYS_close_range, static_cast<unsigned>(kAnswerFileDescriptor) + 1, ~0U, 0U);
  limit_resource(RLIMIT_CORE, 0);
  limit_resource(RLIMIT_FSIZE, kMaxFileBytes);
  limit_resource(RLIMIT_DATA, program.memory_limit_bytes);
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  std::vector<std::string> words{program.executable.string()};
  std::ranges::copy(program.arguments, std::back_inserter(words));
  const std::vector<char*> arguments = pointers(words);
  const std::vector<char*> environment = pointers(program.environment);
  confinement = worker::confine_program(program.writable_folder.c_str());
  ::execve(program.executable.c_str(), arguments.data(), environment.data());
  ::_exit(kExecFailedExitStatus);
}

/// Takes what can be read now; false at the end.
bool take(const FileDescriptor& from, std::string& text, std::uint64_t& total) {
  std::array<char, std::size_t{1} << 16> buffer{};
  const ssize_t got = ::read(from.get(), buffer.data(), buffer.size());
  if (got < 0) return errno == EINTR || errno == EAGAIN;
  total += static_cast<std::uint64_t>(got);
  text.append(buffer.data(), static_cast<std::size_t>(got));
  return got > 0;
}

/// The number of processes in a process group.
int processes_in(pid_t group) {
  int count = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    count += ::getpgid(static_cast<pid_t>(std::stol(name))) == group ? 1 : 0;
  }
  return count;
}

class Collector {
 public:
  Collector(Pipe answer, Pipe printed, Clock::time_point deadline, pid_t child)
      : answer_(std::move(answer.read)), printed_(std::move(printed.read)), deadline_(deadline), child_(child) {
    for (const FileDescriptor* pipe : {&answer_, &printed_})
      ::fcntl(pipe->get(), F_SETFL, O_NONBLOCK);
  }

  /// Descendants may keep the pipes open; the end of the program itself decides.
  ConfinedResult run() {
    auto next_count = Clock::now() + kCountInterval;
    while (true) {
      const auto now = Clock::now();
      if (now >= deadline_) return stop(ImportTimedOut{});
      if (now >= next_count) {
        if (processes_in(child_) > kMaxProcesses) return stop(TooManyProcesses{});
        next_count = Clock::now() + kCountInterval;
      }
      std::array<pollfd, 2> wait{pollfd{answering_ ? answer_.get() : -1, POLLIN, 0},
                                 pollfd{printing_ ? printed_.get() : -1, POLLIN, 0}};
      const bool is_ready = ::poll(wait.data(), wait.size(), answering_ || printing_ ? kWaitMilliseconds : 1) > 0;
      if (is_ready) take_both(wait[0].revents != 0, wait[1].revents != 0);
      if (result_.answer.size() > kMaxAnswerBytes) return stop(AnswerTooLarge{});
      int status = 0;
      if (::waitpid(child_, &status, WNOHANG) == child_) return ended(status);
    }
  }

 private:
  static constexpr int kWaitMilliseconds = 20;
  static constexpr milliseconds kCountInterval{100};

  void take_both(bool from_answer, bool from_printed) {
    if (from_answer) answering_ = take(answer_, result_.answer, answered_);
    if (from_printed) printing_ = take(printed_, result_.output_tail, result_.total_output_bytes);
    if (result_.output_tail.size() > 2 * kMaxOutputBytes)
      result_.output_tail.erase(0, result_.output_tail.size() - kMaxOutputBytes);
  }

  /// The program has exited: takes the rest of what it wrote.
  ConfinedResult ended(int status) {
    ::kill(-child_, SIGKILL);
    std::uint64_t before = 0;
    do {
      before = answered_ + result_.total_output_bytes;
      take_both(answering_, printing_);
    } while (answered_ + result_.total_output_bytes > before && result_.answer.size() <= kMaxAnswerBytes);
    result_.termination = ProcessExited{.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
                                        .exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 0};
    return std::move(result_);
  }

  template <class End>
  ConfinedResult stop(End end) {
    ::kill(-child_, SIGKILL);
    ::kill(child_, SIGKILL);
    while (::waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
    }
    result_.termination = end;
    return std::move(result_);
  }

  ConfinedResult result_;
  FileDescriptor answer_;
  FileDescriptor printed_;
  Clock::time_point deadline_;
  pid_t child_;
  bool answering_ = true;
  bool printing_ = true;
  std::uint64_t answered_ = 0;
};

}  // namespace

Result<ConfinedResult> run_confined(const ConfinedProgram& program) {
  const auto failed = [&](std::string_view what) {
    return Error{std::string(what) + ": " + std::system_category().message(errno), program.executable.string()};
  };
  Pipe answer = make_pipe();
  Pipe printed = make_pipe();
  if (answer.write.get() < 0 || printed.write.get() < 0) return failed("cannot create a pipe");
  const SharedConfinement shared;
  if (!shared.ok()) return failed("cannot share memory");
  const pid_t child = ::fork();
  if (child < 0) return failed("cannot start a process");
  if (child == 0) become(program, answer, printed, shared.value());
  ::setpgid(child, child);
  answer.write = FileDescriptor();
  printed.write = FileDescriptor();
  ConfinedResult result =
      Collector(std::move(answer), std::move(printed), Clock::now() + program.time_limit, child).run();
  result.confinement = shared.value();
  if (result.output_tail.size() > kMaxOutputBytes)
    result.output_tail.erase(0, result.output_tail.size() - kMaxOutputBytes);
  return result;
}

}  // namespace assay::python
