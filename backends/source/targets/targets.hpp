// The emission targets, one row each, as used by `assay emit --to`. To add a target, write its printer and list it in
// targets.cpp.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ir/module.hpp"
#include "ir/transforms/adjoint.hpp"
#include "support/result.hpp"

namespace assay::source {

/// A kernel to print, and its adjoint if the text includes the backward pass.
struct EmissionInput {
  const ir::Module* module = nullptr;                  ///< module that contains the kernel
  std::size_t kernel_index = 0;                        ///< position of the kernel in Module::kernels
  const transforms::AdjointModule* adjoint = nullptr;  ///< adjoint of the kernel; null: no backward pass
  bool prints_host_program = false;                    ///< CUDA: whether to add a main() that runs the kernel
  std::string architecture = "compute_75";             ///< PTX: architecture to compile for

  [[nodiscard]] const ir::Function& kernel() const { return module->kernels[kernel_index]; }
};

/// A language in which `assay emit` writes kernels.
struct EmissionTarget {
  std::string_view name;               ///< name of the target, as --to accepts it
  std::string_view summary;            ///< description of the target in help texts: "C++"
  bool supports_host_program = false;  ///< whether EmissionInput::prints_host_program has an effect
  Result<std::string> (*print)(const EmissionInput&) = nullptr;  ///< prints the kernel for this target
};

std::span<const EmissionTarget> targets();

/// Null if no target has that name.
const EmissionTarget* find_target(std::string_view name);

}  // namespace assay::source
