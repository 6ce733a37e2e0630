#include "harness/run/run.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <span>
#include <thread>

#include "harness/run/batch.hpp"

namespace assay::harness {

std::vector<std::string> plan_cases(const std::vector<KernelSource>& sources, const backends::Device& device,
                                    const RunOptions& options) {
  std::vector<std::string> plan;
  for (const KernelSource& source : sources) {
    for (const backends::Pass pass : passes_of(source, options)) {
      plan.push_back(case_name(source, device.name(), pass, options.mode));
    }
  }
  return plan;
}

Result<OutcomeCounts> run_cases(const std::vector<KernelSource>& sources, backends::Device& device,
                                const Printer& printer, const RunOptions& options, RecordWriter& writer,
                                const Progress& progress) {
  const bool runs = device.can_run().available;
  const std::span<const KernelSource> all(sources);
  const std::size_t jobs =
      options.jobs > 0 ? static_cast<std::size_t>(options.jobs) : std::max(1U, std::thread::hardware_concurrency());
  // Small runs are split evenly, so that every core has a batch.
  const std::size_t batch = std::clamp<std::size_t>((sources.size() + jobs - 1) / jobs, 1, options.batch);
  std::atomic<std::size_t> next{0};
  std::mutex writing;
  std::optional<Error> failure;

  const auto take = [&](const CaseRecord& record) {
    const std::lock_guard lock(writing);
    if (failure) return;
    if (progress) progress(record);
    if (auto written = writer.append(record); !written.ok()) failure = written.error();
  };
  const auto work = [&] {
    for (;;) {
      const std::size_t first = next.fetch_add(batch);
      const auto failed = [&] {
        const std::lock_guard lock(writing);
        return failure.has_value();
      };
      if (first >= all.size() || failed()) return;
      const auto part = all.subspan(first, std::min(batch, all.size() - first));
      if (runs) run_batch(part, device, printer, options, take);
      else unsupported_batch(part, device, options, take);
    }
  };
  std::vector<std::jthread> threads;
  for (std::size_t t = 1; t < jobs; ++t)
    threads.emplace_back(work);
  work();
  threads.clear();
  if (failure) return *failure;
  return writer.counts();
}

}  // namespace assay::harness
