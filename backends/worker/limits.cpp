#include "backends/worker/limits.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <csignal>
#include <cstdio>
#include <ctime>

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backends/worker/sanitized.hpp"

namespace assay::worker {

namespace {

constexpr rlim_t kMaxFileBytes = rlim_t{1} << 20;

constexpr rlim_t kMaxOpenFiles = 64;

/// Lowers both limits; keeps a limit that is already lower.
void lower_limit(__rlimit_resource resource, rlim_t value) {
  rlimit limit{};
  if (::getrlimit(resource, &limit) == 0) {
    limit.rlim_max = std::min(limit.rlim_max, value);
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(resource, &limit);
  }
}

/// The size of the mapped address space in bytes.
std::uint64_t mapped_bytes() {
  unsigned long pages = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "re")) {
    if (std::fscanf(file, "%lu", &pages) != 1) {
      pages = 0;
    }
    std::fclose(file);
  }
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

void reset_signals() {
  for (const int signal : std::array{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGXCPU, SIGPIPE, SIGTERM}) {
    std::signal(signal, SIG_DFL);
  }
  std::signal(SIGXFSZ, SIG_IGN);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

}  // namespace

void drop_unneeded_privileges(unsigned first_unused_fd, const WorkerLimits& worker_limits) {
  ::syscall(SYS_close_range, first_unused_fd, UINT_MAX, 0U);
  reset_signals();
  lower_limit(RLIMIT_CORE, 0);
  lower_limit(RLIMIT_FSIZE, kMaxFileBytes);
  if (worker_limits.process_memory_limit_bytes != 0 && !kIsSanitizerBuild) {
    lower_limit(RLIMIT_AS, mapped_bytes() + worker_limits.process_memory_limit_bytes);
  }
  if (worker_limits.filter_system_calls) {
    lower_limit(RLIMIT_NOFILE, kMaxOpenFiles);
    if (!kIsSanitizerBuild) lower_limit(RLIMIT_NPROC, 0);
  }
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

void allow_processor_seconds(std::uint32_t seconds) {
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  rlimit limit{};
  if (::getrlimit(RLIMIT_CPU, &limit) == 0) {
    limit.rlim_cur = std::min(limit.rlim_max, static_cast<rlim_t>(used.tv_sec) + seconds + 1);
    ::setrlimit(RLIMIT_CPU, &limit);
  }
}

}  // namespace assay::worker
