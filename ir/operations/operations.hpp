// The operation table: all data about an operation, one row each.
//
// The frontends, the verifier, the printers, the oracle, the adjoint pass, the generators and the documentation take
// their facts from here. To add an operation: a row in operation_table.inc, an evaluator in reference/cpu and a rule in
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

/// How operand types determine the result type. T is one type, the same for all operands so marked. Vectors, matrices,
/// quaternions and transforms are aggregates. A rule for scalars holds for tiles too, element by element: operands are
/// then tiles of one shape, or scalars that stand for a tile of equal elements, and the result is such a tile.
enum class TypeRule : std::uint8_t {
  kLinear,         ///< T, T -> T: numeric scalar or aggregate
  kProduct,        ///< numeric scalars T, T -> T; aggregate by its scalar, either order; matrix by matrix, matrix by
                   ///< vector, vector by matrix; quaternions
  kQuotient,       ///< numeric scalars T, T -> T; aggregate by its scalar
  kNegation,       ///< T -> T: signed numeric scalar or aggregate
  kNumeric,        ///< T... -> T: numeric scalars
  kFloat,          ///< T... -> T: float scalars
  kFloatTest,      ///< T -> bool: float scalar
  kOrder,          ///< T, T -> bool: numeric scalars
  kEquality,       ///< T, T -> bool: numeric or bool scalars
  kLogic,          ///< bool... -> bool
  kSelect,         ///< bool, T, T -> T: any value
  kBits,           ///< T... -> T: integer scalars
  kConversion,     ///< scalar -> the requested scalar type
  kMake,           ///< scalars and aggregates of T -> the requested aggregate of T with as many components together
  kSplat,          ///< scalar T -> the requested aggregate of T
  kExtract,        ///< aggregate, i32 -> its part: a matrix's row, otherwise a component
  kInsert,         ///< aggregate, i32, its part -> the aggregate
  kComponents,     ///< T, T -> T: vectors or matrices
  kDot,            ///< two vectors, quaternions or transforms of T -> T
  kDoubleDot,      ///< two matrices of T -> T
  kCross,          ///< two vec3 of T -> vec3 of T
  kLength,         ///< float vector or quaternion of T -> T
  kLengthSq,       ///< vector or quaternion of T -> T
  kNormalize,      ///< float vector -> the same
  kTranspose,      ///< matrix r x c -> matrix c x r
  kOuter,          ///< vectors of r and c T -> matrix r x c of T
  kInverse,        ///< square float matrix of 2 to 4 rows -> the same
  kQuaternion,     ///< quaternion -> the same
  kTranslation,    ///< transform of T -> vec3 of T
  kRotation,       ///< transform of T -> quaternion of T
  kSpatialHalf,    ///< float vec6 of T -> vec3 of T
  kWithField,      ///< struct, the type of its field `index` -> the struct
  kTileProduct,    ///< numeric tiles r x k and k x c of T -> tile r x c of T
  kTileSum,        ///< numeric tile -> the requested tile, which broadcasts to its shape
  kTileBroadcast,  ///< tile -> the requested tile: extents aligned at the last, those of 1 repeated, further ones in
                   ///< front
  kTileReshape,    ///< tile -> the requested tile with as many elements
  kTileTranspose,  ///< tile r x c -> tile c x r
  kTileExtreme,    ///< numeric tile of T -> tile of one T
  kTileIndex,      ///< numeric tile -> tile of one i32, the number of an element in row-major order
  kTileScan,       ///< numeric tile of one dimension -> the same
  kTileExtract,    ///< tile of T, an i32 for each dimension -> T
  kTileInsert,     ///< tile of T, an i32 for each dimension, T -> the tile
};

/// Values at which to sample an operand; the closed interval is inside the operation's domain.
struct Interval {
  double low = 0;
  double high = 0;
};
/// A relation between operands that the intervals cannot express.
enum class Relation : std::uint8_t {
  kNone,
  kSecondNotZero,    ///< |second| >= 1/16 of its interval's greatest magnitude
  kSecondLessThird,  ///< clamp and smoothstep: low < high
  kShiftBelowWidth,  ///< 0 <= second < number of bits
};
struct Domain {
  std::array<Interval, 3> operands{};
  Relation relation = Relation::kNone;
};

/// Where the derivative jumps, or is a convention (docs/design/numerics.md, section 4).
enum class Kink : std::uint8_t {
  kNone,
  kAtZero,              ///< of the first operand
  kAtIntegers,          ///< of the first operand
  kAtHalfIntegers,      ///< of the first operand
  kAtQuotientIntegers,  ///< where first / second is an integer
  kAtTie,               ///< where the operands are equal
  kAtBounds,            ///< where the first operand meets the second or third
};

/// What the adjoint pass does with an operation.
enum class Adjoint : std::uint8_t {
  kRule,      ///< has a rule in ir/transforms
  kZero,      ///< the derivative is zero by convention: nothing to propagate; `adjoint_reason` says why
  kDiscrete,  ///< bool or integer result: carries no derivative; `adjoint_reason` says why
};

/// How far an implementation may be from the exact result (docs/design/numerics.md, section 2).
struct UlpBound {
  enum class Kind : std::uint8_t {
    kExact,    ///< no rounding at all
    kWithin,   ///< within `ulps` ulp of the correctly rounded result; 0 is correct rounding
    kTotal,    ///< total error at most `ulps` ulp of the exact result
    kDerived,  ///< composed of other operations: the evaluator bounds each step
  };
  Kind kind = Kind::kWithin;
  double ulps = 0;
};
struct Accuracy {
  UlpBound cuda_f32, cuda_f64;  ///< CUDA 13 with the precise flags
  UlpBound libm_f32, libm_f64;  ///< glibc 2.36 and later
  std::string_view source;      ///< where the figures come from
};

