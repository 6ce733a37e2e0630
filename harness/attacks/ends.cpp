#include <array>
#include <csignal>

#include <fmt/format.h>

#include "harness/attacks/attack.hpp"

namespace assay::attacks {

using harness::Outcome;

namespace {

const std::vector<AllowedOutcome> kCrash{{Outcome::crashed, "signal"}};
const std::vector<AllowedOutcome> kCrashWhenLoaded{{Outcome::crashed, "build"}};

/// The signals whose default action ends the process, except SIGXFSZ, which a worker ignores.
constexpr std::array kFatalSignals{SIGHUP,  SIGINT,  SIGQUIT, SIGILL,  SIGTRAP, SIGABRT,  SIGBUS,  SIGFPE,
                                   SIGKILL, SIGUSR1, SIGSEGV, SIGUSR2, SIGPIPE, SIGALRM,  SIGTERM, SIGSTKFLT,
                                   SIGXCPU, SIGPROF, SIGPOLL, SIGPWR,  SIGSYS,  SIGVTALRM};

Attack raising(int signal) {
  const char* const name = ::sigabbrev_np(signal);
  return {
      .name = fmt::format("raises_{}", name),
      .behavior = fmt::format("raises SIG{}", name),
      .required_protection = Protection::kProcessIsolation,
      // Exceeding the limit on processor time raises the same signal.
      .allowed_outcomes = signal == SIGXCPU ? std::vector<AllowedOutcome>{{Outcome::timed_out, "time_limit"}} : kCrash,
      .includes = "signal.h",
      .statements = fmt::format("raise({});", signal)};
}

std::vector<Attack> other_ends() {
  return {
      {.name = "exits_when_loaded",
       .behavior = "exits with status 0 in a static initializer",
       .required_protection = Protection::kProcessIsolation,
       .allowed_outcomes = kCrashWhenLoaded,
       .includes = "stdlib.h",
       .declarations = "static int leave() { exit(0); }\nstatic int left = leave();",
       .runs_when_loaded = true},
      {.name = "crashes_when_loaded",
       .behavior = "writes to address 0 in a static initializer",
       .required_protection = Protection::kProcessIsolation,
       .allowed_outcomes = kCrashWhenLoaded,
       .declarations = "static int crash() { return *(volatile int*)nullptr = 1; }\nstatic int crashed = crash();",
       .runs_when_loaded = true},
      {.name = "exits",
       .behavior = "exits with status 0",
       .required_protection = Protection::kProcessIsolation,
       .allowed_outcomes = kCrash,
       .includes = "stdlib.h",
       .statements = "exit(0);"},
      {.name = "exits_at_once",
       .behavior = "exits with status 0 without running exit handlers",
       .required_protection = Protection::kProcessIsolation,
       .allowed_outcomes = kCrash,
       .includes = "unistd.h",
       .statements = "_exit(0);"},
      {.name = "ends_its_thread",
       .behavior = "ends the thread that runs it",
       .required_protection = Protection::kProcessIsolation,
       .allowed_outcomes = kCrash,
       .includes = "pthread.h",
       .statements = "pthread_exit(nullptr);"},
      {.name = "throws",
       .behavior = "throws an exception out of the kernel",
       .required_protection = Protection::kProcessIsolation,
       .allowed_outcomes = kCrash,
       // Weak, because the C++ library is that of the process, not of the kernel.
       .declarations = "[[noreturn]] __attribute__((weak)) void raise_length_error(const char*) "
                       "__asm__(\"_ZSt20__throw_length_errorPKc\");",
       .statements = "raise_length_error(\"thrown\");"},
      {.name = "jumps_out",
       .behavior = "jumps (longjmp) back into a static initializer, which has already returned",
       .required_protection = Protection::kProcessIsolation,
       .allowed_outcomes = {{Outcome::crashed, "signal"}, {Outcome::timed_out, "time_limit"}},
       .includes = "setjmp.h",
       .declarations =
           "static jmp_buf before;\nstatic int mark() { return setjmp(before); }\nstatic int marked = mark();",
       .statements = "longjmp(before, 1);"},
      {.name = "writes_to_address_0",
       .behavior = "writes to address 0",
       .required_protection = Protection::kProcessIsolation,
       .allowed_outcomes = kCrash,
       .statements = "*(volatile int*)nullptr = 1;"},
      {.name = "writes_far_away",
       .behavior = "writes to an unmapped address",
       .required_protection = Protection::kProcessIsolation,
       .allowed_outcomes = kCrash,
       .statements = "((volatile char*)out.data)[1ll << 45] = 1;"},
      {.name = "divides_by_0",
       .behavior = "divides integers by 0",
       .required_protection = Protection::kProcessIsolation,
       .allowed_outcomes = kCrash,
       .statements = "volatile int zero = 0; out.at(thread) = real(7 / zero);"},
      {.name = "traps",
       .behavior = "executes an invalid instruction",
       .required_protection = Protection::kProcessIsolation,
       .allowed_outcomes = kCrash,
       .statements = "__builtin_trap();"},
      {.name = "unmaps_its_memory",
       .behavior = "unmaps the memory that holds its arrays",
       .required_protection = Protection::kProcessIsolation,
       .allowed_outcomes = kCrash,
       .includes = "sys/mman.h",
       .statements = "if (thread == begin) munmap((void*)((unsigned long)out.data & ~4095ul), 1 << 20);"},
  };
}

}  // namespace

std::vector<Attack> abnormal_exits() {
  std::vector<Attack> attacks = other_ends();
  for (const int signal : kFatalSignals)
    attacks.push_back(raising(signal));
  return attacks;
}

}  // namespace assay::attacks
