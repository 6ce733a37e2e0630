// Measures the time of one launch by the GPU's clock. Private to the worker.
//
// Every timed run has its own copy of the launch's buffers. The copies are filled from one that no run uses, and the
// caches are flushed. Then the runs follow one another, first an untimed one. Each run therefore finds its arrays in
// GPU memory, like the first launch of a program. If CUPTI is available, one more run is traced and one is counted.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "backends/cuda/driver/handles.hpp"
#include "backends/device/geometry.hpp"
#include "backends/worker/serve.hpp"

namespace assay::cuda {

/// A launch to measure, on the GPU whose context is current.
struct LaunchToMeasure {
  std::string symbol;                 ///< name of the kernel's entry point
  CUfunction function = nullptr;      ///< handle of the entry point
  backends::BlockGrid grid;           ///< blocks and threads of the launch
  std::size_t buffer_copy_bytes = 0;  ///< number of bytes in the launch's buffers, which each timed run copies
  std::size_t sample_count = 1;       ///< number of timed runs
  int gpu_ordinal = 0;                ///< number of the GPU in the driver's order
  /// Copies the launch's buffers to the address.
  std::function<void(CUdeviceptr to)> fill;
  /// The launch's arguments for buffers at the address; valid until the next call.
  std::function<std::span<void*>(CUdeviceptr base)> arguments;
};

/// Measures the launch with at most `max_bytes` of GPU memory; returns nullopt if that is not enough. Throws CallError.
/// The remark reports measures that CUPTI could not provide.
///
/// Measures: time_ns (the median), time_lower_ns and time_upper_ns (quartiles), samples; copy_bytes_per_second (of the
/// copies that fill the buffers, read plus written bytes); registers, local_bytes (arrays and spilled registers per
/// thread), shared_bytes, block_threads, occupancy (the fraction of a multiprocessor's threads that blocks can fill).
/// With CUPTI: kernel_ns, launch_call_ns (CPU time of the call), traced_copy_bytes_per_second, dropped_records, and the
/// measures of cupti/counters.hpp.
[[nodiscard]] std::optional<worker::LaunchMeasurements> measure_launch(const Driver& driver, const Stream& stream,
                                                                       const LaunchToMeasure& launch,
                                                                       std::size_t max_bytes);

}  // namespace assay::cuda
