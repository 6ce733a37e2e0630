// Generates the code of Python sources again with the installed Warp, in a confined process.
#pragma once

#include <chrono>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "harness/dataset/foreign/belonging.hpp"
#include "harness/dataset/foreign/foreign_rows.hpp"
#include "support/result.hpp"

namespace assay::foreign {

/// What Warp generates from one row's Python.
struct RegeneratedCode {
  std::string kernel;                          ///< name of the kernel in the Python source
  std::string kernel_symbol;                   ///< name of the kernel in the generated code, without its hash
  std::string cpp_source;                      ///< C++ for the CPU; empty if the row has none
  std::string cuda_source;                     ///< CUDA C++; empty if the row has none
  RowDamage damage = RowDamage::kPythonError;  ///< why the code is missing, if `message` is not empty
  std::string message;                         ///< why the code is missing; empty if it was generated
  std::int64_t line = 0;                       ///< line of the Python source that `message` is about; 0: unknown
};

/// Python with Warp, and how long one row may take.
struct RegenerationOptions {
  std::filesystem::path python_interpreter;  ///< the interpreter itself, not a script that starts it
  std::chrono::seconds time_limit{30};       ///< limit on the processor time of one row
};

/// Generates the code of each row that has no damage. The result has one element for each row; those of damaged rows
/// are empty. The Python sources are executed, each in a child process of the confined process
/// (docs/design/confinement.md). Only their generated text is used. Fails if the confined process cannot run or Warp
/// cannot be started.
Result<std::vector<RegeneratedCode>> regenerate_code(std::span<const ForeignRow> rows, const FieldMapping& mapping,
                                                     const RegenerationOptions& options);

}  // namespace assay::foreign
