// Code made to record what its instructions compute, so that it can be found where two devices part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "backends/device/backend.hpp"
#include "support/result.hpp"

namespace assay::backends {

/// What recording code leaves behind. It takes two parameters more than the code that it is made of, behind the others:
/// the address of what it records, which must hold zeros, and the number of a thread, as std::int64_t.
enum class Recording : std::uint8_t {
  kDigests,  ///< of each thread 8 bytes, a digest of its results and of their order
  kThread,   ///< of the one thread its first kMostRecords results, as Records
};

/// A result of one instruction.
struct Record {
  std::uint64_t instruction = 0;  ///< counted from 1; 0 behind the last record
  std::uint64_t bits = 0;
  friend bool operator==(const Record&, const Record&) = default;
};
inline constexpr std::size_t kMostRecords = std::size_t{1} << 18U;

struct RecordedInstruction {
  std::uint32_t code_line = 0;    ///< of the code before it was made to record
  std::uint32_t source_line = 0;  ///< of the generated source; 0: unknown
  std::string text;
  bool receives = false;  ///< its result comes from memory or from other threads
};

struct RecordingCode {
  std::string content;                            ///< in the language of the code that it was made of
  std::vector<RecordedInstruction> instructions;  ///< a record's instruction N is the one before index N
};

/// Makes the entry `symbol` of an artifact record.
using MakeRecording = std::function<Result<RecordingCode>(const Artifact&, const std::string& symbol, Recording)>;

}  // namespace assay::backends
