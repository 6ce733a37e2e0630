// Code instrumented to record instruction results, used to locate the first difference between two devices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "backends/device/backend.hpp"
#include "support/result.hpp"

namespace assay::backends {

/// What recording code records. Recording code has two additional parameters at the end: the address of the record
/// buffer, which must be zeroed, and a thread number as std::int64_t.
enum class RecordingMode : std::uint8_t {
  kThreadDigests,       ///< one 8-byte digest for each thread, of its results in their order
  kResultsOfOneThread,  ///< the first kMaxRecordedResults results of the given thread, as RecordedResults
};

/// The result of one executed instruction.
struct RecordedInstructionResult {
  /// Number of the instruction in the code, counted from 1; 0 marks the end of the records.
  std::uint64_t instruction_number = 0;
  std::uint64_t result_bits = 0;  ///< bits of the result
  friend bool operator==(const RecordedInstructionResult&, const RecordedInstructionResult&) = default;
};
/// Maximum number of results recorded for one thread.
inline constexpr std::size_t kMaxRecordedResults = std::size_t{1} << 18U;

/// An instruction whose results are recorded.
struct RecordedInstruction {
  std::uint32_t code_line = 0;    ///< line of the instruction in the code before recording was added
  std::uint32_t source_line = 0;  ///< line of the generated source; 0: unknown
  std::string text;               ///< text of the instruction
  /// Whether the result comes from memory or from other threads. An earlier instruction may then have caused a
  /// difference.
  bool reads_memory_or_other_threads = false;
};

/// Code that records results, and the instructions that it records.
struct InstrumentedCode {
  std::string content;  ///< the code, in the language of the original code
  std::vector<RecordedInstruction>
      instructions;  ///< recorded instructions; RecordedInstructionResult::instruction_number N refers to index N - 1
};

/// Instruments the entry `symbol` of an artifact.
using MakeRecording =
    std::function<Result<InstrumentedCode>(const Artifact&, const std::string& symbol, RecordingMode)>;

}  // namespace assay::backends
