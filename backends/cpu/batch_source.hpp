// Combines many kernels into one translation unit and attributes compiler diagnostics to single kernels.
#pragma once

#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/device/backend.hpp"

namespace assay::cpu {

/// One translation unit. It contains each helper once and each body twice, in separate namespaces: once in native
/// precision and once promoted to double. Each entry point gets a wrapper with a uniform signature,
///     extern "C" void <symbol>(void* const* arguments, long long begin, long long end);
/// where arguments[i] points to the i-th parameter, and a table with the number of parameters and their sizes in bytes,
///     extern "C" const unsigned long long <symbol>_sizes[];
struct BatchSource {
  std::string text;
  std::vector<std::vector<backends::BuiltEntry>> entries;  ///< for each kernel, the symbols of its wrappers
};

/// Kernels are identified by their position in the batch. The text depends on the kernels only.
[[nodiscard]] BatchSource compose_batch(std::span<const backends::EmittedKernel* const> kernels);

/// The positions of the kernels that the compiler log blames: the kernels with errors if there are any, otherwise all
/// kernels that it mentions. This is a guess: the compiler reports an unclosed brace in a later kernel.
[[nodiscard]] std::set<std::size_t> blamed_kernels(std::string_view log);

/// The log of a single-kernel batch with the file names that a user expects: "saxpy.cpp:12:5: error: ...".
[[nodiscard]] std::string readable_log(std::string log, std::string_view kernel_name);

}  // namespace assay::cpu
