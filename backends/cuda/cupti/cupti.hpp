// The functions of CUPTI, loaded at run time. Activity records are in trace.hpp, hardware counters in counters.hpp.
#pragma once

#include <string>

#include "backends/cuda/cupti/symbols.hpp"
#include "backends/cuda/driver/error.hpp"
#include "backends/cuda/driver/loaded_function.hpp"
#include "support/result.hpp"

namespace assay::cuda {

/// Addresses of the CUPTI functions, one member for each function and named like it.
struct CuptiSymbols {
#define ASSAY_DECLARE(name, parameters) LoadedFunction<CUptiResult parameters> name{#name};
  ASSAY_CUPTI_SYMBOLS(ASSAY_DECLARE)
  ASSAY_CUPTI_OPTIONAL_SYMBOLS(ASSAY_DECLARE)
#undef ASSAY_DECLARE
};

/// A loaded CUPTI library; cheap to copy.
class Cupti : public CuptiSymbols {
 public:
  /// Loads the library named by $ASSAY_CUPTI, or else that of CUDA 13 or 12 from where toolkits install it. The error
  /// message is "no CUPTI"; its location is the library and the loader's message.
  static Result<Cupti> load();

  /// The name or path by which it was opened.
  [[nodiscard]] const std::string& library() const { return library_name_or_path_; }
  /// The interface version: 130001.
  [[nodiscard]] std::uint32_t version() const { return version_; }
  /// Whether it has all optional functions.
  [[nodiscard]] bool has_counters() const;

  /// Calls the function; throws CallError if it fails.
  template <typename... Parameters, typename... Arguments>
  void call(const LoadedFunction<CUptiResult(Parameters...)>& function, const CallContext& subject,
            Arguments... arguments) const {
    if (const CUptiResult code = function.address(arguments...); code != CUPTI_SUCCESS) {
      fail(function.name, subject, code);
    }
  }

 private:
  Cupti() = default;
  [[noreturn]] void fail(std::string_view call, const CallContext& subject, CUptiResult code) const;

  std::string library_name_or_path_;  ///< name or path by which the library was opened
  std::uint32_t version_ = 0;         ///< version of the library's interface, as cuptiGetVersion returns it: 130001
};

/// What the user can do about a failed call; empty if unknown.
[[nodiscard]] std::string advice_on(CUptiResult code);

}  // namespace assay::cuda
