// Errors of calls to NVIDIA's libraries.
#pragma once

#include <exception>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>

#include "backends/cuda/driver/symbols.hpp"

namespace assay::cuda {

/// What a call concerns, such as "device memory of 4096 bytes", and where it is made, for messages.
struct CallContext {
  template <typename Text>
  requires std::is_convertible_v<const Text&, std::string_view> CallContext(
      const Text& about,  // NOLINT(google-explicit-constructor)
      std::source_location here = std::source_location::current())
      : object_description(about), location(here) {}

  std::string_view object_description;  ///< the object of the call: "device memory of 4096 bytes"
  std::source_location location;        ///< source location of the call
};

/// A failed call of an NVIDIA library. The machine or a faulty kernel causes it, so it is caught where a stage ends.
class CallError final : public std::exception {
 public:
  /// `name` and `meaning` are the library's texts for the code: "CUDA_ERROR_OUT_OF_MEMORY", "out of memory".
  CallError(std::string_view call, const CallContext& subject, int code, std::string_view name,
            std::string_view meaning);

  /// "cuMemAlloc_v2 of device memory of 4096 bytes: out of memory (CUDA_ERROR_OUT_OF_MEMORY, 2), at handles.cpp:31".
  [[nodiscard]] const char* what() const noexcept override { return message_.c_str(); }
  [[nodiscard]] const std::string& call() const { return function_name_; }
  [[nodiscard]] int code() const { return result_code_; }

 private:
  std::string function_name_;  ///< name of the failed function
  int result_code_;            ///< result code of the library
  std::string message_;        ///< the whole message, as what() returns it
};

/// What a failed driver call blames.
enum class ErrorCause {
  kInvalidRequest,  ///< the code or the arguments are invalid for this device; nothing ran
  kInvalidAccess,   ///< the kernel accessed memory that it must not access
  kKernelFailure,   ///< the kernel failed for another reason
  kTimeLimit,       ///< the kernel ran for too long
  kMachineFailure,  ///< the machine failed: out of memory, device lost
};

/// The cause of a driver's result code and its effect on later calls.
struct ErrorClassification {
  ErrorCause cause = ErrorCause::kMachineFailure;  ///< what the failure is attributed to
  bool is_sticky = true;                           ///< whether all later calls of the process fail too
};

/// Classifies a result other than success. Unknown codes count as machine errors and as sticky.
[[nodiscard]] ErrorClassification classify(CUresult code);

}  // namespace assay::cuda
