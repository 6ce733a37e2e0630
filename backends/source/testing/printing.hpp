// Helpers for the tests of this folder: print programs in text form, compile them with the host compiler and call them.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/device/emitted_kernel.hpp"
#include "backends/source/print.hpp"
#include "ir/module.hpp"

namespace assay::source::testing {

/// Parses a module; its lines become the source lines.
ir::Module parse(std::string_view text);

/// Prints the module's first kernel, or all kernels; throws on failure.
backends::EmittedKernel print_first(const ir::Module& module, backends::SourceTarget target,
                                    const PrintOptions& options = {});
std::vector<backends::EmittedKernel> print_all(const ir::Module& module, backends::SourceTarget target);

/// The lines of the first kernel after the alias `real`, without source comments.
std::string printed(std::string_view text, backends::SourceTarget target = backends::SourceTarget::kCpp);

/// Joins many sources into one: each helper once, each body in its own namespace. If `checks_indices`, helpers have
/// their checked texts.
std::string joined(std::span<const backends::EmittedKernel> kernels, bool checks_indices = false);

/// The output of a compiler command for the source, whose file is the last argument; empty if there is none.
std::string command_output(const std::string& command, const std::string& source);
/// The output of the host C++ compiler for the source with the arguments.
std::string compiler_output(const std::string& source, const std::string& arguments);

/// A shared library built from CPU source and loaded during its lifetime.
class Library {
 public:
  Library(const std::string& source, const std::string& arguments);
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library();

  template <typename Function>
  Function* function(const std::string& symbol) const {
    return reinterpret_cast<Function*>(address(symbol));
  }

 private:
  void* address(const std::string& symbol) const;

  void* handle_ = nullptr;  ///< handle of the loaded library
};

/// A contiguous array in the layout of emitted code.
template <typename T, int N = 1>
struct Array {
  T* data = nullptr;          ///< address of the first element
  int shape[N] = {};          ///< extent of each dimension
  long long strides[N] = {};  ///< bytes from one index to the next, for each dimension
};
template <typename T>
Array<T> view(std::vector<T>& elements) {
  return {elements.data(), {static_cast<int>(elements.size())}, {sizeof(T)}};
}

}  // namespace assay::source::testing
