// Tests which failures a worker process survives, and how the session reports the others.

#include "backends/cpu/session.hpp"

#include <array>
#include <csignal>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/cpu/device.hpp"
#include "backends/cpu/testing/kernels.hpp"

namespace assay::cpu {
namespace {

using namespace backends;
using namespace testing;
using std::chrono::milliseconds;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// All tests share one build of the kernels and one session; each test starts without buffers.
class SessionTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const std::vector<EmittedKernel> kernels{
        scale_kernel("scale"),
        kernel_of("crash", "*(volatile int*)8 = 1;"),
        kernel_of("divide", "volatile int zero = 0; element(x, i) = 7 / zero;"),
        kernel_of("hang", "for (volatile int forever = 1; forever;) {}"),
        kernel_of("leave", "extern \"C\" void exit(int); exit(0);"),
        kernel_of("shout", "extern \"C\" int puts(const char*); puts(\"about to die\"); *(volatile int*)8 = 1;"),
        kernel_of("number", "static int count = 0; if (i == 0 && a == 0) count = 0; element(x, i) = ++count;"),
        kernel_of("stray", "((volatile char*)x.data)[(long long)a << 20] = 1;"),
        kernel_of("hoard", "extern \"C\" void* malloc(unsigned long); element(x, i) = malloc(1ul << 33) != 0;"),
        kernel_of("speak",
                  "extern \"C\" long send(int, const void*, unsigned long, int); send(3, \"x\", 1, 0); "
                  "for (volatile int forever = 1; forever;) {}"),
        kernel_of("outside", "int values[4] = {}; element(x, i) = values[i + 3];"),
        kernel_of("pause", "extern \"C\" unsigned sleep(unsigned); sleep(60);"),
    };
    for (EmittedKernel kernel : kernels) {
      // Declarations with C linkage are not statements: they move in front of the function.
      if (const std::size_t at = kernel.body.find("    extern \"C\""); at != std::string::npos) {
        const std::size_t end = kernel.body.find(';', at) + 1;
        const std::string declaration = kernel.body.substr(at + 4, end - at - 4);
        kernel.body.erase(at + 4, end - at - 4);
        kernel.body.insert(0, declaration + "\n");
      }
      sources.push_back(kernel);
    }
    directory = std::make_unique<TemporaryDirectory>();
    device = std::make_unique<CpuDevice>(options_in(directory->path()));
    for (const BuildOutcome& outcome : device->build(sources, BuildFlags::strict())) {
      built.push_back(require_built(outcome));
    }
    session = device->open({.buffer_bytes = 16 << 20}).take();
  }

  static void TearDownTestSuite() {
    session.reset();
    built.clear();
    device.reset();
    directory.reset();
    sources.clear();
  }

  void SetUp() override { session->reset(); }

  static const BuiltKernel& kernel(const std::string& name) {
    for (const BuiltKernel& candidate : built) {
      if (candidate.name == name) return candidate;
    }
    throw std::runtime_error("no kernel " + name);
  }

  /// A launch of the kernel over its own array of `threads` values, all 2.
  template <typename Real = float>
  static LaunchRequest launch(const std::string& name, std::int64_t threads, Real a = 10) {
    const auto count = static_cast<std::size_t>(threads);
    const BufferId buffer = session->allocate(count * sizeof(Real)).value();
    std::ranges::fill(view<Real>(buffer), Real{2});
    const std::array shape{static_cast<std::int32_t>(threads)};
    const std::array strides{static_cast<std::int64_t>(sizeof(Real))};
    return {.kernel = &kernel(name),
            .pass = Pass::kForward,
            .precision = sizeof(Real) == sizeof(float) ? Precision::kNative : Precision::kPromoted,
            .threads = threads,
            .arguments = {KernelArgument::array(BufferAddress{buffer, 0}, shape, strides), KernelArgument::value(a)},
            .time_limit = milliseconds{300}};
  }

  template <typename Real>
  static std::span<Real> view(BufferId buffer) {
    const std::span<std::byte> bytes = session->bytes(buffer);
    return {reinterpret_cast<Real*>(bytes.data()), bytes.size() / sizeof(Real)};
  }
  template <typename Real = float>
  static std::span<Real> result(const LaunchRequest& launch) {
    return view<Real>(launch.arguments[0].pointers[0].address.buffer);
  }

  static RunOutcome run(const LaunchRequest& launch) { return session->run({&launch, 1}).front(); }

  inline static std::vector<EmittedKernel> sources;
  inline static std::unique_ptr<TemporaryDirectory> directory;
  inline static std::unique_ptr<CpuDevice> device;
  inline static std::vector<BuiltKernel> built;
  inline static std::unique_ptr<DeviceSession> session;
};

