#include <array>
#include <csignal>

#include <fmt/format.h>

#include "harness/attacks/attack.hpp"

namespace assay::attacks {

using harness::Outcome;

namespace {

const std::vector<Ending> kCrash{{Outcome::crashed, "signal"}};
const std::vector<Ending> kCrashWhenLoaded{{Outcome::crashed, "build"}};

/// The signals that end a process which does nothing about them. SIGXFSZ is not among them: a worker ignores it.
constexpr std::array kFatalSignals{SIGHUP,  SIGINT,  SIGQUIT, SIGILL,  SIGTRAP, SIGABRT,  SIGBUS,  SIGFPE,
                                   SIGKILL, SIGUSR1, SIGSEGV, SIGUSR2, SIGPIPE, SIGALRM,  SIGTERM, SIGSTKFLT,
                                   SIGXCPU, SIGPROF, SIGPOLL, SIGPWR,  SIGSYS,  SIGVTALRM};

Attack raising(int signal) {
  const char* const name = ::sigabbrev_np(signal);
  return {.name = fmt::format("raises_{}", name),
          .does = fmt::format("raises SIG{}", name),
          .guard = Guard::kProcess,
          // Running out of processor time ends in the same signal.
          .endings = signal == SIGXCPU ? std::vector<Ending>{{Outcome::timed_out, "time_limit"}} : kCrash,
          .includes = "signal.h",
          .statements = fmt::format("raise({});", signal)};
}

std::vector<Attack> other_ends() {
  return {
      {.name = "exits_when_loaded",
       .does = "exits with status 0 in a static initialiser",
       .guard = Guard::kProcess,
       .endings = kCrashWhenLoaded,
       .includes = "stdlib.h",
       .declarations = "static int leave() { exit(0); }\nstatic int left = leave();",
       .when_loaded = true},
      {.name = "crashes_when_loaded",
       .does = "writes to address 0 in a static initialiser",
       .guard = Guard::kProcess,
       .endings = kCrashWhenLoaded,
       .declarations = "static int crash() { return *(volatile int*)nullptr = 1; }\nstatic int crashed = crash();",
       .when_loaded = true},
      {.name = "exits",
       .does = "exits with status 0",
       .guard = Guard::kProcess,
       .endings = kCrash,
       .includes = "stdlib.h",
       .statements = "exit(0);"},
      {.name = "exits_at_once",
       .does = "exits with status 0 and runs nothing that is registered to run then",
       .guard = Guard::kProcess,
       .endings = kCrash,
       .includes = "unistd.h",
       .statements = "_exit(0);"},
      {.name = "ends_its_thread",
       .does = "ends the thread that runs it",
       .guard = Guard::kProcess,
       .endings = kCrash,
       .includes = "pthread.h",
       .statements = "pthread_exit(nullptr);"},
      {.name = "throws",
       .does = "throws an exception out of the kernel",
       .guard = Guard::kProcess,
       .endings = kCrash,
       .declarations = "[[noreturn]] void raise_length_error(const char*) __asm__(\"_ZSt20__throw_length_errorPKc\");",
       .statements = "raise_length_error(\"thrown\");"},
      {.name = "jumps_out",
       .does = "jumps to where it was loaded, a call that has long returned",
       .guard = Guard::kProcess,
       .endings = {{Outcome::crashed, "signal"}, {Outcome::timed_out, "time_limit"}},
       .includes = "setjmp.h",
       .declarations =
           "static jmp_buf before;\nstatic int mark() { return setjmp(before); }\nstatic int marked = mark();",
       .statements = "longjmp(before, 1);"},
      {.name = "writes_to_address_0",
       .does = "writes to address 0",
       .guard = Guard::kProcess,
       .endings = kCrash,
       .statements = "*(volatile int*)nullptr = 1;"},
      {.name = "writes_far_away",
       .does = "writes where no memory is",
       .guard = Guard::kProcess,
       .endings = kCrash,
       .statements = "((volatile char*)out.data)[1ll << 45] = 1;"},
      {.name = "divides_by_0",
       .does = "divides integers by 0",
       .guard = Guard::kProcess,
       .endings = kCrash,
       .statements = "volatile int zero = 0; out.at(thread) = real(7 / zero);"},
      {.name = "traps",
       .does = "executes an instruction that no processor has",
       .guard = Guard::kProcess,
       .endings = kCrash,
       .statements = "__builtin_trap();"},
      {.name = "unmaps_its_memory",
       .does = "unmaps the memory that holds its arrays",
       .guard = Guard::kProcess,
       .endings = kCrash,
       .includes = "sys/mman.h",
       .statements = "if (thread == begin) munmap((void*)((unsigned long)out.data & ~4095ul), 1 << 20);"},
  };
}

}  // namespace

std::vector<Attack> early_ends() {
  std::vector<Attack> attacks = other_ends();
  for (const int signal : kFatalSignals)
    attacks.push_back(raising(signal));
  return attacks;
}

}  // namespace assay::attacks
