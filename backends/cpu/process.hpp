// Runs a trusted program, as a compiler, to its end or to a time limit.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay::cpu {

struct ProcessResult {
  enum class End : std::uint8_t { kExited, kSignalled, kTimedOut, kNotStarted };
  End end = End::kNotStarted;
  int code = 0;        ///< exit status, or signal number
  std::string output;  ///< standard output and error as they came, the first MiB; why it did not start

  [[nodiscard]] bool succeeded() const { return end == End::kExited && code == 0; }
};

/// Runs the program in a process group of its own, with messages in English, and without standard input. At the limit
/// the whole group is killed: a compiler driver has children.
[[nodiscard]] ProcessResult run_process(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                                        std::chrono::milliseconds limit);

/// The program that a shell would run for `name`; none when there is none.
[[nodiscard]] std::optional<std::filesystem::path> find_program(const std::string& name);

}  // namespace assay::cpu
