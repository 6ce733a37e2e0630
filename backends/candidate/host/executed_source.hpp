// Reads the C++ and CUDA sources that a Python file passes to PyTorch by importing the file in a confined process, for
// files whose syntax does not determine them. PyTorch is not needed.
#pragma once

#include <filesystem>
#include <string>

#include "backends/candidate/host/load_inline.hpp"
#include "support/result.hpp"

namespace assay::candidate {

/// The sources, functions and flags that the import of a Python file passes to load_inline and load of
/// torch.utils.cpp_extension. `python`: the interpreter, or empty (python::find_python). Fails if there is no Python,
/// and if the import fails or passes nothing.
Result<HostSource> import_load_inline(const std::filesystem::path& file, const std::string& python);

}  // namespace assay::candidate
