// Where two devices part that gave other bits: the first instruction of a thread whose result differs.
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

struct Divergence {
  RecordedInstruction instruction;
  std::uint64_t thread = 0;           ///< of the grid
  std::optional<std::uint64_t> here;  ///< its result; nothing where the thread did not come to it
  std::optional<std::uint64_t> there;
};

/// A session and the one that repeats its launches. Buffers of one number are of one size.
struct SessionPair {
  Session& here;
  Session& there;
};

/// Runs one launch again on both, with code that records, and looks where the records part.
class DivergenceSearch {
 public:
  explicit DivergenceSearch(MakeRecording make) : make_(std::move(make)) {}

  /// `refill` gives the launch's buffers what they held before it, on both. Of up to kMostThreads threads that differ
  /// the first is told in which an instruction computed otherwise, and did not merely receive what differs. Nothing
  /// where, recording, both agree. Fails where the launch cannot be repeated so, with the reason.
  Result<std::optional<Divergence>> find(SessionPair sessions, const LaunchRequest& launch,
                                         const std::function<void()>& refill);

  static constexpr std::size_t kMostThreads = 8;

 private:
  Result<void> repeat(SessionPair sessions, const LaunchRequest& launch, Recording recording, std::uint64_t thread,
                      BufferId records, const std::function<void()>& refill);
  Result<BufferId> room(SessionPair sessions, std::size_t bytes);

  MakeRecording make_;
  std::optional<ScratchDirectory> folder_;  ///< of the code, for devices that load it from files
  std::uint64_t files_ = 0;
  std::vector<RecordedInstruction> instructions_;  ///< of the last repetition
};

}  // namespace assay::backends
