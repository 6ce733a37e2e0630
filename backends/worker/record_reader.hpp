// Reads in the worker the records that command_writer wrote.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>

#include "backends/worker/protocol.hpp"

namespace assay::worker {

/// Parses one record of the commands that a worker receives. The returned texts and arrays are views of the commands.
class LaunchRecordReader {
 public:
  explicit LaunchRecordReader(const std::byte* base) : record_start_(base) {
    std::memcpy(&record_, base, sizeof(record_));
  }

  [[nodiscard]] const LaunchRecord& record() const { return record_; }
  [[nodiscard]] const char* code() const { return view_at<char>(record_.code_offset); }
  [[nodiscard]] const char* symbol() const { return view_at<char>(record_.symbol_offset); }
  [[nodiscard]] bool loads_only() const { return record_.symbol_offset == 0; }
  /// Returns the bytes of all arguments.
  [[nodiscard]] std::span<const std::byte> argument_blob() const {
    return {view_at<std::byte>(record_.blob_offset), record_.argument_blob_bytes};
  }
  /// Returns the position of each argument.
  [[nodiscard]] std::span<const ArgumentLocation> arguments() const {
    return {view_at<ArgumentLocation>(record_.arguments_offset), record_.argument_count};
  }
  /// Returns the position and the target of each pointer in the arguments.
  [[nodiscard]] std::span<const PointerRelocation> pointers() const {
    return {view_at<PointerRelocation>(record_.pointers_offset), record_.pointer_count};
  }
  /// Returns the threads whose results are checked; empty: all threads.
  [[nodiscard]] std::span<const std::int64_t> checked_threads() const {
    return {view_at<std::int64_t>(record_.checked_threads_offset), record_.checked_thread_count};
  }

 private:
  template <typename T>
  [[nodiscard]] const T* view_at(std::uint32_t position) const {
    return reinterpret_cast<const T*>(record_start_ + position);
  }

  const std::byte* record_start_;  ///< start of the record
  LaunchRecord record_{};          ///< copy of the fixed part of the record
};

}  // namespace assay::worker
