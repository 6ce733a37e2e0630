// Runs a trusted program, such as a compiler, until it exits or reaches a time limit.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay::cpu {

/// How a program ended, and what it printed.
struct ProcessResult {
  enum class EndReason : std::uint8_t { kExited, kSignaled, kTimedOut, kNotStarted };
  EndReason end_reason = EndReason::kNotStarted;  ///< how the process ended
  int status_or_signal = 0;                       ///< exit status for kExited, signal number for kSignaled; otherwise 0
  std::string output;  ///< the first MiB of its standard output and error, interleaved; for kNotStarted the reason

  [[nodiscard]] bool succeeded() const { return end_reason == EndReason::kExited && status_or_signal == 0; }
};

/// Runs the program in its own process group, with messages in English and without standard input. At the time limit,
/// kills the whole group, because a compiler driver has child processes.
[[nodiscard]] ProcessResult run_process(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                                        std::chrono::milliseconds limit);

/// The program that a shell would run for `name`, if any.
[[nodiscard]] std::optional<std::filesystem::path> find_program(const std::string& name);

}  // namespace assay::cpu
