// Measurements on a fake device whose times and rates are fixed.
#include "harness/measure/measure.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/suite/run/batch.hpp"
#include "harness/testing/cpu_run.hpp"

namespace assay::harness {
namespace {

using backends::LaunchRequest;
using ::testing::Contains;
using ::testing::DoubleEq;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;
using ::testing::SizeIs;

constexpr double kForwardNs = 1000;
constexpr double kBackwardNs = 3000;
constexpr double kCopyRate = 4e12;
constexpr double kFlopsOfThread = 5;

/// Observations of the launches on a ClockworkDevice, and the name of the kernel that fails.
struct Clockwork {
  bool has_clock = true;
  std::string failing;
  std::vector<LaunchRequest> seen;
};

class ClockworkSession final : public backends::DeviceSession {
 public:
  explicit ClockworkSession(Clockwork& clockwork) : clockwork_(clockwork) {}

  Result<backends::BufferId> allocate(std::size_t size) override {
    buffers_.emplace_back(size);
    return backends::BufferId{static_cast<std::uint32_t>(buffers_.size() - 1)};
  }
  std::span<std::byte> bytes(backends::BufferId buffer) override { return buffers_[buffer.index]; }
  void reset() override { buffers_.clear(); }

  std::vector<backends::RunOutcome> run(std::span<const LaunchRequest> launches) override {
    std::vector<backends::RunOutcome> outcomes;
    for (const LaunchRequest& launch : launches)
      outcomes.push_back(outcome_of(launch));
    return outcomes;
  }

 private:
  backends::RunOutcome outcome_of(const LaunchRequest& launch) {
    clockwork_.seen.push_back(launch);
    if (launch.kernel->name == clockwork_.failing) return backends::TimedOut{launch.time_limit};
    backends::Completed completed;
    const auto threads = static_cast<double>(launch.threads);
    if (launch.profile) {
      completed.profile =
          backends::ExecutionProfile{.measures = {{"flops", kFlopsOfThread * threads}, {"global_bytes", 12 * threads}}};
    }
    if (launch.sample_count > 0 && clockwork_.has_clock) {
      const bool forward = launch.pass == backends::Pass::kForward;
      completed.measurement = backends::Measurement{
          .target = "clockwork",
          .threads = launch.threads,
          .measures = {{"time_ns", forward ? kForwardNs : kBackwardNs}, {"copy_bytes_per_second", kCopyRate}}};
    }
    return completed;
  }

  Clockwork& clockwork_;
  std::vector<std::vector<std::byte>> buffers_;
};

class ClockworkDevice final : public backends::Device {
 public:
  explicit ClockworkDevice(Clockwork& clockwork) : clockwork_(clockwork) {}
  [[nodiscard]] std::string_view name() const override { return "clockwork"; }
  [[nodiscard]] backends::SourceTarget target() const override { return backends::SourceTarget::kCuda; }
  [[nodiscard]] backends::Capability can_build() const override { return {true, "clockwork"}; }
  [[nodiscard]] backends::Capability can_run() const override { return {true, "clockwork"}; }
  [[nodiscard]] std::string build_command(const backends::BuildFlags&) const override { return {}; }
  std::vector<backends::BuildOutcome> build(std::span<const backends::EmittedKernel> kernels,
                                            const backends::BuildFlags&) override {
    std::vector<backends::BuildOutcome> built;
    for (const backends::EmittedKernel& kernel : kernels)
      built.push_back(built_kernel(kernel.name));
    return built;
  }
  Result<std::unique_ptr<backends::DeviceSession>> open(const backends::SessionLimits&) override {
    return std::unique_ptr<backends::DeviceSession>(std::make_unique<ClockworkSession>(clockwork_));
  }
  static backends::BuiltKernel built_kernel(const std::string& name) { return {.name = name}; }

 private:
  Clockwork& clockwork_;
};

constexpr const char* kScale =
    "@wp.kernel\n"
    "def scale(x: wp.array(dtype=float), factor: float, out: wp.array(dtype=float)):\n"
    "    i = wp.tid()\n"
    "    out[i] = factor * x[i]\n";
constexpr const char* kSum =
    "@wp.kernel\n"
    "def total(x: wp.array(dtype=float), out: wp.array(dtype=float)):\n"
    "    i = wp.tid()\n"
    "    wp.atomic_add(out, 0, x[i])\n";

class MeasurerTest : public ::testing::Test {
 protected:
  static constexpr std::int32_t kThreads = 100'000;

