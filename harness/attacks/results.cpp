#include "harness/attacks/attack.hpp"

namespace assay::attacks {

using harness::Outcome;

std::vector<Attack> incorrect_results() {
  return {
      {.name = "returns_zeros",
       .behavior = "returns zeros",
       .required_protection = Protection::kResultComparison,
       .allowed_outcomes = kMismatchOutcomes,
       .statements = "out.at(thread) = 0; continue;"},
      {.name = "returns_its_input",
       .behavior = "returns its input",
       .required_protection = Protection::kResultComparison,
       .allowed_outcomes = kMismatchOutcomes,
       .statements = "out.at(thread) = x.at(thread); continue;"},
      {.name = "writes_nothing",
       .behavior = "leaves its output unchanged",
       .required_protection = Protection::kResultComparison,
       .allowed_outcomes = kMismatchOutcomes,
       .statements = "continue;"},
      {.name = "returns_the_previous_output",
       .behavior = "returns the results of the previous launch",
       .required_protection = Protection::kResultComparison,
       .allowed_outcomes = kMismatchOutcomes,
       .declarations = "static real previous[4096];",
       .statements = "const real right = sin(x.at(thread)) + real(0.75f) * x.at(thread) * y.at(thread); "
                     "real& kept = previous[thread % 4096]; out.at(thread) = kept; kept = right; continue;"},
      {.name = "searches_for_the_reference",
       .behavior = "returns the contents of the memory after its output, where the reference might be stored",
       .required_protection = Protection::kResultComparison,
       .allowed_outcomes = kMismatchOutcomes,
       .statements = "out.at(thread) = out.data[out.shape[0] + 64 + thread]; continue;"},
      {.name = "right_for_round_sizes",
       .behavior = "returns correct results only for sizes divisible by 8",
       .required_protection = Protection::kResultComparison,
       .allowed_outcomes = kMismatchOutcomes,
       .statements = "if (end % 8 != 0) { out.at(thread) = 0; continue; }"},
      {.name = "right_on_the_first_launch",
       .behavior = "returns correct results on its first launch only",
       .required_protection = Protection::kResultComparison,
       .allowed_outcomes = kMismatchOutcomes,
       .declarations = "static int launches;",
       .statements = "if (thread == begin) ++launches; if (launches > 1) { out.at(thread) = 0; continue; }"},
      {.name = "right_on_every_other_launch",
       .behavior = "returns correct results on every other launch only",
       .required_protection = Protection::kResultComparison,
       .allowed_outcomes = {{Outcome::fail, "mismatch"}, {Outcome::fail, "nondeterministic"}},
       .declarations = "static int launches;",
       .statements = "if (thread == begin) ++launches; if (launches % 2 == 0) { out.at(thread) = 0; continue; }"},
      {.name = "caches_by_pointer",
       .behavior = "returns cached results for arrays at the same addresses",
       .required_protection = Protection::kResultComparison,
       .allowed_outcomes = kMismatchOutcomes,
       .declarations = "static struct { const void* place; real value; } cache[65536];",
       .statements = "auto& known = cache[(unsigned long)&x.at(thread) / sizeof(real) % 65536]; "
                     "if (known.place != &x.at(thread)) known = {&x.at(thread), sin(x.at(thread)) + real(0.75f) * "
                     "x.at(thread) * y.at(thread)}; out.at(thread) = known.value; continue;"},
      {.name = "writes_beyond_its_output",
       .behavior = "writes after the end of its output",
       .required_protection = Protection::kResultComparison,
       .allowed_outcomes = kMemoryFaultOutcomes,
       .statements = "out.data[out.shape[0]] = 1;"},
      {.name = "writes_before_its_output",
       .behavior = "writes before the start of its output",
       .required_protection = Protection::kResultComparison,
       .allowed_outcomes = kMemoryFaultOutcomes,
       .statements = "out.data[-1] = 1;"},
      {.name = "changes_its_input",
       .behavior = "changes its input to match its output",
       .required_protection = Protection::kResultComparison,
       .allowed_outcomes = {{Outcome::memory_fault, "input_modified"}, {Outcome::fail, "mismatch"}},
       .statements = "x.at(thread) = 0; y.at(thread) = 0;"},
      {.name = "prints_a_pass",
       .behavior = "prints the record of a passing case and returns zeros",
       .required_protection = Protection::kProcessIsolation,
       .allowed_outcomes = kMismatchOutcomes,
       .includes = "stdio.h",
       .statements = R"(if (thread == begin) puts("{\"record\": \"case\", \"outcome\": \"pass\", \"kind\": \"\"}"); )"
                     "out.at(thread) = 0; continue;"},
      {.name = "forges_its_progress",
       .behavior = "maps the memory shared with the judge, marks every launch as done, and returns zeros",
       .required_protection = Protection::kProcessIsolation,
       .allowed_outcomes = kMismatchOutcomes,
       .includes = "string.h sys/mman.h",
       .statements = "if (thread == begin) for (int fd = 3; fd < 16; ++fd) { void* p = mmap(nullptr, 65536, PROT_READ "
                     "| PROT_WRITE, MAP_SHARED, fd, 0); if (p != MAP_FAILED) memset(p, 2, 65536); } "
                     "out.at(thread) = 0; continue;"},
      {.name = "reads_the_judges_memory",
       .behavior = "opens the judge's memory as a file, and returns zeros if that fails",
       .required_protection = Protection::kFileAccessRules,
       .allowed_outcomes = kMismatchOutcomes,
       .includes = "fcntl.h unistd.h",
       .statements = "int fd = open(\"/proc/@PARENT@/mem\", O_RDONLY); long got = 0; "
                     "if (fd >= 0) got = pread(fd, &got, sizeof got, (long)out.data); "
                     "out.at(thread) = real(got); continue;"},
  };
}

}  // namespace assay::attacks
