// Takes the PTX of single kernels out of the PTX of a batch.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/device/batch_source.hpp"
#include "backends/device/emitted_kernel.hpp"

namespace assay::ptx {

/// The PTX that NVRTC generated for a batch of kernels, split into its functions, variables and declarations.
class BatchModule {
 public:
  /// `ptx` must outlive the object. Text in an unknown form stays in each kernel's module.
  explicit BatchModule(std::string_view ptx);

  /// Returns a module with the entry points of one kernel in one precision and everything that they use. Names and
  /// source lines are those of the kernel's standalone source. `entries` are the entry points of this kernel and
  /// precision from BatchSource::entry_points_by_kernel, in the order of the kernel's own entry points.
  [[nodiscard]] std::string extract_kernel_module(const backends::EmittedKernel& kernel,
                                                  std::span<const backends::BuiltEntryPoint> entries) const;

 private:
  /// One piece of the PTX at module scope.
  struct Declaration {
    std::string_view text;  ///< complete text of the declaration
    std::string_view name;  ///< name of the function or variable; empty for text that is part of each extracted module
    std::vector<std::string_view> identifiers;  ///< all identifiers in the text of a function or variable
  };
  /// A .file directive, which names a file that line numbers in the PTX refer to.
  struct FileDirective {
    int number = 0;         ///< number of the file in the PTX, from its .file directive
    std::string_view name;  ///< name in the .file directive
  };

  [[nodiscard]] std::vector<bool> used_by(std::span<const backends::BuiltEntryPoint> entries) const;

  std::vector<Declaration> declarations_;  ///< pieces of the PTX, in its order
  std::vector<FileDirective> files_;       ///< the .file directives
};

}  // namespace assay::ptx
