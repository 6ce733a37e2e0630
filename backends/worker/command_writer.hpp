// Writes launches into the commands that a worker reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "backends/device/backend.hpp"
#include "backends/worker/protocol.hpp"

namespace assay::worker {

/// Where a buffer lies among the buffers, in bytes.
struct BufferPlace {
  std::size_t offset = 0;
  std::size_t size = 0;
};

/// Fills one round of commands. Every add() returns false, and writes nothing, when there is no room left.
class CommandWriter {
 public:
  using PlaceOf = std::function<BufferPlace(backends::BufferId)>;
  CommandWriter(std::span<std::byte> commands, PlaceOf place_of);

  bool add_launch(const backends::LaunchRequest& launch, const backends::BuiltEntry& entry, const std::string& code);
  /// A record that loads the code and calls nothing.
  bool add_load(const std::string& code);

  [[nodiscard]] std::size_t count() const { return count_; }
  /// Completes the round.
  void finish(std::uint32_t processor_seconds);

 private:
  /// A piece of the record in progress at the next multiple of 16; its position, from the record's start.
  std::uint32_t put(std::span<const std::byte> piece);
  std::uint32_t put_text(const std::string& text);
  std::uint32_t reserve(std::size_t bytes);
  void put_arguments(const backends::LaunchRequest& launch, LaunchRecord& record);
  bool end_record(LaunchRecord& record);

  std::span<std::byte> commands_;
  PlaceOf place_of_;
  std::size_t record_at_ = 0;  ///< where the record in progress starts
  std::size_t end_ = 0;        ///< where its next piece goes
  bool overflow_ = false;
  std::size_t count_ = 0;
};

}  // namespace assay::worker
