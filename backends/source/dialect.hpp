// The differences between the targets in the emitted text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backends/device/backend.hpp"
#include "backends/source/function_printer.hpp"
#include "backends/source/lines.hpp"

namespace assay::source {

/// The names of an entry point's internal variables. No target uses them for other variables, so that the kernel's
/// variables have the same names for all targets.
struct ThreadLoopNames {
  explicit ThreadLoopNames(FunctionPrinter& printer);

  std::string range_begin, range_end;    ///< C++: first thread of the range, and end of the range
  std::string thread_count;              ///< CUDA: number of threads of the launch
  std::string first_index, grid_stride;  ///< CUDA: first index that a thread executes, and distance to its next index
};

/// The text that differs between C++ for the CPU and CUDA C++.
class Dialect {
 public:
  virtual ~Dialect() = default;

  /// The qualifier of a function that kernels call.
  virtual std::string_view function_qualifier() const = 0;
  /// The qualifier and return type of an entry point: 'extern "C" void'.
  virtual std::string_view entry_qualifier() const = 0;
  /// The parameters that specify the range of threads.
  virtual std::vector<std::string> range_parameters(const ThreadLoopNames& names) const = 0;
  /// Opens the loop over the threads, whose linear number is the variable `thread`.
  virtual void open_threads(IndentedLines& lines, const ThreadLoopNames& names, std::string_view thread) const = 0;
  /// The same for a kernel with tiles, whose launch counts blocks.
  virtual void open_blocks(IndentedLines& lines, const ThreadLoopNames& names, std::string_view block) const = 0;
};

const Dialect& dialect_of(backends::SourceTarget target);

}  // namespace assay::source
