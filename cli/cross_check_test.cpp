// assay run --device cuda over the fake driver: launches are compared with other devices.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "backends/device/differing_bits.hpp"
#include "cli/testing/fake_gpu_test.hpp"

namespace assay::cli {
namespace {

using ::testing::AllOf;
using testing::CommandResult;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr std::string_view kChain = R"(import warp as wp


@wp.kernel
def chain(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    s = x[i] + 0.7
    for k in range(3):
        s = s * x[i] + 0.3
    out[i] = s - x[i]
)";

class CrossCheckTest : public testing::FakeGpuTest {
 protected:
  CrossCheckTest() : FakeGpuTest("chain.py", kChain) {}
};

TEST_F(CrossCheckTest, ComparesGpuResultsBitForBitWithPtxDevice) {
  const CommandResult ran = workshop_.run("assay run chain.py --device cuda --quick");
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.err, ContainsRegex("cross-check: compared [1-9][0-9]* launches bit by bit, 0 differ"));
  EXPECT_THAT(workshop_.run("assay run chain.py --device cuda --quick --cross-check none").err,
              Not(HasSubstr("cross-check:")));
}

TEST_F(CrossCheckTest, ReportsIncorrectGpuInstruction) {
  ::setenv("ASSAY_FAKE_GPU", "wrong=mul.rn.f32>mul.rz.f32", 1);
  const CommandResult ran = workshop_.run("assay run chain.py --device cuda --quick --pass forward --reduce 0");
  EXPECT_EQ(ran.status, 1) << ran.out << ran.err;
  const auto records = cases();
  ASSERT_THAT(records, SizeIs(1));
  EXPECT_EQ(records[0].outcome, harness::Outcome::fail);
  EXPECT_EQ(records[0].outcome_detail, backends::kDifferingBitsFault);
  ASSERT_THAT(records[0].memory_findings, SizeIs(1));
  const backends::MemoryFinding& fault = records[0].memory_findings.front();
  EXPECT_THAT(
      fault.text,
      AllOf(HasSubstr("array 'out' of kernel 'chain' differs from device ptx at byte"),
            ContainsRegex("first differing instruction 'mul.rn.f32 .*: 0x[0-9a-f]{8} instead of 0x[0-9a-f]{8}")));
  EXPECT_THAT(fault.site.instruction, HasSubstr("mul.rn.f32"));
  EXPECT_GT(fault.site.code_line, 0U);
  EXPECT_GT(fault.site.source_line, 0U);
  EXPECT_THAT(records[0].reproduce_command, Not(HasSubstr("--cross-check"))) << "it is the default";
}

TEST_F(CrossCheckTest, ComparesGpuResultsWithCpuDevice) {
  ASSERT_EQ(workshop_.run("assay run chain.py --device cuda --quick").status, 0);
  for (const harness::CaseRecord& record : cases()) {
    ASSERT_TRUE(record.check_results.device_agreement) << record.name;
    EXPECT_GT(record.check_results.device_agreement->compared_values, 0);
    EXPECT_EQ(record.check_results.device_agreement->failed, 0);
  }
  ASSERT_EQ(workshop_.run("assay run chain.py --device cuda --quick --cross-check ptx").status, 0);
  for (const harness::CaseRecord& record : cases())
    EXPECT_FALSE(record.check_results.device_agreement) << record.name;
}

TEST_F(CrossCheckTest, CudaRunFailsIfOnlyCpuResultIsIncorrect) {
  // A compiler wrapper that changes a constant: its code is incorrect on the CPU only, which this run does not judge.
  workshop_.write("cxx", R"(#!/bin/sh
for argument; do
  case $argument in
    *.cpp) sed -i 's/0\.69999998[0-9]*f/0.75f/; s/0\.7f/0.75f/; s/0\.7)/0.75)/' "$argument" ;;
  esac
done
exec c++ "$@"
)");
  ASSERT_EQ(workshop_.run("chmod +x cxx").status, 0);
  const CommandResult ran = workshop_.run("assay run chain.py --device cuda --quick --reduce 0 --cxx \"$PWD/cxx\"");
  EXPECT_EQ(ran.status, 1) << ran.out << ran.err;
  const auto records = cases();
  ASSERT_THAT(records, SizeIs(2));
  EXPECT_EQ(records[0].outcome, harness::Outcome::fail);
  EXPECT_EQ(records[0].outcome_detail, "devices_disagree");
  EXPECT_THAT(records[0].message, ContainsRegex("out\\[[0-9]+\\] is .*, on the device cpu .* within"));
  EXPECT_EQ(records[0].check_results.native_precision->failed, 0) << "the GPU result itself is correct";
}

/// Each thread adds to the same gradient.
constexpr std::string_view kScaled = R"(import warp as wp


@wp.kernel
def scaled(x: wp.array(dtype=float), scale: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = x[i] * scale[0]
)";

class AtomicOrderTest : public testing::FakeGpuTest {
 protected:
  AtomicOrderTest() : FakeGpuTest("scaled.py", kScaled) {}
};

TEST_F(AtomicOrderTest, GradientsMayDependOnOrderOfAtomicAdditions) {
  ::setenv("ASSAY_FAKE_GPU", "order=shuffled", 1);
  const CommandResult ran = workshop_.run("assay run scaled.py --device cuda --pass backward");
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
}

TEST_F(AtomicOrderTest, GradientsMustAgreeWithinTheirBounds) {
  // Replaces the addition: the thread that runs last determines the gradient.
  ::setenv("ASSAY_FAKE_GPU", "order=shuffled; wrong=atom.global.add.f32>atom.global.exch.b32", 1);
  const CommandResult ran =
      workshop_.run("assay run scaled.py --device cuda --pass backward --cross-check none --reduce 0");
  EXPECT_EQ(ran.status, 1) << ran.out << ran.err;
  const auto records = cases();
  ASSERT_THAT(records, SizeIs(1));
  ASSERT_TRUE(records[0].check_results.determinism);
  EXPECT_GT(records[0].check_results.determinism->failed, 0);
}

}  // namespace
}  // namespace assay::cli
