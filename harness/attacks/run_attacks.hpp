// Runs and judges the attack set.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/device/backend.hpp"
#include "harness/attacks/attack.hpp"
#include "harness/records/record.hpp"
#include "harness/suite/run/run.hpp"

namespace assay::attacks {

/// The outcome of one attack.
struct AttackResult {
  Attack attack;                    ///< the attack
  harness::CaseRecord record = {};  ///< the record of the attacked pass
  /// For an attack on the backward pass: the record of the forward pass, which is correct and must pass.
  std::optional<harness::CaseRecord> forward_record = std::nullopt;
  std::vector<std::string> damage_reports = {};  ///< damage to the surroundings, one message each
  bool is_skipped = false;  ///< whether it was not run, because this system lacks the protection that must stop it

  /// Whether the outcome is one of the accepted ones, the forward pass passed if there is one, and no damage was done.
  [[nodiscard]] bool is_caught() const;
};

/// The outcome of the whole attack set.
struct AttackReport {
  std::vector<AttackResult> results;  ///< one result for each attack, in the order of the set
  std::vector<harness::CaseRecord>
      correct_kernel_records;  ///< records of correct kernels that were built and judged with the attacks
  std::vector<std::string>
      leftover_resources;  ///< processes, descriptors and files left after the run, one message each

  /// Whether every attack that was run was caught, every correct kernel passed, and nothing was left behind.
  [[nodiscard]] bool all_caught() const;
};

/// Makes a device that compiles C++, keeps its files in the folder and has no cache.
using MakeDevice = std::function<std::unique_ptr<backends::Device>(const std::filesystem::path& folder)>;

/// How the attack set is run.
struct AttackOptions {
  harness::JudgingPolicy policy = harness::JudgingPolicy::quick();  ///< how thoroughly kernels are judged
  std::uint64_t seed = 1;                                           ///< seed of the random inputs
  std::chrono::milliseconds time_limit{300};                        ///< limit on the processor time of one launch
  bool filters_system_calls = true;   ///< whether the workers run under the system call filter
  bool restricts_file_access = true;  ///< whether Landlock restricts the file access of the workers
  /// Called with each result as soon as it is available.
  std::function<void(const AttackResult&)> on_result = nullptr;
};

/// Runs the attacks one after another, in this process and its workers. Fails if the surroundings cannot be set up;
/// aborts if an attack cannot be injected into the emitted text.
Result<AttackReport> run_attacks(const std::vector<Attack>& attacks, const MakeDevice& make_device,
                                 const harness::Printer& printer, const AttackOptions& options);

}  // namespace assay::attacks
