#include "harness/compilers/hunt.hpp"

#include <set>
#include <system_error>

#include <fmt/format.h>

#include "generators/generator.hpp"
#include "harness/compilers/compiler_failures.hpp"
#include "harness/compilers/stress_kernels.hpp"
#include "harness/records/record_reader.hpp"
#include "harness/suite/suite_run.hpp"
#include "support/files.hpp"

namespace assay::compilers {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kKernelsOfRound = 24;
/// One round in this many draws kernels of the families.
constexpr std::uint64_t kFamiliesEvery = 4;

fs::path folder_of(const fs::path& hunt, std::uint64_t round) { return hunt / fmt::format("round_{}", round); }

/// Whether the records of the round are complete.
bool is_finished(const fs::path& folder) {
  const auto run = harness::read_records(folder);
  return run.ok() && run->end.has_value();
}

/// Writes the kernels of a round, and gives the selectors.
Result<std::vector<std::string>> kernels_of(std::uint64_t round, const fs::path& folder) {
  const std::uint64_t first = round * kKernelsOfRound + 1;
  if (round % kFamiliesEvery == kFamiliesEvery - 1)
    return std::vector<std::string>{fmt::format("*/r{}_{}", generators::kGeneratorVersion, first)};
  std::vector<std::string> selectors;
  std::error_code error;
  fs::create_directories(folder / "kernels", error);
  for (std::uint64_t seed = first; seed < first + kKernelsOfRound; ++seed) {
    const fs::path file = folder / "kernels" / fmt::format("stress_{}.py", seed);
    if (Result<void> written = put_file(file, stress_kernel(seed)); !written.ok()) return written.error();
    selectors.push_back(file.string());
  }
  return selectors;
}

}  // namespace

Result<MiscompilationHuntCounts> read_hunt(const fs::path& folder) {
  MiscompilationHuntCounts counts;
  for (; is_finished(folder_of(folder, counts.round_count)); ++counts.round_count) {
    const auto run = harness::read_records(folder_of(folder, counts.round_count));
    if (!run.ok()) return run.error();
    std::set<std::string> kernels;
    for (const harness::CaseRecord& record : run->cases) {
      kernels.insert(record.family + "/" + record.kernel);
      ++counts.cases;
      if (record.outcome == harness::Outcome::fail) ++counts.failing_case_count;
    }
    counts.kernels += kernels.size();
    counts.judging_seconds += run->end->wall_time_seconds;
  }
  return counts;
}

Result<MiscompilationHuntCounts> hunt(const MiscompilationHuntOptions& options,
                                      const std::function<void(const std::string&)>& tell) {
  const auto end = Clock::now() + options.time_limit;
  Result<MiscompilationHuntCounts> before = read_hunt(options.folder);
  if (!before.ok()) return before;
  for (std::uint64_t round = before->round_count; Clock::now() < end; ++round) {
    const fs::path folder = folder_of(options.folder, round);
    const auto selectors = kernels_of(round, folder);
    if (!selectors.ok()) return selectors.error();
    harness::SuiteOptions suite = options.suite_options;
    suite.selectors = *selectors;
    suite.output = folder.string();
    suite.seed = round * kKernelsOfRound + 1;
    suite.random_kernels_per_family = 1;
    harness::RunObserver silent;
    Result<harness::SuiteRun> run = harness::SuiteRun::prepare(std::move(suite), silent);
    if (!run.ok()) return run.error();
    if (const auto judged = run->judge(silent); !judged.ok()) return judged.error();
    const auto failures = archive_compiler_failures(folder, options.reduction_time_limit, options.jobs, tell);
    if (!failures.ok()) return failures.error();
    const Result<MiscompilationHuntCounts> counts = read_hunt(options.folder);
    if (!counts.ok()) return counts.error();
    tell(fmt::format("round {}: {} kernels, {} cases so far, {} failed", round, counts->kernels, counts->cases,
                     counts->failing_case_count));
  }
  return read_hunt(options.folder);
}

}  // namespace assay::compilers
