#include <cerrno>

#include "backends/worker/restrictions.hpp"

#if ASSAY_HAVE_LIBSECCOMP

#include <csignal>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "backends/worker/protocol.hpp"
#include "backends/worker/sanitized.hpp"

#ifndef __O_TMPFILE
#define __O_TMPFILE 0
#endif

namespace assay::worker {

namespace {

/// A system call and the conditions on its arguments.
struct Allowed {
  int call;
  std::vector<scmp_arg_cmp> when = {};
};

constexpr scmp_arg_cmp argument(unsigned number, scmp_compare compare, scmp_datum_t value) {
  return {.arg = number, .op = compare, .datum_a = value, .datum_b = 0};
}
constexpr scmp_arg_cmp equal(unsigned number, int value) {
  return argument(number, SCMP_CMP_EQ, static_cast<scmp_datum_t>(value));
}
/// None of the flags is set.
constexpr scmp_arg_cmp without(unsigned number, int flags) {
  return {.arg = number, .op = SCMP_CMP_MASKED_EQ, .datum_a = static_cast<scmp_datum_t>(flags), .datum_b = 0};
}

void add_memory(std::vector<Allowed>& allowed) {
  for (const int call : {SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(brk), SCMP_SYS(sysinfo)})
    allowed.push_back({call});
  // Memory must not be writable and executable at once, or become executable later.
  allowed.push_back({SCMP_SYS(mmap), {without(2, PROT_EXEC)}});
  allowed.push_back({SCMP_SYS(mmap), {without(2, PROT_WRITE)}});
  allowed.push_back({SCMP_SYS(mprotect), {without(2, PROT_EXEC)}});
}

void add_clocks_and_locks(std::vector<Allowed>& allowed) {
  for (const int call :
       {SCMP_SYS(clock_gettime), SCMP_SYS(clock_getres), SCMP_SYS(gettimeofday), SCMP_SYS(time),
        SCMP_SYS(clock_nanosleep), SCMP_SYS(nanosleep), SCMP_SYS(restart_syscall), SCMP_SYS(sched_yield),
        SCMP_SYS(sched_getaffinity), SCMP_SYS(getcpu), SCMP_SYS(futex), SCMP_SYS(getrandom)})
    allowed.push_back({call});
  for (const int call : {SCMP_SYS(prlimit64), SCMP_SYS(getrlimit), SCMP_SYS(setrlimit)}) {
    if (call == SCMP_SYS(prlimit64)) allowed.push_back({call, {equal(0, 0), equal(1, RLIMIT_CPU)}});
    else allowed.push_back({call, {equal(0, RLIMIT_CPU)}});
  }
}

void add_loading(std::vector<Allowed>& allowed) {
  for (const int call : {SCMP_SYS(read), SCMP_SYS(pread64), SCMP_SYS(lseek), SCMP_SYS(fstat), SCMP_SYS(newfstatat)})
    allowed.push_back({call});
  constexpr int kWriting = O_ACCMODE | O_CREAT | O_TRUNC | __O_TMPFILE;
  allowed.push_back({SCMP_SYS(openat), {without(2, kWriting)}});
  allowed.push_back({SCMP_SYS(open), {without(1, kWriting)}});
  allowed.push_back({SCMP_SYS(close), {argument(0, SCMP_CMP_GT, kControlSocketFd)}});
}

void add_communication(std::vector<Allowed>& allowed) {
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    allowed.push_back({SCMP_SYS(write), {equal(0, stream)}});
    allowed.push_back({SCMP_SYS(writev), {equal(0, stream)}});
  }
  allowed.push_back({SCMP_SYS(sendto), {equal(0, kControlSocketFd)}});
  allowed.push_back({SCMP_SYS(recvfrom), {equal(0, kControlSocketFd)}});
}

void add_exit(std::vector<Allowed>& allowed) {
  for (const int call : {SCMP_SYS(exit), SCMP_SYS(exit_group), SCMP_SYS(getpid), SCMP_SYS(gettid),
                         SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn)})
    allowed.push_back({call});
  // The parent would wait for a stopped process. The four signals that stop a process have consecutive numbers.
  static_assert(SIGTSTP == SIGSTOP + 1 && SIGTTIN == SIGSTOP + 2 && SIGTTOU == SIGSTOP + 3);
  for (const auto& [call, signal] : {std::pair{SCMP_SYS(kill), 1U}, {SCMP_SYS(tkill), 1U}, {SCMP_SYS(tgkill), 2U}}) {
    allowed.push_back({call, {equal(0, ::getpid()), argument(signal, SCMP_CMP_LT, SIGSTOP)}});
    allowed.push_back({call, {equal(0, ::getpid()), argument(signal, SCMP_CMP_GT, SIGTTOU)}});
  }
}

/// System calls of sanitizer run-time libraries when they load code or report an error. They test whether memory is
/// readable by writing it to a pipe.
void add_for_sanitizers(std::vector<Allowed>& allowed) {
  for (const int call :
       {SCMP_SYS(sigaltstack), SCMP_SYS(prctl), SCMP_SYS(arch_prctl), SCMP_SYS(readlink), SCMP_SYS(readlinkat),
        SCMP_SYS(access), SCMP_SYS(stat), SCMP_SYS(statx), SCMP_SYS(getuid), SCMP_SYS(geteuid), SCMP_SYS(getppid),
        SCMP_SYS(uname), SCMP_SYS(getdents64), SCMP_SYS(set_robust_list), SCMP_SYS(rseq)})
    allowed.push_back({call});
  allowed.push_back({SCMP_SYS(pipe2)});
  allowed.push_back({SCMP_SYS(write), {argument(0, SCMP_CMP_GT, kControlSocketFd)}});
}

