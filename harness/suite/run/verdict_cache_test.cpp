#include "harness/suite/run/verdict_cache.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/device/scratch_directory.hpp"
#include "harness/testing/cpu_run.hpp"

namespace assay::harness {
namespace {

using testing::CountingDevice;
using testing::TestKernel;

const TestKernel kSquare{.name = "right", .python = R"(
@wp.kernel
def k(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = x[i] * x[i]
)"};
const TestKernel kIdentity{
    .name = "wrong", .python = kSquare.python, .edits = {{R"(x\.at\(i\) \* x\.at\(i\))", "x.at(i)"}}};

class VerdictCacheTest : public ::testing::Test {
 protected:
  VerdictCacheTest() : cache_(open({})) { options_.verdict_cache = cache_.get(); }

  std::unique_ptr<VerdictCache> open(const RunEnvironment& environment) {
    auto cache = VerdictCache::open(folder_->path() / "cache", device_, environment);
    EXPECT_TRUE(cache.ok()) << cache.error().text();
    return cache.ok() ? cache.take() : nullptr;
  }

  /// The records of a run, in the order of the plan.
  std::vector<CaseRecord> run(const std::vector<TestKernel>& test_kernels) {
    std::vector<KernelSource> sources;
    for (const TestKernel& test_kernel : test_kernels)
      sources.push_back(testing::source_of(test_kernel));
    RunStart start{.planned_case_names = plan_cases(sources, device_, options_)};
    auto writer = RecordWriter::create(folder_->path() / ("run" + std::to_string(++runs_)), start);
    EXPECT_TRUE(writer.ok());
    std::vector<CaseRecord> records;
    const auto counts = run_cases({{options_, sources}}, device_, testing::faulty_printer(test_kernels), *writer,
                                  [&](const CaseRecord& record) { records.push_back(record); });
    EXPECT_TRUE(counts.ok());
    std::ranges::sort(records, {}, [&](const CaseRecord& record) {
      return std::ranges::find(start.planned_case_names, record.name);
    });
    return records;
  }

  std::vector<std::string> cases(const KernelSource& source) const { return {plan_cases({source}, device_, options_)}; }

  Result<backends::ScratchDirectory> folder_ =
      backends::ScratchDirectory::create(std::filesystem::temp_directory_path());
  CountingDevice device_;
  std::unique_ptr<VerdictCache> cache_;
  RunOptions options_ = testing::CpuRun::quick();
  int runs_ = 0;
};

TEST_F(VerdictCacheTest, ReusesRecordsOfPassedKernels) {
  std::vector<CaseRecord> first = run({kSquare});
  ASSERT_EQ(first.size(), 2U);
  EXPECT_EQ(device_.built.size(), 1U);
  const std::vector<CaseRecord> second = run({kSquare});
  EXPECT_EQ(device_.built.size(), 1U);
  ASSERT_EQ(second.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    SCOPED_TRACE(first[i].name);
    EXPECT_FALSE(first[i].is_cached);
    EXPECT_EQ(first[i].outcome, Outcome::pass);
    EXPECT_TRUE(second[i].is_cached);
    EXPECT_EQ(second[i].stage_times, StageTimes{});
    first[i].is_cached = true;
    first[i].stage_times = {};
    first[i].judging_times = second[i].judging_times;
    EXPECT_EQ(first[i], second[i]);
  }
}

TEST_F(VerdictCacheTest, RejudgesFailedKernels) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    const std::vector<CaseRecord> records = run({kSquare, kIdentity});
    ASSERT_EQ(records.size(), 4U);
    EXPECT_EQ(records[0].is_cached, attempt == 1);
    EXPECT_EQ(records[2].outcome, Outcome::fail) << testing::summary(records[2]);
    EXPECT_FALSE(records[2].is_cached);
    EXPECT_FALSE(records[3].is_cached) << "its backward pass is correct, but the kernel is not";
  }
  EXPECT_EQ(device_.built.size(), 3U) << "the correct one once, the incorrect one twice";
}

TEST_F(VerdictCacheTest, DoesNotReuseVerdictIfAnyInputDiffers) {
  run({kSquare});
  const KernelSource source = testing::source_of(kSquare);
  const std::vector<std::string> names = cases(source);
  EXPECT_EQ(cache_->find(source, names, options_).size(), 2U);

  RunOptions other = options_;
  other.seed += 1;
  EXPECT_TRUE(cache_->find(source, names, other).empty()) << "the inputs";
  other = options_;
  other.policy.max_redraws_per_input_set += 1;
  EXPECT_TRUE(cache_->find(source, names, other).empty()) << "the policy";
  other = options_;
  other.mode.flags.optimization_level = 2;
  EXPECT_TRUE(cache_->find(source, names, other).empty()) << "the compiler's flags";
  other = options_;
  other.mode.flags.omits_promoted = true;
  EXPECT_TRUE(cache_->find(source, names, other).empty()) << "the precision variants";
  other = options_;
  other.jobs = 7;
  EXPECT_EQ(cache_->find(source, names, other).size(), 2U) << "the number of jobs does not matter";

  TestKernel edited = kSquare;
  edited.python.replace(edited.python.rfind('*'), 1, "+");
  EXPECT_TRUE(cache_->find(testing::source_of(edited), names, options_).empty()) << "the kernel";
  edited = kSquare;
  edited.python.insert(0, "\n");
  EXPECT_TRUE(cache_->find(testing::source_of(edited), names, options_).empty()) << "its location in the file";
  EXPECT_TRUE(open({.cpu_model = "another"})->find(source, names, options_).empty()) << "the processor";
  EXPECT_TRUE(open({.compiler = "another"})->find(source, names, options_).empty()) << "the compiler";
  EXPECT_EQ(open({})->find(source, names, options_).size(), 2U);
}

TEST_F(VerdictCacheTest, StoresOnlyCompletePassingRecords) {
  const KernelSource source = testing::source_of(kSquare);
  const std::vector<std::string> names = cases(source);
  const auto record = [&](std::size_t i, std::vector<Outcome> attempts) {
    CaseRecord made = record_of(names[i]);
    made.outcome = attempts.back();
    made.attempt_outcomes = std::move(attempts);
    return made;
  };
  const CaseRecord pass = record(0, {Outcome::pass});
  const std::vector<std::vector<CaseRecord>> unfit = {{},
                                                      {pass},
                                                      {pass, record(1, {Outcome::inconclusive})},
                                                      {pass, record(1, {Outcome::fail})},
                                                      {pass, record(1, {Outcome::crashed, Outcome::pass})}};
  for (const std::vector<CaseRecord>& records : unfit) {
    cache_->store(source, names, options_, records);
    EXPECT_TRUE(cache_->find(source, names, options_).empty());
  }
  cache_->store(source, names, options_, std::vector{pass, record(1, {Outcome::pass})});
  EXPECT_EQ(cache_->find(source, names, options_).size(), 2U);
}

TEST(ProgramIdentity, Has64CharactersAndIsSameOnEveryCall) {
  EXPECT_EQ(program_identity().size(), 64U);
  EXPECT_EQ(program_identity(), program_identity());
}

/// NVRTC loads libraries when it first compiles: a second run in one process must find what the first run stored.
TEST(ProgramIdentity, DoesNotChangeWhenLibraryIsLoaded) {
  const std::string before = program_identity();
  ASSERT_EQ(::dlopen("libresolv.so.2", RTLD_NOW | RTLD_NOLOAD), nullptr) << "already loaded, so the test has no effect";
  ASSERT_NE(::dlopen("libresolv.so.2", RTLD_NOW), nullptr) << ::dlerror();
  EXPECT_EQ(program_identity(), before);
}

}  // namespace
}  // namespace assay::harness
