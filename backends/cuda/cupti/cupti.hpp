// CUPTI, loaded at run time: its functions. What is recorded with them is in trace.hpp, what hardware counts in
// counters.hpp.
#pragma once

#include <string>

#include "backends/cuda/cupti/symbols.hpp"
#include "backends/cuda/driver/error.hpp"
#include "backends/cuda/driver/loaded_function.hpp"
#include "support/result.hpp"

namespace assay::cuda {

/// Every function by its name.
struct CuptiSymbols {
#define ASSAY_DECLARE(name, parameters) LoadedFunction<CUptiResult parameters> name{#name};
  ASSAY_CUPTI_SYMBOLS(ASSAY_DECLARE)
  ASSAY_CUPTI_OPTIONAL_SYMBOLS(ASSAY_DECLARE)
#undef ASSAY_DECLARE
};

/// A CUPTI that was loaded; cheap to copy.
class Cupti : public CuptiSymbols {
 public:
  /// Looks for the library named by $ASSAY_CUPTI, else for those of CUDA 13 and 12 where toolkits put them. The error's
  /// message is "no CUPTI"; its place is the library and what it said.
  static Result<Cupti> load();

  /// The name or path that it was opened by.
  [[nodiscard]] const std::string& library() const { return library_; }
  /// Of the interface: 130001.
  [[nodiscard]] std::uint32_t version() const { return version_; }
  /// Whether it has all of the optional functions.
  [[nodiscard]] bool has_counters() const;

  /// Calls the function; throws CallError if it fails.
  template <typename... Parameters, typename... Arguments>
  void call(const LoadedFunction<CUptiResult(Parameters...)>& function, const Subject& subject,
            Arguments... arguments) const {
    if (const CUptiResult code = function.address(arguments...); code != CUPTI_SUCCESS) {
      fail(function.name, subject, code);
    }
  }

 private:
  Cupti() = default;
  [[noreturn]] void fail(std::string_view call, const Subject& subject, CUptiResult code) const;

  std::string library_;
  std::uint32_t version_ = 0;
};

/// What a person can do about a failed call; empty where that is not known.
[[nodiscard]] std::string advice_on(CUptiResult code);

}  // namespace assay::cuda
