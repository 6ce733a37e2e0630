#include "backends/cross_check/cross_checked_device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/device/differing_bits.hpp"

namespace assay::backends {
namespace {

/// Adds a number to each byte of the first buffer; the profiled launch also reports what it executed.
struct Behavior {
  unsigned char addend = 1;
  RunOutcome outcome = Completed{};
  bool leaves_out = false;  ///< skips the threads outside the sample, here all threads
};

class AddingSession final : public DeviceSession {
 public:
  explicit AddingSession(Behavior behavior) : behavior_(std::move(behavior)) {}
  Result<BufferId> allocate(std::size_t size) override {
    buffers_.emplace_back(size);
    return BufferId{static_cast<std::uint32_t>(buffers_.size() - 1)};
  }
  std::span<std::byte> bytes(BufferId buffer) override { return buffers_.at(buffer.index); }
  void reset() override { buffers_.clear(); }
  std::vector<RunOutcome> run(std::span<const LaunchRequest> launches) override {
    if (behavior_.leaves_out && !launches.front().checked_threads.empty())
      return std::vector<RunOutcome>(launches.size(), behavior_.outcome);
    for (std::byte& byte : buffers_.front())
      byte = static_cast<std::byte>(static_cast<unsigned char>(byte) + behavior_.addend * launches.size());
    return std::vector<RunOutcome>(launches.size(), behavior_.outcome);
  }

 private:
  Behavior behavior_;
  std::vector<std::vector<std::byte>> buffers_;
};

class AddingDevice final : public Device {
 public:
  AddingDevice(std::string name, Behavior behavior) : name_(std::move(name)), behavior_(std::move(behavior)) {}
  std::string_view name() const override { return name_; }
  SourceTarget target() const override { return SourceTarget::kCuda; }
  Capability can_build() const override { return {true, ""}; }
  Capability can_run() const override { return {true, name_}; }
  std::string build_command(const BuildFlags&) const override { return {}; }
  std::vector<BuildOutcome> build(std::span<const EmittedKernel>, const BuildFlags&) override { return {}; }
  Result<std::unique_ptr<DeviceSession>> open(const SessionLimits&) override {
    return std::unique_ptr<DeviceSession>(std::make_unique<AddingSession>(behavior_));
  }

