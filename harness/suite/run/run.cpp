#include "harness/suite/run/run.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <iterator>
#include <mutex>
#include <span>
#include <thread>
#include <utility>

#include "harness/suite/run/batch.hpp"
#include "harness/suite/run/repeat.hpp"
#include "harness/suite/run/schedule.hpp"
#include "harness/suite/run/shared_plans.hpp"
#include "harness/suite/run/verdict_cache.hpp"
#include "support/parallel.hpp"

namespace assay::harness {

std::vector<std::string> plan_cases(const std::vector<KernelSource>& sources, const backends::Device& device,
                                    const RunOptions& options) {
  std::vector<std::string> plan;
  for (const KernelSource& source : sources)
    std::ranges::move(list_case_names(source, device, options), std::back_inserter(plan));
  return plan;
}

namespace {

/// The sources that have a case without a record.
std::vector<KernelSource> pending_of(const std::vector<KernelSource>& sources, const backends::Device& device,
                                     const RunOptions& options, const RecordWriter& writer) {
  std::vector<KernelSource> pending;
  std::ranges::copy_if(sources, std::back_inserter(pending), [&](const KernelSource& source) {
    return std::ranges::any_of(list_case_names(source, device, options),
                               [&](const std::string& name) { return writer.is_pending(name); });
  });
  return pending;
}

/// Writes the cached records of sources that earlier runs verified. Returns the other sources.
std::vector<KernelSource> unproved_of(std::vector<KernelSource> sources, const backends::Device& device,
                                      const RunOptions& options, std::size_t jobs, const TakeRecord& take) {
  if (options.verdict_cache == nullptr) return sources;
  std::vector<char> known(sources.size(), 0);
  for_each_index_in_parallel(sources.size(), static_cast<unsigned>(jobs), [&](std::size_t i) {
    std::vector<CaseRecord> records =
        options.verdict_cache->find(sources[i], list_case_names(sources[i], device, options), options);
    known[i] = !records.empty();
    for (CaseRecord& record : records)
      take(std::move(record));
  });
  std::vector<KernelSource> unproved;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (known[i] == 0) unproved.push_back(std::move(sources[i]));
  }
  return unproved;
}

/// Judges the batch, and caches the verified kernels.
void judge_and_keep(std::span<const KernelSource> sources, backends::Device& device, const Printer& printer,
                    const RunOptions& options, const TakeRecord& take) {
  if (options.verdict_cache == nullptr) return run_repeatedly(sources, device, printer, options, take);
  std::vector<CaseRecord> records;
  run_repeatedly(sources, device, printer, options, [&](CaseRecord record) {
    records.push_back(record);
    take(std::move(record));
  });
  for (const KernelSource& source : sources)
    options.verdict_cache->store(source, list_case_names(source, device, options), options, records);
}

}  // namespace

Result<OutcomeCounts> run_cases(const std::vector<KernelGroup>& groups, backends::Device& device,
                                const Printer& printer, RecordWriter& writer, const Progress& progress) {
  if (groups.empty()) return writer.counts();
  const int asked = groups.front().options.jobs;
  const std::size_t jobs =
      asked > 0 ? static_cast<std::size_t>(asked) : std::max(1U, std::thread::hardware_concurrency());
  std::atomic<std::size_t> next{0};
  std::mutex writing;
  std::optional<Error> failure;

  const auto take = [&](CaseRecord record, int job, double batch_ms) {
    record.judging_times =
        JudgingTimes{.job_index = job, .batch_start_ms = batch_ms, .decided_at_ms = writer.elapsed_ms()};
    const std::lock_guard lock(writing);
    if (failure || !writer.is_pending(record.name)) return;
    if (progress) progress(record);
    if (auto written = writer.append(record); !written.ok()) failure = written.error();
  };
  std::vector<KernelGroup> unproved;
  for (const KernelGroup& group : groups) {
    backends::Device& own = group.device == nullptr ? device : *group.device;
    const auto take_known = [&](CaseRecord record) { take(std::move(record), 0, writer.elapsed_ms()); };
    unproved.push_back({.options = group.options,
                        .sources = unproved_of(pending_of(group.sources, own, group.options, writer), own,
                                               group.options, jobs, take_known),
                        .device = &own});
  }
  SharedTestPlans test_plans(unproved);
  for (KernelGroup& group : unproved) {
    sort_by_descending_cost(group);
    if (group.options.repetition_count <= 1) group.options.test_plans = &test_plans;
  }
  const std::vector<Batch> batches = batches_of(unproved, jobs);
  const auto work = [&](int job) {
    for (;;) {
      const std::size_t turn = next.fetch_add(1);
      const auto failed = [&] {
        const std::lock_guard lock(writing);
        return failure.has_value();
      };
      if (turn >= batches.size() || failed()) return;
      const auto [sources, options, own] = batches[turn];
      const auto take_here = [&, batch_ms = writer.elapsed_ms()](CaseRecord record) {
        take(std::move(record), job, batch_ms);
      };
      if (own->can_run().is_available) judge_and_keep(sources, *own, printer, *options, take_here);
      else record_unsupported_batch(sources, *own, *options, take_here);
    }
  };
  std::vector<std::jthread> threads;
  for (std::size_t t = 1; t < jobs; ++t)
    threads.emplace_back(work, static_cast<int>(t));
  work(0);
  threads.clear();
  if (failure) return *failure;
  return writer.counts();
}

}  // namespace assay::harness
