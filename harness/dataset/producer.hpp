// Makes the rows of slots: draws a kernel, renders it, has it judged, and tries the next candidate where it fails.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "backends/device/backend.hpp"
#include "harness/dataset/plan.hpp"
#include "harness/dataset/render.hpp"
#include "harness/dataset/row_memory.hpp"
#include "harness/dataset/similarity.hpp"
#include "harness/dataset/stats.hpp"
#include "harness/suite/run/run.hpp"

namespace assay::dataset {

/// A device that proves rows, and how.
struct Verifier {
  backends::Device* device = nullptr;
  std::vector<harness::Mode> modes;
  std::vector<std::string> memory_checks = {};  ///< that the device makes itself
};

/// A kernel that did not become a row.
struct Rejected {
  std::uint64_t slot = 0;
  std::uint32_t attempt = 0;
  std::string name;     ///< "loop/r1_42"
  std::string verdict;  ///< "fail(mismatch)", "unsupported(adjoint)"
  std::string message;
  std::string python;
  std::vector<nlohmann::json>
      records;  ///< of the cases that did not pass, as harness/records writes them, without times
};

nlohmann::ordered_json to_json(const Rejected& rejected);
Rejected rejected_from(const nlohmann::json& line);

/// What is kept of rows; their lines apart, because they may go earlier.
struct RowMemories {
  RowMemory lines;
  RowMemory rest;
};

/// A row in its slot, with what later stages ask of it; all but numbers lies in RowMemories.
struct Accepted {
  Slot slot;
  std::uint32_t attempt = 0;
  std::string_view id;
  std::string_view line;  ///< of JSON
  Facts facts;
  ShingleView shingles;
};

struct Produced {
  std::vector<Accepted> rows;      ///< by slot; a slot whose candidates all failed has none
  std::vector<Rejected> rejected;  ///< by slot and attempt
  Timing timing;
  RowMemories memory;  ///< of the rows
};

/// Where to start with a slot.
struct Task {
  Slot slot;
  std::uint32_t attempt = 0;
};

/// At most so many candidates of a slot are tried.
inline constexpr std::uint32_t kMostAttempts = 16;

/// The accepted form of a row whose program is at hand.
Accepted accept(const Task& task, const Row& row, const Rendered& kernel, RowMemories& memory);
/// The same of a line of JSON that an earlier run wrote. Fails where it is no row.
Result<Accepted> accept_line(const Task& task, std::string_view line, RowMemories& memory);

/// How kernels are printed.
struct Printers {
  harness::PairPrinter pair;  ///< for the rows
  harness::Printer one;       ///< for the device that judges
};

/// Pure: what a task gives depends on the plan alone. For use by several threads at once.
class Producer {
 public:
  Producer(const Plan& plan, std::vector<Verifier> verifiers, Printers printers, harness::Policy policy);

  /// For each task the first candidate from its attempt on that passes. Fails only for a defect of Assay: a generated
  /// kernel that cannot be read back.
  [[nodiscard]] Result<Produced> produce(std::span<const Task> tasks) const;

 private:
  struct Candidate;

  /// Makes the tasks' candidates, judges them, and goes on with the next of those that fail.
  Result<void> produce(std::span<const Task> tasks, Produced& produced) const;
  Result<std::vector<Candidate>> draw(std::vector<Task>& tasks, Produced& produced) const;
  void judge(std::span<Candidate> candidates, Timing& timing) const;
  void judge_on(const Verifier& verifier, const harness::Mode& mode, std::span<Candidate> candidates,
                Timing& timing) const;
  void add_unjudged(Candidate& candidate) const;
  [[nodiscard]] Row row_of(Candidate& candidate) const;

  const Plan& plan_;
  std::vector<Verifier> verifiers_;
  Printers printers_;
  harness::Policy policy_;
};

}  // namespace assay::dataset
