// Faults injected into the emitted text of correct kernels, all in one batch on the real device: each must get the
// correct outcome, and the correct kernels of the batch must pass.
#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/testing/cpu_run.hpp"

namespace assay::harness {
namespace {

using backends::Pass;
using testing::at_thread_start;
using testing::before_body;
using testing::CpuRun;
using ::testing::HasSubstr;
using testing::TestKernel;
using testing::TextEdit;

constexpr const char* kSmooth = R"(
@wp.kernel
def k(x: wp.array(dtype=float), y: wp.array(dtype=float), s: float, out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = s * wp.sin(x[i]) + 0.75 * x[i] * y[i]
)";
constexpr const char* kProduct = R"(
# domain: 2 <= n <= 6
@wp.kernel
def k(x: wp.array(dtype=float), n: int, out: wp.array(dtype=float)):
    i = wp.tid()
    p = float(1.5)
    for j in range(n):
        p *= x[j]
    out[i] = p * x[i]
)";
constexpr const char* kTwice = R"(
@wp.kernel
def k(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = x[i] * x[i]
    out[i] = wp.cos(x[i])
)";
constexpr const char* kEven = R"(
@wp.kernel
def k(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[2 * i] = 3.0 * x[i]
)";
constexpr const char* kGather = R"(
@wp.kernel
def k(x: wp.array(dtype=float), idx: wp.array(dtype=int), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = x[idx[i]] * x[idx[i]]
)";
constexpr const char* kCount = R"(
@wp.kernel
def k(x: wp.array(dtype=float), n: int, out: wp.array(dtype=int)):
    i = wp.tid()
    c = int(0)
    for j in range(n):
        if x[i] > float(j) - 3.0:
            c += 1
    out[i] = c
)";

constexpr const char* kKeptProducts = R"(
@wp.kernel
def k(x: wp.array(dtype=wp.vec3), out: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    kept = wp.zeros(shape=4, dtype=wp.vec3)
    for j in range(4):
        kept[j] = x[i] * float(j)
    out[i] = kept[3] + kept[1]
)";
constexpr const char* kKeptElements = R"(
@wp.kernel
def k(x: wp.array(dtype=wp.vec3), out: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    kept = wp.zeros(shape=4, dtype=wp.vec3)
    for j in range(4):
        kept[j] = x[i]
    out[i] = kept[3] * 2.0
)";

/// The expected outcome of the pass with the fault; the other pass of the kernel must pass unless `both`.
struct Fault {
  TestKernel test_kernel;
  Pass pass;
  Outcome outcome;
  const char* kind;
  bool both = false;
};

/// Matches an atomic addition to a gradient, with its element and value as groups 1 and 2.
std::string addition_to(const std::string& gradient) {
  return R"(atomic_add\(()" + gradient + R"(\.at\(\w+\)), (\w+)\))";
}

std::vector<Fault> incorrect_derivatives() {
  const auto incorrect = [](const char* name, const char* python, std::vector<TextEdit> edits) {
    return Fault{{name, python, std::move(edits)}, Pass::kBackward, Outcome::fail, "mismatch"};
  };
  return {
      incorrect("dropped_contribution", kSmooth, {{addition_to("grad_x"), "(void)0"}}),
      incorrect("counted_twice", kSmooth, {{addition_to("grad_x"), "atomic_add($1, $2 + $2)"}}),
      incorrect("incorrect_sign", kSmooth, {{addition_to("grad_y"), "atomic_add($1, -$2)"}}),
      incorrect("constant_off_by_a_ten_thousandth", kSmooth, {{R"((adj_\w+ = adj_\w+) \* 0\.75f)", "$1 * 0.750075f"}}),
      incorrect("missing_clear", kTwice, {{R"(grad_out\.at\(i\) = 0\.0f;)", ";"}}),
      incorrect("plain_store", kSmooth, {{addition_to("grad_y"), "($1 = $2)"}}),
      incorrect("plain_store_of_a_sum", kGather, {{addition_to("grad_x"), "($1 = $2)"}}),
      incorrect("incorrect_index", kSmooth, {{R"(grad_y\.at\(i\), )", "grad_y.at(i > 0 ? i - 1 : i), "}}),
      incorrect("index_not_gathered", kGather, {{R"(grad_x\.at\(\w+\), )", "grad_x.at(i), "}}),
      incorrect("sine_for_cosine", kSmooth, {{R"(\* cos\()", "* sin("}}),
      incorrect("final_for_saved_value", kProduct, {{R"(= checkpoint_p\[j\])", "= p"}}),
      incorrect("one_iteration_fewer", kProduct, {{R"(j > -1)", "j > 0"}}),
      incorrect("cotangent_of_one", kSmooth, {{R"(real seed = [^;]*;)", "real seed = 1;"}}),
      incorrect("cleared_at_the_start", kSmooth, {at_thread_start(Pass::kBackward, "grad_x.at(thread) = 0;")}),
      incorrect("gradient_of_zero", kSmooth, {at_thread_start(Pass::kBackward, "continue;")}),
      incorrect("gradient_not_a_number", kSmooth, {{addition_to("grad_s"), "($1 = __builtin_nanf(\"\"))"}}),
  };
}

