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

/// A kernel to print, with its adjoint to include the backward pass.
struct TargetInput {
  const ir::Module* module = nullptr;
  std::size_t kernel_index = 0;
  const transforms::AdjointModule* adjoint = nullptr;
  bool with_host_program = false;           ///< CUDA: add a main() that runs the kernel
  std::string architecture = "compute_75";  ///< PTX: the architecture to compile for

  [[nodiscard]] const ir::Function& kernel() const { return module->kernels[kernel_index]; }
};

struct TargetRow {
  std::string_view name;               ///< after --to
  std::string_view summary;            ///< for help texts: "C++"
  bool supports_host_program = false;  ///< TargetInput::with_host_program applies
  Result<std::string> (*print)(const TargetInput&) = nullptr;
};

std::span<const TargetRow> targets();

/// Null if no target has that name.
const TargetRow* find_target(std::string_view name);

}  // namespace assay::source
