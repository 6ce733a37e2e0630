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

/// The operations, in the order of the operation table.
enum class Op : std::uint8_t {
#define ASSAY_OPERATION(name, ...) name,
#include "ir/operations/operation_table.inc"
#undef ASSAY_OPERATION
};
inline constexpr int kOpCount = static_cast<int>(Op::kTileRunSpread) + 1;  ///< number of operations

enum class AtomicOp : std::uint8_t { kAdd, kSub, kMin, kMax, kAnd, kOr, kXor, kExchange, kCompareAndSwap };

/// How the types of the operands determine the type of the result. T stands for one type, the same for all operands
/// marked T. Vectors, matrices, quaternions and transforms are aggregates. A rule for scalars also applies to tiles
/// element by element: the operands are tiles of the same shape or scalars, which are broadcast, and the result is a
/// tile of that shape.
enum class TypeRule : std::uint8_t {
  kAddition,  ///< T, T -> T: numeric scalars or aggregates
  /// Numeric scalars T, T -> T; aggregate and its scalar type, in either order; matrix by matrix, matrix by vector,
  /// vector by matrix; quaternions.
  kProduct,
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
  /// Integer of 32 or 64 bits -> the requested float, or float -> the requested integer. The bits are those of a
  /// float32 or a float64, as wide as the integer. A float of another type is converted.
  kReinterpretation,
  kMake,     ///< scalars and aggregates of T -> the requested aggregate of T, with as many components in total
  kSplat,    ///< scalar T -> the requested aggregate of T
  kExtract,  ///< aggregate, i32 -> a row of a matrix, or a component of another aggregate
  kInsert,   ///< aggregate, i32, row or component -> the aggregate with that part replaced
  kVectorsOrMatrices,  ///< T, T -> T: vectors or matrices
  kDot,                ///< two vectors, quaternions or transforms of T -> T
  kDoubleDot,          ///< two matrices of T -> T
  kCross,              ///< two vec3 of T -> vec3 of T
  kLength,             ///< float vector or quaternion of T -> T
  kLengthSquared,      ///< vector or quaternion of T -> T
  kNormalize,          ///< float vector -> a vector of the same type
  kTranspose,          ///< matrix r x c -> matrix c x r
  kOuter,              ///< vector of r components T, vector of c components T -> matrix r x c of T
  kInverse,            ///< square float matrix of 2 to 4 rows -> a matrix of the same type
  kQuaternion,         ///< quaternion -> a quaternion of the same type
  kTranslation,        ///< transform of T -> vec3 of T
  kRotation,           ///< transform of T -> quaternion of T
  kSpatialVectorHalf,  ///< float vec6 of T -> vec3 of T
  kWithField,          ///< struct, new value of its field `index` -> the struct with that field replaced
  kTileProduct,        ///< numeric tiles r x k and k x c of T -> tile r x c of T
  kTileSum,            ///< numeric tile -> the requested tile, whose shape broadcasts to the operand's
  /// Tile -> the requested tile. As in NumPy, dimensions are aligned at the last one, missing dimensions are added in
  /// front, and extents of 1 are repeated.
  kTileBroadcast,
  kTileReshape,    ///< tile -> the requested tile, which has the same number of elements
  kTileTranspose,  ///< tile r x c -> tile c x r
  kTileMinMax,     ///< numeric tile of T -> tile with one element T
  kTileArgMinMax,  ///< numeric tile -> tile with one i32, the row-major index of an element
  kTileScan,       ///< one-dimensional numeric tile -> a tile of the same type
  kTileExtract,    ///< tile of T, one i32 per dimension -> T
  kTileInsert,     ///< tile of T, one i32 per dimension, T -> the tile with that element replaced
  kTileArange,     ///< numeric scalars T, T -> the requested one-dimensional tile of T
  kTileView,       ///< tile of T, one i32 per dimension -> the requested tile of T, with as many dimensions
  kTileAssign,     ///< tile of T, one i32 per dimension, a tile of T that fits into the first -> a tile of its type
  kTileDiagAdd,    ///< numeric tile n x n of T, tile n of T -> tile n x n of T
  kTileRuns,       ///< two one-dimensional numeric tiles of the same type -> a tile of that type
};

/// The closed interval from which values of an operand are drawn. It is inside the domain of the operation.
struct Interval {
  double low = 0;   ///< lower end
  double high = 0;  ///< upper end
};
/// A relation that the operands must satisfy and that intervals cannot express.
enum class Relation : std::uint8_t {
  kNone,           ///< no relation
  kSecondNotZero,  ///< the magnitude of the second operand is at least 1/16 of the greatest magnitude in its interval
  kSecondBelowThird,  ///< the second operand is less than the third, as required of the bounds of clamp
  kShiftBelowWidth,   ///< the second operand is at least 0 and less than the number of bits of the first
};
/// The values from which the operands of an operation are drawn.
struct SamplingDomain {
  std::array<Interval, 3> operand_intervals{};  ///< interval of each operand; [0, 0] for missing operands
  Relation relation = Relation::kNone;          ///< relation that the operands must satisfy
};

/// Where the derivative of an operation is discontinuous or defined by convention (docs/design/numerics.md, section 4).
enum class Kink : std::uint8_t {
  kNone,
  kAtZero,              ///< where the first operand is zero
  kAtIntegers,          ///< where the first operand is an integer
  kAtHalfIntegers,      ///< where the first operand is half an odd integer
  kAtIntegerQuotients,  ///< where the quotient of the first and second operands is an integer
  kAtTie,               ///< where the two operands are equal
  kAtBounds,            ///< where the clamped operand (the first of clamp, the third of smoothstep) equals a bound
};

