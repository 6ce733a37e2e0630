// Has the attack set judged.
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

/// What became of one attack.
struct AttackResult {
  Attack attack;
  harness::CaseRecord record = {};  ///< of the pass that attacks
  /// Of an attack in the backward pass: the case of the forward pass beside it, which is right and must pass.
  std::optional<harness::CaseRecord> forward = std::nullopt;
  std::vector<std::string> harm = {};  ///< what it did to its surroundings, in words
  bool left_out = false;               ///< what it would fail on is missing here, so that it was not run

  /// It ended as it must, no right pass beside it did not pass, and nothing was harmed.
  [[nodiscard]] bool caught() const;
};

struct AttackReport {
  std::vector<AttackResult> attacks;
  std::vector<harness::CaseRecord> neighbours;  ///< of right kernels that were built and judged among the attacks
  std::vector<std::string> leftovers;           ///< when all was over, in words

  /// Every attack that was run was caught, every neighbour passed, and nothing is left.
  [[nodiscard]] bool unharmed() const;
};

/// A device for code of the language C++, that keeps its files in the folder and no cache.
using MakeDevice = std::function<std::unique_ptr<backends::Device>(const std::filesystem::path& folder)>;

struct AttackOptions {
  harness::Policy policy = harness::Policy::quick();
  std::uint64_t seed = 1;
  std::chrono::milliseconds time_limit{300};  ///< of processor time, for one launch
  bool system_calls_filtered = true;          ///< whether the device's workers have the filter
  bool files_limited = true;                  ///< whether they have Landlock
  /// Called with each result as soon as it is there.
  std::function<void(const AttackResult&)> on_result = nullptr;
};

/// Runs the attacks one after another, in this process and its workers. Fails when the surroundings cannot be made;
/// aborts on an attack that does not fit the emitted text.
Result<AttackReport> run_attacks(const std::vector<Attack>& attacks, const MakeDevice& make_device,
                                 const harness::Printer& printer, const AttackOptions& options);

}  // namespace assay::attacks
