#include "backends/device/backend.hpp"

#include <array>
#include <cstddef>
#include <cstring>

#include <gtest/gtest.h>

namespace assay::backends {
namespace {

template <int N>
struct Array {
  float* data;
  std::int32_t shape[N];
  std::int64_t strides[N];
};

template <int N>
void expect_layout_of_cpp() {
  std::array<std::int32_t, N> shape{};
  std::array<std::int64_t, N> strides{};
  for (int i = 0; i < N; ++i) {
    shape[static_cast<std::size_t>(i)] = 10 + i;
    strides[static_cast<std::size_t>(i)] = 100 + i;
  }
  const KernelArgument argument = KernelArgument::array(BufferAddress{{2}, 8}, shape, strides);
  ASSERT_EQ(argument.bytes.size(), sizeof(Array<N>)) << N;
  Array<N> array;
  std::memcpy(&array, argument.bytes.data(), sizeof(array));
  EXPECT_EQ(std::memcmp(array.shape, shape.data(), sizeof(array.shape)), 0) << N;
  EXPECT_EQ(std::memcmp(array.strides, strides.data(), sizeof(array.strides)), 0) << N;
  ASSERT_EQ(argument.pointers.size(), 1U);
  EXPECT_EQ(argument.pointers[0].byte_offset, offsetof(Array<N>, data));
  EXPECT_EQ(argument.pointers[0].address.offset, 8U);
}

TEST(KernelArgument, HasSameMemoryLayoutAsCppArray) {
  expect_layout_of_cpp<1>();
  expect_layout_of_cpp<2>();
  expect_layout_of_cpp<3>();
  expect_layout_of_cpp<4>();
}

TEST(KernelArgument, HasSameMemoryLayoutAsCppStruct) {
  struct Particle {
    std::int8_t kind;
    Array<1> trail;
    double mass;
    float charge;
  };
  KernelArgument particle;
  particle.append(KernelArgument::value(std::int8_t{1}), alignof(std::int8_t));
  particle.append(
      KernelArgument::array(BufferAddress{}, std::array<std::int32_t, 1>{3}, std::array<std::int64_t, 1>{4}),
      alignof(Array<1>));
  particle.append(KernelArgument::value(2.5), alignof(double));
  particle.append(KernelArgument::value(1.5F), alignof(float));
  particle.pad(alignof(Particle));
  ASSERT_EQ(particle.bytes.size(), sizeof(Particle));
  EXPECT_EQ(particle.pointers[0].byte_offset, offsetof(Particle, trail));
  double mass = 0;
  std::memcpy(&mass, particle.bytes.data() + offsetof(Particle, mass), sizeof(mass));
  EXPECT_EQ(mass, 2.5);
}

TEST(BuiltKernel, FindsEntryPointByPassAndCodeByArchitecture) {
  const auto ptx = std::make_shared<const Artifact>(
      Artifact{.kind = Artifact::Kind::kPtx, .precision = Precision::kPromoted, .architecture = "compute_75"});
  const BuiltKernel kernel{.entry_points = {{.pass = Pass::kForward, .precision = Precision::kPromoted, .symbol = "f"}},
                           .artifacts = {ptx}};
  ASSERT_NE(kernel.find(Pass::kForward, Precision::kPromoted), nullptr);
  EXPECT_EQ(kernel.find(Pass::kForward, Precision::kPromoted)->symbol, "f");
  EXPECT_EQ(kernel.find(Pass::kBackward, Precision::kPromoted), nullptr);
  EXPECT_EQ(kernel.artifact(Artifact::Kind::kPtx, Precision::kPromoted), ptx.get());
  EXPECT_EQ(kernel.artifact(Artifact::Kind::kPtx, Precision::kPromoted, "compute_75"), ptx.get());
  EXPECT_EQ(kernel.artifact(Artifact::Kind::kPtx, Precision::kPromoted, "compute_100"), nullptr);
  EXPECT_EQ(kernel.artifact(Artifact::Kind::kPtx, Precision::kNative), nullptr);
}

TEST(DescribeOutcome, IncludesTimeLimitOfTimeoutAndReasonOfUnsupportedLaunch) {
  EXPECT_EQ(describe(Completed{}), "completed");
  EXPECT_EQ(describe(TimedOut{std::chrono::milliseconds{5}}), "timed out after 5 ms");
  EXPECT_EQ(describe(Unsupported{"no CUDA driver"}), "unsupported: no CUDA driver");
}

}  // namespace
}  // namespace assay::backends
