// The exit status of a benchmark program. Google Benchmark itself returns success even if a benchmark failed.
#pragma once

#include <string>

#include <benchmark/benchmark.h>

namespace assay::bench {

/// Ends the benchmark and prints the reason; run_registered() then returns 1.
void fail(benchmark::State& state, const std::string& why);

/// Runs the registered benchmarks and returns the exit status: 0 if all were measured, 1 if one failed.
[[nodiscard]] int run_registered();

}  // namespace assay::bench
