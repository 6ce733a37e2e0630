// Kernels that were exported from a running Python, each as the text of a standalone file.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harness/suite/select/select.hpp"

namespace assay::harness {

struct ExportedKernel {
  std::string kernel;    ///< the component of its case names: "wave.step"
  std::string selector;  ///< "wave.py:step"
  std::string file;      ///< the user's file, which messages name
  std::int32_t line = 0;
  std::string text;    ///< of the exported file, which contains one kernel; empty if there is none
  std::string reason;  ///< why the text is empty
};

/// All kernels, forward and backward, in their order. A kernel that was not exported or that the frontend does not
/// support has its reason. Comments "# source: FILE:LINE" in the texts give the locations for messages.
Selection select_exported(std::span<const ExportedKernel> kernels, const std::vector<std::string>& modes);

}  // namespace assay::harness