  PassMeasurements measure(const char* python, bool observed = true) {
    const KernelSource source = testing::kernel_of(python);
    PreparedKernel prepared =
        prepare_kernel(source, [](auto&&...) { return Result<backends::EmittedKernel>(backends::EmittedKernel{}); },
                       backends::SourceTarget::kCuda, {});
    EXPECT_FALSE(prepared.early_result);
    const KernelUnderTest subject{.module = *source.module,
                                  .kernel = source.module->kernels[0],
                                  .promoted = *prepared.promoted,
                                  .adjoint = &*prepared.adjoint,
                                  .oracle = *prepared.oracle,
                                  .promoted_oracle = *prepared.promoted_oracle};
    ClockworkDevice device(clockwork);
    auto measurer =
        Measurer::make(device, observed ? &device : nullptr,
                       {.threads = kThreads, .timed_runs_per_pass = 7, .memory_limit_bytes = std::size_t{64} << 20});
    EXPECT_TRUE(measurer.ok()) << measurer.error().text();
    clockwork.seen.clear();
    peak_rates = measurer->peak_rates();
    return measurer->measure(subject, ClockworkDevice::built_kernel("kernel"), true, true);
  }

  Clockwork clockwork;
  PeakRates peak_rates;
};

TEST_F(MeasurerTest, ReportsRatesAsFractionsOfMeasuredMaximumRates) {
  const PassMeasurements measured = measure(kScale);
  EXPECT_EQ(peak_rates.bytes_per_second, kCopyRate);
  // 8 chains of 512 steps of 2 operations in each thread, in the microsecond of any forward launch.
  EXPECT_DOUBLE_EQ(peak_rates.operations_per_second, 8192.0 * kThreads / 1e-6);
  const auto& measures = measured.forward->measures;
  // One array is read and one written.
  EXPECT_EQ(measures.at("bytes"), 2.0 * kThreads * sizeof(float));
  EXPECT_DOUBLE_EQ(measures.at("bytes_per_second"), 2.0 * kThreads * sizeof(float) / 1e-6);
  EXPECT_DOUBLE_EQ(measures.at("of_copy"), measures.at("bytes_per_second") / kCopyRate);
  EXPECT_DOUBLE_EQ(measures.at("operations"), kFlopsOfThread * kThreads);
  EXPECT_DOUBLE_EQ(measures.at("requested_bytes"), 12.0 * kThreads);
  EXPECT_DOUBLE_EQ(measures.at("of_fma"), kFlopsOfThread / 8192);
  EXPECT_THAT(measures, Not(Contains(Key("backward_over_forward"))));
}

TEST_F(MeasurerTest, CountsBytesReadAndWrittenByBackwardPass) {
  const PassMeasurements measured = measure(kScale);
  const auto& measures = measured.backward->measures;
  // x is read, grad_x updated, grad_out read and cleared; the gradient of the factor is one float, updated.
  EXPECT_EQ(measures.at("bytes"), 5.0 * kThreads * sizeof(float) + 2 * sizeof(float));
  EXPECT_THAT(measures, Contains(Pair("backward_over_forward", DoubleEq(kBackwardNs / kForwardNs))));
}

TEST_F(MeasurerTest, CountsAtomicUpdateAsReadAndWrite) {
  const PassMeasurements measured = measure(kSum);
  const double bytes = measured.forward->measures.at("bytes");
  // The target of the sum has a few elements.
  EXPECT_GE(bytes, kThreads * sizeof(float) + 2 * sizeof(float));
  EXPECT_LE(bytes, 3 * kThreads * sizeof(float));
}

TEST_F(MeasurerTest, CountsOperationsInSeparateLaunchWithFewerThreads) {
  measure(kScale);
  ASSERT_THAT(clockwork.seen, SizeIs(4));
  EXPECT_EQ(clockwork.seen[0].threads, kThreads);
  EXPECT_EQ(clockwork.seen[0].sample_count, 7);
  EXPECT_EQ(clockwork.seen[1].threads, 4096);
  EXPECT_TRUE(clockwork.seen[1].profile);
  EXPECT_EQ(clockwork.seen[1].sample_count, 0);
}

TEST_F(MeasurerTest, ReportsTimesButNoOperationCountsWithoutCountingDevice) {
  const PassMeasurements measured = measure(kScale, false);
  EXPECT_THAT(measured.forward->measures, Contains(Key("of_copy")));
  EXPECT_THAT(measured.forward->measures, Not(Contains(Key("operations"))));
}

TEST_F(MeasurerTest, ReportsWhyForwardOrBackwardPassWasNotMeasured) {
  clockwork.failing = "kernel";
  const PassMeasurements measured = measure(kScale);
  EXPECT_EQ(measured.forward->remark, "not measured: timed out after 60000 ms");
  EXPECT_TRUE(measured.forward->measures.empty());
  EXPECT_THAT(measured.backward->measures, Not(Contains(Key("backward_over_forward"))));
}

TEST_F(MeasurerTest, RejectsDeviceWithoutTimer) {
  clockwork.has_clock = false;
  ClockworkDevice device(clockwork);
  const auto measurer = Measurer::make(device, nullptr, {.memory_limit_bytes = 1 << 20});
  ASSERT_FALSE(measurer.ok());
  EXPECT_THAT(measurer.error().text(), HasSubstr("the device does not support timing of launches"));
}

}  // namespace
}  // namespace assay::harness
