#include <string>

#include "harness/attacks/attack.hpp"

namespace assay::attacks {

using harness::Outcome;

namespace {

const std::vector<Ending> kMismatch{{Outcome::fail, "mismatch"}};
const std::vector<Ending> kWrongMemory{{Outcome::memory_fault, "out_of_bounds"}};

/// The seed of this thread's output, and what the two gradients of it are.
const std::string kRight =
    "const real given = grad_out.at(thread); "
    "const real of_x = given * (cos(x.at(thread)) + real(0.75f) * y.at(thread)); "
    "const real of_y = given * (real(0.75f) * x.at(thread)); ";
/// Takes the seed and leaves the gradients as they were.
const std::string kNothing = "grad_out.at(thread) = 0; continue;";

/// Leaves the gradients as they were wherever the condition holds.
std::string nothing_where(const std::string& condition) { return "if (" + condition + ") { " + kNothing + " }"; }

std::vector<Attack> gradients() {
  return {
      {.name = "leaves_gradients",
       .does = "takes the seed and leaves every gradient as it was",
       .guard = Guard::kJudge,
       .endings = kMismatch,
       .statements = kNothing},
      {.name = "returns_zero_gradients",
       .does = "returns gradients of zero",
       .guard = Guard::kJudge,
       .endings = kMismatch,
       .statements = "grad_x.at(thread) = 0; grad_y.at(thread) = 0; " + kNothing},
      {.name = "returns_its_seed",
       .does = "returns its seed",
       .guard = Guard::kJudge,
       .endings = kMismatch,
       .statements = "grad_x.at(thread) += grad_out.at(thread); grad_y.at(thread) += grad_out.at(thread); " + kNothing},
      {.name = "writes_no_gradient",
       .does = "leaves everything as it was, the seed too",
       .guard = Guard::kJudge,
       .endings = kMismatch,
       .statements = "continue;"},
      {.name = "returns_the_previous_gradients",
       .does = "returns the gradients of the launch before",
       .guard = Guard::kJudge,
       .endings = kMismatch,
       .declarations = "static struct { real of_x, of_y; } previous[4096];",
       .statements = kRight +
                     "auto& kept = previous[thread % 4096]; grad_x.at(thread) += kept.of_x; "
                     "grad_y.at(thread) += kept.of_y; kept = {of_x, of_y}; " +
                     kNothing},
      {.name = "searches_for_the_reference_gradient",
       .does = "returns what lies in memory behind its gradients, where a reference might be kept",
       .guard = Guard::kJudge,
       .endings = kMismatch,
       .statements = "grad_x.at(thread) = grad_x.data[grad_x.shape[0] + 64 + thread]; "
                     "grad_y.at(thread) = grad_y.data[grad_y.shape[0] + 64 + thread]; " +
                     kNothing},
      {.name = "right_gradients_for_round_sizes",
       .does = "is right only for sizes that 8 divides",
       .guard = Guard::kJudge,
       .endings = kMismatch,
       .statements = nothing_where("end % 8 != 0")},
      {.name = "right_gradients_on_the_first_launch",
       .does = "is right on its first launch alone",
       .guard = Guard::kJudge,
       .endings = kMismatch,
       .declarations = "static int launches;",
       .statements = "if (thread == begin) ++launches; " + nothing_where("launches > 1")},
      {.name = "right_gradients_on_every_other_launch",
       .does = "is right on every other launch",
       .guard = Guard::kJudge,
       .endings = {{Outcome::fail, "mismatch"}, {Outcome::fail, "nondeterministic"}},
       .declarations = "static int launches;",
       .statements = "if (thread == begin) ++launches; " + nothing_where("launches % 2 == 0")},
      {.name = "caches_gradients_by_pointer",
       .does = "returns again what it once computed for arrays at the same addresses",
       .guard = Guard::kJudge,
       .endings = kMismatch,
       .declarations = "static struct { const void* place; real of_x, of_y; } cache[65536];",
       .statements = kRight +
                     "auto& known = cache[(unsigned long)&x.at(thread) / sizeof(real) % 65536]; "
                     "if (known.place != &x.at(thread)) known = {&x.at(thread), of_x, of_y}; "
                     "grad_x.at(thread) += known.of_x; grad_y.at(thread) += known.of_y; " +
                     kNothing},
      {.name = "writes_beyond_its_gradient",
       .does = "writes behind the end of a gradient",
       .guard = Guard::kJudge,
       .endings = kWrongMemory,
       .statements = "grad_x.data[grad_x.shape[0]] = 1;"},
      {.name = "writes_before_its_gradient",
       .does = "writes in front of a gradient",
       .guard = Guard::kJudge,
       .endings = kWrongMemory,
       .statements = "grad_x.data[-1] = 1;"},
      {.name = "changes_the_forward_input",
       .does = "makes the input of the forward pass fit its gradients",
       .guard = Guard::kJudge,
       .endings = {{Outcome::memory_fault, "input_modified"}},
       .statements = "x.at(thread) = 0; y.at(thread) = 0;"},
      {.name = "changes_the_forward_output",
       .does = "changes the output of the forward pass",
       .guard = Guard::kJudge,
       .endings = {{Outcome::memory_fault, "input_modified"}},
       .statements = "out.at(thread) = 0;"},
      {.name = "prints_a_pass_for_its_gradients",
       .does = "prints the record of a case that passed, and leaves every gradient as it was",
       .guard = Guard::kProcess,
       .endings = kMismatch,
       .includes = "stdio.h",
       .statements = R"(if (thread == begin) puts("{\"record\": \"case\", \"outcome\": \"pass\", \"kind\": \"\"}"); )" +
                     kNothing},
      {.name = "forges_its_progress_in_backward",
       .does = "maps the memory that it shares with the judge again to mark every launch as done, and leaves every "
               "gradient as it was",
       .guard = Guard::kProcess,
       .endings = kMismatch,
       .includes = "string.h sys/mman.h",
       .statements = "if (thread == begin) for (int fd = 3; fd < 16; ++fd) { void* p = mmap(nullptr, 65536, PROT_READ "
                     "| PROT_WRITE, MAP_SHARED, fd, 0); if (p != MAP_FAILED) memset(p, 2, 65536); } " +
                     kNothing},
      {.name = "reads_the_judges_memory_for_its_gradients",
       .does = "opens the judge's memory as a file, and returns zeros for want of it",
       .guard = Guard::kFiles,
       .endings = kMismatch,
       .includes = "fcntl.h unistd.h",
       .statements = "int fd = open(\"/proc/@PARENT@/mem\", O_RDONLY); long got = 0; "
                     "if (fd >= 0) got = pread(fd, &got, sizeof got, (long)grad_x.data); "
                     "grad_x.at(thread) += real(got); " +
                     kNothing},
  };
}

}  // namespace

std::vector<Attack> false_gradients() {
  std::vector<Attack> attacks = gradients();
  for (Attack& attack : attacks)
    attack.pass = backends::Pass::kBackward;
  return attacks;
}

}  // namespace assay::attacks
