// What a run reports while it goes on. The command line shows it on a terminal, a notebook in a cell, tests nowhere.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "harness/records/record.hpp"
#include "harness/suite/run/run.hpp"

namespace assay::harness {

/// Called by a run, from any thread but never from two at once. Each function does nothing unless it is overridden.
class Events {
 public:
  virtual ~Events() = default;

  /// Something a person should know that is no result: `kind` groups notes of one sort, "unsupported kernel".
  virtual void note(std::string_view kind, std::string_view text) {
    static_cast<void>(kind);
    static_cast<void>(text);
  }
  /// Before the first case. `pending` counts the cases that are not recorded yet; `costs` has what each of them is
  /// expected to take, relative to the others.
  virtual void started(const RunStart& start, std::size_t pending, std::unordered_map<std::string, double> costs) {
    static_cast<void>(start);
    static_cast<void>(pending);
    static_cast<void>(costs);
  }
  /// A case is decided; called before its record is written. `groups` hold its kernel.
  virtual void recorded(const CaseRecord& record, const std::vector<Group>& groups) {
    static_cast<void>(record);
    static_cast<void>(groups);
  }
};

}  // namespace assay::harness
