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

/// What recording code records. It has two additional parameters at the end: the address of the record buffer, which
/// must be zeroed, and a thread number as std::int64_t.
enum class RecordingMode : std::uint8_t {
  kThreadDigests,       ///< one 8-byte digest for each thread, of its results and their order
  kResultsOfOneThread,  ///< the first kMaxRecordedResults results of the given thread, as RecordedResults
};

/// The result of one instruction.
struct RecordedInstructionResult {
  std::uint64_t instruction_number = 0;  ///< number of the instruction, counted from 1; 0 marks the end of the records
  std::uint64_t result_bits = 0;         ///< bits of the result
  friend bool operator==(const RecordedInstructionResult&, const RecordedInstructionResult&) = default;
};
inline constexpr std::size_t kMaxRecordedResults = std::size_t{1} << 18U;

/// An instruction whose results are recorded.
struct RecordedInstruction {
  std::uint32_t code_line = 0;                 ///< line of the code before instrumentation
  std::uint32_t source_line = 0;               ///< line of the generated source; 0: unknown
  std::string text;                            ///< text of the instruction
  bool reads_memory_or_other_threads = false;  ///< whether its result comes from memory or from other threads
};

/// Instrumented code, and the instructions that it records.
struct InstrumentedCode {
  std::string content;  ///< instrumented code, in the language of the original code
  std::vector<RecordedInstruction>
      instructions;  ///< RecordedInstructionResult::instruction_number N refers to index N - 1
};

/// Instruments the entry `symbol` of an artifact.
using MakeRecording =
    std::function<Result<InstrumentedCode>(const Artifact&, const std::string& symbol, RecordingMode)>;

}  // namespace assay::backends
