// What a target changes in the emitted text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backends/device/backend.hpp"
#include "backends/source/function_printer.hpp"
#include "backends/source/lines.hpp"

namespace assay::source {

/// What an entry point's own variables are called: those of all targets, so that the kernel's have the same names in
/// each.
struct ThreadNames {
  explicit ThreadNames(FunctionPrinter& printer);

  std::string begin, end;     ///< C++: the range of threads
  std::string count;          ///< CUDA: how many threads
  std::string first, stride;  ///< CUDA: where a thread of the grid begins, and how far it is to its next
};

class Dialect {
 public:
  virtual ~Dialect() = default;

  /// In front of a function that kernels call.
  virtual std::string_view function_qualifier() const = 0;
  /// In front of an entry point: 'extern "C" void'.
  virtual std::string_view entry_qualifier() const = 0;
  /// The parameters of the range of threads.
  virtual std::vector<std::string> range_parameters(const ThreadNames& names) const = 0;
  /// Opens the loop over the threads, whose linear number is the variable `thread`.
  virtual void open_threads(Lines& lines, const ThreadNames& names, std::string_view thread) const = 0;
  /// The same of a kernel with tiles, whose launch counts blocks of threads.
  virtual void open_blocks(Lines& lines, const ThreadNames& names, std::string_view block) const = 0;
};

const Dialect& dialect_of(backends::SourceTarget target);

}  // namespace assay::source