TEST_F(SessionTest, RunsEachPassAndEachPrecision) {
  const LaunchRequest native = launch<float>("scale", 3);
  const LaunchRequest promote = launch<double>("scale", 3);
  LaunchRequest backward = launch<double>("scale", 3, 7);
  backward.pass = Pass::kBackward;
  const std::array launches{native, promote, backward};
  for (const RunOutcome& outcome : session->run(launches)) {
    EXPECT_EQ(describe(outcome), "completed");
  }
  EXPECT_THAT(result(native), Each(20.0F + 1.0F / 3.0F));
  EXPECT_THAT(result<double>(promote), Each(20.0 + 1.0 / 3.0));
  EXPECT_THAT(result<double>(backward), Each(7.0));
}

TEST_F(SessionTest, PreservesElementsThatNoThreadWrites) {
  LaunchRequest some = launch("scale", 4);
  some.threads = 2;
  EXPECT_EQ(describe(run(some)), "completed");
  EXPECT_THAT(result(some), ElementsAre(20.0F + 1.0F / 3.0F, 20.0F + 1.0F / 3.0F, 2.0F, 2.0F));
}

TEST_F(SessionTest, LaunchOfZeroThreadsCompletesAndWritesNothing) {
  LaunchRequest none = launch("scale", 1);
  none.threads = 0;
  EXPECT_EQ(describe(run(none)), "completed");
  EXPECT_THAT(result(none), Each(2.0F));
}

TEST_F(SessionTest, PassesNullPointerForOmittedArray) {
  LaunchRequest unwanted = launch("scale", 1);
  unwanted.arguments[0].pointers.clear();
  const auto outcome = run(unwanted);
  ASSERT_TRUE(std::holds_alternative<Crashed>(outcome)) << describe(outcome);
  EXPECT_EQ(std::get<Crashed>(outcome).signal_number, SIGSEGV);
}

TEST_F(SessionTest, RunsThreadBlocksInRequestedOrder) {
  LaunchRequest ordered = launch("number", 5, 0.0F);
  EXPECT_EQ(describe(run(ordered)), "completed");
  EXPECT_THAT(result(ordered), ElementsAre(1, 2, 3, 4, 5));

  // Each run continues counting from 5; the first visited thread of the last block has the lowest number.
  ordered.threads_per_block = 2;
  ordered.order = ThreadOrder::kReverse;
  ordered.arguments[1] = KernelArgument::value(1.0F);
  EXPECT_EQ(describe(run(ordered)), "completed");
  EXPECT_THAT(result(ordered), ElementsAre(9, 10, 7, 8, 6));
}

TEST_F(SessionTest, RunsOnlyRequestedSampleOfThreads) {
  LaunchRequest sampled = launch("scale", 1000);
  sampled.checked_threads = {0, 1, 255, 256, 999};
  EXPECT_EQ(describe(run(sampled)), "completed");
  const auto visited = [&](std::size_t thread) { return result(sampled)[thread] != 2.0F; };
  for (const std::int64_t thread : sampled.checked_threads)
    EXPECT_TRUE(visited(static_cast<std::size_t>(thread))) << thread;
  EXPECT_FALSE(visited(500));
  EXPECT_FALSE(visited(900));
}

TEST_F(SessionTest, ShuffledThreadOrderDependsOnlyOnSeed) {
  const auto order = [&](std::uint64_t seed) {
    LaunchRequest shuffled = launch("number", 64, 1.0F);
    shuffled.threads_per_block = 1;
    shuffled.order = ThreadOrder::kShuffled;
    shuffled.shuffle_seed = seed;
    EXPECT_EQ(describe(run(shuffled)), "completed");
    std::vector<float> ranks(result(shuffled).begin(), result(shuffled).end());
    const float first = *std::ranges::min_element(ranks);
    for (float& rank : ranks)
      rank -= first;
    return ranks;
  };
  const std::vector<float> once = order(1);
  std::vector<float> ascending(64);
  std::iota(ascending.begin(), ascending.end(), 0.0F);
  EXPECT_EQ(once, order(1));
  EXPECT_NE(once, order(2));
  EXPECT_NE(once, ascending);
  EXPECT_THAT(once, ::testing::UnorderedElementsAreArray(ascending));
}

TEST_F(SessionTest, CrashFailsOnlyTheLaunchThatCausedIt) {
  const std::array launches{launch("scale", 2), launch("crash", 1), launch("scale", 2), launch("divide", 1),
                            launch("scale", 2)};
  const std::vector<RunOutcome> outcomes = session->run(launches);
  ASSERT_EQ(outcomes.size(), 5U);
  EXPECT_EQ(describe(outcomes[0]), "completed");
  EXPECT_EQ(describe(outcomes[1]), "crashed: SIGSEGV (Segmentation fault)");
  EXPECT_EQ(describe(outcomes[2]), "completed");
  EXPECT_EQ(describe(outcomes[3]), "crashed: SIGFPE (Floating point exception)");
  EXPECT_EQ(describe(outcomes[4]), "completed");
  for (const std::size_t i : {0U, 2U, 4U}) {
    EXPECT_THAT(result(launches[i]), Each(20.0F + 1.0F / 3.0F)) << i;
  }
}

