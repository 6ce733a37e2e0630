// The worker that runs the host code of a candidate. Its kernels run on a SimulatedGpu in the same process.
#pragma once

#include <cstdint>
#include <optional>

#include "backends/candidate/host/call.hpp"
#include "backends/device/backend.hpp"

namespace assay::candidate {

/// The argument that makes a program a worker.
inline constexpr const char* kWorkerRoleArgument = "assay-candidate-worker";

enum class CallKind : std::int32_t {
  kForward,   ///< the forward function
  kBackward,  ///< the function of the backward pass
  kProgram,   ///< main(), which is the only call
};

/// One call of a function of the candidate. For a program, the given arguments are those of main(), and the outputs are
/// the arrays and values of the specification that its kernels get.
struct FunctionCall {
  CallKind kind = CallKind::kForward;  ///< function to call
  std::int32_t given_count = 0;        ///< see CallArguments
  std::int32_t is_inferred = 0;        ///< see CallArguments
  std::int32_t output_count = 0;       ///< see CallArguments
  std::int32_t has_results = 0;        ///< see CallArguments
  std::int32_t runs_own_data = 0;      ///< whether to run a program first with the data that it creates itself
};

inline constexpr int kMaxFunctionCalls = 2;  ///< the forward function and the function of the backward pass

/// The first argument of each launch: this header and then, for each call, `given_count + output_count` CallArguments.
/// For a program, `output_count` ProgramParameters follow.
struct CallHeader {
  FunctionCall calls[kMaxFunctionCalls];  ///< calls in order; a later call may use the tensors of an earlier one
  std::int32_t call_count = 0;            ///< number of calls
  std::uint32_t checks = 0;               ///< bit i: whether kChecks[i] of the interpreter is enabled
  std::uint64_t instruction_limit = 0;    ///< for each launch of a kernel
  std::uint64_t shuffle_seed = 0;         ///< seed of ThreadOrder::kShuffled
  std::uint64_t order = 0;                ///< ThreadOrder of the kernels
  /// LaunchRequest::instructions_with_errors of the kernels; 64 bits, so that no padding follows.
  std::uint64_t instructions_with_errors = 0;
};

/// Which parameter of a kernel is an array or a value of the specification.
struct ProgramParameter {
  char kernel[kMaxNameBytes] =
      {};                    ///< name of the kernel; empty: the one that takes as many pointers as there are arrays
  std::int32_t index = 0;    ///< index of the parameter; without a name, among those that are pointers
  std::int32_t is_read = 0;  ///< whether the specification reads the array or value
};

/// The second argument of each launch: where the worker writes the outcome of a call that did not succeed.
struct FailureReportBuffer {
  std::uint64_t address = 0;  ///< address of the text, which ends with a zero; empty if the call succeeded
  std::uint64_t bytes = 0;    ///< size of the memory
};

/// Must be called first in main() of every program that opens a session of a candidate with host code with itself as
/// the worker; see worker::serve_if_worker().
[[nodiscard]] std::optional<int> run_if_worker(int argc, const char* const* argv);

}  // namespace assay::candidate
