// Tests of measured launches over the fake driver and the fake CUPTI, including failures of CUPTI.
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "backends/cuda/cupti/counters.hpp"
#include "backends/cuda/testing/sessions.hpp"

namespace assay::cuda {
namespace {

using namespace backends;
using namespace testing;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::Le;
using ::testing::Not;
using ::testing::Pair;
using ::testing::StartsWith;

class CudaMeasurement : public CudaSession {
 protected:
  static LaunchRequest sampled(DeviceSession& session, const BuiltKernel& kernel, int samples) {
    LaunchRequest request = launch(session, kernel, 1000);
    request.sample_count = samples;
    request.time_limit = std::chrono::seconds{10};
    return request;
  }

  /// The measurement of one launch under the plan.
  Measurement measurement(const std::string& text) {
    plan(text);
    const auto session = open();
    const LaunchRequest request = sampled(**session, scale, 3);
    const RunOutcome outcome = (*session)->run({&request, 1}).front();
    EXPECT_TRUE(std::holds_alternative<Completed>(outcome)) << describe(outcome);
    const auto* const completed = std::get_if<Completed>(&outcome);
    return completed != nullptr ? completed->measurement.value_or(Measurement{}) : Measurement{};
  }
};

TEST_F(CudaMeasurement, ReportsTimesAndResourcesWithoutChangingBuffers) {
  const auto session = open();
  const LaunchRequest request = sampled(**session, scale, 5);
  const auto done = std::get<Completed>((*session)->run({&request, 1}).front());
  ASSERT_TRUE(done.measurement.has_value());
  EXPECT_THAT(result(**session, request), Each(2.0F));
  EXPECT_EQ(done.measurement->target, "sm_75");
  EXPECT_EQ(done.measurement->threads, 1000);
  EXPECT_EQ(done.measurement->remark, "");
  const auto& measures = done.measurement->measures;
  EXPECT_EQ(measures.at("samples"), 5);
  EXPECT_THAT(measures.at("time_ns"), AllOf(Gt(0), Le(measures.at("time_upper_ns"))));
  EXPECT_THAT(measures.at("time_lower_ns"), AllOf(Gt(0), Le(measures.at("time_ns"))));
  EXPECT_EQ(done.duration.count(), static_cast<std::int64_t>(measures.at("time_ns")));
  EXPECT_GT(measures.at("copy_bytes_per_second"), 0);
  EXPECT_EQ(measures.at("registers"), 32);
  EXPECT_EQ(measures.at("block_threads"), 128);
  EXPECT_EQ(measures.at("occupancy"), 1);
}

TEST_F(CudaMeasurement, ReportsActivityRecordsAndHardwareCounters) {
  const Measurement measured_launch = measurement("");
  for (const char* name : {"kernel_ns", "launch_call_ns", "traced_copy_bytes_per_second"})
    EXPECT_THAT(measured_launch.measures, Contains(Pair(name, Gt(0)))) << name;
  EXPECT_EQ(measured_launch.measures.at("dropped_records"), 0);
  // The fake CUPTI returns the length of a metric's name as its value.
  for (const CounterMetric& row : counter_metrics())
    EXPECT_THAT(measured_launch.measures, Contains(Pair(row.measure_name, std::string_view(row.cupti_metric).size())));
}

TEST_F(CudaMeasurement, ReportsNumberOfDroppedCuptiRecords) {
  const Measurement measured_launch = measurement("records=1");
  EXPECT_GT(measured_launch.measures.at("dropped_records"), 0);
  EXPECT_THAT(measured_launch.measures, Not(Contains(Key("kernel_ns"))));
}

TEST_F(CudaMeasurement, ReportsTimesEvenIfCuptiIsMissing) {
  ::setenv("ASSAY_CUPTI", "/nonexistent/libcupti.so", 1);
  const Measurement measured_launch = measurement("");
  EXPECT_THAT(measured_launch.remark,
              StartsWith("activity records and hardware counters are not available: /nonexistent/libcupti.so: "));
  EXPECT_THAT(measured_launch.measures, AllOf(Contains(Pair("time_ns", Gt(0))), Not(Contains(Key("kernel_ns")))));
}

TEST_F(CudaMeasurement, ReportsTimesButNoHardwareCountersOnCuda12_0) {
  ::setenv("ASSAY_CUDA_DRIVER", ASSAY_FAKE_CUDA_12_0, 1);
  ::setenv("ASSAY_CUPTI", ASSAY_FAKE_CUDA_12_0, 1);
  const Measurement measured_launch = measurement("");
  EXPECT_EQ(measured_launch.remark,
            "hardware counters are not available: " ASSAY_FAKE_CUDA_12_0 " is older than CUDA 12.6");
  EXPECT_THAT(measured_launch.measures,
              AllOf(Contains(Pair("kernel_ns", Gt(0))), Not(Contains(Key("dram_read_bytes")))));
}

TEST_F(CudaMeasurement, RemarkExplainsHowToPermitHardwareCountersIfPermissionIsMissing) {
  const Measurement measured_launch = measurement("cuptiRangeProfilerEnable@1=35");
  EXPECT_THAT(measured_launch.remark, AllOf(StartsWith("hardware counters require administrator rights"),
                                            HasSubstr("NVreg_RestrictProfilingToAdminUsers=0")));
  EXPECT_THAT(measured_launch.measures, AllOf(Contains(Key("time_ns")), Contains(Key("kernel_ns"))));
}

/// For every CUPTI call of a measured launch: its failure only loses the measures that depend on it.
TEST_F(CudaMeasurement, FailedCuptiCallOmitsOnlyDependentMeasurements) {
  struct CuptiCall {
    const char* call;
    bool of_trace;
  };
  constexpr std::array kCalls{CuptiCall{"cuptiActivityRegisterCallbacks", true},
                              CuptiCall{"cuptiActivityEnable", true},
                              CuptiCall{"cuptiActivityFlushAll", true},
                              CuptiCall{"cuptiActivityGetNumDroppedRecords", true},
                              CuptiCall{"cuptiProfilerInitialize", false},
                              CuptiCall{"cuptiDeviceGetChipName", false},
                              CuptiCall{"cuptiProfilerHostInitialize", false},
                              CuptiCall{"cuptiProfilerHostConfigAddMetrics", false},
                              CuptiCall{"cuptiProfilerHostGetConfigImageSize", false},
                              CuptiCall{"cuptiProfilerHostGetConfigImage", false},
                              CuptiCall{"cuptiRangeProfilerEnable", false},
                              CuptiCall{"cuptiRangeProfilerGetCounterDataSize", false},
                              CuptiCall{"cuptiRangeProfilerCounterDataImageInitialize", false},
                              CuptiCall{"cuptiRangeProfilerSetConfig", false},
                              CuptiCall{"cuptiRangeProfilerStart", false},
                              CuptiCall{"cuptiRangeProfilerStop", false},
                              CuptiCall{"cuptiRangeProfilerDecodeData", false},
                              CuptiCall{"cuptiProfilerHostEvaluateToGpuValues", false}};
  for (const CuptiCall& failing : kCalls) {
    for (const char* result : {"1", "27", "35", "999"}) {
      SCOPED_TRACE(fmt::format("{}@1={}", failing.call, result));
      const Measurement measured_launch = measurement(fmt::format("{}@1={}", failing.call, result));
      EXPECT_THAT(measured_launch.measures, Contains(Pair("time_ns", Gt(0))));
      EXPECT_EQ(measured_launch.measures.contains("kernel_ns"), !failing.of_trace);
      EXPECT_EQ(measured_launch.measures.contains("dram_read_bytes"), failing.of_trace);
      const bool advised = !advice_on(std::atoi(result)).empty();
      EXPECT_THAT(measured_launch.remark, HasSubstr(advised ? advice_on(std::atoi(result)) : failing.call));
    }
  }
  // A CUPTI that does not report its version counts as missing.
  EXPECT_THAT(measurement("cuptiGetVersion@1=1").remark, HasSubstr("cuptiGetVersion"));
}

/// For every driver call that a measurement adds: its failure fails the launch with the correct cause.
TEST_F(CudaMeasurement, ReportsCauseOfFailedDriverCall) {
  struct Failure {
    const char* action;
    const char* outcome;
  };
  constexpr std::array kFailures{Failure{"1", "launch failed: {}"},     Failure{"2", "resource error: {}"},
                                 Failure{"46", "resource error: {}"},   Failure{"700", "memory fault: {}"},
                                 Failure{"719", "crashed: {}"},         Failure{"999", "resource error: {}"},
                                 Failure{"lose", "resource error: {}"}, Failure{"die", "crashed: SIGKILL"}};
  for (const std::string call : kMeasuringCalls) {
    for (const Failure& failure : kFailures) {
      SCOPED_TRACE(fmt::format("{}={}", call, failure.action));
      plan(fmt::format("{}={}", call, failure.action));
      const auto session = open();
      const std::array launches{sampled(**session, scale, 3), launch(**session, scale, 3)};
      const std::vector<RunOutcome> outcomes = (*session)->run(launches);
      const std::string name = call.substr(0, call.find('@'));
      EXPECT_THAT(describe(outcomes[0]), StartsWith(fmt::format(fmt::runtime(failure.outcome), name)));
    }
  }
}

TEST_F(CudaMeasurement, MeasuresOnlyLaunchesThatRequestMeasurement) {
  const auto session = open();
  const std::array launches{launch(**session, scale, 3), sampled(**session, scale, 2), launch(**session, scale, 3),
                            sampled(**session, other, 4)};
  const std::vector<RunOutcome> outcomes = (*session)->run(launches);
  const auto samples = [&](std::size_t i) {
    const auto& measurement = std::get<Completed>(outcomes[i]).measurement;
    return measurement ? measurement->measures.at("samples") : 0;
  };
  EXPECT_EQ(samples(0), 0);
  EXPECT_EQ(samples(1), 2);
  EXPECT_EQ(samples(2), 0);
  EXPECT_EQ(samples(3), 4);
  EXPECT_THAT(result(**session, launches[0]), Each(20.0F));
  EXPECT_THAT(result(**session, launches[1]), Each(2.0F));
}

TEST_F(CudaMeasurement, RejectsLaunchBeyondMemoryLimit) {
  // The fake GPU's cache has 1 MiB and is flushed with 2 MiB; three copies of the buffers take only a few KiB.
  plan("memory=3M");
  const auto enough = open((2 << 20) + (64 << 10));
  const LaunchRequest request = sampled(**enough, scale, 50);
  const RunOutcome outcome = (*enough)->run({&request, 1}).front();
  ASSERT_TRUE(std::holds_alternative<Completed>(outcome)) << describe(outcome);
  EXPECT_EQ(std::get<Completed>(outcome).measurement->measures.at("samples"), 50);
  const auto little = open(2 << 20);
  const LaunchRequest rejected = sampled(**little, scale, 50);
  EXPECT_EQ(describe((*little)->run({&rejected, 1}).front()),
            "resource error: measuring needs memory for three copies of the launch's 4000 bytes plus twice the cache "
            "size, but the allowed device memory has only 2097152 bytes");
}

TEST_F(CudaMeasurement, RejectsLaunchBeyondFreeMemory) {
  plan("memory=3M");
  const auto session = open(std::size_t{1} << 30);
  const LaunchRequest request = sampled(**session, scale, 500);
  const RunOutcome outcome = (*session)->run({&request, 1}).front();
  ASSERT_TRUE(std::holds_alternative<Completed>(outcome)) << describe(outcome);
  EXPECT_EQ(std::get<Completed>(outcome).measurement->measures.at("samples"), 500);
  plan("memory=2M");
  const auto little = open(std::size_t{1} << 30);
  const LaunchRequest rejected = sampled(**little, scale, 50);
  EXPECT_EQ(describe((*little)->run({&rejected, 1}).front()),
            "resource error: measuring needs memory for three copies of the launch's 4000 bytes plus twice the cache "
            "size, but the free device memory has only 1966080 bytes");
}

TEST_F(CudaMeasurement, ReportsMemoryFaultOfMeasuredKernel) {
  const BuiltKernel stray = built_kernel(directory.path(), "stray", "st.global.f32 [%rd1+134217728], %f1;");
  const auto session = open();
  const std::array launches{sampled(**session, stray, 3), launch(**session, scale, 3)};
  const std::vector<RunOutcome> outcomes = (*session)->run(launches);
  EXPECT_THAT(describe(outcomes[0]), StartsWith("memory fault: "));
  EXPECT_EQ(describe(outcomes[1]), "completed");
}

}  // namespace
}  // namespace assay::cuda