TEST_F(SessionTest, EndsLaunchAtIndexOutsideOfLocalArray) {
  EXPECT_EQ(describe(run(launch("outside", 1))), "completed");
  EXPECT_EQ(describe(run(launch("outside", 2))),
            "crashed: SIGILL (Illegal instruction): an index of a vector, matrix or local array may be out of bounds");
}

TEST_F(SessionTest, StopOnFailureSkipsLaunchesAfterFailure) {
  std::array launches{launch("scale", 2), launch("crash", 1), launch("scale", 2)};
  launches[0].stops_on_failure = true;
  EXPECT_EQ(session->run(launches).size(), 3U);
  EXPECT_THAT(result(launches[2]), Each(20.0F + 1.0F / 3.0F));

  session->reset();
  std::array others{launch("scale", 2), launch("crash", 1), launch("scale", 2)};
  others[1].stops_on_failure = true;
  const std::vector<RunOutcome> outcomes = session->run(others);
  ASSERT_EQ(outcomes.size(), 2U);
  EXPECT_EQ(describe(outcomes[1]), "crashed: SIGSEGV (Segmentation fault)");
  EXPECT_THAT(result(others[2]), Each(2.0F));
}

TEST_F(SessionTest, KillsInfiniteLoop) {
  const std::array launches{launch("hang", 1), launch("scale", 2)};
  const auto start = std::chrono::steady_clock::now();
  const std::vector<RunOutcome> outcomes = session->run(launches);
  EXPECT_EQ(describe(outcomes[0]), "timed out after 300 ms");
  EXPECT_EQ(describe(outcomes[1]), "completed");
  EXPECT_GE(std::chrono::steady_clock::now() - start, milliseconds{300});
}

TEST_F(SessionTest, KillsSleepingKernelAtTimeLimit) {
  LaunchRequest asleep = launch("pause", 1);
  asleep.time_limit = milliseconds{20};
  EXPECT_EQ(describe(run(asleep)), "timed out after 20 ms");
}

TEST_F(SessionTest, KernelThatWritesToControlSocketFailsOnlyItsLaunch) {
  const std::array launches{launch("speak", 1), launch("scale", 2), launch("scale", 2)};
  const std::vector<RunOutcome> outcomes = session->run(launches);
  EXPECT_EQ(describe(outcomes[0]),
            "launch failed: the worker reported completion but ran fewer launches than requested");
  EXPECT_EQ(describe(outcomes[1]), "completed");
  EXPECT_EQ(describe(outcomes[2]), "completed");
  EXPECT_THAT(result(launches[2]), Each(20.0F + 1.0F / 3.0F));
}

TEST_F(SessionTest, ReportsKernelThatExitsWithStatusZeroAsCrash) {
  const std::array launches{launch("leave", 1), launch("scale", 2)};
  const std::vector<RunOutcome> outcomes = session->run(launches);
  EXPECT_EQ(describe(outcomes[0]), "crashed: exited early with status 0");
  EXPECT_EQ(describe(outcomes[1]), "completed");
}

TEST_F(SessionTest, ReportsTextPrintedBeforeCrash) {
  const RunOutcome outcome = run(launch("shout", 1));
  ASSERT_TRUE(std::holds_alternative<Crashed>(outcome)) << describe(outcome);
  EXPECT_THAT(std::get<Crashed>(outcome).output, HasSubstr("about to die"));
}

TEST_F(SessionTest, DetectsAccessFarOutsideBuffers) {
  // The buffers have 16 MiB: the first launch stays within, the others write 32 MiB before and after them.
  const std::array launches{launch("stray", 1, 8.0F), launch("stray", 1, -32.0F), launch("stray", 1, 48.0F)};
  const std::vector<RunOutcome> outcomes = session->run(launches);
  EXPECT_EQ(describe(outcomes[0]), "completed");
  EXPECT_EQ(describe(outcomes[1]), "crashed: SIGSEGV (Segmentation fault)");
  EXPECT_EQ(describe(outcomes[2]), "crashed: SIGSEGV (Segmentation fault)");
}

TEST_F(SessionTest, AllocationAboveMemoryLimitOfWorkerProcessFails) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer's shadow memory needs more address space than the limit allows";
#endif
  const LaunchRequest hoard = launch("hoard", 1);
  EXPECT_EQ(describe(run(hoard)), "completed");
  EXPECT_THAT(result(hoard), Each(0.0F)) << "a process limited to 4 GiB allocated 8 GiB";
}

