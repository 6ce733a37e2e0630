#include "harness/records/record_reader.hpp"

#include <cerrno>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "harness/records/record_json.hpp"
#include "harness/records/record_writer.hpp"
#include "schemas/embedded.hpp"
#include "schemas/validator.hpp"

namespace assay::harness {
namespace {

using nlohmann::json;

CaseRecord missing_case(const std::string& name) {
  CaseRecord record = record_of(name);
  record.kind = "missing";
  record.message = "planned, but the run left no record of it";
  return record;
}

// Collects lines into a run, and refuses what contradicts the lines before.
class Collector {
 public:
  Result<void> take(const json& line) {
    if (const auto diagnostics = validator_.diagnostics(line); !diagnostics.empty()) {
      return Error{diagnostics.front().text()};
    }
    const std::string& kind = line.at("record").get_ref<const std::string&>();
    if (kind == "run_start") return take_start(line);
    if (!started_) return Error{"found a line before the run's start"};
    if (run_.end) return Error{"found a line after the run's end"};
    if (kind == "run_end") {
      run_.end = run_end_from(line);
      return {};
    }
    return take_case(line);
  }

  // The run, with a not_run for each planned case that has no line.
  Result<RunRecords> finish(bool truncated) {
    if (!started_) return Error{"found no whole line, expected the run's start"};
    for (const std::string& name : run_.start.plan) {
      const auto found = cases_.find(name);
      run_.cases.push_back(found == cases_.end() ? missing_case(name) : std::move(found->second));
    }
    run_.truncated = truncated;
    return std::move(run_);
  }

 private:
  Result<void> take_start(const json& line) {
    if (started_) return Error{"found a second start of the run"};
    run_.start = run_start_from(line);
    started_ = true;
    planned_ = {run_.start.plan.begin(), run_.start.plan.end()};
    return {};
  }

  Result<void> take_case(const json& line) {
    CaseRecord record = case_from(line);
    if (!planned_.contains(record.name)) return Error{fmt::format("the case {} is not in the plan", record.name)};
    const std::string name = record.name;
    if (!cases_.emplace(name, std::move(record)).second) {
      return Error{fmt::format("the case {} has two lines", name)};
    }
    return {};
  }

  schemas::Validator validator_{schemas::kRecordSchemaText};
  bool started_ = false;
  RunRecords run_;
  std::unordered_set<std::string> planned_;
  std::unordered_map<std::string, CaseRecord> cases_;
};

}  // namespace

OutcomeCounts RunRecords::counts() const {
  OutcomeCounts counts;
  for (const CaseRecord& record : cases)
    counts.add(record.outcome);
  return counts;
}

ExitStatus RunRecords::exit_status() const {
  const ExitStatus status = harness::exit_status(counts());
  const bool complete = end.has_value() && !truncated;
  return status == ExitStatus::as_expected && !complete ? ExitStatus::unexpected : status;
}

Result<RunRecords> read_records(const std::filesystem::path& dir) {
  const std::filesystem::path file = dir / kRecordsFile;
  std::ifstream stream(file, std::ios::binary);
  if (!stream) {
    return Error{fmt::format("cannot read records: {}", std::generic_category().message(errno)), file.string()};
  }
  const std::string text{std::istreambuf_iterator<char>(stream), {}};

  Collector collector;
  std::size_t begin = 0;
  for (int number = 1; begin < text.size(); ++number) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) break;
    const std::string where = fmt::format("{}:{}", file.string(), number);
    const json line = json::parse(std::string_view(text).substr(begin, end - begin), nullptr, false);
    if (line.is_discarded()) return Error{"found a line that is not JSON", where};
    if (Result<void> taken = collector.take(line); !taken.ok()) return Error{taken.error().message, where};
    begin = end + 1;
  }
  Result<RunRecords> run = collector.finish(begin < text.size());
  if (!run.ok()) return Error{run.error().message, file.string()};
  return run;
}

}  // namespace assay::harness