std::vector<Allowed> allowed_calls() {
  std::vector<Allowed> allowed;
  add_memory(allowed);
  add_clocks_and_locks(allowed);
  add_loading(allowed);
  add_communication(allowed);
  add_exit(allowed);
  if (kIsSanitizerBuild) add_for_sanitizers(allowed);
  return allowed;
}

/// A system call that fails with `error`, under conditions on its arguments.
struct Denied {
  int call;
  int error = EPERM;
  std::vector<scmp_arg_cmp> when = {};
};

void add_processes_and_network(std::vector<Denied>& denied, bool deny_signals) {
  denied.push_back({SCMP_SYS(socket), EACCES});
  for (const int call : {SCMP_SYS(setsid), SCMP_SYS(setpgid), SCMP_SYS(ptrace), SCMP_SYS(process_vm_readv),
                         SCMP_SYS(process_vm_writev), SCMP_SYS(shmget), SCMP_SYS(semget), SCMP_SYS(msgget)})
    denied.push_back({call});
  if (!deny_signals) return;
  // The program that the process executes has the same number.
  for (const int call : {SCMP_SYS(kill), SCMP_SYS(tgkill), SCMP_SYS(rt_sigqueueinfo), SCMP_SYS(rt_tgsigqueueinfo)})
    denied.push_back({call, EPERM, {argument(0, SCMP_CMP_NE, static_cast<scmp_datum_t>(::getpid()))}});
  for (const int call : {SCMP_SYS(tkill), SCMP_SYS(pidfd_send_signal)})
    denied.push_back({call});
}

/// Landlock does not restrict what is known about a file.
void add_file_attributes(std::vector<Denied>& denied) {
  for (const int call : {SCMP_SYS(chmod), SCMP_SYS(fchmod), SCMP_SYS(fchmodat), SCMP_SYS(chown), SCMP_SYS(lchown),
                         SCMP_SYS(fchown), SCMP_SYS(fchownat), SCMP_SYS(utime), SCMP_SYS(utimes), SCMP_SYS(futimesat),
                         SCMP_SYS(utimensat), SCMP_SYS(setxattr), SCMP_SYS(lsetxattr), SCMP_SYS(fsetxattr),
                         SCMP_SYS(removexattr), SCMP_SYS(lremovexattr), SCMP_SYS(fremovexattr)})
    denied.push_back({call});
}

void add_system(std::vector<Denied>& denied) {
  for (const int call :
       {SCMP_SYS(mount),          SCMP_SYS(umount2),      SCMP_SYS(pivot_root),    SCMP_SYS(chroot),
        SCMP_SYS(setns),          SCMP_SYS(unshare),      SCMP_SYS(bpf),           SCMP_SYS(perf_event_open),
        SCMP_SYS(io_uring_setup), SCMP_SYS(userfaultfd),  SCMP_SYS(init_module),   SCMP_SYS(finit_module),
        SCMP_SYS(delete_module),  SCMP_SYS(kexec_load),   SCMP_SYS(reboot),        SCMP_SYS(swapon),
        SCMP_SYS(swapoff),        SCMP_SYS(settimeofday), SCMP_SYS(clock_settime), SCMP_SYS(adjtimex),
        SCMP_SYS(clock_adjtime),  SCMP_SYS(sethostname),  SCMP_SYS(setdomainname), SCMP_SYS(add_key),
        SCMP_SYS(request_key),    SCMP_SYS(keyctl),       SCMP_SYS(quotactl),      SCMP_SYS(acct)})
    denied.push_back({call});
  denied.push_back({SCMP_SYS(prlimit64), EPERM, {argument(0, SCMP_CMP_NE, 0)}});
}

struct Release {
  void operator()(void* filter) const { ::seccomp_release(filter); }
};
using Filter = std::unique_ptr<void, Release>;

/// Level 2 makes libseccomp search the list by bisection. Calls for another architecture kill the process.
int set_attributes(const Filter& filter) {
  const int error = ::seccomp_attr_set(filter.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2);
  return error != 0 ? error : ::seccomp_attr_set(filter.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
}

int add_rule(const Filter& filter, std::uint32_t action, int call, std::span<const scmp_arg_cmp> when) {
  return ::seccomp_rule_add_array(filter.get(), action, call, static_cast<unsigned>(when.size()), when.data());
}

}  // namespace

std::int32_t filter_system_calls() {
  const Filter filter(::seccomp_init(SCMP_ACT_KILL_PROCESS));
  if (filter == nullptr) {
    return ENOSYS;
  }
  int error = set_attributes(filter);
  for (const Allowed& allowed : allowed_calls()) {
    if (error != 0) break;
    error = add_rule(filter, SCMP_ACT_ALLOW, allowed.call, allowed.when);
  }
  if (error == 0) error = ::seccomp_load(filter.get());
  return -error;
}

std::int32_t deny_system_changes(bool deny_signals) {
  const Filter filter(::seccomp_init(SCMP_ACT_ALLOW));
  if (filter == nullptr) {
    return ENOSYS;
  }
  std::vector<Denied> calls;
  add_processes_and_network(calls, deny_signals);
  add_file_attributes(calls);
  add_system(calls);
  int error = set_attributes(filter);
  for (const Denied& denied : calls) {
    if (error != 0) break;
    error = add_rule(filter, SCMP_ACT_ERRNO(static_cast<unsigned>(denied.error)), denied.call, denied.when);
  }
  if (error == 0) error = ::seccomp_load(filter.get());
  return -error;
}

}  // namespace assay::worker

#else

namespace assay::worker {

std::int32_t filter_system_calls() { return ENOPKG; }
std::int32_t deny_system_changes(bool) { return ENOPKG; }

}  // namespace assay::worker

#endif
