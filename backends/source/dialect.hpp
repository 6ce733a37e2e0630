// What a target changes in the emitted text.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/backend.hpp"
#include "backends/source/function_printer.hpp"
#include "backends/source/lines.hpp"

namespace assay::source {

class Dialect {
 public:
  virtual ~Dialect() = default;

  /// In front of a function that kernels call.
  virtual std::string_view function_qualifier() const = 0;
  /// In front of an entry point: 'extern "C" void'.
  virtual std::string_view entry_qualifier() const = 0;
  /// The parameters of the range of threads; declares them with `printer`.
  virtual std::vector<std::string> range_parameters(FunctionPrinter& printer) = 0;
  /// Opens the loop over the threads, whose linear number is the variable `thread`. Call after range_parameters().
  virtual void open_threads(Lines& lines, FunctionPrinter& printer, std::string_view thread) = 0;
  /// The same of a kernel with tiles, whose launch counts blocks of threads.
  virtual void open_blocks(Lines& lines, std::string_view block) = 0;
};

std::unique_ptr<Dialect> make_dialect(backends::SourceTarget target);

}  // namespace assay::source
