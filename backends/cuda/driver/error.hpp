// What goes wrong in a call of NVIDIA's libraries.
#pragma once

#include <exception>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>

#include "backends/cuda/driver/symbols.hpp"

namespace assay::cuda {

/// What a call is about, "device memory of 4096 bytes", and where in our source it is made.
struct Subject {
  template <typename Text>
  requires std::is_convertible_v<const Text&, std::string_view> Subject(
      const Text& about,  // NOLINT(google-explicit-constructor)
      std::source_location here = std::source_location::current())
      : text(about), place(here) {}

  std::string_view text;
  std::source_location place;
};

/// A call that failed: an accident of the machine, or the end of a kernel that ran astray. Caught at the edge of a
/// stage.
class CallError final : public std::exception {
 public:
  /// `name` and `meaning` are the library's own of the code: "CUDA_ERROR_OUT_OF_MEMORY", "out of memory".
  CallError(std::string_view call, const Subject& subject, int code, std::string_view name, std::string_view meaning);

  /// "cuMemAlloc_v2 of device memory of 4096 bytes: out of memory (CUDA_ERROR_OUT_OF_MEMORY, 2), at handles.cpp:31".
  [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }
  [[nodiscard]] const std::string& call() const { return call_; }
  [[nodiscard]] int code() const { return code_; }

 private:
  std::string call_;
  int code_;
  std::string text_;
};

/// Whom a failed call of the driver speaks about.
enum class Blame {
  kRequest,   ///< the code or the arguments do not fit this device: nothing ran
  kAccess,    ///< an access of the kernel to memory
  kKernel,    ///< the kernel in another way
  kDuration,  ///< the kernel ran for too long
  kMachine,   ///< not the kernel: memory that is used up, a device that is gone
};

struct ErrorClass {
  Blame blame = Blame::kMachine;
  bool sticky = true;  ///< every further call of the process fails too
};

/// The kind of a result other than success. What the table does not know is the machine's, and sticky.
[[nodiscard]] ErrorClass classify(CUresult code);

}  // namespace assay::cuda
