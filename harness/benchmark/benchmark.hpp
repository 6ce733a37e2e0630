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
  double wall_seconds = 0;                 ///< wall time from the selectors to the written reports
  int exit_status = 0;                     ///< exit status of the run
  std::set<std::string> kernel_names;      ///< names of the judged kernels
  std::set<std::string> verified_kernels;  ///< names of the kernels whose cases all passed
  std::size_t case_count = 0;              ///< number of recorded cases
  /// Name and time of each stage; the times are sums over all cores.
  std::vector<std::pair<std::string, double>> stage_milliseconds;

  /// Number of verified kernels per second of wall time.
  double verified_kernels_per_second() const { return static_cast<double>(verified_kernels.size()) / wall_seconds; }
};

/// Results for one device, or for several devices in sequence.
struct BenchmarkResult {
  std::string device;           ///< name of the device; "both" for the sum of two
  BenchmarkRun cold_cache_run;  ///< the run with an empty build cache
  BenchmarkRun warm_cache_run;  ///< the run with the cache that the cold run filled
  /// The fastest of `lower_bounds_by_batch_size`; for "both", the sum of two devices.
  CompileLowerBound fastest_lower_bound;
  std::vector<CompileLowerBound> lower_bounds_by_batch_size;  ///< for each batch size, the mean of all measurements
};

/// Judges the selection and writes the reports. Returns the exit status.
using Judge = std::function<int(const harness::SuiteOptions&)>;

/// Runs the compilers alone, then `judge` twice (into `output`/cold and `output`/warm), then the compilers alone again:
/// meanwhile the load of the machine may change by more than the difference to measure. Fails if an option is invalid
/// or a run writes no records.
Result<BenchmarkResult> run_benchmark(harness::SuiteOptions options, const std::string& output, unsigned jobs,
                                      const Judge& judge);

/// Combines two benchmarks: a kernel counts as verified if both verify it.
BenchmarkResult followed_by(const BenchmarkResult& first, const BenchmarkResult& second);

nlohmann::json to_json(const BenchmarkResult& benchmarked);
std::string to_text(const BenchmarkResult& benchmarked, unsigned jobs);

/// Peak resident bytes of this process, and of the largest process that it started.
std::array<std::size_t, 2> peak_memory();

}  // namespace assay::benchmark
