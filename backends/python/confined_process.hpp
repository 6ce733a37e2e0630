// Runs a program of the user confined, with limits, and collects what it answers and prints.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "backends/worker/protocol.hpp"
#include "support/result.hpp"

namespace assay::python {

/// A program to run confined, and its limits.
struct ConfinedProgram {
  std::filesystem::path executable;        ///< executable to run
  std::vector<std::string> arguments;      ///< command-line arguments after the program's name
  std::vector<std::string> environment;    ///< all environment variables: "NAME=value"
  std::filesystem::path writable_folder;   ///< the only folder in which the program may change files
  std::chrono::milliseconds time_limit{};  ///< limit of the wall-clock time
  std::uint64_t memory_limit_bytes = 0;    ///< memory limit in bytes
};

/// The process ended within its limits.
struct ProcessExited {
  int signal = 0;       ///< number of the signal that ended the process; 0: it exited
  int exit_status = 0;  ///< exit status, if `signal` is 0
};
struct ImportTimedOut {};
struct AnswerTooLarge {};
struct TooManyProcesses {};

/// How a confined program ended, and what it wrote.
struct ConfinedResult {
  /// How the program ended: by itself or a signal, or by exceeding a limit.
  std::variant<ProcessExited, ImportTimedOut, AnswerTooLarge, TooManyProcesses> termination;
  std::string answer;                    ///< bytes that the program wrote to kAnswerFileDescriptor
  std::string output_tail;               ///< last kMaxOutputBytes bytes of its standard output and error
  std::uint64_t total_output_bytes = 0;  ///< number of bytes that it wrote to standard output and error
  worker::Confinement confinement{};     ///< how the process was confined
};

inline constexpr int kAnswerFileDescriptor = 3;    ///< file descriptor to which the program writes its answer
inline constexpr int kExecFailedExitStatus = 126;  ///< exit status that means that the program could not be executed
inline constexpr int kMaxProcesses = 64;           ///< maximum number of processes that run at once
/// Maximum number of bytes of output that are kept.
inline constexpr std::size_t kMaxOutputBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMaxAnswerBytes = std::size_t{1} << 30;  ///< maximum size of the answer in bytes

/// Runs the program without standard input until it exits; then the processes that it started are killed. At the time
/// limit, and if too many processes run at once, all are killed. Fails only if no process can be started. The child
/// allocates memory before it executes the program; glibc supports this also if the calling process has threads.
Result<ConfinedResult> run_confined(const ConfinedProgram& program);

}  // namespace assay::python
