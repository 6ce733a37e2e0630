// Errors of calls to NVIDIA's libraries.
#pragma once

#include <exception>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>

#include "backends/cuda/driver/symbols.hpp"

namespace assay::cuda {

/// The object of a call, "device memory of 4096 bytes", and its source location.
struct CallContext {
  template <typename Text>
  requires std::is_convertible_v<const Text&, std::string_view> CallContext(
      const Text& about,  // NOLINT(google-explicit-constructor)
      std::source_location here = std::source_location::current())
      : object_description(about), location(here) {}

  std::string_view object_description;  ///< the object of the call: "device memory of 4096 bytes"
  std::source_location location;        ///< source location of the call
};

/// A failed call, caused by the machine or by a faulty kernel. Caught at the boundary of a stage.
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

/// What caused a failed driver call.
enum class ErrorCause {
  kInvalidRequest,  ///< the code or the arguments do not suit this device; nothing ran
  kInvalidAccess,   ///< an invalid memory access of the kernel
  kKernelFailure,   ///< a failure of the kernel other than an invalid access
  kTimeLimit,       ///< the kernel ran for too long
  kMachineFailure,  ///< a failure of the machine: out of memory, device lost
};

/// The cause of a result code and its effect on later calls.
struct ErrorClassification {
  ErrorCause cause = ErrorCause::kMachineFailure;  ///< what caused the failure
  bool is_sticky = true;                           ///< whether all later calls of the process fail too
};

/// Classifies a result other than success. Unknown codes count as machine errors and as sticky.
[[nodiscard]] ErrorClassification classify(CUresult code);

}  // namespace assay::cuda
