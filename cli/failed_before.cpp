#include "cli/failed_before.hpp"

#include <algorithm>

#include "harness/records/record_reader.hpp"

namespace assay::cli {

Result<std::vector<harness::CaseRecord>> failed_before(const std::filesystem::path& dir, const std::string& device) {
  Result<harness::RunRecords> run = harness::read_records(dir);
  if (!run.ok()) return run.error();
  std::vector<harness::CaseRecord> failed;
  for (harness::CaseRecord& record : run->cases) {
    if (record.device != device || harness::is_as_expected(record.outcome)) continue;
    if (record.outcome != harness::Outcome::not_run && record.selector.empty())
      return Error{"its records do not name their selectors: they are older than version 1.4.0", dir.string()};
    failed.push_back(std::move(record));
  }
  return failed;
}

std::vector<std::string> selectors_of(const std::vector<harness::CaseRecord>& failed) {
  std::vector<std::string> selectors;
  for (const harness::CaseRecord& record : failed) {
    // A case that left no record is known by its name alone.
    const std::string& selector = record.selector.empty() ? record.name : record.selector;
    if (std::ranges::find(selectors, selector) == selectors.end()) selectors.push_back(selector);
  }
  return selectors;
}

void keep_failed(harness::Selection& selection, const std::vector<harness::CaseRecord>& failed) {
  for (harness::Selected& kernel : selection.kernels) {
    const auto has_failed = [&](auto member, const std::string& value) {
      return std::ranges::any_of(failed, [&](const harness::CaseRecord& record) {
        return record.family == kernel.source.family && record.kernel == kernel.source.kernel &&
               record.*member == value;
      });
    };
    kernel.forward = kernel.forward && has_failed(&harness::CaseRecord::pass, "forward");
    kernel.backward = kernel.backward && has_failed(&harness::CaseRecord::pass, "backward");
    std::erase_if(kernel.modes, [&](const std::string& mode) { return !has_failed(&harness::CaseRecord::mode, mode); });
  }
}

}  // namespace assay::cli
