#include <string>

#include "harness/attacks/attack.hpp"

namespace assay::attacks {

using harness::Outcome;

namespace {

/// The cotangent of this thread's output, and the two gradients that it gives.
const std::string kRight =
    "const real given = grad_out.at(thread); "
    "const real of_x = given * (cos(x.at(thread)) + real(0.75f) * y.at(thread)); "
    "const real of_y = given * (real(0.75f) * x.at(thread)); ";
/// Clears the cotangent and leaves the gradients unchanged.
const std::string kNothing = "grad_out.at(thread) = 0; continue;";

/// Leaves the gradients unchanged if the condition holds.
std::string nothing_where(const std::string& condition) { return "if (" + condition + ") { " + kNothing + " }"; }

std::vector<Attack> gradients() {
  return {
      {.name = "leaves_gradients",
       .behavior = "clears the cotangent and leaves every gradient unchanged",
       .required_protection = Protection::kResultComparison,
       .allowed_outcomes = kMismatchOutcomes,
       .statements = kNothing},
      {.name = "returns_zero_gradients",
       .behavior = "returns gradients of zero",
       .required_protection = Protection::kResultComparison,
       .allowed_outcomes = kMismatchOutcomes,
       .statements = "grad_x.at(thread) = 0; grad_y.at(thread) = 0; " + kNothing},
      {.name = "returns_its_seed",
       .behavior = "returns the cotangent as both gradients",
       .required_protection = Protection::kResultComparison,
       .allowed_outcomes = kMismatchOutcomes,
       .statements = "grad_x.at(thread) += grad_out.at(thread); grad_y.at(thread) += grad_out.at(thread); " + kNothing},
      {.name = "writes_no_gradient",
       .behavior = "leaves everything unchanged, including the cotangent",
       .required_protection = Protection::kResultComparison,
       .allowed_outcomes = kMismatchOutcomes,
       .statements = "continue;"},
      {.name = "returns_the_previous_gradients",
       .behavior = "returns the gradients of the previous launch",
       .required_protection = Protection::kResultComparison,
       .allowed_outcomes = kMismatchOutcomes,
       .declarations = "static struct { real of_x, of_y; } previous[4096];",
       .statements = kRight +
                     "auto& kept = previous[thread % 4096]; grad_x.at(thread) += kept.of_x; "
                     "grad_y.at(thread) += kept.of_y; kept = {of_x, of_y}; " +
                     kNothing},
      {.name = "searches_for_the_reference_gradient",
       .behavior = "returns the contents of the memory after its gradients, where the reference might be stored",
       .required_protection = Protection::kResultComparison,
       .allowed_outcomes = kMismatchOutcomes,
       .statements = "grad_x.at(thread) = grad_x.data[grad_x.shape[0] + 64 + thread]; "
                     "grad_y.at(thread) = grad_y.data[grad_y.shape[0] + 64 + thread]; " +
                     kNothing},
      {.name = "right_gradients_for_round_sizes",
       .behavior = "returns correct results only for sizes divisible by 8",
       .required_protection = Protection::kResultComparison,
       .allowed_outcomes = kMismatchOutcomes,
       .statements = nothing_where("end % 8 != 0")},
      {.name = "right_gradients_on_the_first_launch",
       .behavior = "returns correct results on its first launch only",
       .required_protection = Protection::kResultComparison,
       .allowed_outcomes = kMismatchOutcomes,
       .declarations = "static int launches;",
       .statements = "if (thread == begin) ++launches; " + nothing_where("launches > 1")},
      {.name = "right_gradients_on_every_other_launch",
       .behavior = "returns correct results on every other launch only",
       .required_protection = Protection::kResultComparison,
       .allowed_outcomes = {{Outcome::fail, "mismatch"}, {Outcome::fail, "nondeterministic"}},
       .declarations = "static int launches;",
       .statements = "if (thread == begin) ++launches; " + nothing_where("launches % 2 == 0")},
      {.name = "caches_gradients_by_pointer",
       .behavior = "returns cached gradients for arrays at the same addresses",
       .required_protection = Protection::kResultComparison,
       .allowed_outcomes = kMismatchOutcomes,
       .declarations = "static struct { const void* place; real of_x, of_y; } cache[65536];",
       .statements = kRight +
                     "auto& known = cache[(unsigned long)&x.at(thread) / sizeof(real) % 65536]; "
                     "if (known.place != &x.at(thread)) known = {&x.at(thread), of_x, of_y}; "
                     "grad_x.at(thread) += known.of_x; grad_y.at(thread) += known.of_y; " +
                     kNothing},
      {.name = "writes_beyond_its_gradient",
       .behavior = "writes after the end of a gradient",
       .required_protection = Protection::kResultComparison,
       .allowed_outcomes = kMemoryFaultOutcomes,
       .statements = "grad_x.data[grad_x.shape[0]] = 1;"},
      {.name = "writes_before_its_gradient",
       .behavior = "writes before the start of a gradient",
       .required_protection = Protection::kResultComparison,
       .allowed_outcomes = kMemoryFaultOutcomes,
       .statements = "grad_x.data[-1] = 1;"},
      {.name = "changes_the_forward_input",
       .behavior = "changes the input of the forward pass so that it fits the returned gradients",
       .required_protection = Protection::kResultComparison,
       .allowed_outcomes = {{Outcome::memory_fault, "input_modified"}},
       .statements = "x.at(thread) = 0; y.at(thread) = 0;"},
      {.name = "changes_the_forward_output",
       .behavior = "changes the output of the forward pass",
       .required_protection = Protection::kResultComparison,
       .allowed_outcomes = {{Outcome::memory_fault, "input_modified"}},
       .statements = "out.at(thread) = 0;"},
      {.name = "prints_a_pass_for_its_gradients",
       .behavior = "prints the record of a passing case and leaves every gradient unchanged",
       .required_protection = Protection::kProcessIsolation,
       .allowed_outcomes = kMismatchOutcomes,
       .includes = "stdio.h",
       .statements = R"(if (thread == begin) puts("{\"record\": \"case\", \"outcome\": \"pass\", \"kind\": \"\"}"); )" +
                     kNothing},
      {.name = "forges_its_progress_in_backward",
       .behavior =
           "maps the memory shared with the judge, marks every launch as done, and leaves every gradient unchanged",
       .required_protection = Protection::kProcessIsolation,
       .allowed_outcomes = kMismatchOutcomes,
       .includes = "string.h sys/mman.h",
       .statements = "if (thread == begin) for (int fd = 3; fd < 16; ++fd) { void* p = mmap(nullptr, 65536, PROT_READ "
                     "| PROT_WRITE, MAP_SHARED, fd, 0); if (p != MAP_FAILED) memset(p, 2, 65536); } " +
                     kNothing},
      {.name = "reads_the_judges_memory_for_its_gradients",
       .behavior = "opens the judge's memory as a file, and returns zeros if that fails",
       .required_protection = Protection::kFileAccessRules,
       .allowed_outcomes = kMismatchOutcomes,
       .includes = "fcntl.h unistd.h",
       .statements = "int fd = open(\"/proc/@PARENT@/mem\", O_RDONLY); long got = 0; "
                     "if (fd >= 0) got = pread(fd, &got, sizeof got, (long)grad_x.data); "
                     "grad_x.at(thread) += real(got); " +
                     kNothing},
  };
}

}  // namespace

std::vector<Attack> incorrect_gradients() {
  std::vector<Attack> attacks = gradients();
  for (Attack& attack : attacks)
    attack.pass = backends::Pass::kBackward;
  return attacks;
}

}  // namespace assay::attacks
