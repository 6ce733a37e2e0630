// Locates the first instruction whose result differs between two devices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "backends/device/backend.hpp"
#include "backends/device/recording.hpp"
#include "backends/device/scratch_directory.hpp"
#include "support/result.hpp"

namespace assay::backends {

/// The first instruction that gave different results on the two devices.
struct DifferingInstruction {
  RecordedInstruction instruction;  ///< the instruction and its source lines
  std::uint64_t thread = 0;         ///< linear index of the thread in the grid
  /// Result bits on the first device; nullopt if the thread did not execute it.
  std::optional<std::uint64_t> device_result;
  /// Result bits on the cross-check device; nullopt if the thread did not execute it.
  std::optional<std::uint64_t> cross_check_result;
};

/// A session and the session that repeats its launches. A buffer has the same number and size in both.
struct SessionPair {
  DeviceSession& device;       ///< session that runs a launch first
  DeviceSession& cross_check;  ///< session that repeats the launch
};

/// Finds the first instruction with different results: repeats a launch on both devices with recording code and
/// compares the records.
class DifferingInstructionSearch {
 public:
  explicit DifferingInstructionSearch(MakeRecording make) : make_recording_code_(std::move(make)) {}

  /// Finds the instruction at which the two devices first differ. Examines at most kMaxExaminedThreads threads whose
  /// results differ, and prefers an instruction that computed the differing value to one that only received it. Returns
  /// nullopt if the devices agree in the recorded run. Fails with the reason if the launch cannot be repeated. `refill`
  /// restores the contents that the buffers had before the launch, on both devices.
  Result<std::optional<DifferingInstruction>> find(SessionPair sessions, const LaunchRequest& launch,
                                                   const std::function<void()>& refill);

  static constexpr std::size_t kMaxExaminedThreads = 8;  ///< maximum number of differing threads to examine

 private:
  /// Repeats the launch on both sessions with recording code, which writes to the buffer `records`.
  Result<void> repeat_launch(SessionPair sessions, const LaunchRequest& launch, RecordingMode recording,
                             std::uint64_t thread, BufferId records, const std::function<void()>& refill);
  Result<BufferId> allocate_on_both(SessionPair sessions, std::size_t bytes);

  MakeRecording make_recording_code_;  ///< inserts the recording code into an artifact
  std::optional<ScratchDirectory>
      recording_code_folder_;  ///< folder for the recording code, for devices that load code from files
  /// Number of files written to recording_code_folder_ so far, which names the next one.
  std::uint64_t written_file_count_ = 0;
  std::vector<RecordedInstruction> recorded_instructions_;  ///< instructions that the last repetition recorded
};

}  // namespace assay::backends
