#include "backends/cuda/measuring.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "backends/cuda/cupti/counters.hpp"
#include "backends/cuda/cupti/trace.hpp"

namespace assay::cuda {

namespace {

constexpr std::size_t kAlignment = 256;
/// The memory used to flush a cache, as a multiple of the cache size.
constexpr std::size_t kSweeps = 2;
/// The unused copy and that of the untimed run.
constexpr std::size_t kOwnCopies = 2;
constexpr double kNanosecondsInSecond = 1e9;

using Measures = std::map<std::string, double>;

/// The quantile of at least one value, with linear interpolation.
double quantile(std::vector<double> values, double share) {
  std::ranges::sort(values);
  const double at = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (values[above] - values[below]) * (at - static_cast<double>(below));
}

class Measuring {
 public:
  Measuring(const Driver& driver, const Stream& stream, const LaunchToMeasure& launch, const GpuProperties& gpu,
            std::size_t copies)
      : driver_(driver),
        stream_(stream),
        launch_(launch),
        gpu_(gpu),
        stride_(stride_of(launch)),
        copies_(copies),
        memory_(allocate(driver, stride_ * copies + sweep_bytes(gpu))) {
    launch_.fill(copy(0));
    for (std::size_t i = 0; i < 2 * copies; ++i)
      events_.push_back(make_event(driver));
  }

