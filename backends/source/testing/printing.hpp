// What the tests of this folder share: programs in text form printed, compiled by the machine's compiler and called.
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

/// The module that the text describes, its lines kept as the source's.
ir::Module parse(std::string_view text);

/// The source of the module's first kernel, or of all; failures end the test.
backends::EmittedKernel print_first(const ir::Module& module, backends::SourceTarget target,
                                    const Options& options = {});
std::vector<backends::EmittedKernel> print_all(const ir::Module& module, backends::SourceTarget target);

/// The lines of the first kernel behind its alias of `real`, without comments that show the source.
std::string printed(std::string_view text, backends::SourceTarget target = backends::SourceTarget::kCpp);

/// One source of many: each helper once, each body in a namespace of its own.
std::string joined(std::span<const backends::EmittedKernel> kernels);

/// What a compiler's command line says of the source, whose file is its last argument; empty if nothing.
std::string command_output(const std::string& command, const std::string& source);
/// What the machine's C++ compiler says of the source with these arguments.
std::string compiler_output(const std::string& source, const std::string& arguments);

/// A shared library built from a source of the CPU and loaded for as long as it lives.
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

  void* handle_ = nullptr;
};

/// A contiguous array as emitted code takes it.
template <typename T, int N = 1>
struct Array {
  T* data = nullptr;
  int shape[N] = {};
  long long strides[N] = {};
};
template <typename T>
Array<T> view(std::vector<T>& elements) {
  return {elements.data(), {static_cast<int>(elements.size())}, {sizeof(T)}};
}

}  // namespace assay::source::testing
