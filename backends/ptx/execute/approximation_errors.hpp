// The documented errors of approximate instructions. The interpreter rounds the results of these instructions
// correctly; a GPU need not. With errors, a result is as far from the correct one as the documentation allows, so that
// a launch shows whether code depends on more accurate results.
//
// docs/design/numerics.md, "ULP tables", lists the documented errors and their sources.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "backends/ptx/instructions/program.hpp"
#include "backends/ptx/parse/module.hpp"

namespace assay::ptx {

/// A function that approximate instructions of one name compute.
struct ApproximateFunction {
  Opcode opcode;                        ///< opcode of the instructions
  std::string_view instruction;         ///< their name in PTX, without types: "tanh.approx"
  std::string_view accurate_operation;  ///< what is accurate in CUDA C++: "tanhf"
};

/// A set of these functions has one bit for each, by its index in this array.
inline constexpr std::array kApproximateFunctions = {
    ApproximateFunction{Opcode::kEx2, "ex2.approx", "exp2f or expf"},
    ApproximateFunction{Opcode::kLg2, "lg2.approx", "log2f or logf"},
    ApproximateFunction{Opcode::kSin, "sin.approx", "sinf"},
    ApproximateFunction{Opcode::kCos, "cos.approx", "cosf"},
    ApproximateFunction{Opcode::kTanh, "tanh.approx", "tanhf"},
    ApproximateFunction{Opcode::kRcp, "rcp.approx", "a division"},
    ApproximateFunction{Opcode::kRsqrt, "rsqrt.approx", "1 / sqrtf"},
    ApproximateFunction{Opcode::kSqrt, "sqrt.approx", "sqrtf"},
    ApproximateFunction{Opcode::kDiv, "div.approx or div.full", "a division without --use_fast_math"},
};
using ApproximateFunctionSet = std::uint32_t;

/// The index in kApproximateFunctions of an instruction with a documented error; nullopt for other instructions, also
/// for rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64, whose errors are not documented.
std::optional<std::size_t> approximate_function_of(const Instruction& instruction);

/// Moves the results of approximate instructions away from the correctly rounded ones by their documented errors. The
/// operands determine the direction and the size of the error, so that equal operands have equal results; most errors
/// are as large as possible.
///
/// Results that GPUs compute exactly stay unchanged: zeros, infinities, NaN, subnormal numbers and results of
/// subnormal operands; 2^x of an integer, roots that are floats, reciprocals of powers of two and quotients by them;
/// and tanh(x) = 1 or -1 after rounding. An error never changes the sign of a result, and no sine, cosine or tanh
/// becomes greater than 1.
class ApproximationErrors final : public ResultCorrection {
 public:
  explicit ApproximationErrors(ApproximateFunctionSet functions) : functions_(functions) {}
  void apply(const Op& op, std::uint32_t mask, const Operands& operands, std::byte* results) override;

 private:
  ApproximateFunctionSet functions_;  ///< functions whose results have errors
};

}  // namespace assay::ptx
