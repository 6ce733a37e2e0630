// Combines many kernels into one translation unit and attributes compiler diagnostics to single kernels.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/device/backend.hpp"

namespace assay::backends {

/// One translation unit with many kernels. It contains each helper once and the body of each kernel once for each
/// different precision variant, in separate namespaces.
struct BatchSource {
  std::string text;  ///< text of the whole translation unit
  /// Entry points to call, by position of the kernel in the batch.
  std::vector<std::vector<BuiltEntryPoint>> entry_points_by_kernel;
};

/// Kernels are identified by their position in the batch. The text depends on the kernels and precisions only. Each
/// entry point keeps its signature and gets a name that is unique in the batch.
[[nodiscard]] BatchSource compose_batch(std::span<const EmittedKernel* const> kernels,
                                        std::span<const Precision> precisions = kPrecisions);

/// As compose_batch, but with a wrapper for each entry point that has a uniform signature,
///     extern "C" void <symbol>(void* const* arguments, long long begin, long long end);
/// where arguments[i] points to the i-th parameter, and a table with the number of parameters and their sizes in bytes,
///     extern "C" const unsigned long long <symbol>_sizes[];
/// In a build without optimization, each helper has its checked text.
[[nodiscard]] BatchSource compose_batch_with_wrappers(std::span<const EmittedKernel* const> kernels,
                                                      const BuildFlags& flags = {});

/// A file that a #line directive in a batch names.
struct BatchFile {
  std::optional<std::size_t>
      kernel_position;      ///< position of the kernel whose body the file contains; nullopt: it contains a helper
  std::string helper_name;  ///< name of the helper; empty for a kernel
};
/// The meaning of a file name that a compiler reports for a batch; none if the batch has no such file. Compilers may
/// put their working directory before the name.
[[nodiscard]] std::optional<BatchFile> batch_file(std::string_view name);

/// The positions of the kernels that the compiler log blames: the kernels with errors if there are any, otherwise all
/// kernels that it mentions. This is a guess: the compiler reports an unclosed brace in a later kernel.
[[nodiscard]] std::set<std::size_t> blamed_kernels(std::string_view log);

/// The log of a single-kernel batch with the file names that a user expects: "saxpy.cpp:12:5: error: ...".
[[nodiscard]] std::string readable_log(std::string log, std::string_view kernel_name);

}  // namespace assay::backends