 private:
  std::string name_;
  Behavior behavior_;
};

Completed observed(const ExactnessCounts& exactness, double contention = 1, double divergent_branches = 0) {
  return {.profile = ExecutionProfile{
              .exactness = exactness,
              .measures = {{"atomic_contention", contention}, {"divergent_branches", divergent_branches}}}};
}

/// Two launches over one buffer, on a device that adds 1 and a cross-check device with the given behavior.
struct Both {
  explicit Both(Behavior cross_check, std::int64_t threads = 8, std::int64_t block = 0,
                MakeRecording recording = nullptr)
      : device(std::make_unique<AddingDevice>("first", Behavior{}),
               std::make_unique<AddingDevice>("second", std::move(cross_check)), std::move(recording)),
        session(device.open({}).take()) {
    kernel.name = "k";
    kernel.entry_points = {{.symbol = "k_forward", .parameter_count = 1}};
    const BufferId buffer = session->allocate(8).value();
    KernelArgument array;
    array.bytes.resize(8);
    array.pointers.push_back({.address = {buffer, 4}, .region = {.name = "out"}});
    launch = {.kernel = &kernel, .threads = threads, .threads_per_block = block, .arguments = {array}};
    const std::vector<LaunchRequest> launches{launch, launch};
    outcomes = session->run(launches);
    result = static_cast<int>(session->bytes(buffer)[0]);
  }
  BuiltKernel kernel;
  CrossCheckedDevice device;
  std::unique_ptr<DeviceSession> session;
  LaunchRequest launch;
  std::vector<RunOutcome> outcomes;
  int result = 0;
};

TEST(CrossCheckedDevice, ReturnsResultsOfFirstDeviceIfDevicesAgree) {
  const Both both({.addend = 1, .outcome = observed({.exact_instruction_count = 5})});
  EXPECT_EQ(both.device.name(), "first");
  EXPECT_EQ(describe(both.outcomes[1]), "completed");
  EXPECT_EQ(both.result, 2);
  EXPECT_EQ(both.device.counts().compared_launch_count, 2U);
  EXPECT_EQ(both.device.counts().differing_launch_count, 0U);
}

TEST(CrossCheckedDevice, ReportsWhichByteOfWhichArrayDiffers) {
  const Both both({.addend = 2, .outcome = observed({.exact_instruction_count = 5})});
  const auto* fault = std::get_if<MemoryFault>(&both.outcomes[0]);
  ASSERT_NE(fault, nullptr);
  EXPECT_EQ(fault->kind, kDifferingBitsFault);
  EXPECT_EQ(fault->message,
            "array 'out' of kernel 'k' differs from device second at byte 0: 0x01010101 instead of 0x02020202");
  EXPECT_EQ(both.device.counts().differing_launch_count, 2U);
}

TEST(CrossCheckedDevice, StopOnFailureSkipsLaunchesAfterDifference) {
  Both both({.addend = 2, .outcome = observed({.exact_instruction_count = 5})});
  both.launch.stops_on_failure = true;
  const std::vector<LaunchRequest> launches{both.launch, both.launch};
  EXPECT_EQ(both.session->run(launches).size(), 1U);
}

TEST(CrossCheckedDevice, ReportsWhyDifferingInstructionCannotBeLocated) {
  const auto reject = [](const Artifact&, const std::string&, RecordingMode) -> Result<InstrumentedCode> {
    return Error{"recording is not supported"};
  };
  const Both both({.addend = 2, .outcome = observed({.exact_instruction_count = 5})}, 8, 0, reject);
  const auto* fault = std::get_if<MemoryFault>(&both.outcomes[0]);
  ASSERT_NE(fault, nullptr);
  EXPECT_THAT(fault->message, ::testing::EndsWith("0x02020202; cannot locate the differing instruction: cannot record "
                                                  "instruction results: the kernel has no PTX"));
  ASSERT_EQ(fault->findings.size(), 1U);
  EXPECT_EQ(fault->findings[0].kind, kDifferingBitsFault);
  EXPECT_EQ(both.result, 2) << "the results of the device must be kept";
}

TEST(CrossCheckedDevice, DoesNotCompareResultsWithUnspecifiedBits) {
  const ExactnessCounts atomics{.order_dependent_instruction_count = 1};
  for (const Completed& outcome :
       {observed({.approximate_instruction_count = 1, .approximation_reaches_result = true}),
        observed({.contractible_instruction_count = 1}), observed(atomics, 2), observed(atomics, 1, 1), Completed{}}) {
    const Both both({.addend = 2, .outcome = outcome});
    EXPECT_EQ(describe(both.outcomes[0]), "completed");
    EXPECT_EQ(both.device.counts().undetermined_launch_count, 2U);
  }
  Completed apart = observed(atomics, 2, 1);
  apart.profile->measures["atomic_collisions"] = 0;
  EXPECT_EQ(Both({.addend = 2, .outcome = apart}, 1000).device.counts().differing_launch_count, 2U)
      << "each atomic has its own element";
  apart.profile->measures["atomic_collisions"] = 1;
  EXPECT_EQ(Both({.addend = 2, .outcome = apart}, 1000).device.counts().undetermined_launch_count, 2U);
  Completed swaps = observed({.exact_instruction_count = 5}, 2, 1);
  swaps.profile->measures["atomic_collisions"] = 1;
  EXPECT_EQ(Both({.addend = 2, .outcome = swaps}).device.counts().undetermined_launch_count, 2U)
      << "16-bit compare-and-swap";
  const Behavior one_warp{.addend = 2, .outcome = observed(atomics)};
  EXPECT_EQ(Both(one_warp, 33).device.counts().undetermined_launch_count, 2U);
  EXPECT_EQ(Both(one_warp, 8, 4).device.counts().undetermined_launch_count, 2U);
  EXPECT_EQ(Both(one_warp, 8, 8).device.counts().differing_launch_count, 2U)
      << "without collisions the order has no effect";
}

TEST(CrossCheckedDevice, RunsAndComparesAllThreadsEvenIfOnlySomeAreSampled) {
  Both both({.outcome = observed({.exact_instruction_count = 5}), .leaves_out = true});
  both.launch.checked_threads = {0, 7};
  EXPECT_EQ(describe(both.session->run({&both.launch, 1}).front()), "completed");
  EXPECT_EQ(both.device.counts().compared_launch_count, 3U);
}

TEST(CrossCheckedDevice, DoesNotCompareF64PromotedLaunches) {
  Both both({.addend = 2, .outcome = observed({.exact_instruction_count = 5})});
  LaunchRequest promote{.kernel = &both.kernel, .precision = Precision::kPromoted};
  EXPECT_EQ(describe(both.session->run({&promote, 1}).front()), "completed");
}

}  // namespace
}  // namespace assay::backends
