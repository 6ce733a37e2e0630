// Reads the C++ and CUDA sources out of a Python file that passes them to torch.utils.cpp_extension.load_inline. The
// file is parsed, never executed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/result.hpp"

namespace assay::candidate {

/// The source that a file with host code amounts to.
struct HostSource {
  std::string text;                    ///< one CUDA source; #line directives refer to the file
  std::vector<std::string> functions;  ///< the functions that Python can call; empty: unknown
  std::vector<std::string> flags;      ///< flags for nvcc that change what the code means: "--use_fast_math"
};

/// The sources, functions and flags of all calls of load_inline in a Python file called `name`. They may be string
/// literals, names assigned from them, lists, and sums of these. Fails if the file does not call it, if an argument is
/// something else, or if the file is not Python; the error's location is "name:line:column".
Result<HostSource> read_load_inline(std::string_view python, const std::string& name);

/// The flags of `flags` that change what the code means: fast math, macros, the language standard and extensions.
std::vector<std::string> relevant_flags(const std::vector<std::string>& flags);

}  // namespace assay::candidate
