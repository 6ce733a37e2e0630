// Writes launches as commands for a worker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "backends/device/backend.hpp"
#include "backends/worker/protocol.hpp"

namespace assay::worker {

/// The position and size of a buffer within the shared buffers, in bytes.
struct BufferExtent {
  std::size_t offset = 0;  ///< position of the first byte
  std::size_t size = 0;    ///< number of bytes
};

/// Writes the commands of one round. An add function that has no space left returns false and writes nothing.
class CommandWriter {
 public:
  using LocateBuffer = std::function<BufferExtent(backends::BufferId)>;
  CommandWriter(std::span<std::byte> commands, LocateBuffer locate);

  /// Adds a launch. `code` lists the code files, one per line.
  bool add_launch(const backends::LaunchRequest& launch, const backends::BuiltEntryPoint& entry,
                  const std::string& code);
  /// A record that loads the code and calls nothing.
  bool add_load(const std::string& code);

  [[nodiscard]] std::size_t count() const { return record_count_; }
  /// Completes the round.
  void finish(std::uint32_t cpu_time_limit_seconds);

 private:
  /// Appends a piece to the current record at the next multiple of 16; returns its position within the record.
  std::uint32_t put(std::span<const std::byte> piece);
  std::uint32_t put_text(const std::string& text);
  std::uint32_t reserve(std::size_t bytes);
  void put_arguments(const backends::LaunchRequest& launch, LaunchRecord& record);
  bool end_record(LaunchRecord& record);

  std::span<std::byte> command_area_;    ///< shared memory for the commands of a round
  LocateBuffer locate_buffer_;           ///< returns the position of a buffer
  std::size_t record_start_offset_ = 0;  ///< position in command_area_ of the record that is being written
  std::size_t write_offset_ = 0;         ///< position in command_area_ of the next part of this record
  bool has_overflowed_ = false;          ///< whether this record does not fit
  std::size_t record_count_ = 0;         ///< number of complete records
};

}  // namespace assay::worker
