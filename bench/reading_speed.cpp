// The time to parse a file of Warp kernels: 2,000 lines with 200 kernels should take less than 50 ms.
//
// Each line gives the time to parse the file. `ratio` is that time over the time to build the syntax tree alone,
// medians of the same run; `limit` is its upper limit. The exit status is 1 if the ratio exceeds it, because then the
// parser has become slower and not the machine.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "frontend/warp/parse/reader.hpp"
#include "frontend/warp/syntax/syntax.hpp"

namespace assay::bench {
namespace {

constexpr double kLimit = 3;
constexpr double kLongest = 50;  ///< milliseconds
double worst = 0;

/// Kernels of ten lines each, every fourth with a function that it calls; `generic` makes the functions generic.
std::string file_of(int kernels, bool generic) {
  std::string text = "import warp as wp\nfrom typing import Any\n\nSCALE = 0.5\n";
  for (int k = 0; k < kernels; ++k) {
    const bool calls = k % 4 == 0;
    const std::string type = generic ? "Any" : "float";
    text += calls ? fmt::format("@wp.func\ndef f{0}(a: {1}, b: {1}):\n    return a * b + a\n", k, type) : "\n\n\n";
    text += fmt::format(
        "@wp.kernel\n"
        "def k{0}(x: wp.array2d(dtype=float), v: wp.array(dtype=wp.vec3), n: int, out: wp.array(dtype=float)):\n"
        "    i = wp.tid()\n"
        "    s = float(0.0)\n"
        "    for j in range(n):\n"
        "        s += x[i, j] * wp.sin(v[i][1] + {1})\n"
        "    out[i] = s if s > SCALE else wp.length(v[i])\n",
        k, calls ? fmt::format("f{}(x[i, j], 2.0)", k) : "x[i, 0] * 0.25");
  }
  return text;
}

double median_ms(const auto& work) {
  std::vector<double> times;
  for (int n = 0; n < 15; ++n) {
    const auto start = std::chrono::steady_clock::now();
    work();
    times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  std::nth_element(times.begin(), times.begin() + 7, times.end());
  return times[7];
}

void read(benchmark::State& state, const std::string& text) {
  const auto read = [&] {
    auto file = frontend::parse_python(text, "bench.py");
    if (!file.ok() || file->module.kernels.size() != 200) std::abort();
    benchmark::DoNotOptimize(file);
  };
  const auto parse = [&] {
    auto tree = frontend::SyntaxTree::parse(text);
    benchmark::DoNotOptimize(tree);
  };
  const double ratio = median_ms(read) / median_ms(parse);
  worst = std::max(worst, ratio);
  for (auto _ : state)
    read();
  state.counters["ratio"] = ratio;
  state.counters["limit"] = kLimit;
  state.counters["wanted_ms"] = kLongest;
}

}  // namespace
}  // namespace assay::bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  for (const bool generic : {false, true}) {
    benchmark::RegisterBenchmark(generic ? "read/generic" : "read/plain", [text = assay::bench::file_of(200, generic)](
                                                                              benchmark::State& state) {
      assay::bench::read(state, text);
    })->Unit(benchmark::kMillisecond);
  }
  benchmark::RunSpecifiedBenchmarks();
  return assay::bench::worst > assay::bench::kLimit ? 1 : 0;
}
