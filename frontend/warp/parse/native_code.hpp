// Native functions: functions decorated with @wp.func_native, whose body is C++. A subset of C++ is parsed: arithmetic
// on numbers, local variables, conditions and loops. Of code that differs between the CPU and GPUs (#if
// defined(__CUDA_ARCH__)), that for the CPU is parsed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "frontend/warp/parse/function_context.hpp"
#include "frontend/warp/syntax/syntax.hpp"
#include "support/result.hpp"

namespace assay::frontend {

/// The text that a Python string literal stands for; nullopt for formatted strings and other expressions.
std::optional<std::string> string_value(SyntaxNode literal);

/// Appends the statements of the code to the function of the context, whose parameters are bound to their names. The
/// function returns `result`; kVoid: nothing. Fails with what is not supported and its line in the code.
Result<void> parse_native_code(FunctionContext& context, std::string_view code, ir::Type result);

}  // namespace assay::frontend
