// Finds the functions of a CUDA source that its users call, without parsing C++ completely.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay::candidate {

/// Whether the source defines main().
bool defines_main(std::string_view source);

/// The names of the functions that the source defines as `extern "C"` and that are not kernels, in order. Functions in
/// an `extern "C"` block are not among them.
std::vector<std::string> extern_c_functions(std::string_view source);

/// The names of the functions that the source defines with a tensor of PyTorch in the type of the result, in order.
std::vector<std::string> tensor_functions(std::string_view source);

}  // namespace assay::candidate
