#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "backends/ptx/checks/data_flow.hpp"
#include "backends/ptx/testing/machine.hpp"

namespace assay::ptx {
namespace {

/// Whether the barriers with number 1 are redundant. %rd1 is global memory; %rd2 and %rd3 are this thread's elements of
/// the shared variables a and b.
bool barriers_redundant(std::string_view body) {
  constexpr std::string_view kVariables = ".shared .align 4 .b8 a[256];\n.shared .align 4 .b8 b[256];\n";
  constexpr std::string_view kStart =
      "ld.param.u64 %rd1, [p0]; cvta.to.global.u64 %rd1, %rd1; mov.u32 %r1, %tid.x; mul.wide.u32 %rd4, %r1, 4;"
      " mov.u64 %rd5, a; add.s64 %rd2, %rd5, %rd4; mov.u64 %rd6, b; add.s64 %rd3, %rd6, %rd4;\n";
  const Result<Module> module = parse(testing::entry(std::string(kStart) + std::string(body), 1, kVariables), "test");
  if (!module) {
    ADD_FAILURE() << module.error().text();
    return false;
  }
  return are_barriers_redundant(*module, *module->find_entry("k"), 1);
}

TEST(Barrier, IsRequiredBetweenConflictingAccesses) {
  EXPECT_FALSE(barriers_redundant("st.shared.f32 [%rd2], %f1; bar.sync 1; ld.shared.f32 %f2, [a];"));
  EXPECT_FALSE(barriers_redundant("ld.shared.f32 %f2, [a]; bar.sync 1; st.shared.f32 [%rd2], %f1;"));
  EXPECT_FALSE(barriers_redundant("st.shared.f32 [%rd2], %f1; bar.sync 1; st.shared.f32 [a], %f1;"));
  EXPECT_FALSE(barriers_redundant("st.global.f32 [%rd1], %f1; bar.sync 1; ld.global.f32 %f1, [%rd1+4];"));
  EXPECT_FALSE(barriers_redundant("atom.global.add.f32 %f1, [%rd1], %f2; bar.sync 1; red.global.add.f32 [%rd1], %f1;"));
}

TEST(Barrier, IsRedundantWithoutConflictingAccesses) {
  EXPECT_TRUE(barriers_redundant("ld.shared.f32 %f1, [a]; bar.sync 1; ld.shared.f32 %f2, [a+4];"));
  EXPECT_TRUE(barriers_redundant("ld.shared.f32 %f1, [a]; bar.sync 1; st.shared.f32 [%rd3], %f1;"));
  EXPECT_TRUE(barriers_redundant("st.global.f32 [%rd1], %f1; bar.sync 1; st.shared.f32 [%rd3], %f1;"));
  EXPECT_TRUE(barriers_redundant("bar.sync 1; st.shared.f32 [%rd3], %f1;"));
}

TEST(Barrier, IsRequiredIfDynamicIndexMayReachWrittenVariable) {
  constexpr std::string_view kChoose =
      "ld.shared.f32 %f1, [a]; setp.gt.f32 %p1, %f1, 0f00000000; selp.b64 %rd7, 8, 4, %p1; add.s64 %rd7, %rd5, %rd7;"
      " ld.shared.f32 %f1, [%rd7]; bar.sync 1; ";
  EXPECT_TRUE(barriers_redundant(std::string(kChoose) + "st.shared.f32 [%rd3], %f1;"));
  EXPECT_FALSE(barriers_redundant(std::string(kChoose) + "st.shared.f32 [%rd2], %f1;"));
}

TEST(Barrier, IsRedundantIfAnotherBarrierSeparatesAccesses) {
  EXPECT_TRUE(barriers_redundant("ld.shared.f32 %f1, [a]; bar.sync 0; bar.sync 1; st.shared.f32 [%rd2], %f1;"));
  EXPECT_TRUE(barriers_redundant("st.shared.f32 [%rd2], %f1; bar.sync 1; bar.sync 0; ld.shared.f32 %f1, [a];"));
  EXPECT_FALSE(barriers_redundant("st.shared.f32 [%rd2], %f1; bar.sync 1; bar.sync 1; ld.shared.f32 %f1, [a];"))
      << "both barriers are removed";
}

TEST(Barrier, IsRequiredIfAccessesConflictOnAnyControlFlowPath) {
  EXPECT_FALSE(barriers_redundant(
      "$L: bar.sync 1; st.shared.f32 [%rd2], %f1; bar.sync 0; ld.shared.f32 %f1, [a]; setp.gt.f32 %p1, "
      "%f1, 0f00000000; @%p1 bra $L;"))
      << "around the loop";
  EXPECT_TRUE(barriers_redundant(
      "$L: bar.sync 1; st.shared.f32 [%rd2], %f1; bar.sync 0; ld.shared.f32 %f1, [a]; setp.gt.f32 %p1, "
      "%f1, 0f00000000; bar.sync 0; @%p1 bra $L;"));
  EXPECT_FALSE(
      barriers_redundant("ld.shared.f32 %f1, [a]; @%p1 bra $L; bar.sync 0; $L: bar.sync 1; st.shared.f32 [%rd2], %f1;"))
      << "one path avoids the other barrier";
}

TEST(Barrier, IsConsideredRequiredIfAnalysisIsUncertain) {
  EXPECT_FALSE(
      barriers_redundant("ld.global.u64 %rd7, [%rd1]; ld.shared.f32 %f1, [%rd7]; bar.sync 1;"
                         " st.shared.f32 [%rd3], %f1;"))
      << "an address loaded from memory";
  EXPECT_FALSE(
      barriers_redundant("selp.b64 %rd7, %rd2, %rd3, %p1; ld.shared.f32 %f1, [%rd7]; bar.sync 1;"
                         " st.shared.f32 [%rd3], %f1;"))
      << "one of two variables";
  EXPECT_FALSE(barriers_redundant("ld.f32 %f1, [%rd7]; bar.sync 1; st.shared.f32 [%rd3], %f1;")) << "a generic address";
  EXPECT_FALSE(barriers_redundant("@%p1 bar.sync 1;"));
  EXPECT_FALSE(barriers_redundant("bar.sync 1, 32;"));
}

}  // namespace
}  // namespace assay::ptx
