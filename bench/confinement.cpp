// The cost of confining the workers of the CPU device.
//
// Each line gives the confined time. The counter `ratio` is that time over the unconfined time, both medians of the
// same run, measured alternately. `launch` measures two small launches, one per pass; `start` measures opening and
// closing a session, including the start of its process.
#include <chrono>
#include <cstdio>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "backends/cpu/device.hpp"
#include "backends/cpu/worker.hpp"
#include "bench/backward_cost.hpp"
#include "bench/median.hpp"
#include "bench/running.hpp"

namespace assay::bench {
namespace {

constexpr std::string_view kKernel = R"(import warp as wp

@wp.kernel
def scale(x: wp.array(dtype=float), y: wp.array(dtype=float), n: int, out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = x[i] * y[i]
)";

/// Runs the work and returns the seconds that it takes.
template <typename Work>
double seconds_of(Work work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Measures both kinds of work alternately.
template <typename Work>
void compare(benchmark::State& state, Work confined, Work unconfined) {
  std::vector<double> with;
  std::vector<double> without;
  for ([[maybe_unused]] auto iteration : state) {
    // Which one goes first decides on which core its worker is found.
    const bool first = with.size() % 2 == 0;
    if (first) with.push_back(seconds_of(confined));
    without.push_back(seconds_of(unconfined));
    if (!first) with.push_back(seconds_of(confined));
    state.SetIterationTime(with.back());
  }
  state.counters["unconfined_us"] = median(without) * 1e6;
  state.counters["ratio"] = median(with) / median(without);
}

void launch(benchmark::State& state, backends::Device& confined, backends::Device& unconfined) {
  auto with = TimedKernel::make(confined, kKernel, 1, 1, 1);
  auto without = TimedKernel::make(unconfined, kKernel, 1, 1, 1);
  if (!with.ok()) return fail(state, with.error().text());
  if (!without.ok()) return fail(state, without.error().text());
  const auto run = [&](TimedKernel& kernel) {
    return [&] {
      if (!kernel.run().ok()) fail(state, "a launch did not complete");
    };
  };
  using Work = std::function<void()>;
  compare<Work>(state, run(*with), run(*without));
}

void start(benchmark::State& state, backends::Device& confined, backends::Device& unconfined) {
  const auto open = [&](backends::Device& device) {
    return [&] {
      if (!device.open({.buffer_bytes = 4096}).ok()) fail(state, "a worker did not start");
    };
  };
  using Work = std::function<void()>;
  compare<Work>(state, open(confined), open(unconfined));
}

}  // namespace
}  // namespace assay::bench

int main(int argc, char** argv) {
  if (const auto status = assay::cpu::run_if_worker(argc, argv)) return *status;
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  assay::cpu::CpuDevice confined({});
  assay::cpu::CpuDevice unconfined({.confine_worker = false});
  if (const auto can = confined.can_run(); !can.is_available) {
    std::fprintf(stderr, "assay_confinement_bench: cannot run kernels: %s\n", can.tool_or_reason.c_str());
    return 77;
  }
  for (const auto& [name, measure] : {std::pair{"launch", &assay::bench::launch}, {"start", &assay::bench::start}}) {
    benchmark::RegisterBenchmark(name, [&, measure](benchmark::State& state) { measure(state, confined, unconfined); })
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
  }
  return assay::bench::run_registered();
}
