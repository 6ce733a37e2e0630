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

namespace assay::live {

struct ConfinedProgram {
  std::filesystem::path program;
  std::vector<std::string> arguments;
  std::vector<std::string> environment;  ///< "NAME=value"
  std::filesystem::path cache;           ///< the only folder in which it may change files
  std::chrono::milliseconds time_limit{};
  std::uint64_t memory_bytes = 0;
};

struct ProcessExited {
  int signal = 0;       ///< 0: it exited by itself
  int exit_status = 0;  ///< when signal is 0
};
struct ImportTimedOut {};
struct AnswerTooLarge {};
struct TooManyProcesses {};

struct ConfinedResult {
  std::variant<ProcessExited, ImportTimedOut, AnswerTooLarge, TooManyProcesses> end;
  std::string answer;   ///< what it wrote to kAnswerFd
  std::string printed;  ///< the last kMaxPrinted bytes of its standard output and error
  std::uint64_t printed_bytes = 0;
  worker::Confinement confinement{};
};

inline constexpr int kAnswerFd = 3;
inline constexpr int kNotStarted = 126;  ///< exit status if the program cannot be executed
inline constexpr int kMaxProcesses = 64;
inline constexpr std::size_t kMaxPrinted = std::size_t{1} << 20;
inline constexpr std::size_t kMaxAnswer = std::size_t{1} << 30;

/// Runs the program without standard input until it exits; then the processes that it started are killed. At the time
/// limit, and if too many processes run at once, all are killed. Fails only if no process can
/// be started. The calling process should have no other thread.
Result<ConfinedResult> run_confined(const ConfinedProgram& program);

}  // namespace assay::live
