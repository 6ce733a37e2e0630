// Many kernels in one translation unit, and a compiler's diagnostics taken apart again.
#pragma once

#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/device/backend.hpp"

namespace assay::cpu {

/// One translation unit. Each helper comes once, each body twice: as it is, and lifted to double, in namespaces of
/// their own. Each entry point gets a caller of one signature for all,
///     extern "C" void <symbol>(void* const* arguments, long long begin, long long end);
/// where arguments[i] points to the i-th parameter, and a table of the parameters' number and sizes in bytes,
///     extern "C" const unsigned long long <symbol>_sizes[];
struct BatchSource {
  std::string text;
  std::vector<std::vector<backends::BuiltEntry>> entries;  ///< of each kernel, the symbols of its callers
};

/// A kernel of a batch and where its outcome goes are known by position; the text depends on the kernels alone.
[[nodiscard]] BatchSource compose_batch(std::span<const backends::EmittedKernel* const> kernels);

/// The positions of the kernels that the compiler's log names: those in which it found errors if there are any, else
/// all that it mentions. A hint: an unclosed brace is found in a later kernel.
[[nodiscard]] std::set<std::size_t> blamed_kernels(std::string_view log);

/// The log of a batch of one kernel with file names as a person expects them: "saxpy.cpp:12:5: error: ...".
[[nodiscard]] std::string readable_log(std::string log, std::string_view kernel_name);

}  // namespace assay::cpu
