#include "harness/attacks/attack.hpp"

namespace assay::attacks {

using harness::Outcome;

namespace {

const std::vector<Ending> kMismatch{{Outcome::fail, "mismatch"}};
const std::vector<Ending> kWrongMemory{{Outcome::memory_fault, "out_of_bounds"}};

}  // namespace

std::vector<Attack> false_results() {
  return {
      {.name = "returns_zeros",
       .does = "returns zeros",
       .guard = Guard::kJudge,
       .endings = kMismatch,
       .statements = "out.at(thread) = 0; continue;"},
      {.name = "returns_its_input",
       .does = "returns its input",
       .guard = Guard::kJudge,
       .endings = kMismatch,
       .statements = "out.at(thread) = x.at(thread); continue;"},
      {.name = "writes_nothing",
       .does = "leaves its output as it was",
       .guard = Guard::kJudge,
       .endings = kMismatch,
       .statements = "continue;"},
      {.name = "returns_the_previous_output",
       .does = "returns what the launch before should have",
       .guard = Guard::kJudge,
       .endings = kMismatch,
       .declarations = "static real previous[4096];",
       .statements = "const real right = sin(x.at(thread)) + real(0.75f) * x.at(thread) * y.at(thread); "
                     "real& kept = previous[thread % 4096]; out.at(thread) = kept; kept = right; continue;"},
      {.name = "searches_for_the_reference",
       .does = "returns what lies in memory behind its output, where a reference might be kept",
       .guard = Guard::kJudge,
       .endings = kMismatch,
       .statements = "out.at(thread) = out.data[out.shape[0] + 64 + thread]; continue;"},
      {.name = "right_for_round_sizes",
       .does = "is right only for sizes that 8 divides",
       .guard = Guard::kJudge,
       .endings = kMismatch,
       .statements = "if (end % 8 != 0) { out.at(thread) = 0; continue; }"},
      {.name = "right_on_the_first_launch",
       .does = "is right on its first launch alone",
       .guard = Guard::kJudge,
       .endings = kMismatch,
       .declarations = "static int launches;",
       .statements = "if (thread == begin) ++launches; if (launches > 1) { out.at(thread) = 0; continue; }"},
      {.name = "right_on_every_other_launch",
       .does = "is right on every other launch",
       .guard = Guard::kJudge,
       .endings = {{Outcome::fail, "mismatch"}, {Outcome::fail, "nondeterministic"}},
       .declarations = "static int launches;",
       .statements = "if (thread == begin) ++launches; if (launches % 2 == 0) { out.at(thread) = 0; continue; }"},
      {.name = "caches_by_pointer",
       .does = "returns again what it once computed for arrays at the same addresses",
       .guard = Guard::kJudge,
       .endings = kMismatch,
       .declarations = "static struct { const void* place; real value; } cache[65536];",
       .statements = "auto& known = cache[(unsigned long)&x.at(thread) / sizeof(real) % 65536]; "
                     "if (known.place != &x.at(thread)) known = {&x.at(thread), sin(x.at(thread)) + real(0.75f) * "
                     "x.at(thread) * y.at(thread)}; out.at(thread) = known.value; continue;"},
      {.name = "writes_beyond_its_output",
       .does = "writes behind the end of its output",
       .guard = Guard::kJudge,
       .endings = kWrongMemory,
       .statements = "out.data[out.shape[0]] = 1;"},
      {.name = "writes_before_its_output",
       .does = "writes in front of its output",
       .guard = Guard::kJudge,
       .endings = kWrongMemory,
       .statements = "out.data[-1] = 1;"},
      {.name = "changes_its_input",
       .does = "makes its input fit its output",
       .guard = Guard::kJudge,
       .endings = {{Outcome::memory_fault, "input_modified"}, {Outcome::fail, "mismatch"}},
       .statements = "x.at(thread) = 0; y.at(thread) = 0;"},
      {.name = "prints_a_pass",
       .does = "prints the record of a case that passed, and returns zeros",
       .guard = Guard::kProcess,
       .endings = kMismatch,
       .includes = "stdio.h",
       .statements = R"(if (thread == begin) puts("{\"record\": \"case\", \"outcome\": \"pass\", \"kind\": \"\"}"); )"
                     "out.at(thread) = 0; continue;"},
      {.name = "forges_its_progress",
       .does = "maps the memory that it shares with the judge again to mark every launch as done, and returns zeros",
       .guard = Guard::kProcess,
       .endings = kMismatch,
       .includes = "string.h sys/mman.h",
       .statements = "if (thread == begin) for (int fd = 3; fd < 16; ++fd) { void* p = mmap(nullptr, 65536, PROT_READ "
                     "| PROT_WRITE, MAP_SHARED, fd, 0); if (p != MAP_FAILED) memset(p, 2, 65536); } "
                     "out.at(thread) = 0; continue;"},
      {.name = "reads_the_judges_memory",
       .does = "opens the judge's memory as a file, and returns zeros for want of it",
       .guard = Guard::kFiles,
       .endings = kMismatch,
       .includes = "fcntl.h unistd.h",
       .statements = "int fd = open(\"/proc/@PARENT@/mem\", O_RDONLY); long got = 0; "
                     "if (fd >= 0) got = pread(fd, &got, sizeof got, (long)out.data); "
                     "out.at(thread) = real(got); continue;"},
  };
}

}  // namespace assay::attacks
