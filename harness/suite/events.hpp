// Progress events of a run. The command line shows them on a terminal and a notebook in a cell; tests ignore them.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "harness/records/record.hpp"
#include "harness/suite/run/run.hpp"

namespace assay::harness {

/// Called by a run from any thread, but never concurrently. The default implementations do nothing.
class RunObserver {
 public:
  virtual ~RunObserver() = default;

  /// Reports a note for the user. Notes of the same `kind`, such as "unsupported kernel", are grouped.
  virtual void on_note(std::string_view kind, std::string_view text) {
    static_cast<void>(kind);
    static_cast<void>(text);
  }
  /// Called before the first case. `pending` is the number of cases not yet recorded; `costs` are their expected costs,
  /// relative to each other.
  virtual void on_start(const RunStart& start, std::size_t pending, std::unordered_map<std::string, double> costs) {
    static_cast<void>(start);
    static_cast<void>(pending);
    static_cast<void>(costs);
  }
  /// Called when a case is decided, before its record is written. `groups` contains its kernel.
  virtual void on_record(const CaseRecord& record, const std::vector<KernelGroup>& groups) {
    static_cast<void>(record);
    static_cast<void>(groups);
  }
};

}  // namespace assay::harness
