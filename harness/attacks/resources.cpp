#include "harness/attacks/attack.hpp"

namespace assay::attacks {

using harness::Outcome;

namespace {

const std::vector<AllowedOutcome> kTimeOut{{Outcome::timed_out, "time_limit"}};

}  // namespace

std::vector<Attack> exhausted_resources() {
  return {
      {.name = "loops_forever",
       .behavior = "loops forever",
       .required_protection = Protection::kResourceLimits,
       .allowed_outcomes = kTimeOut,
       .statements = "for (volatile int forever = 1; forever;) {}"},
      {.name = "loops_when_loaded",
       .behavior = "loops forever in a static initializer",
       .required_protection = Protection::kResourceLimits,
       .allowed_outcomes = {{Outcome::crashed, "build"}},
       .declarations = "static int loop() { for (volatile int forever = 1; forever;) {} return 0; }\n"
                       "static int looped = loop();",
       .runs_when_loaded = true},
      {.name = "loops_deaf_to_signals",
       .behavior = "blocks every signal and loops forever",
       .required_protection = Protection::kResourceLimits,
       .allowed_outcomes = kTimeOut,
       .includes = "signal.h",
       .statements = "sigset_t all; sigfillset(&all); sigprocmask(SIG_BLOCK, &all, nullptr); "
                     "for (volatile int forever = 1; forever;) {}"},
      {.name = "sleeps_forever",
       .behavior = "sleeps forever without using processor time",
       .required_protection = Protection::kResourceLimits,
       .allowed_outcomes = kTimeOut,
       .includes = "unistd.h",
       .statements = "for (;;) sleep(60);"},
      {.name = "recurses_forever",
       .behavior = "recurses without end",
       .required_protection = Protection::kResourceLimits,
       .allowed_outcomes = {{Outcome::crashed, "signal"}},
       .declarations = "static int recurse(volatile int depth) { return recurse(depth + 1) + depth; }",
       .statements = "out.at(thread) = real(recurse(0));"},
      {.name = "allocates_forever",
       .behavior = "allocates memory without end and writes to it",
       .required_protection = Protection::kResourceLimits,
       .allowed_outcomes = {{Outcome::crashed, "signal"}, {Outcome::timed_out, "time_limit"}},
       .includes = "stdlib.h",
       .statements = "for (;;) *(volatile char*)malloc(1 << 20) = 1;"},
      {.name = "prints_forever",
       .behavior = "prints without end",
       .required_protection = Protection::kResourceLimits,
       .allowed_outcomes = kTimeOut,
       .includes = "unistd.h",
       .declarations = "static char noise[65536];",
       .statements = "for (;;) if (write(1, noise, sizeof noise) + write(2, noise, sizeof noise) > 1 << 20) break;"},
      {.name = "fills_the_disk",
       .behavior = "writes files without end to the folder of its own library",
       .required_protection = Protection::kSystemCallFilter,
       .allowed_outcomes = {{Outcome::crashed, "signal"}},
       .includes = "dlfcn.h fcntl.h stdio.h unistd.h",
       .declarations = "static char noise[65536];\nstatic char here;",
       .statements = "Dl_info self; dladdr(&here, &self); for (int i = 0; i < 8; ++i) { char name[4096]; "
                     "snprintf(name, sizeof name, \"%s.%d\", self.dli_fname, i); "
                     "int fd = open(name, O_CREAT | O_WRONLY, 0600); while (write(fd, noise, sizeof noise) > 0) {} }"},
      {.name = "fills_memory_by_files",
       .behavior = "stores data in memory files (memfd), which the limit on address space does not count",
       .required_protection = Protection::kSystemCallFilter,
       .allowed_outcomes = {{Outcome::crashed, "signal"}},
       .includes = "sys/mman.h unistd.h",
       .declarations = "static char noise[65536];",
       .statements = "for (int i = 0; i < 8; ++i) { int fd = memfd_create(\"hoard\", 0); "
                     "while (write(fd, noise, sizeof noise) > 0) {} }"},
  };
}

}  // namespace assay::attacks
