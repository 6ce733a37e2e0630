// Reads in the worker the records that command_writer wrote.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>

#include "backends/worker/protocol.hpp"

namespace assay::worker {

/// Parses one record of the commands that a worker receives. The strings that it returns are views into the commands.
class RecordReader {
 public:
  explicit RecordReader(const std::byte* base) : base_(base) { std::memcpy(&record_, base, sizeof(record_)); }

  [[nodiscard]] const LaunchRecord& record() const { return record_; }
  [[nodiscard]] const char* code() const { return at<char>(record_.code_offset); }
  [[nodiscard]] const char* symbol() const { return at<char>(record_.symbol_offset); }
  [[nodiscard]] bool loads_only() const { return record_.symbol_offset == 0; }
  [[nodiscard]] std::span<const std::byte> blob() const {
    return {at<std::byte>(record_.blob_offset), record_.blob_bytes};
  }
  [[nodiscard]] std::span<const ArgumentLocation> arguments() const {
    return {at<ArgumentLocation>(record_.arguments_offset), record_.argument_count};
  }
  [[nodiscard]] std::span<const PointerRelocation> pointers() const {
    return {at<PointerRelocation>(record_.pointers_offset), record_.pointer_count};
  }
  [[nodiscard]] std::span<const std::int64_t> checked_threads() const {
    return {at<std::int64_t>(record_.checked_threads_offset), record_.checked_threads_count};
  }

 private:
  template <typename T>
  [[nodiscard]] const T* at(std::uint32_t position) const {
    return reinterpret_cast<const T*>(base_ + position);
  }

  const std::byte* base_;  ///< start of the record
  LaunchRecord record_{};  ///< copy of the record's fixed part
};

}  // namespace assay::worker
