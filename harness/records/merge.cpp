#include "harness/records/merge.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "harness/records/record_reader.hpp"
#include "harness/records/record_writer.hpp"

namespace assay::harness {
namespace {

struct Part {
  std::filesystem::path dir;
  RunRecords run;
};

/// Shifts the parts' schedules to a common start, and renumbers jobs so that no two parts share one.
void put_side_by_side(std::vector<Part>& parts) {
  double first = std::numeric_limits<double>::infinity();
  for (const Part& part : parts)
    first = std::min(first, epoch_seconds(part.run.start.start_time));
  int jobs = 0;
  for (Part& part : parts) {
    const double later_ms = (epoch_seconds(part.run.start.start_time) - first) * 1e3;
    int jobs_of_part = 0;
    for (CaseRecord& record : part.run.cases) {
      if (!record.judging_times) continue;
      jobs_of_part = std::max(jobs_of_part, record.judging_times->job_index + 1);
      record.judging_times->job_index += jobs;
      record.judging_times->batch_start_ms += later_ms;
      record.judging_times->decided_at_ms += later_ms;
    }
    jobs += jobs_of_part;
  }
}

Result<std::vector<Part>> read_parts(const std::vector<std::filesystem::path>& dirs,
                                     const std::filesystem::path& output) {
  std::vector<Part> parts;
  for (const std::filesystem::path& dir : dirs) {
    std::error_code ignored;
    if (std::filesystem::equivalent(dir, output, ignored))
      return Error{"is both an input and the output; choose another folder with --output", dir.string()};
    Result<RunRecords> run = read_records(dir);
    if (!run.ok()) return run.error();
    parts.push_back({.dir = dir, .run = run.take()});
  }
  return parts;
}

/// Each shard must be present once. Complete runs can only be merged with complete runs.
Result<void> check_shards(const std::vector<Part>& parts) {
  const int of = parts.front().run.start.shard.shard_count;
  std::map<int, std::filesystem::path> seen;
  for (const Part& part : parts) {
    const Shard& shard = part.run.start.shard;
    if (shard.shard_count != of)
      return Error{
          fmt::format("is shard {} of {}, but the first input is a shard of {}", shard.index, shard.shard_count, of),
          part.dir.string()};
    const auto [other, is_new] = seen.emplace(shard.index, part.dir);
    if (!is_new && of > 1)
      return Error{fmt::format("is shard {} of {}, but {} is the same shard", shard.index, of, other->second.string()),
                   part.dir.string()};
  }
  for (int index = 1; index <= of; ++index) {
    if (!seen.contains(index)) return Error{fmt::format("shard {} of {} is missing", index, of)};
  }
  return {};
}

Result<void> check(const std::vector<Part>& parts) {
  const RunStart& first = parts.front().run.start;
  std::map<std::string, std::filesystem::path> planned;
  for (const Part& part : parts) {
    RunStart start = part.run.start;
    if (first.shard.shard_count == 1)
      start.inputs_hash = first.inputs_hash;  // complete runs of different selections may be merged
    if (const auto differs = difference(first, start))
      return Error{fmt::format("cannot be merged with {}: {}", parts.front().dir.string(), *differs),
                   part.dir.string()};
    for (const std::string& name : start.planned_case_names) {
      const auto [other, is_new] = planned.emplace(name, part.dir);
      if (!is_new)
        return Error{fmt::format("contains case {}, which {} also contains", name, other->second.string()),
                     part.dir.string()};
    }
  }
  return check_shards(parts);
}

RunStart start_of(const std::vector<Part>& parts) {
  RunStart start = parts.front().run.start;
  start.run_id = make_run_id();
  start.shard = {};
  start.planned_case_names.clear();
  for (const Part& part : parts) {
    start.start_time = std::min(start.start_time, part.run.start.start_time);
    start.planned_case_names.insert(start.planned_case_names.end(), part.run.start.planned_case_names.begin(),
                                    part.run.start.planned_case_names.end());
  }
  if (parts.front().run.start.shard.shard_count == 1 && parts.size() > 1)
    start.inputs_hash.clear();  // they apply to each part separately
  return start;
}

/// The environment and seed of a run, as text by name.
std::map<std::string, std::string> facts_of(const RunStart& start) {
  const RunEnvironment& environment = start.environment;
  std::map<std::string, std::string> facts{
      {"the operating system", environment.os_name},
      {"the processor", environment.cpu_model},
      {"the compiler", environment.compiler},
      {"NVRTC", environment.nvrtc},
      {"the seed", fmt::format("{}", start.seed)},
      {"Assay", environment.commit_hash + (environment.has_uncommitted_changes ? " with local changes" : "")}};
  for (const DeviceStatus& device : environment.devices) {
    facts["device " + device.name] =
        device.is_available ? fmt::format("{}, {}", device.description, device.toolkit) : "missing, " + device.reason;
    if (!device.confinement.empty()) facts["the confinement of code on " + device.name] = device.confinement;
  }
  return facts;
}

}  // namespace

Result<void> merge_records(const std::vector<std::filesystem::path>& dirs, const std::filesystem::path& output) {
  Result<std::vector<Part>> parts = read_parts(dirs, output);
  if (!parts.ok()) return parts.error();
  if (Result<void> checked = check(*parts); !checked.ok()) return checked;
  put_side_by_side(*parts);
  Result<RecordWriter> writer = RecordWriter::create(output, start_of(*parts));
  if (!writer.ok()) return writer.error();
  bool complete = true;
  std::string finished;
  double wall_time_seconds = 0;
  for (const Part& part : *parts) {
    for (const CaseRecord& record : part.run.cases) {
      if (record.outcome_detail == "missing" && record.outcome == Outcome::not_run) continue;
      if (Result<void> written = writer->append(record); !written.ok()) return written;
    }
    complete = complete && part.run.end && !part.run.is_truncated;
    if (!complete) continue;
    finished = std::max(finished, part.run.end->end_time);
    wall_time_seconds = std::max(wall_time_seconds, part.run.end->wall_time_seconds);  // shards run side by side
  }
  if (!complete) return {};
  const Result<RunEnd> end = writer->finish(finished, wall_time_seconds);
  return end.ok() ? Result<void>{} : Result<void>{end.error()};
}

std::optional<std::string> difference(const RunStart& one, const RunStart& other) {
  std::map<std::string, std::string> ours = facts_of(one);
  std::map<std::string, std::string> theirs = facts_of(other);
  for (const auto& [name, fact] : theirs)
    ours.try_emplace(name, "unknown");
  for (const auto& [name, fact] : ours) {
    const std::string& theirs_fact = theirs.try_emplace(name, "unknown").first->second;
    if (theirs_fact != fact) return fmt::format("{} is '{}' in one run and '{}' in the other", name, fact, theirs_fact);
  }
  if (one.inputs_hash != other.inputs_hash) return "the selected kernels, their sources or the options differ";
  if (one.expectations != other.expectations) return "the expected failures differ";
  return std::nullopt;
}

}  // namespace assay::harness
