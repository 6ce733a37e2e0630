// The throughput of the suite: verified kernels a second, next to the time that the compilers alone need.
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

/// One of the two runs.
struct Measured {
  double seconds = 0;  ///< from the selectors to the written reports
  int status = 0;
  std::set<std::string> kernels;
  std::set<std::string> verified;  ///< kernels of which all cases passed
  std::size_t cases = 0;
  std::vector<std::pair<std::string, double>> stages;  ///< in milliseconds, all cores together

  double rate() const { return static_cast<double>(verified.size()) / seconds; }
};

/// The selection on one device, or on several one after another.
struct Benchmarked {
  std::string device;
  Measured cold;                                ///< with an empty build cache
  Measured warm;                                ///< with the cache that the cold run filled
  CompileLowerBound lower_bound;                ///< the fastest of those tried
  std::vector<CompileLowerBound> lower_bounds;  ///< by batch size, the mean of all measurements
};

/// Judges the selection and writes the reports; the exit status.
using Judge = std::function<int(const harness::SuiteOptions&)>;

/// Runs the compilers alone, then `judge` twice (into `output`/cold and `output`/warm), then the compilers alone again:
/// other load on a machine changes from minute to minute by more than the difference that is to be measured. Fails if
/// an option is invalid or a run leaves no records.
Result<Benchmarked> run_benchmark(harness::SuiteOptions options, const std::string& output, unsigned jobs,
                                  const Judge& judge);

/// Two benchmarks as one: a kernel counts as verified if both verify it.
Benchmarked followed_by(const Benchmarked& first, const Benchmarked& second);

nlohmann::json to_json(const Benchmarked& benchmarked);
std::string to_text(const Benchmarked& benchmarked, unsigned jobs);

/// Peak resident bytes of this process, and of the largest process that it started.
std::array<std::size_t, 2> peak_memory();

}  // namespace assay::benchmark
