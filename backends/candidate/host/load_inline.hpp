// Reads the C++ and CUDA sources out of a Python file that passes them to torch.utils.cpp_extension.load_inline. The
// file is parsed, never executed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/result.hpp"

namespace assay::candidate {

/// A C++ function that Python can call.
struct HostFunction {
  std::string python_name;  ///< name in Python
  std::string cpp_name;     ///< name in C++, which may be qualified

  friend bool operator==(const HostFunction&, const HostFunction&) = default;
};

/// The source that a file with host code amounts to.
struct HostSource {
  std::string text;                     ///< one CUDA source; #line directives refer to the file
  std::vector<HostFunction> functions;  ///< the functions that Python can call; empty: unknown
  std::vector<std::string> flags;       ///< flags for nvcc that change what the code means: "--use_fast_math"
  bool is_program = false;              ///< whether Assay runs main() instead of a function
};

/// In each error about a source that the syntax of the file does not determine.
inline constexpr std::string_view kNeedsExecution = "cannot be read without executing the file";
/// In the error about a file without a call.
inline constexpr std::string_view kCallsNoLoadInline = "the Python file does not call load_inline";

/// The sources, functions and flags of all calls of load_inline in a Python file called `name`. They may be string
/// literals, names assigned from them, lists, and sums of these; methods that remove white space are ignored. Fails if
/// the file does not call it, if an argument is something else, or if the file is not Python; the error's location is
/// "name:line:column".
Result<HostSource> read_load_inline(std::string_view python, const std::string& name);

/// A C++ or CUDA source and where its lines are from.
struct SourceFragment {
  std::string text;       ///< the source
  std::string file_name;  ///< name of the file in messages
  std::int32_t line = 1;  ///< line of the file on which the source starts
};
/// One CUDA source from those in C++ and those in CUDA.
std::string joined_source(const std::vector<SourceFragment>& cpp, const std::vector<SourceFragment>& cuda);

/// The functions that a C++ source makes available with `m.def("name", &function)`, in order.
std::vector<HostFunction> pybind_functions(std::string_view cpp);

/// The flags of `flags` that change what the code means: fast math, macros, the language standard and extensions.
std::vector<std::string> relevant_flags(const std::vector<std::string>& flags);

}  // namespace assay::candidate
