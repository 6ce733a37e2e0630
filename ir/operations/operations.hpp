// The operation table: one row with all data about each operation.
//
// The frontends, the verifier, the printers, the oracle, the adjoint pass, the generators and the documentation use
// this table. To add an operation: a row in operation_table.inc, an evaluator in reference/cpu and a rule in
// ir/transforms (docs/design/extending.md). The static_asserts at the end reject an incomplete row.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "ir/types/type.hpp"
#include "support/result.hpp"

namespace assay::ir {

/// The operations, in the order of the table.
enum class Op : std::uint8_t {
#define ASSAY_OPERATION(name, ...) name,
#include "ir/operations/operation_table.inc"
#undef ASSAY_OPERATION
};
inline constexpr int kOpCount = static_cast<int>(Op::kTileInsert) + 1;

enum class AtomicOp : std::uint8_t { kAdd, kSub, kMin, kMax, kAnd, kOr, kXor, kExchange, kCompareAndSwap };

/// How operand types determine the result type. T is one type, the same for all operands marked T. Vectors, matrices,
/// quaternions and transforms are aggregates. A rule for scalars also applies element by element to tiles: operands are
/// then tiles of the same shape, or scalars that are broadcast, and the result is a tile of that shape.
enum class TypeRule : std::uint8_t {
  kAddition,           ///< T, T -> T: numeric scalars or aggregates
  kProduct,            ///< numeric scalars T, T -> T; aggregate and its scalar type, in either order; matrix by matrix,
                       ///< matrix by vector, vector by matrix; quaternions
  kQuotient,           ///< numeric scalars T, T -> T; aggregate divided by its scalar type
  kNegation,           ///< T -> T: signed numeric scalar or aggregate
  kNumericScalars,     ///< T... -> T: numeric scalars
  kFloatScalars,       ///< T... -> T: float scalars
  kFloatTest,          ///< T -> bool: float scalar
  kOrderedComparison,  ///< T, T -> bool: numeric scalars
  kEquality,           ///< T, T -> bool: numeric or bool scalars
  kLogic,              ///< bool... -> bool
  kSelect,             ///< bool, T, T -> T: any value
  kIntegerScalars,     ///< T... -> T: integer scalars
  kConversion,         ///< scalar -> the requested scalar type
  kMake,     ///< scalars and aggregates of T -> the requested aggregate of T, with as many components in total
  kSplat,    ///< scalar T -> the requested aggregate of T
  kExtract,  ///< aggregate, i32 -> part: a row of a matrix, otherwise a component
  kInsert,   ///< aggregate, i32, part -> the aggregate
  kVectorsOrMatrices,  ///< T, T -> T: vectors or matrices
  kDot,                ///< two vectors, quaternions or transforms of T -> T
  kDoubleDot,          ///< two matrices of T -> T
  kCross,              ///< two vec3 of T -> vec3 of T
  kLength,             ///< float vector or quaternion of T -> T
  kLengthSquared,      ///< vector or quaternion of T -> T
  kNormalize,          ///< float vector -> the same
  kTranspose,          ///< matrix r x c -> matrix c x r
  kOuter,              ///< vectors of r and c T -> matrix r x c of T
  kInverse,            ///< square float matrix of 2 to 4 rows -> the same
  kQuaternion,         ///< quaternion -> the same
  kTranslation,        ///< transform of T -> vec3 of T
  kRotation,           ///< transform of T -> quaternion of T
  kSpatialVectorHalf,  ///< float vec6 of T -> vec3 of T
  kWithField,          ///< struct, the type of its field `index` -> the struct
  kTileProduct,        ///< numeric tiles r x k and k x c of T -> tile r x c of T
  kTileSum,            ///< numeric tile -> the requested tile, whose shape broadcasts to the operand's
  kTileBroadcast,      ///< tile -> the requested tile: dimensions are aligned at the last, extents of 1 are repeated,
                       ///< missing dimensions are prepended
  kTileReshape,        ///< tile -> the requested tile with as many elements
  kTileTranspose,      ///< tile r x c -> tile c x r
  kTileMinMax,         ///< numeric tile of T -> tile with one element T
  kTileArgMinMax,      ///< numeric tile -> tile with one i32, the row-major index of an element
  kTileScan,           ///< one-dimensional numeric tile -> the same
  kTileExtract,        ///< tile of T, one i32 per dimension -> T
  kTileInsert,         ///< tile of T, one i32 per dimension, T -> the tile
};

/// The closed interval in which to sample an operand; it is inside the domain of the operation.
struct Interval {
  double low = 0;   ///< least value
  double high = 0;  ///< greatest value
};
/// A relation between operands that the intervals cannot express.
enum class Relation : std::uint8_t {
  kNone,
  kSecondNotZero,     ///< |second| >= 1/16 of the greatest magnitude in its interval
  kSecondBelowThird,  ///< clamp and smoothstep: low < high
  kShiftBelowWidth,   ///< 0 <= second < bit width
};
/// The values at which to sample the operands of an operation.
struct SamplingDomain {
  std::array<Interval, 3> operand_intervals{};  ///< interval of each operand; unused ones are 0 to 0
  Relation relation = Relation::kNone;          ///< relation between the operands
};

/// Where the derivative is discontinuous or defined by convention (docs/design/numerics.md, section 4).
enum class Kink : std::uint8_t {
  kNone,
  kAtZero,              ///< where the first operand is zero
  kAtIntegers,          ///< where the first operand is an integer
  kAtHalfIntegers,      ///< where the first operand is half an odd integer
  kAtIntegerQuotients,  ///< where first / second is an integer
  kAtTie,               ///< where the operands are equal
  kAtBounds,            ///< where the first operand equals the second or third
};

/// How the adjoint pass treats an operation.
enum class AdjointKind : std::uint8_t {
  kHasRule,           ///< has a rule in ir/transforms
  kZeroByConvention,  ///< the derivative is zero by convention and is not propagated; `adjoint_reason` explains why
  kDiscreteResult,    ///< bool or integer result, which carries no derivative; `adjoint_reason` explains why
};

/// The maximum error of an implementation (docs/design/numerics.md, section 2).
struct UlpBound {
  enum class Kind : std::uint8_t {
    kExact,                  ///< no rounding error
    kUlpsFromRoundedResult,  ///< within `ulps` ulp of the correctly rounded result; 0 is correct rounding
    kUlpsFromExactResult,    ///< total error at most `ulps` ulp of the exact result
    kDerived,                ///< composed of other operations, each of which the evaluator bounds
  };
  Kind kind = Kind::kUlpsFromRoundedResult;
  double ulps = 0;  ///< error in units in the last place, for kUlpsFromRoundedResult and kUlpsFromExactResult
};
/// The error bounds of the implementations of an operation.
struct Accuracy {
  UlpBound cuda_f32, cuda_f64;  ///< error bounds of CUDA 13 with the precise flags
  UlpBound libm_f32, libm_f64;  ///< error bounds of glibc 2.36 and later
  std::string_view citation;    ///< source of these bounds, for documentation
};

/// One operation. In patterns, $0, $1, $2 stand for the operands, $T for the name of the result type and $* for all
/// operands, separated by commas.
struct OperationEntry {
  Op op;                          ///< the operation
  std::string_view mnemonic;      ///< name in the text form
  std::string_view warp_pattern;  ///< pattern in Warp Python; empty if Warp has no such operation
  int arity;                      ///< number of operands; -1 for any number
  /// Parameter names of the Warp function, separated by spaces, for keyword arguments; empty for an operator.
  std::string_view parameter_names = {};  ///< number of operands; -1: any number
  TypeRule rule;                          ///< how operand types determine the result type
  SamplingDomain domain;                  ///< where to sample the operands
  /// Operands for which the operation is well conditioned in f32; low == high stands for any value of moderate size.
  std::array<Interval, 3> well_conditioned_range{};
  /// The function itself if it is monotone and has one operand; used to compute the range of results.
  double (*monotone)(double) = nullptr;
  Kink kink;                        ///< where the derivative is discontinuous
  std::string_view cpp_pattern;     ///< pattern in emitted C++
  std::string_view cuda_pattern;    ///< pattern in emitted CUDA C++
  AdjointKind adjoint_kind;         ///< how the adjoint pass treats the operation
  std::string_view adjoint_reason;  ///< why the operation has no rule; empty if it has one
  Accuracy accuracy;                ///< error bounds of implementations
};

namespace table {
inline constexpr UlpBound kExact{UlpBound::Kind::kExact, 0};
inline constexpr UlpBound kCorrectlyRounded{UlpBound::Kind::kUlpsFromRoundedResult, 0};
inline constexpr UlpBound kDerived{UlpBound::Kind::kDerived, 0};
constexpr UlpBound within(double ulps) { return {UlpBound::Kind::kUlpsFromRoundedResult, ulps}; }
constexpr UlpBound total(double ulps) { return {UlpBound::Kind::kUlpsFromExactResult, ulps}; }
inline constexpr std::string_view kIeeeSource = "IEEE 754, correctly rounded";
inline constexpr std::string_view kDefinitionSource = "exact by definition";
inline constexpr std::string_view kCompositionSource = "sum of the error bounds of the operation's steps";
inline constexpr std::string_view kCudaAndGlibcSource =
    "CUDA: CUDA 13 guide, mathematical functions; CPU: measured with glibc 2.36";
inline constexpr std::string_view kCudaAndHelperSource =
    "CUDA: CUDA 13 guide, mathematical functions; CPU: measured with Assay's helper function";
}  // namespace table

inline constexpr std::array<OperationEntry, kOpCount> kOperations = {{
#define ASSAY_OPERATION(name, ...) OperationEntry{.op = Op::name, __VA_ARGS__},
#include "ir/operations/operation_table.inc"
#undef ASSAY_OPERATION
}};

constexpr const OperationEntry& row(Op op) { return kOperations[static_cast<std::size_t>(op)]; }

/// The type of op applied to operands of these types. `requested` is the result type if takes_requested_type(rule); for
/// kWithField, whose field types only the Module knows, it is the struct itself. The error lists the operands that the
/// rule accepts.
Result<Type> result_type(Op op, std::span<const Type> operands, Type requested = kVoid);

/// Whether the result type is requested explicitly and does not follow from the operands.
constexpr bool takes_requested_type(TypeRule rule) {
  return rule == TypeRule::kConversion || rule == TypeRule::kMake || rule == TypeRule::kSplat ||
         rule == TypeRule::kTileSum || rule == TypeRule::kTileBroadcast || rule == TypeRule::kTileReshape;
}

/// Whether an operation on tiles acts on each element separately.
constexpr bool is_elementwise(Op op) { return row(op).rule < TypeRule::kTileProduct && op != Op::kSplat; }

/// Whether some operands may not be evaluated.
constexpr bool is_lazy(Op op) { return op == Op::kAnd || op == Op::kOr || op == Op::kConditional; }

/// One atomic operation.
struct AtomicOperationEntry {
  AtomicOp op;                      ///< the atomic
  std::string_view mnemonic;        ///< name in the text form: "atomic_add"
  std::string_view warp_name;       ///< name of the function after `wp.`
  bool is_integer_only;             ///< whether it has only integer operands
  bool is_differentiable;           ///< whether it has an adjoint
  std::string_view adjoint_reason;  ///< why it has no adjoint; empty if it has one
};
inline constexpr std::array<AtomicOperationEntry, 9> kAtomics = {{
    {AtomicOp::kAdd, "atomic_add", "atomic_add", false, true, ""},
    {AtomicOp::kSub, "atomic_sub", "atomic_sub", false, true, ""},
    {AtomicOp::kMin, "atomic_min", "atomic_min", false, true, ""},
    {AtomicOp::kMax, "atomic_max", "atomic_max", false, true, ""},
    {AtomicOp::kAnd, "atomic_and", "atomic_and", true, false, "operates on integers, which have no derivative"},
    {AtomicOp::kOr, "atomic_or", "atomic_or", true, false, "operates on integers, which have no derivative"},
    {AtomicOp::kXor, "atomic_xor", "atomic_xor", true, false, "operates on integers, which have no derivative"},
    {AtomicOp::kExchange, "atomic_exchange", "atomic_exch", false, false,
     "the final value depends on the order of threads"},
    {AtomicOp::kCompareAndSwap, "atomic_cas", "atomic_cas", false, false,
     "the final value depends on the order of threads"},
}};
constexpr const AtomicOperationEntry& row(AtomicOp op) { return kAtomics[static_cast<std::size_t>(op)]; }

namespace detail {
constexpr bool is_complete(const OperationEntry& operation, int index) {
  const bool has_reason_if_needed =
      (operation.adjoint_kind == AdjointKind::kHasRule) == operation.adjoint_reason.empty();
  return static_cast<int>(operation.op) == index && !operation.mnemonic.empty() && operation.arity != 0 &&
         !operation.cpp_pattern.empty() && !operation.cuda_pattern.empty() && has_reason_if_needed &&
         !operation.accuracy.citation.empty();
}
constexpr bool is_operation_table_complete() {
  for (int i = 0; i < kOpCount; ++i) {
    if (!is_complete(kOperations[static_cast<std::size_t>(i)], i)) return false;
  }
  return true;
}
}  // namespace detail
static_assert(detail::is_operation_table_complete(),
              "kOperations must have one complete entry for each Op, in the order of the enumeration");

}  // namespace assay::ir
