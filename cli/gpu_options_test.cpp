// --gpu and --device-memory over the fake driver: the choice of GPU and the limit on its memory.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "cli/testing/fake_gpu_test.hpp"

namespace assay::cli {
namespace {

using harness::CaseRecord;
using harness::Outcome;
using ::testing::AllOf;
using testing::CommandResult;
using ::testing::Each;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Lt;
using ::testing::Not;
using ::testing::SizeIs;

constexpr std::string_view kScale = R"(import warp as wp


@wp.kernel
def scale(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = 2.0 * x[i]
)";

class GpuOptionsTest : public testing::FakeGpuTest {
 protected:
  GpuOptionsTest() : FakeGpuTest("scale.py", kScale) {}

  /// The cases of a family, judged with the options.
  std::vector<CaseRecord> judged(const std::string& options) {
    const CommandResult ran = workshop_.run(
        "assay run arithmetic --random 0 --quick --reduce 0 --cross-check none --fresh --device cuda " + options);
    EXPECT_LE(ran.status, 1) << ran.err;
    return cases();
  }

  /// The messages of the cases that found no GPU or no memory of it; the others must have passed.
  static std::vector<std::string> lacking(const std::vector<CaseRecord>& cases) {
    std::vector<std::string> messages;
    for (const CaseRecord& record : cases) {
      if (record.outcome == Outcome::resource_error) messages.push_back(record.message);
      else EXPECT_TRUE(harness::is_pass(record.outcome)) << record.name << ": " << record.message;
    }
    return messages;
  }
};

TEST_F(GpuOptionsTest, GpuOptionSelectsOneGpuOrDistributesCasesOverAllGpus) {
  ::setenv("ASSAY_FAKE_GPU", "gpus=2; lost=1", 1);
  const std::vector<CaseRecord> first = judged("--gpu 0");
  ASSERT_THAT(first, Not(IsEmpty()));
  EXPECT_THAT(lacking(first), IsEmpty());
  EXPECT_THAT(lacking(judged("--gpu 1")), SizeIs(first.size()));
  for (const std::string jobs : {"1", "2"}) {
    const std::vector<std::string> lacked = lacking(judged("--gpu all --jobs " + jobs));
    EXPECT_THAT(lacked, SizeIs(AllOf(Gt(0U), Lt(first.size())))) << "one GPU got all cases, with --jobs " << jobs;
    EXPECT_THAT(lacked, Each(HasSubstr("cuDevicePrimaryCtxRetain of GPU 1")));
  }
}

TEST_F(GpuOptionsTest, RejectsUnknownGpuNumber) {
  ::setenv("ASSAY_FAKE_GPU", "gpus=2", 1);
  const CommandResult ran = workshop_.run("assay run scale.py --device cuda --gpu 2");
  EXPECT_EQ(ran.status, 77);
  EXPECT_THAT(ran.out, HasSubstr("unknown GPU 2: this machine has 2, numbered from 0"));
}

TEST_F(GpuOptionsTest, DeviceMemoryOptionRejectsLaunchAboveLimit) {
  EXPECT_EQ(workshop_.run("assay run scale.py --device cuda --quick --device-memory 1MiB").status, 0);
  const CommandResult ran = workshop_.run("assay run scale.py --device cuda --quick --reduce 0 --device-memory 1KiB");
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(lacking(cases()), AllOf(SizeIs(2), Each(HasSubstr("bytes of device memory, but only 1024 are allowed"))));
}

TEST_F(GpuOptionsTest, ReportsDriverErrorIfDeviceMemoryIsExhausted) {
  ::setenv("ASSAY_FAKE_GPU", "memory=4096", 1);
  const CommandResult ran = workshop_.run("assay run scale.py --device cuda --quick --reduce 0");
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(lacking(cases()), AllOf(SizeIs(2), Each(HasSubstr("CUDA_ERROR_OUT_OF_MEMORY, 2"))));
}

}  // namespace
}  // namespace assay::cli
