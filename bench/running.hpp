// How a program of benchmarks ends: the library ends with success whatever became of its lines.
#pragma once

#include <string>

#include <benchmark/benchmark.h>

namespace assay::bench {

/// Ends the line, which is printed with the reason; run_registered() then gives 1.
void fail(benchmark::State& state, const std::string& why);

/// Runs the lines that are registered and gives the program's exit status: 0 each was measured, 1 one failed.
[[nodiscard]] int run_registered();

}  // namespace assay::bench
