// Kernels that were exported from a running Python, each as the text of a standalone file.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harness/suite/select/select.hpp"

namespace assay::harness {

/// A kernel that was exported from a running Python.
struct ExportedKernel {
  std::string kernel;        ///< name of the kernel in case names: "wave.step"
  std::string selector;      ///< selects the kernel on the command line: "wave.py:step"
  std::string file;          ///< path of the user's file, for messages
  std::int32_t line = 0;     ///< line of the kernel in that file
  std::string source_text;   ///< content of the exported file, which contains one kernel; empty if it was not exported
  std::string export_error;  ///< why `source_text` is empty
};

/// All kernels, forward and backward, in their order. A kernel that was not exported or that the frontend does not
/// support has its reason. Comments "# source: FILE:LINE" in the texts give the locations for messages.
Selection select_exported(std::span<const ExportedKernel> kernels, const std::vector<std::string>& modes);

}  // namespace assay::harness
