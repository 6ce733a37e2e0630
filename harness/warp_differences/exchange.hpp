// Runs subjects in Warp: writes a folder with sources, inputs and a plan, starts harness/warp_differences/run_warp.py
// on it, and reads what Warp answered.
//
// The folder: plan.json names for each case its source file and kernel, and for each launch its extents, its parameters
// (shape, bytes, whether differentiable and seeded) and a data file, in which each parameter's memory is followed by
// its seed, if it has one, in the same layout. Memory is laid out as ir/launch.hpp says, which is also Warp's way.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "harness/warp_differences/interpreter.hpp"
#include "harness/warp_differences/subject.hpp"
#include "support/result.hpp"

namespace assay::warp {

enum class Status : std::uint8_t {
  kDone,
  kRejected,  ///< Warp raised an exception, as for a kernel that it cannot compile
  kCrashed,   ///< its process died
  kTimedOut,
  kMissing,  ///< no answer came
};
std::string_view to_text(Status status);

/// What Warp made of one pass of one launch.
struct Answer {
  Status status = Status::kMissing;
  std::string message = {};
  /// After kDone, by parameter: the array's memory, or its gradient's; empty for values.
  std::vector<std::vector<std::byte>> arrays = {};
};

struct LaunchAnswer {
  Answer forward;
  Answer backward;  ///< kMissing where none was asked for
};

struct Session {
  std::string warp, numpy, python, machine;      ///< versions, and the processor's architecture
  std::vector<std::vector<LaunchAnswer>> cases;  ///< by subject and launch
};

struct RunLimits {
  int jobs = 2;
  std::chrono::seconds one_pass{60};
  std::chrono::seconds all{1500};
};

/// `cache` keeps Warp's compiled kernels for the next run. Fails when Warp did not get through the plan, with what it
/// printed last; what becomes of one case is in its answer.
Result<Session> run_in_warp(const Interpreter& interpreter, const std::filesystem::path& root,
                            const std::filesystem::path& cache, const std::vector<Subject>& subjects,
                            const RunLimits& limits = {});

}  // namespace assay::warp