  static std::size_t stride_of(const LaunchToMeasure& launch) {
    return (std::max<std::size_t>(launch.buffer_copy_bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  }
  static std::size_t sweep_bytes(const GpuProperties& gpu) {
    return std::max(kSweeps * gpu.l2_cache_bytes, kAlignment);
  }

  Measures times() {
    std::vector<double> times;
    std::vector<double> rates;
    while (times.size() < launch_.sample_count) {
      const std::size_t runs = std::min(copies_ - kOwnCopies, launch_.sample_count - times.size());
      rates.push_back(refresh(runs + 1));
      run(1);
      for (std::size_t i = 0; i < runs; ++i)
        timed(i, [&] { run(kOwnCopies + i); });
      wait();
      for (std::size_t i = 0; i < runs; ++i)
        times.push_back(nanoseconds(i));
    }
    return {{"samples", static_cast<double>(times.size())},
            {"time_ns", quantile(times, 0.5)},
            {"time_lower_ns", quantile(times, 0.25)},
            {"time_upper_ns", quantile(times, 0.75)},
            {"copy_bytes_per_second", quantile(rates, 0.5)}};
  }

  Measures resources() const {
    const auto attribute = [&](CUfunction_attribute which) {
      int value = 0;
      driver_.call(driver_.cuFuncGetAttribute, launch_.symbol, &value, which, launch_.function);
      return static_cast<double>(value);
    };
    int blocks = 0;
    driver_.call(driver_.cuOccupancyMaxActiveBlocksPerMultiprocessor, launch_.symbol, &blocks, launch_.function,
                 static_cast<int>(launch_.grid.threads_per_block), std::size_t{0});
    return {{"registers", attribute(CU_FUNC_ATTRIBUTE_NUM_REGS)},
            {"local_bytes", attribute(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)},
            {"shared_bytes", attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)},
            {"block_threads", static_cast<double>(launch_.grid.threads_per_block)},
            {"occupancy", static_cast<double>(blocks) * launch_.grid.threads_per_block /
                              std::max<double>(gpu_.threads_per_multiprocessor, 1)}};
  }

  /// CUPTI's records of one run and the copies before it.
  Measures traced(const Cupti& cupti) {
    CuptiTrace trace(cupti);
    refresh(1);
    run(1);
    wait();
    const CuptiTraceResult traced = trace.finish();
    Measures measures{{"dropped_records", static_cast<double>(traced.dropped_record_count)}};
    if (!traced.kernel_nanoseconds.empty()) measures.emplace("kernel_ns", quantile(traced.kernel_nanoseconds, 0.5));
    if (!traced.launch_call_nanoseconds.empty())
      measures.emplace("launch_call_ns", quantile(traced.launch_call_nanoseconds, 0.5));
    std::vector<double> rates;
    for (const CuptiTraceResult::Copy& copy : traced.copies)
      if (copy.nanoseconds > 0) rates.push_back(2 * copy.bytes / copy.nanoseconds * kNanosecondsInSecond);
    if (!rates.empty()) measures.emplace("traced_copy_bytes_per_second", quantile(rates, 0.5));
    return measures;
  }

  Measures counted(const Cupti& cupti) {
    CUcontext context = nullptr;
    driver_.call(driver_.cuCtxGetCurrent, launch_.symbol, &context);
    refresh(1);
    wait();
    return read_counters(cupti, launch_.gpu_ordinal, context, [&] {
      run(1);
      wait();
    });
  }

 private:
  [[nodiscard]] CUdeviceptr copy(std::size_t number) const { return memory_.get() + number * stride_; }

  /// Fills the first copies from the unused one and flushes the caches. Returns the copy rate in bytes per second.
  double refresh(std::size_t count) {
    timed(0, [&] {
      for (std::size_t i = 1; i <= count; ++i)
        driver_.call(driver_.cuMemcpyDtoDAsync_v2, "copying the buffers", copy(i), copy(0), stride_, stream_.get());
    });
    wait();
    const double rate = 2.0 * static_cast<double>(count * stride_) / nanoseconds(0) * kNanosecondsInSecond;
    driver_.call(driver_.cuMemsetD8Async, "writing the buffer that flushes the caches", copy(copies_),
                 static_cast<unsigned char>(0), sweep_bytes(gpu_), stream_.get());
    return rate;
  }

  void run(std::size_t number) {
    driver_.call(driver_.cuLaunchKernel, launch_.symbol, launch_.function, launch_.grid.block_count, 1U, 1U,
                 launch_.grid.threads_per_block, 1U, 1U, 0U, stream_.get(), launch_.arguments(copy(number)).data(),
                 static_cast<void**>(nullptr));
  }

  /// Does the work between the pair of events with that number.
  template <typename Work>
  void timed(std::size_t number, const Work& work) {
    driver_.call(driver_.cuEventRecord, "recording the start of a measurement", events_[2 * number].get(),
                 stream_.get());
    work();
    driver_.call(driver_.cuEventRecord, "recording the end of a measurement", events_[2 * number + 1].get(),
                 stream_.get());
  }
  [[nodiscard]] double nanoseconds(std::size_t number) const {
    return nanoseconds_between(driver_, events_[2 * number], events_[2 * number + 1]);
  }
  void wait() const { driver_.call(driver_.cuStreamSynchronize, launch_.symbol, stream_.get()); }

  const Driver& driver_;
  const Stream& stream_;
  const LaunchToMeasure& launch_;
  const GpuProperties& gpu_;
  std::size_t stride_;
  std::size_t copies_;
  DeviceMemory memory_;  ///< the copies, followed by the memory used to flush the caches
  std::vector<Event> events_;
};

void add_remark(std::string& remark, const std::string& text) { remark += (remark.empty() ? "" : "; ") + text; }

/// Adds CUPTI measures; if CUPTI fails, the remark says why. Errors of the kernel or the driver are rethrown.
template <typename Work>
void try_cupti(worker::LaunchMeasurements& measured, const Work& work) {
  try {
    measured.measures.merge(work());
  } catch (const CallError& error) {
    if (!error.call().starts_with("cupti")) throw;
    const std::string advice = advice_on(error.code());
    add_remark(measured.remark, advice.empty() ? error.what() : advice);
  }
}

void add_from_cupti(worker::LaunchMeasurements& measured, Measuring& measuring) {
  const Result<Cupti> cupti = Cupti::load();
  if (!cupti) {
    return add_remark(measured.remark,
                      "activity records and hardware counters are not available: " + cupti.error().text());
  }
  try_cupti(measured, [&] { return measuring.traced(*cupti); });
  if (!cupti->has_counters()) {
    return add_remark(measured.remark,
                      "hardware counters are not available: " + cupti->library() + " is older than CUDA 12.6");
  }
  try_cupti(measured, [&] { return measuring.counted(*cupti); });
}

}  // namespace

std::optional<worker::LaunchMeasurements> measure_launch(const Driver& driver, const Stream& stream,
                                                         const LaunchToMeasure& launch, std::size_t max_bytes) {
  const GpuProperties gpu = query_gpu(driver, launch.gpu_ordinal);
  const std::size_t sweep = Measuring::sweep_bytes(gpu);
  const std::size_t room = max_bytes < sweep ? 0 : (max_bytes - sweep) / Measuring::stride_of(launch);
  if (room <= kOwnCopies) {
    return std::nullopt;
  }
  Measuring measuring(driver, stream, launch, gpu, std::min(room, kOwnCopies + launch.sample_count));
  worker::LaunchMeasurements measured{.measures = measuring.times(), .remark = {}};
  measured.measures.merge(measuring.resources());
  add_from_cupti(measured, measuring);
  return measured;
}

}  // namespace assay::cuda
