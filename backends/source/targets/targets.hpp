// What a kernel can be printed as: one row each. `assay emit --to` asks this table. To add a target, write its printer
// and list it in targets.cpp.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ir/module.hpp"
#include "ir/transforms/adjoint.hpp"
#include "support/result.hpp"

namespace assay::source {

/// A kernel to print, with its adjoint if the backward pass is wanted.
struct TargetInput {
  const ir::Module* module = nullptr;
  std::size_t kernel_index = 0;
  const transforms::Adjoint* adjoint = nullptr;
  bool with_host = false;                   ///< CUDA: add a main() that runs the kernel
  std::string architecture = "compute_75";  ///< PTX: what to compile for

  [[nodiscard]] const ir::Function& kernel() const { return module->kernels[kernel_index]; }
};

struct TargetRow {
  std::string_view name;     ///< after --to
  std::string_view summary;  ///< for the help: "C++"
  bool has_host = false;     ///< TargetInput::with_host applies
  Result<std::string> (*print)(const TargetInput&) = nullptr;
};

std::span<const TargetRow> targets();

/// Null if no target has that name.
const TargetRow* find_target(std::string_view name);

}  // namespace assay::source
