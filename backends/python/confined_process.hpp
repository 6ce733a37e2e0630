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

struct ConfinedProgram {
  std::filesystem::path executable;  ///< executable to run
  std::vector<std::string> arguments;
  std::vector<std::string> environment;    ///< all environment variables: "NAME=value"
  std::filesystem::path writable_folder;   ///< the only folder in which it may change files
  std::chrono::milliseconds time_limit{};  ///< limit on the wall time
  std::uint64_t memory_limit_bytes = 0;    ///< memory limit
};

struct ProcessExited {
  int signal = 0;       ///< signal that ended the process; 0: it exited by itself
  int exit_status = 0;  ///< exit status, if `signal` is 0
};
struct ImportTimedOut {};
struct AnswerTooLarge {};
struct TooManyProcesses {};

struct ConfinedResult {
  std::variant<ProcessExited, ImportTimedOut, AnswerTooLarge, TooManyProcesses> termination;
  std::string answer;                    ///< bytes that the program wrote to kAnswerFileDescriptor
  std::string output_tail;               ///< the last kMaxOutputBytes bytes of its standard output and error
  std::uint64_t total_output_bytes = 0;  ///< total size of its standard output and error
  worker::Confinement confinement{};     ///< how the process was confined
};

inline constexpr int kAnswerFileDescriptor = 3;                       ///< file descriptor for the program's answer
inline constexpr int kExecFailedExitStatus = 126;                     ///< exit status if the program cannot be executed
inline constexpr int kMaxProcesses = 64;                              ///< limit on processes that run at once
inline constexpr std::size_t kMaxOutputBytes = std::size_t{1} << 20;  ///< bytes of output that are kept
inline constexpr std::size_t kMaxAnswerBytes = std::size_t{1} << 30;  ///< size limit of the answer in bytes

/// Runs the program without standard input until it exits; then the processes that it started are killed. At the time
/// limit, and if too many processes run at once, all are killed. Fails only if no process can be started. The child
/// allocates memory before it executes the program; glibc supports this also if the calling process has threads.
Result<ConfinedResult> run_confined(const ConfinedProgram& program);

}  // namespace assay::python
