// Measures the throughput of the suite in verified kernels per second, and compares it with the compile-time lower
// bound.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "harness/benchmark/compile_lower_bound.hpp"
#include "harness/suite/options.hpp"
#include "support/result.hpp"

namespace assay::benchmark {

/// One run of the suite: cold or warm.
struct BenchmarkRun {
  double seconds = 0;  ///< from the selectors to the written reports
  int status = 0;
  std::set<std::string> kernels;
  std::set<std::string> verified;  ///< kernels whose cases all passed
  std::size_t cases = 0;
  std::vector<std::pair<std::string, double>> stage_milliseconds;  ///< in milliseconds, summed over all cores

  double rate() const { return static_cast<double>(verified.size()) / seconds; }
};

/// Results for one device, or for several devices in sequence.
struct BenchmarkResult {
  std::string device;
  BenchmarkRun cold;                            ///< with an empty build cache
  BenchmarkRun warm;                            ///< with the cache filled by the cold run
  CompileLowerBound lower_bound;                ///< the fastest of those measured
  std::vector<CompileLowerBound> lower_bounds;  ///< by batch size, the mean of all measurements
};

/// Judges the selection and writes the reports. Returns the exit status.
using Judge = std::function<int(const harness::SuiteOptions&)>;

/// Runs the compilers alone, then `judge` twice (into `output`/cold and `output`/warm), then the compilers alone again,
/// because other load on the machine may change by more than the measured difference. Fails if an option is invalid or
/// a run writes no records.
Result<BenchmarkResult> run_benchmark(harness::SuiteOptions options, const std::string& output, unsigned jobs,
                                      const Judge& judge);

/// Combines two benchmarks: a kernel counts as verified if both verify it.
BenchmarkResult followed_by(const BenchmarkResult& first, const BenchmarkResult& second);

nlohmann::json to_json(const BenchmarkResult& benchmarked);
std::string to_text(const BenchmarkResult& benchmarked, unsigned jobs);

/// Peak resident bytes of this process, and of the largest process that it started.
std::array<std::size_t, 2> peak_memory();

}  // namespace assay::benchmark
