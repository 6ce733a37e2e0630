// How fast a GPU runs one launch, by its own clock. Private to the worker.
//
// Every timed run has a copy of the launch's buffers to itself. Copies are filled from one that no run touches, then
// what the caches hold is swept out, then the runs follow one another, an untimed one first: so each finds its arrays
// in the GPU's memory, as the first launch of a program would. After that, and where CUPTI is there, one run is
// recorded and one counted.
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

struct MeasuredLaunch {
  std::string symbol;
  CUfunction function = nullptr;
  backends::BlockGrid grid;
  std::size_t image_bytes = 0;  ///< what its buffers reach
  std::size_t samples = 1;      ///< timed runs
  int ordinal = 0;              ///< of the GPU, whose context is current
  /// Copies the launch's buffers to the address.
  std::function<void(CUdeviceptr to)> fill;
  /// The launch's arguments for buffers at the address; valid until the next call.
  std::function<std::span<void*>(CUdeviceptr base)> arguments;
};

/// Measures, in at most so many bytes of the GPU's memory; nothing when they are too few. Throws CallError. What CUPTI
/// does not give is told in the remark.
///
/// Measures: time_ns (the median), time_lower_ns and time_upper_ns (quartiles), samples; copy_bytes_per_second, of the
/// copies that fill the buffers, read and written bytes together; registers, local_bytes (arrays and what registers
/// spilled, of a thread), shared_bytes, block_threads, occupancy (the share of a multiprocessor's threads that blocks
/// can fill). With CUPTI: kernel_ns, launch_call_ns (the processor's time in the call), traced_copy_bytes_per_second,
/// dropped_records, and the figures of cupti/counters.hpp.
[[nodiscard]] std::optional<worker::Measured> measure(const Driver& driver, const Stream& stream,
                                                      const MeasuredLaunch& launch, std::size_t most_bytes);

}  // namespace assay::cuda
