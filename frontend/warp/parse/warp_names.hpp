// The names in Warp's module. Functions and operators are derived from the `warp` patterns of the operation table, so
// that an operation added there is supported automatically.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/warp/parse/constant.hpp"
#include "ir/operations/operations.hpp"
#include "ir/types/type.hpp"

namespace assay::frontend {

/// The type that `wp.<name>` is: "float32", "vec3", "mat44d". Void if there is none.
ir::Type warp_type(std::string_view name);
/// The value of a number that Warp's module holds: "pi", "inf".
std::optional<double> warp_constant(std::string_view name);

/// The operation that `wp.<name>(...)` is.
std::optional<ir::Op> warp_function(std::string_view name);
/// The operation between two operands: "+", "<=", "and", "**".
std::optional<ir::Op> binary_operator(std::string_view symbol);
/// The operation before one operand: "-", "~", "not".
std::optional<ir::Op> unary_operator(std::string_view symbol);
std::optional<ir::AtomicOp> warp_atomic(std::string_view name);

/// The name of an operator as a function of Warp; otherwise the mnemonic.
std::string_view warp_name(ir::Op op);

/// The name of the function that Warp calls for an arithmetic or bitwise operator between two operands: "mod" for "%".
/// A function of this name in the file replaces the operator. Empty for other operators.
std::string_view operator_function_name(std::string_view symbol);

/// The parameter names of a function, separated by blanks, for each signature; empty if unknown.
std::vector<std::string_view> warp_parameters(std::string_view function);
/// Whether Warp defines the function for float32 only, although the language has it for all float types: "norm_l1".
bool is_float32_only(std::string_view function);
/// Why Assay does not support a function of Warp; empty if it does, or if Warp has no such function.
std::string_view reason_unsupported(std::string_view function);
/// The query of which this function is the form for all threads of a block together, or its continuation:
/// "bvh_query_ray" for "tile_bvh_query_ray" and "bvh_query_ray_tiled". Empty if it is none.
std::string untiled_query(std::string_view function);
/// Whether the function takes or returns values that differ between the threads of a block: "untile".
bool is_thread_value_function(std::string_view function);
/// The default value of a parameter of a function of Warp; empty if an argument is required.
std::optional<Constant> warp_default(std::string_view function, std::string_view parameter);

}  // namespace assay::frontend
