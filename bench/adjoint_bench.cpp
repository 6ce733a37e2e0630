// The cost of a backward pass relative to the forward pass of the same kernel.
//
// Each line gives the time of one backward launch on the CPU at -O2. The counter `ratio` is that time over the time of
// the forward launch, both medians of the same run; `limit` is the upper limit of the ratio (0: none).
#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <benchmark/benchmark.h>

#include "backends/cpu/device.hpp"
#include "backends/cpu/worker.hpp"
#include "bench/backward_cost.hpp"
#include "bench/median.hpp"
#include "bench/running.hpp"

namespace assay::bench {
namespace {

constexpr std::string_view kProduct = R"(import warp as wp

@wp.kernel
def product(x: wp.array(dtype=float), y: wp.array(dtype=float), n: int, out: wp.array(dtype=float)):
    i = wp.tid()
    p = y[i]
    for j in range(n):
        p *= x[j]
    out[i] = p
)";
constexpr std::string_view kWhile = R"(import warp as wp

@wp.kernel
def newton(x: wp.array(dtype=float), y: wp.array(dtype=float), n: int, out: wp.array(dtype=float)):
    i = wp.tid()
    s = y[i]
    k = int(0)
    while k < n:
        s = 0.5 * (s + x[i] / s)
        k += 1
        if s > 4.0:
            break
    out[i] = s
)";
constexpr std::string_view kNested = R"(import warp as wp

@wp.kernel
def nested(x: wp.array(dtype=float), y: wp.array(dtype=float), n: int, out: wp.array(dtype=float)):
    i = wp.tid()
    s = y[i]
    for j in range(n):
        for k in range(n):
            s = s * x[k] + 0.001 * y[j]
        s = s * 0.97
    out[i] = s
)";

/// A sum whose terms a sequence of integers selects.
constexpr std::string_view kSelected = R"(import warp as wp

@wp.kernel
def selected(x: wp.array(dtype=float), y: wp.array(dtype=float), n: int, out: wp.array(dtype=float)):
    i = wp.tid()
    s = y[i]
    at = int(0)
    k = int(0)
    while k < n:
        at = (at * 5 + 3) % (n + 1)
        s += x[at] * x[at]
        k += 1
    out[i] = s
)";

struct Case {
  std::string_view name;
  std::string_view kernel;
  std::int32_t trips;
  std::int32_t threads;
  double limit;  ///< of backward over forward; 0 for none
};
/// Enough threads for a forward launch of some 200 microseconds, so that the timer's resolution does not matter.
constexpr Case kCases[] = {
    {"product/8", kProduct, 8, 20'000, 5},     {"product/64", kProduct, 64, 2'000, 5},
    {"product/1000", kProduct, 1000, 200, 12}, {"product/100000", kProduct, 100'000, 2, 0},
    {"while/8", kWhile, 8, 4'000, 5},          {"while/64", kWhile, 64, 500, 5},
    {"while/1000", kWhile, 1000, 40, 12},      {"nested/32x32", kNested, 32, 100, 12},
    {"selected/8", kSelected, 8, 4'000, 2},    {"selected/1000", kSelected, 1000, 40, 2},
};

void backward_over_forward(benchmark::State& state, backends::Device& device, const Case& measured) {
  const std::int32_t extent = std::max(measured.threads, measured.trips) + 1;
  auto kernel = TimedKernel::make(device, measured.kernel, measured.trips, measured.threads, extent);
  if (!kernel.ok()) return fail(state, kernel.error().text());
  std::vector<double> forward;
  std::vector<double> backward;
  for ([[maybe_unused]] auto iteration : state) {
    const auto times = kernel->run();
    if (!times.ok()) return fail(state, times.error().text());
    forward.push_back(times->forward.seconds);
    backward.push_back(times->backward.seconds);
    state.SetIterationTime(times->backward.seconds);
  }
  state.counters["forward_us"] = median(forward) * 1e6;
  state.counters["ratio"] = median(backward) / median(forward);
  state.counters["limit"] = measured.limit;
}

}  // namespace
}  // namespace assay::bench

int main(int argc, char** argv) {
  if (const auto status = assay::cpu::run_if_worker(argc, argv)) return *status;
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  assay::cpu::CpuDevice device({});
  if (const auto can = device.can_run(); !can.is_available) {
    std::fprintf(stderr, "assay_bench: cannot run kernels: %s\n", can.tool_or_reason.c_str());
    return 77;
  }
  for (const assay::bench::Case& measured : assay::bench::kCases) {
    benchmark::RegisterBenchmark(
        ("backward/" + std::string(measured.name)).c_str(),
        [&](benchmark::State& state) { assay::bench::backward_over_forward(state, device, measured); })
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
  }
  return assay::bench::run_registered();
}
