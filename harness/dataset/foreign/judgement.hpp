// Judges the kernels of rows on devices that run Warp's own code, and decides each row.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "backends/device/backend.hpp"
#include "harness/dataset/foreign/foreign_rows.hpp"
#include "harness/dataset/foreign/regeneration.hpp"
#include "harness/judge/policy.hpp"
#include "harness/suite/run/run.hpp"
#include "support/result.hpp"

namespace assay::foreign {

/// The outcome of a row.
enum class RowOutcome : std::uint8_t {
  kVerified,  ///< the code belongs to the Python source, and every case passed
  kRejected,  ///< the row is damaged, or a case failed
  kUndecided  ///< the code belongs to the Python source, but no verdict on its values was possible
};
/// Name of the outcome: "verified", "rejected" or "undecided".
std::string_view to_text(RowOutcome outcome);

/// A row that was judged.
struct JudgedRow {
  ForeignRow row;                               ///< the row as the dataset contains it
  RowOutcome outcome = RowOutcome::kUndecided;  ///< outcome of the row
  std::string cause;    ///< name of the damage, or outcome and kind of the decisive case: "fail(wrong_gradient)"
  std::string message;  ///< one line for people; empty if the row is verified
  std::optional<RowDamageFinding> damage;        ///< what is damaged; empty if the row is not damaged
  std::vector<nlohmann::ordered_json> evidence;  ///< one object for each device and pass that was judged
  std::string program_key;           ///< identifies the program, independent of its names; empty if it is unknown
  std::string code_key;              ///< forward_key of the row's code
  std::string regenerated_code_key;  ///< forward_key of the code that Warp generates from the row's Python
};

/// Generates the code of rows again: regenerate() with its options.
using Regenerate = std::function<Result<std::vector<RegeneratedCode>>(std::span<const ForeignRow>)>;

/// How rows are judged.
struct RowJudgeOptions {
  std::vector<std::string> devices{"warp-cpu"};  ///< names of devices that run Warp's own code
  std::string judging_effort = "standard";       ///< "quick", "standard" or "thorough"
  std::uint64_t seed = 1;                        ///< seed of the inputs
  /// Whether to judge the kernels. If false, rows are only checked for code that does not belong to the Python source.
  bool verify = true;
};

/// Judges rows on the devices that it is given. Thread-safe.
class RowJudge {
 public:
  /// Fails if a device is unknown or does not run Warp's code.
  static Result<RowJudge> make(const RowJudgeOptions& options);

  /// Why no device can run here; empty if one can, or none is needed.
  [[nodiscard]] std::string device_unavailable_reason() const;

  /// Decides rows: generates their code again, finds damage, then judges the rows without damage together. Devices
  /// judge the kernel as Assay prints it; if Warp generates other code from that text than from the row's, the row is
  /// undecided. `version` is that of the installed Warp. Duplicates are not found here. Fails if `regenerate` does.
  [[nodiscard]] Result<std::vector<JudgedRow>> judge(std::vector<ForeignRow> rows, const FieldMapping& mapping,
                                                     std::string_view version, const Regenerate& regenerate) const;

 private:
  RowJudge() = default;
  /// A row without damage.
  struct PendingRow {
    JudgedRow* row;                ///< not owned
    std::string kernel_symbol;     ///< RegeneratedCode::kernel_symbol
    harness::KernelSource source;  ///< the kernel as Assay parses it
  };
  void judge_on_device(backends::Device& device, std::span<const PendingRow> rows) const;

  std::vector<std::unique_ptr<backends::Device>> devices_;  ///< empty: kernels are not judged
  harness::JudgingPolicy policy_;                           ///< how thoroughly kernels are judged
  std::uint64_t seed_ = 1;                                  ///< seed of the inputs
};

/// The damage of a row, if any: of its fields, of its Python, of its generated code.
std::optional<RowDamageFinding> find_row_damage(const ForeignRow& row, const RegeneratedCode& regenerated,
                                                const FieldMapping& mapping, std::string_view version);

}  // namespace assay::foreign
