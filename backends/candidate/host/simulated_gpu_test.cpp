#include "backends/candidate/host/simulated_gpu.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <gtest/gtest.h>

namespace assay::candidate {
namespace {

/// Writes a number into device memory.
void write(SimulatedGpu& gpu, std::uint64_t address, int value) {
  void* const bytes = gpu.bytes(address, sizeof(value), true);
  ASSERT_NE(bytes, nullptr);
  std::memcpy(bytes, &value, sizeof(value));
}
/// The number in device memory; -2 if the address is in no allocation.
int number_at(SimulatedGpu& gpu, std::uint64_t address) {
  int value = -2;
  if (const void* const bytes = gpu.bytes(address, sizeof(value), false); bytes != nullptr)
    std::memcpy(&value, bytes, sizeof(value));
  return value;
}

TEST(SimulatedGpu, LastingAllocationsKeepAddressAndContentInLaterCalls) {
  SimulatedGpu gpu;
  std::array<std::byte, 4> array{};
  gpu.begin_call({});
  const std::uint64_t of_array = gpu.adopt("x", array, {});
  const std::uint64_t temporary = gpu.allocate(8);
  const std::uint64_t lasting = gpu.allocate(8);
  const std::uint64_t managed = gpu.allocate_managed(8);
  ASSERT_NE(managed, 0U);
  gpu.set_lasting(lasting, true);
  gpu.set_lasting(managed, true);
  write(gpu, temporary, 1);
  write(gpu, lasting, 2);
  write(gpu, managed, 3);
  for (const ptx::Order order : {ptx::Order::kForward, ptx::Order::kShuffled}) {
    gpu.begin_call({.execution_order = {.order = order}});
    EXPECT_EQ(number_at(gpu, lasting), 2);
    EXPECT_EQ(number_at(gpu, managed), 3);
    EXPECT_EQ(*reinterpret_cast<const int*>(managed), 3) << "the host uses the same address";
    EXPECT_EQ(number_at(gpu, temporary), -2);
    EXPECT_EQ(number_at(gpu, of_array), -2);
    EXPECT_GT(gpu.allocate(8), managed) << "no address is used again";
  }
}

TEST(SimulatedGpu, ReleasedAllocationsOfEarlierCallsAreInvalid) {
  SimulatedGpu gpu;
  gpu.begin_call({});
  const std::uint64_t address = gpu.allocate(4);
  gpu.set_lasting(address, true);
  gpu.begin_call({});
  gpu.release(address);
  EXPECT_EQ(number_at(gpu, address), -2);
  gpu.begin_call({});
  EXPECT_EQ(number_at(gpu, address), -2);
  EXPECT_EQ(gpu.bytes_from(address), 0U);
}

TEST(SimulatedGpu, EndOfProcessEndsLastingAllocations) {
  SimulatedGpu gpu;
  gpu.begin_call({});
  const std::uint64_t address = gpu.allocate(4);
  gpu.set_lasting(address, true);
  gpu.end_process();
  gpu.begin_call({});
  EXPECT_EQ(number_at(gpu, address), -2);
}

TEST(SimulatedGpu, OldestLastingAllocationsStayIfHostCodeFreesNone) {
  constexpr std::uint64_t kBytes = std::uint64_t{192} << 20U;
  constexpr int kCallCount = 4;
  SimulatedGpu gpu;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  for (int call = 0; call < kCallCount; ++call) {
    gpu.begin_call({});
    last = gpu.allocate(kBytes);
    ASSERT_NE(last, 0U);
    gpu.set_lasting(last, true);
    if (call == 0) first = last;
  }
  write(gpu, first, 5);
  gpu.begin_call({});
  EXPECT_EQ(number_at(gpu, first), 5);
  EXPECT_EQ(number_at(gpu, last), -2);
}

}  // namespace
}  // namespace assay::candidate
