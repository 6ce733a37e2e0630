#include "backends/cpu/process.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// Boost 1.81's environment.hpp uses the first two headers without including them.
// clang-format off
#include <boost/optional.hpp>
#include <boost/type_traits/is_constructible.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/process/v2/process.hpp>
#include <boost/process/v2/stdio.hpp>
// clang-format on

extern char** environ;

namespace assay::cpu {

namespace fs = std::filesystem;
namespace process = boost::process::v2;

namespace {

constexpr std::size_t kMaxOutputBytes = std::size_t{1} << 20;

/// An in-memory file that captures the program's output. Unlike a pipe, it cannot fill up and block the program.
class OutputFile {
 public:
  OutputFile() : fd_(::memfd_create("assay-output", MFD_CLOEXEC)) {}
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile() {
    if (fd_ >= 0) ::close(fd_);
  }

  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] std::string read() const {
    struct stat status {};
    if (::fstat(fd_, &status) != 0) return {};
    std::string text(std::min(static_cast<std::size_t>(status.st_size), kMaxOutputBytes), '\0');
    const ssize_t got = ::pread(fd_, text.data(), text.size(), 0);
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return text;
  }

 private:
  int fd_;
};

/// Makes the program the leader of a process group, so that its children can be killed with it.
struct OwnProcessGroup {
  process::error_code on_exec_setup(process::posix::default_launcher&, const process::filesystem::path&,
                                    const char* const*) {
    if (::setpgid(0, 0) != 0) {
      return {errno, process::system_category()};
    }
    return {};
  }
};

/// This process's environment with the message language set to English, because diagnostics are parsed.
class EnglishEnvironment {
 public:
  EnglishEnvironment() {
    for (char** variable = environ; *variable != nullptr; ++variable) {
      if (const std::string_view text = *variable; !text.starts_with("LC_") && !text.starts_with("LANG")) {
        variables_.push_back(*variable);
      }
    }
    variables_.insert(variables_.end(), {"LC_ALL=C", nullptr});
  }

  process::error_code on_setup(process::posix::default_launcher& launcher, const process::filesystem::path&,
                               const char* const*) {
    launcher.env = variables_.data();
    return {};
  }

 private:
  std::vector<const char*> variables_;
};

ProcessResult decode(int status, bool timed_out, std::string output) {
  using EndReason = ProcessResult::EndReason;
  if (timed_out) {
    return {EndReason::kTimedOut, 0, std::move(output)};
  }
  if (WIFSIGNALED(status)) {
    return {EndReason::kSignaled, WTERMSIG(status), std::move(output)};
  }
  return {EndReason::kExited, WEXITSTATUS(status), std::move(output)};
}

}  // namespace

ProcessResult run_process(const fs::path& program, const std::vector<std::string>& arguments,
                          std::chrono::milliseconds limit) {
  const OutputFile output;
  boost::asio::io_context context;
  process::error_code error;
  process::default_process_launcher launcher;
  auto child = launcher(context.get_executor(), error, program, arguments, OwnProcessGroup{}, EnglishEnvironment{},
                        process::process_stdio{nullptr, output.fd(), output.fd()});
  if (error) {
    return {ProcessResult::EndReason::kNotStarted, 0, program.string() + ": " + error.message()};
  }
  const pid_t group = child.id();
  bool timed_out = false;
  boost::asio::steady_timer timer(context, limit);
  timer.async_wait([&](const process::error_code& canceled) {
    if (!canceled) {
      timed_out = true;
      ::kill(-group, SIGKILL);
    }
  });
  child.async_wait([&](const process::error_code&, int) { timer.cancel(); });
  context.run();
  return decode(child.native_exit_code(), timed_out, output.read());
}

std::optional<fs::path> find_program(const std::string& name) {
  const auto executable = [](const fs::path& path) {
    std::error_code error;
    return fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
  };
  if (name.find('/') != std::string::npos) {
    return executable(name) ? std::optional(fs::absolute(name)) : std::nullopt;
  }
  const char* variable = std::getenv("PATH");
  std::string_view rest = variable == nullptr ? "/usr/bin:/bin" : variable;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    if (const fs::path candidate = fs::path(rest.substr(0, end)) / name; end > 0 && executable(candidate)) {
      return candidate;
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return std::nullopt;
}

}  // namespace assay::cpu