std::vector<Fault> incorrect_forwards() {
  const auto incorrect = [](const char* name, const char* python, std::vector<TextEdit> edits,
                            const char* kind = "mismatch") {
    return Fault{{name, python, std::move(edits)}, Pass::kForward, Outcome::fail, kind, true};
  };
  return {
      incorrect("constant_off", kSmooth, {{R"(0\.75f)", "0.7501f"}}),
      incorrect("incorrect_operator", kSmooth, {{R"(sin\(x\.at\(i\)\) \+)", "sin(x.at(i)) -"}}),
      incorrect("reads_its_output", kSmooth, {{R"(out\.at\(i\) = )", "out.at(i) += "}}),
      incorrect("last_thread_missing", kSmooth, {{R"(thread < end)", "thread < end - 1"}}),
      incorrect("writes_nothing", kSmooth, {at_thread_start(Pass::kForward, "continue;")}),
      incorrect("correct_only_once", kSmooth,
                {at_thread_start(Pass::kForward,
                                 "static int launches = 0; if (thread == begin) ++launches; s += launches > 1;")}),
      incorrect("depends_on_previous_thread", kSmooth,
                {at_thread_start(Pass::kForward, "static real before = 0; if (thread == begin) before = 0;"),
                 {R"((out\.at\(i\) = [^;]*);)", "$1 + 0 * before + (before > 100); before = i == 0 ? 1000 : 0;"}}),
      incorrect("counts_one_more", kCount, {{R"(c = c \+ 1)", "c = c + 2"}}),
      incorrect("prints_pass", kSmooth,
                {before_body("extern \"C\" int puts(const char*);"),
                 at_thread_start(Pass::kForward, "puts(\"{\\\"outcome\\\": \\\"pass\\\"}\");"),
                 {R"(0\.75f)", "0.5f"}}),
      incorrect("extra_write", kEven,
                {at_thread_start(Pass::kForward, "if (thread > begin) out.at(2 * thread - 1) = 7;")}, "extra_write"),
  };
}

std::vector<Fault> misbehaviors() {
  const TextEdit declares_exit = before_body("extern \"C\" void exit(int);");
  return {
      {{"past_end_of_array", kSmooth, {at_thread_start(Pass::kForward, "out.at(out.shape[0]) = 1;")}},
       Pass::kForward,
       Outcome::memory_fault,
       "out_of_bounds"},
      {{"before_start_of_array", kSmooth, {at_thread_start(Pass::kForward, "out.at(-1) = 1;")}},
       Pass::kForward,
       Outcome::memory_fault,
       "out_of_bounds"},
      {{"past_end_of_gradient", kSmooth, {at_thread_start(Pass::kBackward, "grad_x.at(grad_x.shape[0]) = 1;")}},
       Pass::kBackward,
       Outcome::memory_fault,
       "out_of_bounds"},
      {{"writes_an_input", kSmooth, {at_thread_start(Pass::kForward, "y.at(thread) = 0.5f;")}},
       Pass::kForward,
       Outcome::memory_fault,
       "input_modified",
       true},
      {{"backward_writes_an_output", kSmooth, {at_thread_start(Pass::kBackward, "out.at(thread) = 0.5f;")}},
       Pass::kBackward,
       Outcome::memory_fault,
       "input_modified"},
      {{"crashes", kSmooth, {at_thread_start(Pass::kForward, "*(volatile int*)8 = 1;")}},
       Pass::kForward,
       Outcome::crashed,
       "signal",
       true},
      {{"stores_product_behind_local_array", kKeptProducts, {{"j < 4", "j <= 4"}}},
       Pass::kForward,
       Outcome::crashed,
       "signal",
       true},
      {{"stores_element_behind_local_array", kKeptElements, {{"j < 4", "j <= 4"}}},
       Pass::kForward,
       Outcome::crashed,
       "signal",
       true},
      {{"crashes_backward", kSmooth, {at_thread_start(Pass::kBackward, "*(volatile int*)8 = 1;")}},
       Pass::kBackward,
       Outcome::crashed,
       "signal"},
      {{"hangs", kSmooth, {at_thread_start(Pass::kBackward, "for (volatile int spin = 1; spin;) {}")}},
       Pass::kBackward,
       Outcome::timed_out,
       "time_limit"},
      {{"exits_with_status_0", kSmooth, {declares_exit, at_thread_start(Pass::kForward, "exit(0);")}},
       Pass::kForward,
       Outcome::crashed,
       "signal",
       true},
      {{"exits_when_loaded",
        kSmooth,
        {declares_exit,
         before_body("int leave();"),
         {R"($)", "\nint leave() { exit(0); return 0; }\nstatic int left = leave();\n"}}},
       Pass::kForward,
       Outcome::crashed,
       "build",
       true},
      {{"does_not_compile", kSmooth, {at_thread_start(Pass::kBackward, "this does not compile;")}},
       Pass::kBackward,
       Outcome::build_failed,
       "build",
       true},
      {{"nondeterministic_backward",
        kSmooth,
        {at_thread_start(Pass::kBackward, "static int runs = 0; if (thread == begin) ++runs;"),
         {addition_to("grad_s"), "atomic_add($1, sizeof(real) == 4 && runs % 2 ? $2 * (1 + 0x1p-22f) : $2)"}}},
       Pass::kBackward,
       Outcome::fail,
       "nondeterministic"},
      {{"nondeterministic_forward",
        kSmooth,
        {at_thread_start(Pass::kForward, "static int runs = 0; if (thread == begin) ++runs;"),
         {R"((out\.at\(i\) = )([^;]*);)", "$1runs % 3 ? (real)($2) : (real)((double)$2);"}}},
       Pass::kForward,
       Outcome::fail,
       "nondeterministic"},
      {{"cotangent_not_scaled", kSmooth, {{addition_to("grad_y"), "atomic_add($1, seed > 1 || seed < -1 ? 0 : $2)"}}},
       Pass::kBackward,
       Outcome::fail,
       "seed_scaling"},
      {{"gradient_without_cotangent", kSmooth, {{addition_to("grad_y"), "atomic_add($1, seed == 0 ? 1 : $2)"}}},
       Pass::kBackward,
       Outcome::fail,
       "zero_seed"},
  };
}

