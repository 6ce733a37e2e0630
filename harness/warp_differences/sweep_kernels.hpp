// The kernels of the sweep over edge values: one for each operation or library function, and each combination of
// operand types that it accepts.
//
// They are made from the operation table and the library, so a new row joins the sweep without further work. A kernel
// loads one operand from each input array, computes, and stores each result in an array:
//
//     def min_f32_f32(a: wp.array(dtype=float), b: wp.array(dtype=float), r0: wp.array(dtype=float)):
//         i = wp.tid()
//         r0[i] = wp.min(a[i], b[i])
#pragma once

#include <string>
#include <vector>

#include "ir/operations/operations.hpp"
#include "ir/types/type.hpp"

namespace assay::warp {

/// One call that the sweep compares: an operation or a library function with its operand types.
struct SweptCall {
  std::string operation_name;           ///< mnemonic of the operation, or name of the library function
  std::vector<ir::Type> operand_types;  ///< type of each operand
  std::vector<ir::Type> result_types;   ///< type of each result
  /// The call in Warp Python; $0, $1 ... stand for the operands, $T for the type of the result.
  std::string expression_template;
  std::string name;  ///< unique name of the kernel: "min_f32_f32"
};

/// All scalar types; vectors of 2 to 4 components, square matrices of 2 to 4 rows, quaternions and transforms of
/// float32 and float64; and spatial vectors, for the functions that need them.
std::vector<ir::Type> swept_types();

/// Every call of an operation or library function that is defined for these types and has a spelling in Warp. Tiles
/// and structs are not included.
std::vector<SweptCall> swept_calls();

/// The Python file with the kernels of these calls.
std::string swept_file(const std::vector<SweptCall>& calls);
/// The Python file with the kernel of one call, without the call and the stores of its results.
std::string swept_signature(const SweptCall& call);

}  // namespace assay::warp