TEST_F(SessionTest, RejectsArgumentsThatDoNotMatchParameters) {
  LaunchRequest narrow = launch("scale", 1);
  narrow.arguments[1] = KernelArgument::value(1.0);
  LaunchRequest few = launch("scale", 1);
  few.arguments.pop_back();
  LaunchRequest missing = launch("crash", 1);
  missing.pass = Pass::kBackward;
  const std::array launches{narrow, few, missing, launch("scale", 1)};
  const std::vector<RunOutcome> outcomes = session->run(launches);
  EXPECT_EQ(describe(outcomes[0]), "launch failed: argument 1 must have 4 bytes, got 8");
  EXPECT_EQ(describe(outcomes[1]), "launch failed: the kernel takes 2 arguments, got 1");
  EXPECT_EQ(describe(outcomes[2]), "launch failed: the kernel has no entry point for this pass and precision");
  EXPECT_EQ(describe(outcomes[3]), "completed");
}

TEST_F(SessionTest, RunsMoreLaunchesThanOneBatchCanHold) {
  std::vector<LaunchRequest> launches(worker::kMaxLaunchesPerRound + 10, launch("scale", 1, 1.0F));
  const std::vector<RunOutcome> outcomes = session->run(launches);
  ASSERT_EQ(outcomes.size(), launches.size());
  EXPECT_TRUE(std::ranges::all_of(outcomes, [](const RunOutcome& o) { return std::holds_alternative<Completed>(o); }));
  EXPECT_NEAR(result(launches[0])[0], 2 + static_cast<double>(launches.size()) / 3, 1);
}

TEST_F(SessionTest, KernelCanAccessArrayAtOffsetInsideBuffer) {
  const BufferId first = session->allocate(100).value();
  const BufferId second = session->allocate(100).value();
  EXPECT_EQ(session->bytes(first).size(), 100U);
  EXPECT_GE(session->bytes(second).data(), session->bytes(first).data() + 100);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(session->bytes(second).data()) % 256, 0U);
  // A launch may point into the middle of a buffer, between guard bands.
  LaunchRequest banded = launch("scale", 3);
  banded.arguments[0].pointers[0].address.offset = sizeof(float);
  banded.threads = 1;
  EXPECT_EQ(describe(run(banded)), "completed");
  EXPECT_THAT(result(banded), ElementsAre(2.0F, 20.0F + 1.0F / 3.0F, 2.0F));
}

TEST_F(SessionTest, RejectsAllocationBeyondSessionMemory) {
  EXPECT_FALSE(session->allocate(17 << 20).ok());
  EXPECT_TRUE(session->allocate(16 << 20).ok());
  EXPECT_FALSE(session->allocate(1).ok());
  session->reset();
  EXPECT_TRUE(session->allocate(1).ok());
}

TEST_F(SessionTest, LaunchOverheadIsBelowTwentyMicroseconds) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer slows the parent down";
#endif
  // Take the fastest of several runs, because other load on the machine only adds time.
  const std::vector<LaunchRequest> launches(500, launch("scale", 1, 1.0F));
  auto best = std::chrono::nanoseconds::max();
  for (int i = 0; i < 10; ++i) {
    const auto start = std::chrono::steady_clock::now();
    session->run(launches);
    best = std::min<std::chrono::nanoseconds>(best, (std::chrono::steady_clock::now() - start) / launches.size());
  }
  RecordProperty("nanoseconds_per_run", static_cast<int>(best.count()));
  EXPECT_LT(best, std::chrono::microseconds{20});
}

TEST(CpuSession, ReportsActiveConfinementRestrictions) {
  for (const bool filtered : {true, false}) {
    for (const bool limited : {true, false}) {
      const auto session = open_session({}, {.program = ASSAY_WORKER,
                                             .library_folder = "/tmp",
                                             .filter_system_calls = filtered,
                                             .restrict_file_access = limited});
      ASSERT_TRUE(session.ok()) << session.error().text();
      const worker::Confinement& confinement = (*session)->confinement();
      // A requested part is active unless this system lacks it; a part that was not requested is inactive.
      EXPECT_EQ(confinement.system_call_filter_error != worker::Confinement::kNotRequested, filtered);
      EXPECT_EQ(confinement.file_restriction_error != worker::Confinement::kNotRequested, limited);
      EXPECT_EQ(confinement.landlock_version > 0, confinement.file_restriction_error == 0);
    }
  }
}

TEST(CpuSession, ReportsErrorIfWorkerProcessDoesNotStart) {
  EXPECT_FALSE(open_session({}, {.program = "/nonexistent"}).ok());
  const auto session = open_session({}, {.program = "/bin/true"});
  ASSERT_FALSE(session.ok());
  EXPECT_THAT(session.error().text(), HasSubstr("the worker process did not start"));
}

}  // namespace
}  // namespace assay::cpu