std::vector<Fault> all_faults() {
  std::vector<Fault> all = incorrect_derivatives();
  for (Fault& fault : incorrect_forwards())
    all.push_back(std::move(fault));
  for (Fault& fault : misbehaviors())
    all.push_back(std::move(fault));
  return all;
}

struct Neighbor {
  const char* name;
  const char* python;
};
constexpr Neighbor kNeighbors[] = {{"correct_smooth", kSmooth},         {"correct_product", kProduct},
                                   {"correct_twice", kTwice},           {"correct_even", kEven},
                                   {"correct_gather", kGather},         {"correct_count", kCount},
                                   {"correct_products", kKeptProducts}, {"correct_elements", kKeptElements}};

class FaultDetection : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::vector<TestKernel> test_kernels;
    for (const Neighbor& neighbor : kNeighbors)
      test_kernels.push_back({neighbor.name, neighbor.python});
    for (const Fault& fault : all_faults())
      test_kernels.push_back(fault.test_kernel);
    run_ = new CpuRun(test_kernels);
  }
  static void TearDownTestSuite() {
    delete run_;
    run_ = nullptr;
  }
  static const CaseRecord& record(const std::string& name, Pass pass) {
    return pass == Pass::kForward ? run_->forward(name) : run_->backward(name);
  }

  static void expect_faults(const std::vector<Fault>& faults) {
    for (const Fault& fault : faults) {
      const std::string& name = fault.test_kernel.name;
      const CaseRecord& faulty = record(name, fault.pass);
      EXPECT_EQ(to_text(faulty.outcome), to_text(fault.outcome)) << testing::summary(faulty);
      EXPECT_EQ(faulty.outcome_detail, fault.kind) << testing::summary(faulty);
      EXPECT_FALSE(faulty.message.empty()) << name;
      EXPECT_TRUE(faulty.source_texts.has_value()) << name << ": the sources of a failed case are kept";
      if (fault.both) continue;
      const CaseRecord& other = record(name, fault.pass == Pass::kForward ? Pass::kBackward : Pass::kForward);
      EXPECT_TRUE(is_pass(other.outcome)) << testing::summary(other);
    }
  }

  static CpuRun* run_;
};
CpuRun* FaultDetection::run_ = nullptr;

TEST_F(FaultDetection, CorrectKernelsInSameBatchStillPass) {
  for (const Neighbor& neighbor : kNeighbors) {
    for (const Pass pass : {Pass::kForward, Pass::kBackward}) {
      const CaseRecord& right = record(neighbor.name, pass);
      EXPECT_TRUE(is_pass(right.outcome)) << testing::summary(right);
      EXPECT_GT(right.values_compared, 0);
      EXPECT_FALSE(right.source_texts.has_value());
    }
  }
}

