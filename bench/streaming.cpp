// How close generated kernels that stream through memory come to a plain copy on the same device.
//
// Each line's time is that of one launch; `GB/s` is what it must move over that time, `of_copy` its share of what the
// copy kernel reached in the same run, and backward lines have `ratio`, their time over the forward pass's. With
// --device=cuda it measures a GPU by its own clock, else the CPU at -O2.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <benchmark/benchmark.h>

#include "backends/cpu/device.hpp"
#include "backends/cpu/worker.hpp"
#include "backends/cuda/device.hpp"
#include "backends/cuda/worker.hpp"
#include "bench/backward_cost.hpp"

namespace assay::bench {
namespace {

/// A kernel over arrays of floats, and what a launch must move: arrays read and written, forward and backward.
struct Streaming {
  std::string_view name;
  std::string_view body;  ///< of the kernel with parameters x, y, out, behind `i = wp.tid()`
  double forward_arrays;
  double backward_arrays;  ///< gradients are read and written
};
constexpr std::array kStreaming{
    Streaming{"copy", "out[i] = x[i]", 2, 4},
    Streaming{"arithmetic", "out[i] = 2.0 * x[i] + y[i]", 3, 6},
    Streaming{"vector", "v = wp.vec3(x[i], y[i], 1.0)\n    out[i] = wp.dot(v, v)", 3, 8},
    Streaming{"array_access", "j = out.shape[0] - 1 - i\n    out[i] = x[j] * y[j]", 3, 8},
};

std::string source_of(const Streaming& streaming) {
  return "import warp as wp\n\n@wp.kernel\ndef k(x: wp.array(dtype=float), y: wp.array(dtype=float), n: int, "
         "out: wp.array(dtype=float)):\n    i = wp.tid()\n    " +
         std::string(streaming.body) + "\n";
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The copy's rates, which come first and are the ceiling.
struct Ceiling {
  double bytes_per_second = 0;
};

void stream(benchmark::State& state, backends::Device& device, const Streaming& measured, bool backward,
            std::int32_t elements, Ceiling& ceiling) {
  auto kernel = TimedKernel::make(device, source_of(measured), 1, elements, elements);
  if (!kernel.ok()) return state.SkipWithError(kernel.error().text().c_str());
  std::vector<double> forward_times;
  std::vector<double> times;
  for ([[maybe_unused]] auto iteration : state) {
    const auto passes = kernel->run();
    if (!passes.ok()) return state.SkipWithError(passes.error().text().c_str());
    forward_times.push_back(passes->forward.seconds);
    times.push_back(backward ? passes->backward.seconds : passes->forward.seconds);
    state.SetIterationTime(times.back());
  }
  const double arrays = backward ? measured.backward_arrays : measured.forward_arrays;
  const double rate = arrays * elements * sizeof(float) / median(times);
  if (measured.name == "copy" && !backward) ceiling.bytes_per_second = rate;
  state.counters["GB/s"] = rate / 1e9;
  state.counters["of_copy"] = rate / ceiling.bytes_per_second;
  if (backward) state.counters["ratio"] = median(times) / median(forward_times);
}

}  // namespace
}  // namespace assay::bench

int main(int argc, char** argv) {
  if (const auto status = assay::cpu::run_if_worker(argc, argv)) return *status;
  if (const auto status = assay::cuda::run_if_worker(argc, argv)) return *status;
  benchmark::Initialize(&argc, argv);
  const bool on_gpu = argc == 2 && std::strcmp(argv[1], "--device=cuda") == 0;
  if (argc > (on_gpu ? 2 : 1)) return benchmark::ReportUnrecognizedArguments(argc, argv), 2;
  std::unique_ptr<assay::backends::Device> device;
  if (on_gpu) {
    device = std::make_unique<assay::cuda::CudaDevice>(assay::cuda::CudaOptions{});
  } else {
    device = std::make_unique<assay::cpu::CpuDevice>(assay::cpu::CpuOptions{});
  }
  if (const auto can = device->can_run(); !can.available) {
    std::fprintf(stderr, "assay_streaming_bench: cannot run kernels: %s\n", can.detail.c_str());
    return 77;
  }
  // A GPU's caches must not hold the arrays; a CPU takes long enough with fewer.
  const std::int32_t elements = on_gpu ? 1 << 26 : 1 << 22;
  assay::bench::Ceiling ceiling;
  for (const assay::bench::Streaming& measured : assay::bench::kStreaming) {
    for (const bool backward : {false, true}) {
      const std::string name = std::string(measured.name) + (backward ? "/backward" : "/forward");
      benchmark::RegisterBenchmark(name.c_str(),
                                   [&, backward](benchmark::State& state) {
                                     assay::bench::stream(state, *device, measured, backward, elements, ceiling);
                                   })
          ->UseManualTime()
          ->Unit(benchmark::kMicrosecond);
    }
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
