// Memory throughput of generated streaming kernels, compared with a plain copy on the same device.
//
// Each line gives the time of one launch. `GB/s` is the minimum traffic divided by that time, `of_copy` its ratio to
// the rate of the copy kernel in the same run; backward lines have `ratio`, their time over that of the forward pass.
// --device=cuda measures a GPU by its own timer; the default is the CPU at -O2. --elements=N sets the length of the
// arrays, which should exceed the caches: the default is 2^26, and 2^22 on the CPU.
#include <array>
#include <charconv>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <benchmark/benchmark.h>

#include "backends/cpu/device.hpp"
#include "backends/cpu/worker.hpp"
#include "backends/cuda/device.hpp"
#include "backends/cuda/worker.hpp"
#include "bench/backward_cost.hpp"
#include "bench/median.hpp"
#include "bench/running.hpp"

namespace assay::bench {
namespace {

/// Runs of each line; the median is reported. The library's default, half a second of GPU time, would need thousands of
/// runs, each of which moves gigabytes to the GPU and back.
constexpr int kRuns = 30;

/// A kernel over arrays of floats, and the number of arrays that a launch reads and writes, forward and backward.
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

/// The rates of the copy kernel, measured first: the upper limit.
struct Ceiling {
  double bytes_per_second = 0;
};

void stream(benchmark::State& state, backends::Device& device, const Streaming& measured, bool backward,
            std::int32_t elements, Ceiling& ceiling) {
  auto kernel = TimedKernel::make(device, source_of(measured), 1, elements, elements);
  if (!kernel.ok()) return fail(state, kernel.error().text());
  std::vector<double> forward_times;
  std::vector<double> times;
  for ([[maybe_unused]] auto iteration : state) {
    const auto passes = kernel->run();
    if (!passes.ok()) return fail(state, passes.error().text());
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

struct Options {
  bool on_gpu = false;
  std::int32_t elements = 0;  ///< 0: the default of the device
};

/// Parses the arguments that the library left; empty if one is unknown.
std::optional<Options> options_of(std::span<char* const> arguments) {
  constexpr std::string_view kElements = "--elements=";
  constexpr std::int32_t kMostElements = 1 << 28;
  Options options;
  for (const std::string_view argument : arguments) {
    if (argument == "--device=cuda") {
      options.on_gpu = true;
      continue;
    }
    if (!argument.starts_with(kElements)) return std::nullopt;
    const char* const last = argument.data() + argument.size();
    const auto [end, error] = std::from_chars(argument.data() + kElements.size(), last, options.elements);
    if (error != std::errc{} || end != last || options.elements < 1 || options.elements > kMostElements)
      return std::nullopt;
  }
  return options;
}

}  // namespace
}  // namespace assay::bench

int main(int argc, char** argv) {
  if (const auto status = assay::cpu::run_if_worker(argc, argv)) return *status;
  if (const auto status = assay::cuda::run_if_worker(argc, argv)) return *status;
  benchmark::Initialize(&argc, argv);
  const auto options = assay::bench::options_of(std::span(argv, static_cast<std::size_t>(argc)).subspan(1));
  if (!options) return benchmark::ReportUnrecognizedArguments(argc, argv), 2;
  std::unique_ptr<assay::backends::Device> device;
  if (options->on_gpu) {
    device = std::make_unique<assay::cuda::CudaDevice>(assay::cuda::CudaOptions{});
  } else {
    device = std::make_unique<assay::cpu::CpuDevice>(assay::cpu::CpuOptions{});
  }
  if (const auto can = device->can_run(); !can.is_available) {
    std::fprintf(stderr, "assay_streaming_bench: cannot run kernels: %s\n", can.tool_or_reason.c_str());
    return 77;
  }
  const std::int32_t usual = options->on_gpu ? 1 << 26 : 1 << 22;
  const std::int32_t elements = options->elements > 0 ? options->elements : usual;
  assay::bench::Ceiling ceiling;
  for (const assay::bench::Streaming& measured : assay::bench::kStreaming) {
    for (const bool backward : {false, true}) {
      const std::string name = std::string(measured.name) + (backward ? "/backward" : "/forward");
      benchmark::RegisterBenchmark(name.c_str(),
                                   [&, backward](benchmark::State& state) {
                                     assay::bench::stream(state, *device, measured, backward, elements, ceiling);
                                   })
          ->UseManualTime()
          ->Iterations(assay::bench::kRuns)
          ->Unit(benchmark::kMicrosecond);
    }
  }
  return assay::bench::run_registered();
}
