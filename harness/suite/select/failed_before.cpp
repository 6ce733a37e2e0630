#include "harness/suite/select/failed_before.hpp"

#include <algorithm>

#include "harness/records/record_reader.hpp"

namespace assay::harness {

Result<std::vector<CaseRecord>> failed_cases(const std::filesystem::path& dir, const std::string& device) {
  Result<RunRecords> run = read_records(dir);
  if (!run.ok()) return run.error();
  std::vector<CaseRecord> failed;
  for (CaseRecord& record : run->cases) {
    if (record.device != device || is_as_expected(record.outcome)) continue;
    if (record.outcome != Outcome::not_run && record.selector.empty())
      return Error{
          "the run was recorded without kernel selectors; records of schema version 1.4.0 or later are required",
          dir.string()};
    failed.push_back(std::move(record));
  }
  return failed;
}

std::vector<std::string> selectors_of(const std::vector<CaseRecord>& failed) {
  std::vector<std::string> selectors;
  for (const CaseRecord& record : failed) {
    // A case without a record is known only by its name.
    const std::string& selector = record.selector.empty() ? record.name : record.selector;
    if (std::ranges::find(selectors, selector) == selectors.end()) selectors.push_back(selector);
  }
  return selectors;
}

void keep_failed(Selection& selection, const std::vector<CaseRecord>& failed) {
  for (SelectedKernel& kernel : selection.kernels) {
    const auto has_failed = [&](auto member, const std::string& value) {
      return std::ranges::any_of(failed, [&](const CaseRecord& record) {
        return record.family == kernel.source.family && record.kernel == kernel.source.kernel &&
               record.*member == value;
      });
    };
    kernel.forward = kernel.forward && has_failed(&CaseRecord::pass, "forward");
    kernel.backward = kernel.backward && has_failed(&CaseRecord::pass, "backward");
    std::erase_if(kernel.modes, [&](const std::string& mode) { return !has_failed(&CaseRecord::mode, mode); });
  }
}

}  // namespace assay::harness
