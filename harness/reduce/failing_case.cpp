#include "harness/reduce/failing_case.hpp"

#include <algorithm>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "backends/source/warp/writer.hpp"
#include "harness/suite/run/batch.hpp"
#include "harness/suite/select/kernel_file.hpp"

namespace assay::reduce {
namespace {

using harness::CaseRecord;
using harness::KernelSource;
using harness::RunOptions;

constexpr const char* kReducedFile = "reduced.py";

/// A shorter time limit for candidates that hang; the reduced kernel is judged again with the limit of the case.
constexpr std::chrono::milliseconds kHangLimit{250};

RunOptions options_for(backends::Pass pass, RunOptions options) {
  options.forward = pass == backends::Pass::kForward;
  options.backward = !options.forward;
  return options;
}

/// Judges candidates on a device.
class DeviceJudge {
 public:
  DeviceJudge(const FailingCase& failing, backends::Device& device, const harness::Printer& printer, RunOptions options)
      : failing_(failing), device_(device), printer_(printer), options_(std::move(options)) {
    if (failing.failure_class.outcome == harness::Outcome::timed_out)
      options_.time_limit = std::min(options_.time_limit, kHangLimit);
  }

  std::vector<bool> operator()(std::span<const ir::Module> candidates) const {
    const std::size_t jobs =
        options_.jobs > 0 ? static_cast<std::size_t>(options_.jobs) : std::max(1U, std::thread::hardware_concurrency());
    const std::size_t share = (candidates.size() + jobs - 1) / jobs;
    // One byte per element, so that threads can write concurrently.
    std::vector<char> shown(candidates.size());
    {
      std::vector<std::jthread> threads;
      for (std::size_t first = 0; first < candidates.size(); first += share) {
        const std::size_t count = std::min(share, candidates.size() - first);
        threads.emplace_back([this, part = candidates.subspan(first, count),
                              out = std::span(shown).subspan(first, count)] { judge(part, out); });
      }
    }
    return {shown.begin(), shown.end()};
  }

 private:
  void judge(std::span<const ir::Module> candidates, std::span<char> shown) const {
    std::vector<KernelSource> sources;
    std::vector<std::size_t> numbers;
    for (std::size_t c = 0; c < candidates.size(); ++c) {
      Result<KernelSource> source = reparse_as_python(candidates[c], kReducedFile);
      if (!source.ok() || harness::passes_of(*source, options_).empty()) continue;
      sources.push_back(source.take());
      numbers.push_back(c);
    }
    std::size_t next = 0;
    harness::run_batch(sources, device_, printer_, options_, [&](const CaseRecord& record) {
      shown[numbers[next++]] = has_ending(record, failing_.failure_class) ? 1 : 0;
    });
  }

  const FailingCase& failing_;
  backends::Device& device_;
  const harness::Printer& printer_;
  RunOptions options_;
};

}  // namespace

Result<KernelSource> reparse_as_python(const ir::Module& module, const std::string& file) {
  const Result<std::string> python = source::warp::write_kernel(module, 0);
  if (!python.ok()) return python.error();
  Result<harness::KernelSet> read = harness::read_text(*python, file);
  if (!read.ok()) return read.error();
  if (read->kernels.empty()) return Error{"the Python text contains no kernel", file};
  KernelSource source = std::move(read->kernels.front());
  if (source.parse_error) return *source.parse_error;
  source.selector = file;
  return source;
}

CaseRecord judge_case(const KernelSource& source, backends::Pass pass, backends::Device& device,
                      const harness::Printer& printer, const RunOptions& options) {
  CaseRecord judged;
  const RunOptions one = options_for(pass, options);
  harness::run_batch({&source, 1}, device, printer, one, [&](CaseRecord record) { judged = std::move(record); });
  return judged;
}

Result<ReducedCase> reduce_case(const FailingCase& failing, backends::Device& device, const harness::Printer& printer,
                                const RunOptions& options, ReductionBudget budget,
                                const ProgressCallback& on_progress) {
  const ir::Module whole = alone(*failing.source.module, failing.source.kernel_index);
  const std::string ending = to_text(failing.failure_class);
  for (const harness::JudgingPolicy& policy : {harness::JudgingPolicy::quick(), options.policy}) {
    RunOptions effort = options_for(failing.pass, options);
    effort.policy = policy;
    Result<Reduction> reduction = reduce(whole, DeviceJudge(failing, device, printer, effort), budget, on_progress);
    if (!reduction.ok()) continue;
    Result<KernelSource> source = reparse_as_python(reduction->module, kReducedFile);
    if (!source.ok()) return source.error();
    CaseRecord record = judge_case(*source, failing.pass, device, printer, effort);
    if (!has_ending(record, failing.failure_class)) {
      return Error{
          fmt::format("the outcome of the reduced kernel is {}, expected {}", to_text(ending_of(record)), ending),
          failing.source.selector};
    }
    return ReducedCase{
        .reduction = reduction.take(), .source = source.take(), .options = effort, .record = std::move(record)};
  }
  const bool has_own_text =
      device.target() == backends::SourceTarget::kWarpPython && failing.source.own_text_obstacle.empty();
  return Error{fmt::format("the failure {} is not reproducible{}", ending,
                           has_own_text ? " with the kernel as Assay prints it" : ""),
               failing.source.selector};
}

}  // namespace assay::reduce