TEST_F(FaultDetection, DetectsIncorrectDerivatives) {
  expect_faults(incorrect_derivatives());
  for (const Fault& fault : incorrect_derivatives()) {
    const CaseRecord& faulty = record(fault.test_kernel.name, Pass::kBackward);
    SCOPED_TRACE(testing::summary(faulty));
    ASSERT_TRUE(faulty.check_results.f64_promotion && faulty.check_results.native_precision);
    EXPECT_GT(faulty.check_results.f64_promotion->failed, 0) << "f64_promotion must detect every incorrect derivative";
    EXPECT_GT(faulty.check_results.native_precision->failed, 0);
    ASSERT_FALSE(faulty.mismatches.empty());
    EXPECT_THAT(faulty.mismatches.front().array_name, HasSubstr("grad_"));
    EXPECT_GT(faulty.mismatches.front().rho, 1);
    EXPECT_THAT(faulty.message, HasSubstr(faulty.mismatches.front().array_name + "["));
  }
}

TEST_F(FaultDetection, DetectsIncorrectForwardPasses) {
  expect_faults(incorrect_forwards());
  const CaseRecord& faulty = run_->forward("constant_off");
  EXPECT_EQ(faulty.mismatches.front().array_name, "out");
  EXPECT_GT(faulty.check_results.f64_promotion->failed, 0);
  EXPECT_GT(faulty.check_results.native_precision->failed, 0);
}

TEST_F(FaultDetection, DetectsForwardBackwardMismatch) {
  const CaseRecord& backward = run_->backward("constant_off");
  EXPECT_EQ(backward.outcome_detail, "finite_differences") << testing::summary(backward);
  EXPECT_EQ(backward.check_results.f64_promotion->failed, 0) << "the backward pass itself is correct";
  EXPECT_GT(backward.check_results.finite_differences->failed, 0);
}

TEST_F(FaultDetection, DetectsCrashesHangsAndOtherMisbehavior) {
  expect_faults(misbehaviors());
  EXPECT_THAT(run_->forward("crashes").message, HasSubstr("SIGSEGV"));
  EXPECT_THAT(run_->forward("exits_with_status_0").message, HasSubstr("exited early with status 0"));
  EXPECT_THAT(run_->backward("hangs").message, HasSubstr("timed out after 300 ms"));
  EXPECT_LT(run_->backward("hangs").stage_times.launch_ms, 1500) << "a hang must not be repeated for every input set";
  EXPECT_THAT(run_->backward("does_not_compile").message, HasSubstr("error: "));
  EXPECT_THAT(run_->backward("does_not_compile").log, HasSubstr("'this'"));
  EXPECT_THAT(run_->forward("past_end_of_array").message, HasSubstr("next to 'out'"));
  EXPECT_THAT(run_->forward("writes_an_input").message, HasSubstr("'y'"));
}

TEST(LargeLaunches, DetectFaultsThatAffectOnlyThreadsAbove65535) {
  RunOptions options = CpuRun::quick();
  options.policy.judges_large_launch = true;
  options.policy.kernels_per_large_backward_launch = 1;
  const auto sixteen_bits = [](Pass pass) { return at_thread_start(pass, "if (thread > 65535) continue;"); };
  const CpuRun run({{"all_bits", kSmooth},
                    {"forward_bits", kSmooth, {sixteen_bits(Pass::kForward)}},
                    {"backward_bits", kSmooth, {sixteen_bits(Pass::kBackward)}}},
                   options);
  EXPECT_TRUE(is_pass(run.forward("all_bits").outcome)) << testing::summary(run.forward("all_bits"));
  EXPECT_TRUE(is_pass(run.backward("all_bits").outcome)) << testing::summary(run.backward("all_bits"));
  EXPECT_EQ(run.forward("forward_bits").outcome_detail, "mismatch");
  EXPECT_TRUE(is_pass(run.backward("forward_bits").outcome));
  EXPECT_TRUE(is_pass(run.forward("backward_bits").outcome));
  EXPECT_EQ(run.backward("backward_bits").outcome_detail, "mismatch");
}

TEST_F(FaultDetection, RecordsOneForwardAndOneBackwardCasePerKernel) {
  const auto& records = run_->records();
  ASSERT_EQ(records.size(), 2 * (std::size(kNeighbors) + all_faults().size()));
  for (std::size_t i = 0; i < records.size(); i += 2) {
    EXPECT_EQ(records[i].kernel, records[i + 1].kernel);
    EXPECT_EQ(records[i].pass, "forward");
    EXPECT_EQ(records[i + 1].pass, "backward");
    EXPECT_EQ(records[i].attempt_outcomes.size(), 1U);
  }
}

}  // namespace
}  // namespace assay::harness
