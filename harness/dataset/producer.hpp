// Makes the rows of slots: draws a kernel, renders and judges it, and tries the next candidate if it fails.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "backends/device/backend.hpp"
#include "harness/dataset/emitter.hpp"
#include "harness/dataset/plan.hpp"
#include "harness/dataset/render.hpp"
#include "harness/dataset/row_memory.hpp"
#include "harness/dataset/row_ptx.hpp"
#include "harness/dataset/similarity.hpp"
#include "harness/dataset/stats.hpp"
#include "harness/suite/run/run.hpp"

namespace assay::dataset {

/// A device that verifies rows, and the modes that it uses.
struct VerifyingDevice {
  backends::Device* device = nullptr;  ///< the device; not owned
  std::vector<harness::Mode> modes;    ///< numeric modes; mode_for_kernel() chooses those in which a row is judged
  std::vector<std::string> memory_checks = {};  ///< names of the memory checks that the device itself makes
};

/// A kernel that did not become a row.
struct RejectedCandidate {
  std::uint64_t slot = 0;     ///< number of the slot
  std::uint32_t attempt = 0;  ///< number of the candidate of the slot, from 0
  std::string name;           ///< name of the kernel: "loop/r2_42"
  std::string verdict;        ///< why it was rejected: "fail(mismatch)", "unsupported(adjoint)"
  std::string message;        ///< message of the verdict
  std::string python_source;  ///< source text of the kernel
  std::vector<nlohmann::json>
      failed_case_records;  ///< records of the cases that did not pass, as harness/records writes them, without times
};

nlohmann::ordered_json to_json(const RejectedCandidate& rejected);
RejectedCandidate rejected_from(const nlohmann::json& line);

/// Memory that owns the data of rows. The lines have an arena of their own, because they may be freed earlier.
struct RowArenas {
  RowArena json_line_arena;   ///< the lines of JSON
  RowArena statistics_arena;  ///< ids, statistics and shingles
};

/// A row in its slot, with the data that later stages need. Everything but numbers is stored in RowArenas.
struct AcceptedRow {
  DatasetSlot slot;                         ///< the slot of the row
  std::uint32_t attempt = 0;                ///< number of the candidate that became the row, from 0
  std::string_view id;                      ///< id of the row
  std::string_view line;                    ///< the row's line of JSON; empty if it was freed
  std::string_view kernel_name;             ///< name of the kernel in the row's texts
  std::span<const std::string_view> names;  ///< the names that it may have (naming.hpp); empty for a user's kernel
  RowStatistics statistics;                 ///< the row's part of the statistics
  ShingleView shingles;                     ///< the row's shingles, for finding near duplicates
};

/// The rows that were made for some slots.
struct ProducedBlock {
  std::vector<AcceptedRow> rows;            ///< ordered by slot; a slot whose candidates all failed has no row
  std::vector<RejectedCandidate> rejected;  ///< ordered by slot and attempt
  Timing timing;                            ///< time of making the rows
  RowArenas memory;                         ///< owns the data of `rows`
};

/// A slot, and the attempt to start with.
struct SlotTask {
  DatasetSlot slot;           ///< the slot to fill
  std::uint32_t attempt = 0;  ///< number of the first candidate to try
};

/// Maximum number of candidates tried for a slot.
inline constexpr std::uint32_t kMaxAttemptsPerSlot = 16;

/// Makes the accepted form of a row from its kernel.
AcceptedRow accept(const SlotTask& task, const DatasetRow& row, const RenderedKernel& kernel, RowArenas& memory);
/// Makes the accepted form of a row from a line of JSON that an earlier run wrote. Fails if the line is not a row.
Result<AcceptedRow> accept_line(const SlotTask& task, std::string_view line, RowArenas& memory);

/// How kernels are printed.
struct RowPrinters {
  harness::PairPrinter pair_printer;  ///< prints the sources of the rows for both devices
  harness::Printer single_printer;    ///< prints the source for the device that judges
  WarpCodegen warp_codegen = {};      ///< for the emitter "warp": gives the sources of the rows
  RowPtxCompiler ptx_compiler = {};   ///< compiles the PTX of the rows; empty: they get none
};

/// Makes the rows of slots. The row of a task depends only on the plan. Thread-safe.
class RowProducer {
 public:
  /// The plan's excluded kernels must be valid: make_plan() has read them.
  RowProducer(const DatasetPlan& plan, std::vector<VerifyingDevice> verifiers, RowPrinters printers,
              harness::JudgingPolicy policy);

  /// Makes for each task the row of the first candidate that passes, starting with the task's attempt. Fails if Warp's
  /// code is requested and its process cannot be run, otherwise only on a bug in Assay: a generated kernel that cannot
  /// be parsed back.
  [[nodiscard]] Result<ProducedBlock> produce(std::span<const SlotTask> tasks) const;

  /// A row and the name that its kernel gets.
  struct Renaming {
    SlotTask task;          ///< slot of the row, and the candidate that became the row
    std::string_view line;  ///< the row's line of JSON
    std::string_view name;  ///< new name of the kernel
  };
  /// The rows as they would be if their kernels had been produced with these names; the evidence, which does not depend
  /// on names, is kept. Fails only on a bug in Assay, or if Warp's code is wanted and its process cannot be run.
  [[nodiscard]] Result<ProducedBlock> rename(std::span<const Renaming> renamings) const;

 private:
  struct Candidate;

  /// Makes and judges candidates of the tasks, and continues with the next attempts of those that fail.
  Result<void> produce(std::span<const SlotTask> tasks, ProducedBlock& produced) const;
  Result<std::vector<Candidate>> draw(std::vector<SlotTask>& tasks, ProducedBlock& produced) const;
  /// Puts Warp's code into the rows. Candidates that Warp rejects are rejected, and their next attempts added to
  /// `tasks`.
  Result<void> add_warp_code(std::vector<Candidate>& candidates, std::vector<SlotTask>& tasks,
                             ProducedBlock& produced) const;
  void judge(std::span<Candidate> candidates, Timing& timing) const;
  /// Judges the candidates that mode_for_kernel() selects for this mode. `is_judged_before`: whether another device has
  /// judged them.
  void judge_in_mode(const VerifyingDevice& verifier, const harness::Mode& mode, bool is_judged_before,
                     std::span<Candidate> candidates, Timing& timing) const;
  void judge_candidates(const VerifyingDevice& verifier, const harness::Mode& mode, std::vector<Candidate*> left,
                        Timing& timing) const;
  void add_unjudged(Candidate& candidate) const;
  /// Adds a row in its final form, with its PTX.
  Result<void> add_row(const SlotTask& task, DatasetRow row, const RenderedKernel& kernel,
                       ProducedBlock& produced) const;
  [[nodiscard]] DatasetRow row_of(Candidate& candidate) const;

  /// One of DatasetPlan::excluded_kernels.
  struct ExcludedKernel {
    std::string name;
    Shingles shingles;
  };
  /// The name of an excluded kernel that the program nearly duplicates; empty if there is none.
  [[nodiscard]] std::string excluded_kernel_like(const ir::Module& module) const;

  const DatasetPlan& plan_;                 ///< the plan of the dataset
  std::vector<ExcludedKernel> excluded_;    ///< the plan's excluded kernels
  std::vector<VerifyingDevice> verifiers_;  ///< devices that judge the rows
  RowPrinters printers_;                    ///< print the sources of the rows
  harness::JudgingPolicy policy_;           ///< how thoroughly rows are judged
};

}  // namespace assay::dataset