/// How the adjoint pass treats an operation.
enum class AdjointKind : std::uint8_t {
  kHasRule,  ///< by a rule in ir/transforms
  /// It propagates no derivative, because the derivative is zero by convention; `adjoint_reason` says why.
  kZeroByConvention,
  /// It propagates no derivative, because the result is a bool or an integer; `adjoint_reason` says why.
  kDiscreteResult,
};

/// The maximum error of an implementation of an operation (docs/design/numerics.md, section 2).
struct UlpBound {
  /// How the error is specified.
  enum class Kind : std::uint8_t {
    kExact,  ///< the result is exact
    /// At most `ulps` ulp from the correctly rounded result; with 0, the result is correctly rounded.
    kUlpsFromRoundedResult,
    kUlpsFromExactResult,  ///< at most `ulps` ulp from the exact result
    kDerived,              ///< the operation consists of other operations, each of which the evaluator bounds
  };
  Kind kind = Kind::kUlpsFromRoundedResult;  ///< how the error is specified
  double ulps = 0;  ///< error in units in the last place, for kUlpsFromRoundedResult and kUlpsFromExactResult
};
/// The error bounds of the implementations of an operation.
struct Accuracy {
  UlpBound cuda_f32, cuda_f64;  ///< error bounds of CUDA 13 with the flags for precise arithmetic
  UlpBound libm_f32, libm_f64;  ///< error bounds of glibc 2.36 and later
  std::string_view citation;    ///< source of these bounds, for the documentation
};

/// One operation, a row of the operation table. In a pattern, $0, $1, $2 stand for the operands, $T for the name of the
/// result type, and $* for all operands, separated by commas.
struct OperationEntry {
  Op op;                          ///< the operation
  std::string_view mnemonic;      ///< name in the text form
  std::string_view warp_pattern;  ///< pattern in Warp Python; empty if Warp has no such operation
  int arity;                      ///< number of operands; -1 for any number
  /// Names of the parameters of the Warp function, separated by spaces, for keyword arguments; empty for an operator.
  std::string_view parameter_names = {};
  TypeRule rule;          ///< how operand types determine the result type
  SamplingDomain domain;  ///< values from which the operands are drawn
  /// Intervals of the operands in which the operation is well conditioned in f32; an interval with low == high stands
  /// for all values of moderate size.
  std::array<Interval, 3> well_conditioned_range{};
  /// The function itself if it is monotone and has one operand; used to compute the range of results.
  double (*monotone)(double) = nullptr;
  Kink kink;                        ///< where the derivative is discontinuous or defined by convention
  std::string_view cpp_pattern;     ///< pattern in emitted C++
  std::string_view cuda_pattern;    ///< pattern in emitted CUDA C++
  AdjointKind adjoint_kind;         ///< how the adjoint pass treats the operation
  std::string_view adjoint_reason;  ///< why the operation has no rule; empty if it has one
  Accuracy accuracy;                ///< error bounds of implementations
};

namespace table {
inline constexpr UlpBound kExact{UlpBound::Kind::kExact, 0};
/// Error bound of a correctly rounded result.
inline constexpr UlpBound kCorrectlyRounded{UlpBound::Kind::kUlpsFromRoundedResult, 0};
inline constexpr UlpBound kDerived{UlpBound::Kind::kDerived, 0};
constexpr UlpBound within(double ulps) { return {UlpBound::Kind::kUlpsFromRoundedResult, ulps}; }
constexpr UlpBound total(double ulps) { return {UlpBound::Kind::kUlpsFromExactResult, ulps}; }
/// Citation for operations that IEEE 754 requires to be correctly rounded.
inline constexpr std::string_view kIeeeSource = "IEEE 754, correctly rounded";
/// Citation for operations that have no rounding error.
inline constexpr std::string_view kDefinitionSource = "exact by definition";
/// Citation for operations that consist of other operations.
inline constexpr std::string_view kCompositionSource = "sum of the error bounds of the operation's steps";
inline constexpr std::string_view kCudaAndGlibcSource =
    "CUDA: CUDA 13 guide, mathematical functions; CPU: measured with glibc 2.36";
inline constexpr std::string_view kCudaAndHelperSource =
    "CUDA: CUDA 13 guide, mathematical functions; CPU: measured for the helper function in emitted code";
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

/// Returns whether the result type must be requested, because it does not follow from the operands.
constexpr bool takes_requested_type(TypeRule rule) {
  return rule == TypeRule::kConversion || rule == TypeRule::kReinterpretation || rule == TypeRule::kMake ||
         rule == TypeRule::kSplat || rule == TypeRule::kTileSum || rule == TypeRule::kTileBroadcast ||
         rule == TypeRule::kTileReshape || rule == TypeRule::kTileArange || rule == TypeRule::kTileView;
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
  bool is_integer_only;             ///< whether the elements must be integers
  bool is_differentiable;           ///< whether the adjoint pass supports it
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
/// Returns whether the row with this index has all required data.
constexpr bool is_complete(const OperationEntry& operation, int index) {
  const bool has_reason_if_needed =
      (operation.adjoint_kind == AdjointKind::kHasRule) == operation.adjoint_reason.empty();
  return static_cast<int>(operation.op) == index && !operation.mnemonic.empty() && operation.arity != 0 &&
         !operation.cpp_pattern.empty() && !operation.cuda_pattern.empty() && has_reason_if_needed &&
         !operation.accuracy.citation.empty();
}
/// Returns whether all rows of the operation table have all required data.
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
