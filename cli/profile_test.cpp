// assay profile --device cuda over the fake driver: what it prints and records.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "cli/testing/fake_gpu_test.hpp"

namespace assay::cli {
namespace {

using ::testing::AllOf;
using testing::CommandResult;
using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;
using ::testing::SizeIs;

constexpr std::string_view kScale = R"(import warp as wp


@wp.kernel
def scale(x: wp.array(dtype=float), factor: float, out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = factor * x[i]
)";
constexpr const char* kProfile =
    "assay profile scale.py --device cuda --threads 4096 --samples 3 --device-memory 32MiB";

class ProfileTest : public testing::FakeGpuTest {
 protected:
  ProfileTest() : FakeGpuTest("scale.py", kScale) {}
};

TEST_F(ProfileTest, PrintsAndRecordsSpeedOfForwardAndBackwardPass) {
  const CommandResult ran = workshop_.run(kProfile);
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("of copy %"), HasSubstr("of fma %"), HasSubstr("waits for"),
                             ContainsRegex("limits measured in the same run: [0-9.]+ GB/s copied, [0-9.]+ Gop/s")));
  const auto records = cases();
  ASSERT_THAT(records, SizeIs(2));
  for (const harness::CaseRecord& record : records) {
    ASSERT_THAT(record.measurements, SizeIs(1)) << record.name;
    EXPECT_EQ(record.measurements[0].target, "sm_75");
    EXPECT_EQ(record.measurements[0].threads, 4096);
    EXPECT_EQ(record.measurements[0].remark, "");
    for (const char* name :
         {"time_ns", "of_copy", "of_fma", "operations", "registers", "occupancy", "kernel_ns", "dram_throughput"})
      EXPECT_THAT(record.measurements[0].measures, Contains(Pair(name, Gt(0)))) << record.name << " " << name;
  }
  EXPECT_EQ(records[0].measurements[0].measures.at("bytes"), 2 * 4096 * sizeof(float));
  EXPECT_THAT(records[1].measurements[0].measures, Contains(Pair("backward_over_forward", Gt(0))));
}

TEST_F(ProfileTest, ExplainsMissingCounterPermissionAndStillReportsTimes) {
  // The first time is that of the ceilings.
  ::setenv("ASSAY_FAKE_GPU", "cuptiRangeProfilerEnable@2=35; cuptiRangeProfilerEnable@3=35", 1);
  const CommandResult ran = workshop_.run(kProfile);
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
  for (const harness::CaseRecord& record : cases())
    EXPECT_THAT(record.measurements[0].measures, Contains(Key("time_ns"))) << record.name;
}

TEST_F(ProfileTest, DoesNotMeasureFailingKernels) {
  // Every launch after the bandwidth measurement fails; kernels that were not verified have no speed.
  ::setenv("ASSAY_FAKE_GPU", "cuMemcpyDtoHAsync_v2@1=719", 1);
  const CommandResult ran = workshop_.run(kProfile);
  EXPECT_EQ(ran.status, 1) << ran.out;
  for (const harness::CaseRecord& record : cases())
    EXPECT_THAT(record.measurements, SizeIs(0)) << record.name;
}

TEST_F(ProfileTest, ExitsWithStatus77IfNoGpuIsAvailable) {
  ::setenv("ASSAY_CUDA_DRIVER", "/nonexistent/libcuda.so.1", 1);
  const CommandResult ran = workshop_.run(kProfile);
  EXPECT_EQ(ran.status, 77) << ran.out << ran.err;
}

}  // namespace
}  // namespace assay::cli