/// One operation. Patterns hold $0, $1, $2 for operands, $T for the result type's spelling and $* for all
/// operands separated by commas.
struct OperationRow {
  Op op;
  std::string_view mnemonic;  ///< name in the text form
  std::string_view warp;      ///< pattern in Warp Python; empty where Warp has no such operation
  int arity;                  ///< number of operands; -1 for any
  /// Names of the parameters of Warp's function, separated by spaces, for keyword arguments; empty for an operator.
  std::string_view parameters = {};
  TypeRule rule;
  Domain domain;
  /// Operands for which the operation is well conditioned in f32; where low == high, any value of moderate size.
  std::array<Interval, 3> comfortable{};
  /// The function itself if it has one operand and is monotone: gives the range of its results.
  double (*monotone)(double) = nullptr;
  Kink kink;
  std::string_view cpu;   ///< pattern in emitted C++
  std::string_view cuda;  ///< pattern in emitted CUDA C++
  Adjoint adjoint;
  std::string_view adjoint_reason;  ///< why there is no rule; empty where there is one
  Accuracy accuracy;
};

namespace table {
inline constexpr UlpBound kExact{UlpBound::Kind::kExact, 0};
inline constexpr UlpBound kCorrect{UlpBound::Kind::kWithin, 0};
inline constexpr UlpBound kDerived{UlpBound::Kind::kDerived, 0};
constexpr UlpBound within(double ulps) { return {UlpBound::Kind::kWithin, ulps}; }
constexpr UlpBound total(double ulps) { return {UlpBound::Kind::kTotal, ulps}; }
inline constexpr std::string_view kIeee = "IEEE 754, correctly rounded";
inline constexpr std::string_view kExactByDefinition = "exact by definition";
inline constexpr std::string_view kComposed = "sum of the bounds of its steps";
inline constexpr std::string_view kCudaAndGlibc = "CUDA 13 guide, mathematical functions; glibc 2.36 measured";
}  // namespace table

inline constexpr std::array<OperationRow, kOpCount> kOperations = {{
#define ASSAY_OPERATION(name, ...) OperationRow{.op = Op::name, __VA_ARGS__},
#include "ir/operations/operation_table.inc"
#undef ASSAY_OPERATION
}};

constexpr const OperationRow& row(Op op) { return kOperations[static_cast<std::size_t>(op)]; }

/// The type of op applied to operands of these types. `requested` is the wanted result where is_requested(rule) says
/// so; for kWithField, whose field types only the Module knows, it is the struct itself. The error says what the rule
/// wants.
Result<Type> result_type(Op op, std::span<const Type> operands, Type requested = kVoid);

/// Whether the result is of a type that is asked for, not one that follows from the operands.
constexpr bool is_requested(TypeRule rule) {
  return rule == TypeRule::kConversion || rule == TypeRule::kMake || rule == TypeRule::kSplat ||
         rule == TypeRule::kTileSum || rule == TypeRule::kTileBroadcast || rule == TypeRule::kTileReshape;
}

/// Whether an operation on tiles acts on each element by itself.
constexpr bool is_elementwise(Op op) { return row(op).rule < TypeRule::kTileProduct && op != Op::kSplat; }

/// Whether some operands may go unevaluated.
constexpr bool is_lazy(Op op) { return op == Op::kAnd || op == Op::kOr || op == Op::kConditional; }

struct AtomicRow {
  AtomicOp op;
  std::string_view mnemonic;  ///< "atomic_add"
  std::string_view warp;      ///< function after `wp.`
  bool integer_only;
  bool differentiable;
  std::string_view adjoint_reason;  ///< why it has no adjoint; empty where it has one
};
inline constexpr std::array<AtomicRow, 9> kAtomics = {{
    {AtomicOp::kAdd, "atomic_add", "atomic_add", false, true, ""},
    {AtomicOp::kSub, "atomic_sub", "atomic_sub", false, true, ""},
    {AtomicOp::kMin, "atomic_min", "atomic_min", false, true, ""},
    {AtomicOp::kMax, "atomic_max", "atomic_max", false, true, ""},
    {AtomicOp::kAnd, "atomic_and", "atomic_and", true, false, "acts on integers, which carry no derivative"},
    {AtomicOp::kOr, "atomic_or", "atomic_or", true, false, "acts on integers, which carry no derivative"},
    {AtomicOp::kXor, "atomic_xor", "atomic_xor", true, false, "acts on integers, which carry no derivative"},
    {AtomicOp::kExchange, "atomic_exchange", "atomic_exch", false, false,
     "which thread's value remains depends on the order of threads"},
    {AtomicOp::kCompareAndSwap, "atomic_cas", "atomic_cas", false, false,
     "which thread's value remains depends on the order of threads"},
}};
constexpr const AtomicRow& row(AtomicOp op) { return kAtomics[static_cast<std::size_t>(op)]; }

namespace detail {
constexpr bool complete(const OperationRow& operation, int index) {
  const bool reasoned = (operation.adjoint == Adjoint::kRule) == operation.adjoint_reason.empty();
  return static_cast<int>(operation.op) == index && !operation.mnemonic.empty() && operation.arity != 0 &&
         !operation.cpu.empty() && !operation.cuda.empty() && reasoned && !operation.accuracy.source.empty();
}
constexpr bool all_complete() {
  for (int i = 0; i < kOpCount; ++i) {
    if (!complete(kOperations[static_cast<std::size_t>(i)], i)) return false;
  }
  return true;
}
}  // namespace detail
static_assert(detail::all_complete(), "a row of the operation table is missing, out of order or incomplete");

}  // namespace assay::ir
